package main

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/stretchr/testify/require"

	"gatewayd/chain/ethereum/devnode"
	"gatewayd/chain/vite/client"
	"gatewayd/chain/vite/core"
	"gatewayd/records"
	"gatewayd/wallet"
)

// holdings is what the gateway has: by "source ASSET" of all its accounts there, by "exchange TOKEN" with what waits to be received.
type holdings map[string]*big.Int

func (h holdings) add(what string, amount *big.Int) {
	if h[what] == nil {
		h[what] = new(big.Int)
	}
	h[what].Add(h[what], amount)
}

func (h holdings) equal(other holdings) bool {
	return maps.EqualFunc(h, other, func(a, b *big.Int) bool { return a.Cmp(b) == 0 })
}

func (h holdings) String() string {
	var parts []string
	for _, what := range slices.Sorted(maps.Keys(h)) {
		parts = append(parts, fmt.Sprintf("%s of %s", h[what], what))
	}
	return strings.Join(parts, ", ")
}

// lazy prints what a variable holds when a test has failed, not before.
type lazy struct{ h *holdings }

func (l lazy) String() string { return l.h.String() }

// sourceAccounts are the gateway's addresses on the source chain: its own, and those that it told users to pay to.
func sourceAccounts(t *testing.T, b *burst) map[common.Address]bool {
	t.Helper()
	keys, err := wallet.FromMnemonic(devMnemonic)
	require.NoError(t, err)
	ours := map[common.Address]bool{}
	for _, path := range []string{wallet.HotPath, wallet.GasPath} {
		text, err := keys.Address(path)
		require.NoError(t, err)
		ours[common.HexToAddress(text)] = true
	}
	if b == nil {
		return ours
	}
	for _, u := range b.users {
		ours[common.HexToAddress(u.place.DepositAddress)] = true
	}
	for _, s := range b.sponsors {
		ours[common.HexToAddress(s.place.DepositAddress)] = true
	}
	return ours
}

// holdings asks both chains, and nobody else, for all that the gateway has.
func (w *burstWorld) holdings(t *testing.T, b *burst) holdings {
	t.Helper()
	h := holdings{}
	eth, err := newEthUser(t.Context(), w.info.Source, devnode.FaucetKey())
	require.NoError(t, err)
	defer eth.client.Close()
	for address := range sourceAccounts(t, b) {
		for _, k := range w.info.Tokens {
			have, err := eth.balance(t.Context(), k.Asset, address)
			require.NoError(t, err)
			h.add("source "+k.Asset, have)
		}
	}
	keys, err := wallet.FromMnemonic(devMnemonic)
	require.NoError(t, err)
	home, err := exchangeAddress(keys, wallet.GatewayPath(0))
	require.NoError(t, err)
	w.addExchange(t, home, h)
	return h
}

// addExchange adds what the gateway's account has of its tokens, received and not.
func (w *burstWorld) addExchange(t *testing.T, home core.Address, h holdings) {
	t.Helper()
	node, err := client.Dial(t.Context(), w.info.Exchange, client.Options{})
	require.NoError(t, err)
	defer node.Close()
	info, err := node.AccountInfo(t.Context(), home)
	require.NoError(t, err)
	for _, k := range w.info.Tokens {
		id, err := core.ParseTokenID(k.Token)
		require.NoError(t, err)
		have := info.Balances[id].Amount
		h.add("exchange "+k.Token, have.ToBig())
	}
	for page := 0; ; page++ {
		waiting, err := node.UnreceivedBlocks(t.Context(), home, page, client.MaxPage)
		require.NoError(t, err)
		for _, s := range waiting {
			if !s.Amount.IsZero() {
				h.add("exchange "+s.TokenID.String(), s.Amount.ToBig())
			}
		}
		if len(waiting) < client.MaxPage {
			return
		}
	}
}

// owed is what the gateway must have, from what users and sponsors sent and were to get and what its transactions cost.
func (b *burst) owed(t *testing.T, before holdings, fees *big.Int) holdings {
	t.Helper()
	h := holdings{}
	for what, amount := range before {
		h.add(what, amount)
	}
	negative := func(n *big.Int) *big.Int { return new(big.Int).Neg(n) }
	h.add("source native", negative(fees))
	for _, u := range b.users {
		deposit, net, gross := u.deposit.Uint256().ToBig(), u.net.Uint256().ToBig(), u.gross.Uint256().ToBig()
		h.add("source "+u.token.Asset, deposit)
		h.add("exchange "+u.token.Token, negative(deposit))
		h.add("exchange "+u.token.Token, gross)
		h.add("source "+u.token.Asset, negative(net))
	}
	for _, s := range b.sponsors {
		total, err := s.total()
		require.NoError(t, err)
		h.add("source "+s.token.Asset, total.Uint256().ToBig())
		h.add("exchange "+s.token.Token, negative(total.Uint256().ToBig()))
	}
	return h
}

// fees is what the gateway's accounts on the source chain have paid for their transactions, by the receipts of all blocks.
func (w *burstWorld) fees(t *testing.T, b *burst) *big.Int {
	t.Helper()
	ours, sum := sourceAccounts(t, b), new(big.Int)
	client := b.payer.client
	head, err := client.BlockNumber(t.Context())
	require.NoError(t, err)
	signer := types.LatestSignerForChainID(b.payer.chain)
	for n := range head + 1 {
		block, err := client.BlockByNumber(t.Context(), new(big.Int).SetUint64(n))
		require.NoError(t, err)
		for _, tx := range block.Transactions() {
			from, err := types.Sender(signer, tx)
			require.NoError(t, err)
			if !ours[from] {
				continue
			}
			receipt, err := client.TransactionReceipt(t.Context(), tx.Hash())
			require.NoError(t, err)
			sum.Add(sum, new(big.Int).Mul(receipt.EffectiveGasPrice, new(big.Int).SetUint64(receipt.GasUsed)))
		}
	}
	return sum
}

// reckon holds what the gateway has on both chains against what users sent and got, and then its own books against the chains.
func (w *burstWorld) reckon(t *testing.T, b *burst, before holdings) {
	t.Helper()
	var want, have holdings
	require.Eventually(t, func() bool { // a sweep or a receive may be under way
		want, have = b.owed(t, before, w.fees(t, b)), w.holdings(t, b)
		return want.equal(have)
	}, time.Minute, 200*time.Millisecond, "the gateway must have %s, and has %s", lazy{&want}, lazy{&have})
	t.Logf("the gateway has %s", have)
	store, err := records.Open(t.Context(), w.cfg.Database)
	require.NoError(t, err)
	defer store.Close()
	require.Empty(t, stopped(t, store, w.cfg))
	out := outside(t)
	out.stdout = t.Output()
	require.NoError(t, run(t.Context(), []string{"audit", "-c", w.info.Config}, out))
}
