package transfers

import (
	"fmt"

	"gatewayd/records"
)

// Decision is the outcome of a transfer that has become final.
type Decision struct {
	State  records.TransferState
	Reason string
	Fault  error // the transfer is held because its reason has no outcome
}

// Decide moves a final transfer out of seen and queues the payments that follow from it. A transfer
// that comes in on the exchange chain is received first.
func (r Rules) Decide(tx *records.Tx, t records.Transfer) (d Decision, err error) {
	n := r.Network(t.Network)
	if _, ok := n.Token(t.Token); !ok && t.Token != "" && (t.Reason == "" || n.Name == "") {
		t.Reason = records.ReasonUnknownToken // it has left the configuration since, or its network has
	}
	t.State, d.Fault = outcome(t.Reason)
	if isDust(t) {
		t.Reason = records.ReasonDust
	}
	d.State, d.Reason = t.State, t.Reason
	if err := tx.MoveTransfer(t.ID, records.Seen, t.State, t.Reason); err != nil {
		return d, err
	}
	return d, r.queueFollowing(tx, n, t)
}

// queueFollowing queues what follows from a transfer that was decided just now.
func (r Rules) queueFollowing(tx *records.Tx, n records.Network, t records.Transfer) error {
	if t.State == records.Held || t.Reason == records.ReasonDust {
		return nil
	}
	if t.Chain == n.Exchange {
		if err := queueReceive(tx, n, t); err != nil {
			return err
		}
	}
	switch {
	case t.Direction == records.Funding:
		return nil
	case t.State == records.Final:
		return r.queueCredit(tx, n, t)
	case t.State == records.Refused && t.Direction == records.Withdrawal:
		return queueRefund(tx, n, t, t.From, t.Amount)
	}
	return nil
}

// outcome returns the state of a final transfer with a reason. A reason without an outcome is an
// error, and its transfer is held: money moves only by a rule.
func outcome(reason string) (records.TransferState, error) {
	switch reason {
	case "", records.ReasonInternal:
		return records.Final, nil
	case records.ReasonUnknownLabel, records.ReasonUnbound, records.ReasonUnknownToken, records.ReasonUnknownSender,
		records.ReasonBeforeAddress, records.ReasonUnproven, records.ReasonWrongType:
		return records.Held, nil
	case records.ReasonBelowMinimum, records.ReasonOverMaximum, records.ReasonWrongAddress, records.ReasonWrongComment, records.ReasonFailed,
		records.ReasonPayeeRefuses, records.ReasonPayeeGas: // the last two after a write-off, when its block is back
		return records.Refused, nil
	}
	return records.Held, fmt.Errorf("no rule decides a transfer with the reason %q", reason)
}

// isDust reports whether a refused withdrawal is too small to be received and refunded
// automatically: both use the quota and the slots that credits need.
func isDust(t records.Transfer) bool {
	return t.State == records.Refused && t.Direction == records.Withdrawal && t.Amount.Less(t.Policy.MinRefund)
}
