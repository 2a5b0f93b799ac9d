package watcher

import (
	"fmt"

	"github.com/sirupsen/logrus"

	"gatewayd/records"
)

// maxSettled bounds how many transfers, and how many transactions of ours, one database transaction decides.
const maxSettled = 500

// decideFinal moves transfers that are deep enough out of seen, and queues the payments that follow from them in the same transaction. more tells
// that others may be left.
func (f *follower) decideFinal(tx *records.Tx, cur records.Cursor) (more bool, err error) {
	due, err := tx.DueTransfers(f.id, maxSettled)
	if err != nil {
		return false, err
	}
	decided := 0
	for _, t := range due {
		if !t.Depth().Reached(t.Height, cur.Height, cur.Final.Height) {
			continue
		}
		if err := f.decide(tx, t); err != nil {
			return false, fmt.Errorf("deciding transfer %d: %w", t.ID, err)
		}
		decided++
	}
	f.news = f.news || decided > 0
	return len(due) == maxSettled && decided > 0, nil
}

// decide acts on what classify found. Money that is taken in on the exchange chain is received first.
func (w *Watcher) decide(tx *records.Tx, t records.Transfer) error {
	n := w.network(t.Network)
	if _, ok := n.Token(t.Token); !ok && t.Token != "" && (t.Reason == "" || n.Name == "") {
		t.Reason = records.ReasonUnknownToken // it has left the configuration since, or its network has
	}
	state := outcome(t)
	if isDust(t, state) {
		t.Reason = records.ReasonDust
	}
	if err := tx.MoveTransfer(t.ID, records.Seen, state, t.Reason); err != nil {
		return err
	}
	w.Log.WithFields(logrus.Fields{"transfer": t.ID, "state": state, "reason": t.Reason}).Log(levelOf(tx, t), "transfer decided")
	t.State = state
	return w.queueFollowing(tx, n, t)
}

// queueFollowing queues what follows from a transfer that was decided just now.
func (w *Watcher) queueFollowing(tx *records.Tx, n records.Network, t records.Transfer) error {
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
		return w.queueCredit(tx, n, t)
	case t.Direction == records.Withdrawal:
		return queueRefund(tx, n, t, t.From, t.Amount)
	}
	return nil
}

// outcome is the state that a transfer's reason leads to once it is final.
func outcome(t records.Transfer) records.TransferState {
	switch t.Reason {
	case "", records.ReasonInternal:
		return records.Final
	case records.ReasonUnknownLabel, records.ReasonUnbound, records.ReasonUnknownToken, records.ReasonUnknownSender,
		records.ReasonBeforeAddress, records.ReasonUnproven, records.ReasonWrongType:
		return records.Held
	default:
		return records.Refused
	}
}

// isDust reports whether a withdrawal is refused and so small that neither its receive nor its refund is made by itself: both use the quota and the
// slots that credits need, while sending it costs next to nothing.
func isDust(t records.Transfer, state records.TransferState) bool {
	return state == records.Refused && t.Direction == records.Withdrawal && t.Amount.Less(t.Policy.MinRefund)
}

// network is the configured network of a name; one that has left the configuration has no tokens.
func (w *Watcher) network(name string) records.Network {
	for _, n := range w.networks() {
		if n.Name == name {
			return n
		}
	}
	return records.Network{}
}
