package watcher

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/chaintest"
	"gatewayd/records"
)

// poolCoins is the number of coins in which the operators fund a pool.
const poolCoins = 20

// coinsNetwork is the network of a ledger of coins: one asset, one paying account, no gas.
func coinsNetwork(btc, vite *chaintest.Chain) records.Network {
	n := network(btc, vite)
	n.Source, n.Shared, n.Gas = btc.ID(), "", ""
	n.Tokens = n.Tokens[:1]
	n.Tokens[0].Asset = chain.Native
	return n
}

// coinChain is a ledger of coins under a fuse.
type coinChain struct{ *crashChain }

// SpendsCoins distinguishes it.
func (coinChain) SpendsCoins() {}

// newCoinsModel is a model whose source chain is a ledger of coins. The operators fund its pool when
// the daemon follows the chain.
func newCoinsModel(t *testing.T, seed uint64, census map[string]int) *model {
	t.Helper()
	m := newLedgers(t, seed, census, chaintest.Config{ID: "btc", Pool: "hot"})
	m.pool, m.asset, m.coins = 1, chain.Native, true
	n := withPool(m.eth, m.vite, coinsNetwork(m.eth, m.vite), 1)
	m.vite.Own(n.Gateway)
	m.vite.Endow(n.Gateway, usd, units(stock))
	m.begin(n, func(c *crashChain) chain.Chain { return coinChain{c} })
	fundPool(m.eth, n.Hot)
	m.eth.Mine(finality + 1)
	require.NoError(t, m.w.Step(t.Context()))
	return m
}

func fundPool(btc *chaintest.Chain, pool string) {
	outs := make([]chaintest.Out, poolCoins)
	for i := range outs {
		outs[i] = chaintest.Out{To: pool, Asset: chain.Native, Amount: units(stock * 100 / poolCoins)}
	}
	btc.Send(outs...)
}

// mined is a user's deposit out of the reward of a block.
func (m *model) mined(owner, address string, amount uint64) {
	hash := m.eth.MineTo(address, units(amount))
	height, _, _ := m.eth.Find(hash)
	m.claims = append(m.claims, &claim{
		source: m.eth, hash: hash, ledger: m.vite, payee: owner, asset: usd, amount: owed(amount / 100), reward: height + chaintest.Maturity,
	})
}

// stands reports whether the line has a transfer to us. What a re-org takes otherwise comes back,
// but not the reward of a block.
func (m *model) stands(c *claim) bool {
	_, _, ok := c.source.Find(c.hash)
	return ok || c.reward == 0
}

// rewards sums the rewards of blocks that deposit addresses have.
func (m *model) rewards() (sum uint64) {
	for _, c := range m.claims {
		if c.reward > 0 && m.stands(c) {
			sum += m.eth.Sent(c.hash)
		}
	}
	return sum
}

// checkCoins compares the pool's coins by the records with those of the ledger, and answers how many
// transactions the ledger has of it.
func (m *model) checkCoins(tx *records.Tx) (sent uint64, err error) {
	hot := m.parts.Networks[0].Hot
	keys := []string{"hot"}
	for i := range m.deposits {
		keys = append(keys, fmt.Sprintf("deposit/%d", i))
	}
	unspent := m.eth.Unspent(keys...)
	held, err := tx.Coins().Held(m.eth.ID(), hot)
	if err != nil {
		return 0, err
	}
	if len(held) != len(unspent) {
		return 0, fmt.Errorf("the records have %d coins of the pool, the ledger %d", len(held), len(unspent))
	}
	for i, h := range held {
		if u := unspent[i]; h.Out != u.Out || h.Amount != u.Amount || h.Key != u.Key || h.Bound {
			return 0, fmt.Errorf("the records have the coin %+v, the ledger %+v", h, u)
		}
	}
	return m.eth.OwnTxs(), nil
}
