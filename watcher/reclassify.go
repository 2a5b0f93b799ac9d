package watcher

import (
	"fmt"
	"slices"

	"gatewayd/records"
)

// Reclassify decides a transfer that is held as a stranger's again, by the configuration of now: its sender may be a funder since, or its token served.
// What follows from it is queued as for a new transfer. One that is credited, refunded or has any payment is not touched.
func (w *Watcher) Reclassify(tx *records.Tx, o Order) error {
	t, err := tx.Transfer(o.Record)
	if err != nil {
		return err
	}
	payments, err := tx.PaymentsOf(t.ID)
	if err != nil {
		return err
	}
	switch {
	case t.State != records.Held:
		return fmt.Errorf("%w: record %d is %s", ErrNothingToDo, t.ID, t.State)
	case slices.ContainsFunc(payments, func(p records.Payment) bool { return p.State != records.VoidPayment }):
		return fmt.Errorf("%w: record %d has a payment", ErrNothingToDo, t.ID)
	}
	if err := o.note(tx, "reclassify"); err != nil {
		return err
	}
	n := w.network(t.Network)
	if t.Owner != "" || t.Token != "" {
		return w.serveAgain(tx, n, t)
	}
	return w.decideAgain(tx, n, t)
}

// decideAgain does with a stranger's transfer what is done with a new one that is final.
func (w *Watcher) decideAgain(tx *records.Tx, n records.Network, t records.Transfer) error {
	switch t.Reason {
	case records.ReasonUnknownToken, records.ReasonUnbound, records.ReasonUnknownLabel:
	default: // what is held for another reason no configuration mends
		return fmt.Errorf("%w: record %d is held as %s, whatever the configuration says", ErrNothingToDo, t.ID, t.Reason)
	}
	account, err := tx.Account(t.Chain, t.To)
	if err != nil {
		return err
	}
	row := records.Transfer{ID: t.ID, Network: t.Network, Chain: t.Chain, Transfer: t.Transfer, Height: t.Height}
	if account.Kind == records.KindGateway {
		err = w.withdrawal(tx, n, &row)
	} else {
		err = w.deposit(tx, n, account.Kind, &row)
	}
	if err != nil {
		return err
	}
	row.State = outcome(row)
	if row.State == records.Held {
		return fmt.Errorf("%w: by the configuration of now record %d is held as %s", ErrNothingToDo, t.ID, row.Reason)
	}
	if row.State == records.Final {
		row.Reason = records.ReasonOperator
	} else if isDust(row, row.State) {
		row.Reason = records.ReasonDust
	}
	if err := tx.Reclassify(row); err != nil {
		return err
	}
	return w.follows(tx, n, row)
}

// serveAgain goes on with a transfer whose token had left the configuration when it became final, by the policy of its first sight.
func (w *Watcher) serveAgain(tx *records.Tx, n records.Network, t records.Transfer) error {
	if _, served := n.Token(t.Token); !served || t.Reason != records.ReasonUnknownToken {
		return fmt.Errorf("%w: record %d is held as %s, and its token %q is known: credit or refund it", ErrNothingToDo, t.ID, t.Reason, t.Token)
	}
	if err := tx.MoveTransfer(t.ID, records.Held, records.Final, records.ReasonOperator); err != nil {
		return err
	}
	t.State = records.Final
	return w.follows(tx, n, t)
}
