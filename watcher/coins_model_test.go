package watcher

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/chaintest"
	"gatewayd/records"
)

// The operators fund a model's pool with many coins that suffice for one payment, or not.
const poolCoins, poolCoin = 100, 200_000

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

func (c coinChain) ledger() chaintest.CoinLedger { return chaintest.CoinLedger{Chain: c.coins.ledger} }

// WorthMerging and Parent ask it what to merge.
func (c coinChain) WorthMerging(ctx context.Context, account string) (bool, error) {
	if c.fuse.blown {
		return false, errCrash
	}
	return c.ledger().WorthMerging(ctx, account)
}

func (c coinChain) Parent(ctx context.Context, slot chain.Slot, attempts []chain.Attempt) (string, error) {
	if c.fuse.blown {
		return "", errCrash
	}
	return c.ledger().Parent(ctx, slot, attempts)
}

// newCoinsModel makes a model whose source chain is a ledger of coins. The operators fund its pool
// when the daemon follows the chain.
func newCoinsModel(t *testing.T, seed uint64, census map[string]int) *model {
	t.Helper()
	m := newLedgers(t, seed, census, chaintest.Config{ID: "btc", Pool: "hot"})
	m.pool, m.asset, m.coins, m.stock = 1, chain.Native, true, poolCoins*poolCoin
	n := withPool(m.eth, m.vite, coinsNetwork(m.eth, m.vite), 1)
	m.vite.Own(n.Gateway)
	m.vite.Endow(n.Gateway, usd, units(stock))
	m.begin(n, func(c *crashChain) chain.Chain {
		c.coins = coinUse{ledger: m.eth, users: map[string]string{}}
		return coinChain{c}
	})
	fundPool(m.eth, n.Hot, poolCoins, poolCoin)
	m.eth.Mine(finality + 1)
	require.NoError(t, m.w.Step(t.Context()))
	return m
}

func fundPool(btc *chaintest.Chain, pool string, coins int, amount uint64) {
	btc.Send(slices.Repeat([]chaintest.Out{{To: pool, Asset: chain.Native, Amount: units(amount)}}, coins)...)
}

// coinUse checks each transaction that is sent: it spends only coins of final blocks, and none that
// another open slot uses. A merge may spend change that no final block makes: that of its source.
type coinUse struct {
	ledger *chaintest.Chain  // nil: there are none
	users  map[string]string // hash of the attempt that was sent last, by coin
}

func (u coinUse) check(tx *records.Tx, slot records.Slot, a chain.Attempt) error {
	if u.ledger == nil {
		return nil
	}
	for _, out := range chaintest.Spends(a) {
		p, err := tx.Payments().Get(slot.PaymentID)
		if err != nil {
			return err
		}
		if !u.ledger.IsFinal(out) && (p.Purpose != chain.Merge || p.Source != out || out == slot.Coin) {
			return fmt.Errorf("it spends %s, which is not final", out)
		}
		others, _, err := tx.Slots().AttemptByHash(u.ledger.ID(), u.users[out])
		if err != nil {
			return err
		}
		for _, o := range others {
			if o.State == records.SlotOpen && o.Nonce != slot.Nonce {
				return fmt.Errorf("it spends %s, which slot %d uses", out, o.Nonce)
			}
		}
		u.users[out] = a.Hash
	}
	return nil
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

// checkCoins compares the pool's coins by the records with those of the ledger, and answers how
// many transactions the ledger has of it.
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

// brokenCoins is a broken ledger of coins.
type brokenCoins struct{ chain.Chain }

// SpendsCoins distinguishes it.
func (brokenCoins) SpendsCoins() {}

// anotherCoin is the usual way to send again: with the coins that are there, whatever the first
// attempt spends.
type anotherCoin struct{ chain.Chain }

func (c anotherCoin) Prepare(ctx context.Context, slot chain.Slot, pay chain.Payment, prev []chain.Attempt) (chain.Attempt, error) {
	if slot.Coin == "" || len(prev) == 0 {
		return c.Chain.Prepare(ctx, slot, pay, prev)
	}
	err := c.Chain.(*crashChain).store.View(ctx, func(tx *records.Tx) error {
		held, err := tx.Coins().Held(c.ID(), slot.Account)
		for _, h := range held {
			if !h.Bound {
				slot.Coin = h.Out
			}
		}
		return err
	})
	if err != nil {
		return chain.Attempt{}, err
	}
	a, err := c.Chain.Prepare(ctx, slot, pay, nil)
	a.Seq = len(prev)
	return a, err
}

func (anotherCoin) Underpriced(context.Context, chain.Slot, chain.Attempt) (bool, error) {
	return true, nil
}

// doublePayer pays the first payment of a batch twice, or the only one.
type doublePayer struct{ chain.Chain }

func (c doublePayer) Prepare(ctx context.Context, slot chain.Slot, pay chain.Payment, prev []chain.Attempt) (chain.Attempt, error) {
	if slot.Coin == "" {
		return c.Chain.Prepare(ctx, slot, pay, prev)
	}
	all := pay.All()
	sum, err := pay.Amount.Add(all[0].Amount)
	if err != nil {
		return chain.Attempt{}, err
	}
	pay = chain.Payment{ID: pay.ID, Purpose: chain.Batch, Asset: pay.Asset, Amount: sum, Members: append(slices.Clone(all), all[0])}
	return c.Chain.Prepare(ctx, slot, pay, prev)
}

var brokenCoinsDaemons = []brokenDaemon{
	{"sends again with another coin", func(c chain.Chain) chain.Chain { return anotherCoin{c} }, true, []string{"stands 2 times", "is due"}},
	{"pays another amount", func(c chain.Chain) chain.Chain { return doubled{c} }, true, []string{"is due"}},
	{"pays a payee twice", func(c chain.Chain) chain.Chain { return doublePayer{c} }, true, []string{"stands 2 times", "is due"}},
	{"credits what is not final", func(c chain.Chain) chain.Chain { return hasty{c} }, false, []string{"is due", "is not final"}},
	{"loses a payment", func(c chain.Chain) chain.Chain { return forgetful{c} }, false, []string{"in the end", "the records"}},
}

func TestSignerStopsBrokenCoinsDaemons(t *testing.T) {
	for _, c := range brokenCoinsDaemons[:3] {
		t.Run(c.name, func(t *testing.T) { signerStops(t, newCoinsModel, c.mutate) })
	}
}

func TestBrokenCoinsDaemonsAreCaught(t *testing.T) {
	for _, c := range brokenCoinsDaemons {
		t.Run(c.name, func(t *testing.T) { c.isCaught(t, newCoinsModel) })
	}
}
