package main

import (
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/stretchr/testify/require"

	"gatewayd/wallet"
)

// TestSweep brings deposits of coin and tokens from their addresses to the hot account. Nobody is credited for it.
func TestSweep(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	keys, err := wallet.FromMnemonic(devMnemonic)
	require.NoError(t, err)
	hot, err := keys.Address(wallet.HotPath)
	require.NoError(t, err)
	eth, usdt := r.customer(t, "ETH"), r.customer(t, "USDT")
	from := map[*bridgeUser]string{eth: depositAddress(t, eth), usdt: depositAddress(t, usdt)}
	before := map[*bridgeUser]*big.Int{}
	for u := range from {
		before[u] = r.holds(t, u, hot)
		require.Equal(t, u.times(50).String(), r.holds(t, u, from[u]).String())
	}
	waitFor(t, "empty deposit addresses", func() bool { // tokens want gas first
		require.NoError(t, r.daemon.watcher.Sweep(t.Context()))
		left := r.holds(t, eth, from[eth])
		return left.Cmp(eth.times(1).Uint256().ToBig()) < 0 && r.holds(t, usdt, from[usdt]).Sign() == 0
	})
	r.settled(t)
	gained := new(big.Int).Sub(r.holds(t, usdt, hot), before[usdt])
	require.Equal(t, usdt.times(50).String(), gained.String())
	require.Positive(t, r.holds(t, eth, hot).Cmp(before[eth]))
	for u := range from {
		require.Equal(t, u.times(50).String(), u.has(t).String())
	}
	require.Len(t, r.listed(t, "--direction", "deposit"), 2, "a top-up is no deposit")
}

// holds is what an account has of a user's asset on the source chain.
func (r *rig) holds(t *testing.T, u *bridgeUser, account string) *big.Int {
	t.Helper()
	have, err := u.eth.balance(t.Context(), u.token.Asset, common.HexToAddress(account))
	require.NoError(t, err)
	return have
}
