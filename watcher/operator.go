package watcher

import (
	"fmt"

	"gatewayd/chain"
	"gatewayd/records"
)

// Retry sends a stuck transfer on its way again: a held payment is queued, a deposit below its minimum, or of which
// only balances tell and not since when, is credited anyway. It never
// makes a second payment: one that might be on its chain is not touched (facts/gateway.md 3, rule e).
func (w *Watcher) Retry(tx *records.Tx, id uint64) error {
	t, err := tx.Transfer(id)
	if err != nil {
		return err
	}
	payments, err := tx.PaymentsOf(id)
	if err != nil {
		return err
	}
	for _, p := range payments {
		if p.State == records.HeldPayment {
			return tx.MovePayment(p.ID, records.HeldPayment, records.Queued, records.ReasonOperator)
		}
	}
	small := t.State == records.Refused && t.Reason == records.ReasonBelowMinimum
	undated := t.State == records.Held && t.Reason == records.ReasonUnproven && t.Owner != ""
	if t.Direction == records.Deposit && (small || undated) && !t.Net.IsZero() {
		if err := tx.MoveTransfer(id, t.State, records.Final, records.ReasonOperator); err != nil {
			return err
		}
		return w.queueCredit(tx, w.network(t.Network), t)
	}
	return fmt.Errorf("%w: record %d is %s and nothing of it is held", ErrNothingToDo, id, t.State)
}

// Refund sends a transfer back to its sender instead of crediting it: a held payout, or one on the operators' list. A payout that has
// a slot is never refunded: its chain decides first.
func (w *Watcher) Refund(tx *records.Tx, id uint64) error {
	t, err := tx.Transfer(id)
	if err != nil {
		return err
	}
	n := w.network(t.Network)
	if t.Direction == records.Funding {
		return fmt.Errorf("%w: record %d is money of the operators' own", ErrNothingToDo, id)
	}
	if t.State != records.Final && t.State != records.Held {
		return fmt.Errorf("%w: record %d is %s", ErrNothingToDo, id, t.State)
	}
	if err := w.voidCredit(tx, id); err != nil {
		return err
	}
	if err := tx.MoveTransfer(id, t.State, records.Refused, records.ReasonOperator); err != nil {
		return err
	}
	if t.Chain == n.Exchange {
		return w.refundExchange(tx, n, t)
	}
	return w.refundSource(tx, n, t)
}

// voidCredit frees the transfer from a payout that has not been bound.
func (w *Watcher) voidCredit(tx *records.Tx, id uint64) error {
	payments, err := tx.PaymentsOf(id)
	if err != nil {
		return err
	}
	for _, p := range payments {
		if p.Purpose == chain.Receive || p.State == records.VoidPayment {
			continue
		}
		if p.Purpose == chain.Refund || (p.State != records.Queued && p.State != records.HeldPayment) {
			return fmt.Errorf("%w: payment %d is a %s and %s", ErrNothingToDo, p.ID, p.Purpose, p.State)
		}
		if err := tx.MovePayment(p.ID, p.State, records.VoidPayment, records.ReasonOperator); err != nil {
			return err
		}
	}
	return nil
}

func (w *Watcher) refundExchange(tx *records.Tx, n records.Network, t records.Transfer) error {
	if _, err := w.Chains[n.Exchange].CheckAddress(t.From, ""); err != nil {
		return fmt.Errorf("%w: its sender %s cannot be paid", ErrNothingToDo, t.From)
	}
	if t.State == records.Held { // a stray was not received
		if err := queueReceive(tx, n, t); err != nil {
			return err
		}
	}
	return queueRefund(tx, n, t)
}

// refundSource pays a deposit back from a hot account: the one that has it, or one of those that its address is swept to.
func (w *Watcher) refundSource(tx *records.Tx, n records.Network, t records.Transfer) error {
	account := n.PayerOf(n.Source, t)
	known := t.To == n.Shared
	if a, err := tx.Account(n.Source, t.To); err == nil && a.Kind == records.KindHot {
		account, known = t.To, true
	}
	if _, ok := n.ByAsset(t.Asset, 0); ok {
		known = true
	}
	if !known {
		return fmt.Errorf("%w: %s of an unknown kind lies at %s, which pays nothing by itself", ErrNothingToDo, t.Asset, t.To)
	}
	payee, err := w.Chains[n.Source].CheckAddress(t.From, "")
	if err != nil {
		return fmt.Errorf("%w: its sender %s cannot be paid", ErrNothingToDo, t.From)
	}
	_, err = tx.QueuePayment(records.Payment{
		TransferID: t.ID, Purpose: chain.Refund, Network: n.Name, Token: t.Token,
		Chain: n.Source, Account: account, Asset: t.Asset, Amount: t.Amount, Payee: payee,
	})
	return err
}
