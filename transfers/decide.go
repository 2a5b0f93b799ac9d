package transfers

import (
	"fmt"

	"gatewayd/records"
)

// Decision is the outcome of a transfer that has become final.
type Decision struct {
	State  records.TransferState
	Reason records.Reason
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
	if err := tx.Transfers().Move(t.ID, records.Seen, t.State, t.Reason); err != nil {
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
func outcome(reason records.Reason) (records.TransferState, error) {
	if reason == "" {
		return records.Final, nil
	}
	if info, known := records.ReasonOf(reason); known && info.Outcome != "" {
		return info.Outcome, nil
	}
	return records.Held, fmt.Errorf("no rule decides a transfer with the reason %q", reason)
}

// isDust reports whether a refused withdrawal is too small to be received and refunded
// automatically: both use the quota and the slots that credits need.
func isDust(t records.Transfer) bool {
	return t.State == records.Refused && t.Direction == records.Withdrawal && t.Amount.Less(t.Policy.MinRefund)
}
