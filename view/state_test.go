package view_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/view"
)

func TestPublicState(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	queued, bound, paid := &records.Payment{State: records.Queued}, &records.Payment{State: records.Bound}, &records.Payment{State: records.Paid}
	held := &records.Payment{State: records.HeldPayment}
	type record struct {
		state  records.TransferState
		reason records.Reason
		credit *records.Payment
		tx     string
	}
	tests := []struct {
		record
		deposit, withdrawal string
	}{
		{record{state: records.Seen}, "OPPOSITE_PROCESSING", "TOT_PROCESSING"},
		{record{state: records.Seen, reason: records.ReasonBelowMinimum}, "OPPOSITE_PROCESSING", "TOT_PROCESSING"},
		{record{state: records.Orphaned}, "OPPOSITE_PROCESSING", "TOT_PROCESSING"},
		{record{state: records.Final}, "OPPOSITE_CONFIRMED", "TOT_CONFIRMED"},
		{record{state: records.Final, credit: queued}, "OPPOSITE_CONFIRMED", "TOT_CONFIRMED"},
		{record{state: records.Final, credit: held}, "OPPOSITE_CONFIRMED", "TOT_CONFIRMED"},
		{record{state: records.Final, credit: bound}, "OPPOSITE_CONFIRMED", "TOT_CONFIRMED"},
		{record{state: records.Final, credit: bound, tx: "h"}, "TOT_PROCESSING", "OPPOSITE_PROCESSING"},
		{record{state: records.Final, credit: paid, tx: "h"}, "TOT_CONFIRMED", "OPPOSITE_CONFIRMED"},
		{record{state: records.Held, reason: records.ReasonOperator}, "OPPOSITE_CONFIRMED", "TOT_CONFIRMED"},
		{record{state: records.Refused, reason: records.ReasonFailed}, "OPPOSITE_CONFIRMED_FAIL", "FAILED"},
		{record{state: records.Refused, reason: records.ReasonBelowMinimum}, "BELOW_MINIMUM", "FAILED"},
		{record{state: records.Refused, reason: records.ReasonWrongAddress}, "FAILED", "WRONG_WITHDRAW_ADDRESS"},
		{record{state: records.Refused, reason: records.ReasonWrongComment}, "FAILED", "WRONG_WITHDRAW_ADDRESS"},
		{record{state: records.Refused, reason: records.ReasonOverMaximum}, "FAILED", "TOT_EXCEED_THE_LIMIT"},
		{record{state: records.Refused, reason: records.ReasonPayoutFailed}, "FAILED", "FAILED"},
		{record{state: records.Refused, reason: records.ReasonOperator}, "FAILED", "FAILED"},
	}
	for _, tt := range tests {
		r := records.Record{At: now, Credit: tt.credit, CreditTx: tt.tx}
		r.State, r.Reason, r.ChangedAt = tt.state, tt.reason, now
		r.Direction = records.Deposit
		require.Equal(t, tt.deposit, view.PublicState(&r), "deposit %+v", tt.record)
		r.Direction = records.Withdrawal
		require.Equal(t, tt.withdrawal, view.PublicState(&r), "withdrawal %+v", tt.record)
	}
}

// TestRefundedSmallDeposit: wallets keep showing why a deposit was not credited.
func TestRefundedSmallDeposit(t *testing.T) {
	var r records.Record
	r.State, r.Reason, r.Direction, r.Net = records.Refused, records.ReasonOperator, records.Deposit, chain.NewAmount(99)
	r.Policy.MinDeposit = chain.NewAmount(100)
	require.Equal(t, "BELOW_MINIMUM", view.PublicState(&r))
	r.Net = chain.NewAmount(100)
	require.Equal(t, "FAILED", view.PublicState(&r))
}

// TestGone: an orphaned deposit is called failed only after a day and twice its confirmations.
func TestGone(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	tests := []struct {
		missing time.Duration
		blocks  uint64
		want    string
	}{
		{time.Hour, 1000, "OPPOSITE_PROCESSING"},
		{25 * time.Hour, 20, "OPPOSITE_PROCESSING"},
		{25 * time.Hour, 25, "OPPOSITE_CONFIRMED_FAIL"},
	}
	for _, tt := range tests {
		r := records.Record{At: now, Head: 1000 + tt.blocks}
		r.Direction, r.State, r.Height, r.ChangedAt = records.Deposit, records.Orphaned, 1000, now.Add(-tt.missing)
		r.Policy.DepositConfirmations.Count = 12
		require.Equal(t, tt.want, view.PublicState(&r), "%s, %d blocks", tt.missing, tt.blocks)
	}
}

func TestConfirmations(t *testing.T) {
	tests := []struct {
		state  records.TransferState
		height uint64
		head   uint64
		have   uint64
	}{
		{records.Seen, 100, 100, 1},
		{records.Seen, 100, 104, 5},
		{records.Seen, 100, 500, 12},
		{records.Seen, 100, 99, 0},
		{records.Orphaned, 100, 500, 0},
		{records.Final, 100, 101, 12},
		{records.Refused, 100, 101, 12},
	}
	for _, tt := range tests {
		r := records.Record{Head: tt.head}
		r.Direction, r.State, r.Height = records.Deposit, tt.state, tt.height
		r.Policy.DepositConfirmations.Count, r.Policy.WithdrawConfirmations.Count = 12, 30
		have, want := view.Confirmations(&r)
		require.Equal(t, []uint64{tt.have, 12}, []uint64{have, want}, "%+v", tt)
		r.Direction = records.Withdrawal
		_, want = view.Confirmations(&r)
		require.Equal(t, uint64(30), want)
	}
}
