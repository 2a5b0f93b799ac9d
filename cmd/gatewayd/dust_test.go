package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/dev"
	"gatewayd/records"
	"gatewayd/vite/core"
)

// dustCount is the number of simultaneous withdrawals of one unit.
const dustCount = 400

// TestDustKeepsNobodyWaiting: a user withdraws one unit many times. None of it is received or
// refunded. So the credit of a later user is the very next block of the gateway's account, before
// any further snapshot block. The dust is refunded by order.
func TestDustKeepsNobodyWaiting(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *dev.Options) { o.Interval = -1 })
	stop := r.snapshots(t)
	attacker, honest := r.newCustomer(t, "ETH"), r.newUser(t, "ETH")
	r.waitUntilSettled(t)
	stop()
	gateway := gatewayOf(t, attacker)
	r.snapshot(t, 80) // quota for all of it
	var sent string
	for range dustCount {
		hash, err := attacker.SendToGateway(t.Context(), gateway, chain.NewAmount(1), comment(0, goodPayee))
		require.NoError(t, err)
		sent = hash.String()
	}
	before := r.height(t, gateway)
	r.snapshot(t, int(r.Info.Confirmations)+1)
	waitFor(t, "dust", func() bool {
		return len(r.listRecords(t, "--reason", string(records.ReasonDust), "--limit", "1000")) == dustCount
	})

	in, err := honest.Deposit(t.Context(), honest.Times(3))
	require.NoError(t, err)
	var credit string
	waitFor(t, "the credit", func() bool {
		credit = r.paying(t, in, chain.Credit)
		return credit != ""
	})
	waitFor(t, "its block", func() bool { return r.height(t, gateway) > before })
	require.Equal(t, before+1, honest.block(t, credit).Height)

	stop = r.snapshots(t)
	defer stop()
	honest.mustAwait(t, "/deposit-records", in, "TOT_CONFIRMED")
	require.Equal(t, before+1, r.height(t, gateway), "the gateway has done nothing else")
	require.Empty(t, r.needingOperator(t), "dust is no alarm")
	shown := attacker.mustAwait(t, "/withdraw-records", sent, "FAILED")
	require.Empty(t, shown.RefundState)
	r.refundedByOrder(t, attacker, sent)
	r.waitUntilSettled(t)
}

// refundedByOrder has an operator send one piece of dust back.
func (r *rig) refundedByOrder(t *testing.T, u *testUser, sent string) {
	t.Helper()
	record := recordName(r.recordDetail(t, sent).Record)
	r.mustCommand(t, "records", "refund", record)
	_, err := r.command(t, "records", "refund", record)
	require.ErrorContains(t, err, "nothing to do", "twice")
	waitFor(t, "the refund", func() bool { return u.mustAwait(t, "/withdraw-records", sent, "FAILED").RefundState == "REFUNDED" })
	back := u.block(t, u.mustAwait(t, "/withdraw-records", sent, "FAILED").RefundTxHash)
	require.Equal(t, u.Vite.Address(), back.ToAddress)
	require.Equal(t, chain.NewAmount(1), chain.AmountOf(&back.Amount))
	require.Len(t, r.listRecords(t, "--reason", string(records.ReasonDust), "--limit", "1000"), dustCount-1)
}

// snapshot makes snapshot blocks on a chain without automatic ones.
func (r *rig) snapshot(t *testing.T, n int) {
	t.Helper()
	for range n {
		_, err := r.Exchange.Node.Snapshot()
		require.NoError(t, err)
	}
}

// height is that of an account's newest block on the exchange chain.
func (r *rig) height(t *testing.T, account string) uint64 {
	t.Helper()
	address, err := core.ParseAddress(account)
	require.NoError(t, err)
	latest, err := r.Operator.Node.LatestAccountBlock(t.Context(), address)
	require.NoError(t, err)
	return latest.Height
}
