package main

import (
	"math/big"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/stretchr/testify/require"

	"gatewayd/chain/ethereum"
	"gatewayd/daemon"
	"gatewayd/dev"
	"gatewayd/dev/demo"
	"gatewayd/dev/ethnode"
	"gatewayd/records"
	"gatewayd/wallet"
)

// lazy formats a variable only when a test has failed.
type lazy struct{ h *dev.Holdings }

func (l lazy) String() string { return l.h.String() }

// sourceAccounts lists the gateway's addresses on the source chain: its own, and the users' deposit
// addresses.
func sourceAccounts(t *testing.T, b *demo.Burst) map[common.Address]bool {
	t.Helper()
	keys, err := wallet.FromMnemonic(dev.Mnemonic)
	require.NoError(t, err)
	ours := map[common.Address]bool{}
	for _, path := range []string{wallet.SourcePaths(ethereum.CoinType).Hot(0), wallet.SourcePaths(ethereum.CoinType).Gas()} {
		text, err := keys.Address(path)
		require.NoError(t, err)
		ours[common.HexToAddress(text)] = true
	}
	if b == nil {
		return ours
	}
	for _, u := range b.Users {
		ours[common.HexToAddress(u.Place.DepositAddress)] = true
	}
	for _, s := range b.Sponsors {
		ours[common.HexToAddress(s.Place.DepositAddress)] = true
	}
	return ours
}

// holdings reads from both chains alone what the gateway has.
func (w *burstEnv) holdings(t *testing.T, b *demo.Burst) dev.Holdings {
	t.Helper()
	eth, err := dev.NewEthUser(t.Context(), w.info.Source, ethnode.FaucetKey())
	require.NoError(t, err)
	defer eth.Client.Close()
	keys, err := wallet.FromMnemonic(dev.Mnemonic)
	require.NoError(t, err)
	home, err := daemon.ExchangeAddress(keys, wallet.GatewayPath(0))
	require.NoError(t, err)
	h, err := dev.ReadHoldings(t.Context(), w.info, eth.Client, sourceAccounts(t, b), home)
	require.NoError(t, err)
	return h
}

// expectedHoldings computes the gateway's holdings from the users' and sponsors' transfers, the
// payouts, and the fees of its transactions.
func expectedHoldings(t *testing.T, b *demo.Burst, before dev.Holdings, fees *big.Int) dev.Holdings {
	t.Helper()
	h := dev.Holdings{}
	for what, amount := range before {
		h.Add(what, amount)
	}
	h.Sub("source native", fees)
	for _, u := range b.Users {
		deposit, net, gross := u.Deposit.Uint256().ToBig(), u.Net.Uint256().ToBig(), u.Gross.Uint256().ToBig()
		h.Add("source "+u.Token.Asset, deposit)
		h.Sub("exchange "+u.Token.Token, deposit)
		h.Add("exchange "+u.Token.Token, gross)
		h.Sub("source "+u.Token.Asset, net)
	}
	for _, s := range b.Sponsors {
		total, err := s.Total()
		require.NoError(t, err)
		h.Add("source "+s.Token.Asset, total.Uint256().ToBig())
		h.Sub("exchange "+s.Token.Token, total.Uint256().ToBig())
	}
	return h
}

// fees returns the transaction fees of the gateway's accounts on the source chain.
func (w *burstEnv) fees(t *testing.T, b *demo.Burst) *big.Int {
	t.Helper()
	sum, err := dev.FeesOf(t.Context(), b.Payer.Client, sourceAccounts(t, b))
	require.NoError(t, err)
	return sum
}

// checkBooks compares what the gateway has on both chains with what users sent and got, and then
// its own books with the chains.
func (w *burstEnv) checkBooks(t *testing.T, b *demo.Burst, before dev.Holdings) {
	t.Helper()
	var want, have dev.Holdings
	require.Eventually(t, func() bool { // a sweep or a receive may be under way
		want, have = expectedHoldings(t, b, before, w.fees(t, b)), w.holdings(t, b)
		return want.Equal(have)
	}, time.Minute, 200*time.Millisecond, "the gateway must have %s, and has %s", lazy{&want}, lazy{&have})
	t.Logf("the gateway has %s", have)
	store, err := records.Open(t.Context(), w.cfg.Database)
	require.NoError(t, err)
	defer store.Close()
	require.Empty(t, stoppedAccounts(t, store, w.cfg))
	out := testStreams(t)
	out.stdout = t.Output()
	require.NoError(t, run(t.Context(), []string{"audit", "-c", w.info.Config}, out))
}
