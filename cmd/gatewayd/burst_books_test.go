package main

import (
	"math/big"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/stretchr/testify/require"

	"gatewayd/chain/ethereum/devnode"
	"gatewayd/records"
	"gatewayd/wallet"
)

// lazy prints what a variable holds when a test has failed, not before.
type lazy struct{ h *bridgeHoldings }

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
func (w *burstWorld) holdings(t *testing.T, b *burst) bridgeHoldings {
	t.Helper()
	h := bridgeHoldings{}
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
	require.NoError(t, exchangeHoldings(t.Context(), w.info, home, h))
	return h
}

// owed is what the gateway must have, from what users and sponsors sent and were to get and what its transactions cost.
func (b *burst) owed(t *testing.T, before bridgeHoldings, fees *big.Int) bridgeHoldings {
	t.Helper()
	h := bridgeHoldings{}
	for what, amount := range before {
		h.add(what, amount)
	}
	h.sub("source native", fees)
	for _, u := range b.users {
		deposit, net, gross := u.deposit.Uint256().ToBig(), u.net.Uint256().ToBig(), u.gross.Uint256().ToBig()
		h.add("source "+u.token.Asset, deposit)
		h.sub("exchange "+u.token.Token, deposit)
		h.add("exchange "+u.token.Token, gross)
		h.sub("source "+u.token.Asset, net)
	}
	for _, s := range b.sponsors {
		total, err := s.total()
		require.NoError(t, err)
		h.add("source "+s.token.Asset, total.Uint256().ToBig())
		h.sub("exchange "+s.token.Token, total.Uint256().ToBig())
	}
	return h
}

// fees is what the gateway's accounts on the source chain have paid for their transactions.
func (w *burstWorld) fees(t *testing.T, b *burst) *big.Int {
	t.Helper()
	sum, err := feesOf(t.Context(), b.payer.client, sourceAccounts(t, b))
	require.NoError(t, err)
	return sum
}

// reckon holds what the gateway has on both chains against what users sent and got, and then its own books against the chains.
func (w *burstWorld) reckon(t *testing.T, b *burst, before bridgeHoldings) {
	t.Helper()
	var want, have bridgeHoldings
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
