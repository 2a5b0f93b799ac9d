package main

import (
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/config"
	"gatewayd/dev"
)

// TestLegacySource covers all payments on a source chain without a base fee: deposits of each kind,
// payouts, one that is stuck and replaced, sweeps with the gas for them, and books that match to
// the wei.
func TestLegacySource(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *dev.Options) { o.Legacy = true })
	cfg, err := config.Load(r.Info.Config)
	require.NoError(t, err)
	require.True(t, cfg.Ethereum[0].OnDemand, "its blocks bear the time of an hour ago, which is no sign of a standstill")
	users := []*testUser{r.newCustomer(t, "ETH"), r.newCustomer(t, "USDT"), r.newCustomer(t, "DAI")}
	for _, u := range users {
		to, sent := u.withdrawToPayee(t, u.Times(5))
		shown := u.mustAwait(t, "/withdraw-records", sent, "OPPOSITE_CONFIRMED")
		u.requirePaid(t, to, u.Times(5))
		require.EqualValues(t, types.LegacyTxType, r.kind(t, shown.OutTxHash))
	}

	stuck := users[1]
	r.Source.StopMining()
	to, sent := stuck.withdrawToPayee(t, stuck.Times(5))
	r.waitingPayout(t)
	price, ok := new(big.Int).SetString(paymentOf(t, r.recordDetail(t, sent), chain.Credit).Attempts[0].Tip, 10)
	require.True(t, ok)
	require.NoError(t, r.Source.SetMinTip(price.Add(price, big.NewInt(1))))
	r.Source.StartMining()
	shown := stuck.mustAwait(t, "/withdraw-records", sent, "OPPOSITE_CONFIRMED")
	stuck.requirePaid(t, to, stuck.Times(5))
	require.NoError(t, r.Source.SetMinTip(new(big.Int)))
	attempts := paymentOf(t, r.recordDetail(t, sent), chain.Credit).Attempts
	require.Greater(t, len(attempts), 1, "replaced")
	require.NotEqual(t, attempts[0].Hash, shown.OutTxHash)
	for i, a := range attempts[1:] {
		require.Equal(t, attempts[0].Number, a.Number, "the same nonce")
		require.Equal(t, a.Cap, a.Tip)
		require.True(t, isRaised(t, attempts[i].Cap, a.Cap), "price %s after %s", a.Cap, attempts[i].Cap)
	}

	waitFor(t, "empty deposit addresses", func() bool {
		require.NoError(t, r.Daemon.Watcher.Treasury().Sweep(t.Context()))
		left := r.balanceOn(t, users[0], depositAddress(t, users[0]))
		return left.Cmp(users[0].Times(1).Uint256().ToBig()) < 0 && r.balanceOn(t, stuck, depositAddress(t, stuck)).Sign() == 0
	})
	r.waitUntilSettled(t)
}

// TestSourceGetsABaseFee goes over the fork that brings a base fee, with customers before and after
// it and a payout that waits meanwhile.
func TestSourceGetsABaseFee(t *testing.T) {
	t.Parallel()
	const fork = 120
	r := newRig(t, func(o *dev.Options) { o.Legacy, o.London = true, fork })
	early := r.newCustomer(t, "USDT")
	r.Source.StopMining()
	to, sent := early.withdrawToPayee(t, early.Times(5))
	old := r.waitingPayout(t)
	require.EqualValues(t, types.LegacyTxType, r.kind(t, old.Hex()))
	head, err := r.Source.Client().BlockNumber(t.Context())
	require.NoError(t, err)
	require.Less(t, head, uint64(fork), "before the fork")
	r.Source.DropAll() // or the first block would take it
	_, err = r.Source.Mine(int(fork - head))
	require.NoError(t, err)
	r.Source.StartMining()
	early.mustAwait(t, "/withdraw-records", sent, "OPPOSITE_CONFIRMED")
	early.requirePaid(t, to, early.Times(5))

	late := r.newCustomer(t, "ETH")
	to, sent = late.withdrawToPayee(t, late.Times(5))
	shown := late.mustAwait(t, "/withdraw-records", sent, "OPPOSITE_CONFIRMED")
	late.requirePaid(t, to, late.Times(5))
	require.EqualValues(t, types.DynamicFeeTxType, r.kind(t, shown.OutTxHash))
	r.waitUntilSettled(t)
}

// kind is the type of a transaction on the source chain.
func (r *rig) kind(t *testing.T, hash string) uint8 {
	t.Helper()
	tx, _, err := r.Source.Client().TransactionByHash(t.Context(), common.HexToHash(hash))
	require.NoError(t, err)
	return tx.Type()
}
