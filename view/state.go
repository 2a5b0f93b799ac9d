package view

import (
	"time"

	"gatewayd/policy"
	"gatewayd/records"
)

// Public names of record states, as wallets know them. "Opposite" is the source chain, "TOT" the
// token on the exchange chain.
const (
	OppositeProcessing    = "OPPOSITE_PROCESSING"
	OppositeConfirmed     = "OPPOSITE_CONFIRMED"
	OppositeConfirmedFail = "OPPOSITE_CONFIRMED_FAIL"
	BelowMinimum          = "BELOW_MINIMUM"
	TotProcessing         = "TOT_PROCESSING"
	TotConfirmed          = "TOT_CONFIRMED"
	TotExceedTheLimit     = "TOT_EXCEED_THE_LIMIT"
	WrongWithdrawAddress  = "WRONG_WITHDRAW_ADDRESS"
	Failed                = "FAILED"
)

// goneFor is the minimum time for which a transfer must be missing from the chain before wallets
// see it as failed (docs/records.md#what-wallets-are-told).
const goneFor = 24 * time.Hour

// PublicState returns the state of a deposit or a withdrawal for wallets; docs/records.md has the
// table.
func PublicState(r *records.Record) string {
	if r.Direction == records.Withdrawal {
		return withdrawalState(r)
	}
	return depositState(r)
}

func depositState(r *records.Record) string {
	switch r.State {
	case records.Seen:
		return OppositeProcessing
	case records.Orphaned:
		if gone(r) {
			return OppositeConfirmedFail
		}
		return OppositeProcessing
	case records.Refused:
		switch r.Reason {
		case records.ReasonFailed:
			return OppositeConfirmedFail
		case records.ReasonBelowMinimum:
			return BelowMinimum
		case records.ReasonOperator:
			if r.Net.Less(r.Policy.MinDeposit) { // refunded by order: its sender has seen this state
				return BelowMinimum
			}
		}
		return Failed
	}
	return payout(r, OppositeConfirmed, TotProcessing, TotConfirmed)
}

func withdrawalState(r *records.Record) string {
	switch r.State {
	case records.Seen, records.Orphaned:
		return TotProcessing
	case records.Refused:
		switch r.Reason {
		case records.ReasonWrongAddress, records.ReasonWrongComment:
			return WrongWithdrawAddress
		case records.ReasonOverMaximum:
			return TotExceedTheLimit
		}
		return Failed
	}
	return payout(r, TotConfirmed, OppositeProcessing, OppositeConfirmed)
}

// payout returns the credit's progress: not signed yet, sent, or final.
func payout(r *records.Record, waiting, sent, done string) string {
	switch {
	case r.Credit != nil && r.Credit.State == records.Paid:
		return done
	case r.CreditTx != "":
		return sent
	}
	return waiting
}

// gone reports whether an orphaned transfer has been missing for twice its confirmations and for a
// day.
func gone(r *records.Record) bool {
	return r.At.Sub(r.ChangedAt) > goneFor && r.Head > r.Height+2*depth(r).Count
}

func depth(r *records.Record) policy.Depth {
	if r.Direction == records.Withdrawal {
		return r.Policy.WithdrawConfirmations
	}
	return r.Policy.DepositConfirmations
}

// Confirmations returns the number of blocks that confirm the transfer and the number required, as
// wallets show it: "have of want".
func Confirmations(r *records.Record) (have, want uint64) {
	want = depth(r).Count
	switch {
	case r.State == records.Orphaned:
		return 0, want
	case r.State != records.Seen:
		return want, want
	case r.Head < r.Height:
		return 0, want
	}
	return min(r.Head-r.Height+1, want), want
}
