package records

import "time"

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

// goneFor is how long a transfer must be missing from the line, at least, before wallets are told that it failed (docs/records.md#what-wallets-are-told).
const goneFor = 24 * time.Hour

// PublicState is what wallets are told about a deposit or a withdrawal; docs/records.md has the table.
func PublicState(r *Record) string {
	if r.Direction == Withdrawal {
		return withdrawalState(r)
	}
	return depositState(r)
}

func depositState(r *Record) string {
	switch r.State {
	case Seen:
		return OppositeProcessing
	case Orphaned:
		if r.gone() {
			return OppositeConfirmedFail
		}
		return OppositeProcessing
	case Refused:
		switch r.Reason {
		case ReasonFailed:
			return OppositeConfirmedFail
		case ReasonBelowMinimum:
			return BelowMinimum
		}
		return Failed
	}
	return r.payout(OppositeConfirmed, TotProcessing, TotConfirmed)
}

func withdrawalState(r *Record) string {
	switch r.State {
	case Seen, Orphaned:
		return TotProcessing
	case Refused:
		switch r.Reason {
		case ReasonWrongAddress, ReasonWrongComment:
			return WrongWithdrawAddress
		case ReasonOverMaximum:
			return TotExceedTheLimit
		}
		return Failed
	}
	return r.payout(TotConfirmed, OppositeProcessing, OppositeConfirmed)
}

// payout tells how far the credit is: not signed yet, sent, or final.
func (r *Record) payout(waiting, sent, done string) string {
	switch {
	case r.Credit != nil && r.Credit.State == Paid:
		return done
	case r.CreditTx != "":
		return sent
	}
	return waiting
}

// gone tells whether an orphaned transfer has been missing for twice its confirmations and for a day.
func (r *Record) gone() bool {
	return r.At.Sub(r.ChangedAt) > goneFor && r.Head > r.Height+2*r.depth().Count
}

func (r *Record) depth() Depth {
	if r.Direction == Withdrawal {
		return r.Policy.WithdrawConfirmations
	}
	return r.Policy.DepositConfirmations
}

// Confirmations is how many blocks confirm the transfer and how many are wanted, as wallets show it: "have of want".
func Confirmations(r *Record) (have, want uint64) {
	want = r.depth().Count
	switch {
	case r.State == Orphaned:
		return 0, want
	case r.State != Seen:
		return want, want
	case r.Head < r.Height:
		return 0, want
	}
	return min(r.Head-r.Height+1, want), want
}
