package transfers

import (
	"errors"
	"fmt"
	"slices"

	"gatewayd/chain"
	"gatewayd/records"
)

// Order is an operator's order for one record. The history stores it under the operator's name.
type Order struct {
	Record uint64
	To     string // the wallet to credit, or whom to refund; empty: the owner, or the sender
	Why    string
	Small  bool // credit even what is below the minimum

	NothingMoved bool // of a payment whose transaction differs from it: it moved nothing, provably
}

// log writes an order into the record's history before it is carried out.
func (o Order) log(tx *records.Tx, what string) error {
	if o.To != "" {
		what += " to " + o.To
	}
	if o.Why != "" {
		what += ": " + o.Why
	}
	return tx.Log(records.Event{Subject: "transfer", SubjectID: fmt.Sprint(o.Record), Event: "ordered", Detail: what})
}

// checkOutcome refuses to make a payment again, or to give it back, when a final transaction of it
// moved something else. The order may state that nothing moved, which is stored in the history.
func (o Order) checkOutcome(tx *records.Tx, p records.Payment) error {
	e, differs, err := tx.DifferingTx(p.ID)
	if err != nil || !differs {
		return err
	}
	if o.NothingMoved {
		return tx.NothingMoved(p.ID, e.Tx)
	}
	return fmt.Errorf("%w: payment %d may be paid: its transaction %s is final on %s and differs from the payment. Check it: "+
		"`gatewayd records settle %d %[3]s` if it paid, --nothing-moved if it provably moved no funds", ErrNothingToDo, p.ID, e.Tx, e.Chain, p.TransferID)
}

// Retry continues a stuck transfer: a held payment is queued. A deposit below its minimum, or one
// that only balances show without a date, is credited anyway. It never makes a second payment: one
// that might be on its chain is not touched.
func (r Rules) Retry(tx *records.Tx, o Order) error {
	t, err := tx.Transfer(o.Record)
	if err != nil {
		return err
	}
	payments, err := tx.PaymentsOf(t.ID)
	if err != nil {
		return err
	}
	if err := o.log(tx, "retry"); err != nil {
		return err
	}
	for _, p := range payments {
		if p.State == records.HeldPayment {
			if err := o.checkOutcome(tx, p); err != nil {
				return err
			}
			return tx.MovePayment(p.ID, records.HeldPayment, records.Queued, records.ReasonOperator)
		}
	}
	small := t.State == records.Refused && t.Reason == records.ReasonBelowMinimum
	undated := t.State == records.Held && t.Reason == records.ReasonUnproven && t.Owner != ""
	if t.Direction == records.Deposit && (small || undated) && !t.Net.IsZero() {
		return r.release(tx, t)
	}
	return fmt.Errorf("%w: record %d is %s and nothing of it is held", ErrNothingToDo, t.ID, t.State)
}

// Hold keeps a payment that waits from being paid until an operator orders otherwise: neither time
// nor people's approvals let it go. What is signed is not held any more.
func (r Rules) Hold(tx *records.Tx, o Order) error {
	payments, err := tx.PaymentsOf(o.Record)
	if err != nil {
		return err
	}
	for _, p := range payments {
		waits := p.State == records.Queued || p.State == records.HeldPayment && p.Reason != records.ReasonOperator
		if p.Purpose == chain.Receive || !waits {
			continue
		}
		if err := o.log(tx, "hold"); err != nil {
			return err
		}
		if p.State == records.HeldPayment {
			return tx.NoteHeld(p.ID, records.ReasonOperator)
		}
		return tx.MovePayment(p.ID, records.Queued, records.HeldPayment, records.ReasonOperator)
	}
	return fmt.Errorf("%w: record %d has no pending payment: it has none yet, is held by an operator, or is signed", ErrNothingToDo, o.Record)
}

// release credits a deposit whose owner is known.
func (r Rules) release(tx *records.Tx, t records.Transfer) error {
	if err := tx.MoveTransfer(t.ID, t.State, records.Final, records.ReasonOperator); err != nil {
		return err
	}
	return r.queueCredit(tx, r.Network(t.Network), t)
}

// Credit pays a held deposit to a user: the one that the records know, or, where they know none,
// the one that the operator names. Then the policy in force now is frozen into the record. A
// transfer is credited or refunded once: whoever comes second finds it decided.
func (r Rules) Credit(tx *records.Tx, o Order) error {
	t, err := tx.Transfer(o.Record)
	if err != nil {
		return err
	}
	if err := creditable(t); err != nil {
		return err
	}
	if o.To, err = r.wallet(tx, t, o.To); err != nil {
		return err
	}
	if err := o.log(tx, "credit"); err != nil {
		return err
	}
	if t.Owner == "" {
		return r.attribute(tx, t, o)
	}
	if t.Net.IsZero() {
		return fmt.Errorf("%w: record %d is worth less than the smallest unit of the token", ErrNothingToDo, t.ID)
	}
	return r.release(tx, t)
}

// creditable reports whether a transfer is a deposit that waits for a decision.
func creditable(t records.Transfer) error {
	switch {
	case t.Direction != records.Deposit:
		return fmt.Errorf("%w: record %d is a %s, only deposits are credited to a wallet", ErrNothingToDo, t.ID, t.Direction)
	case t.State == records.Refused && t.Reason == records.ReasonBelowMinimum:
		return fmt.Errorf("%w: record %d is below the minimum: retry credits it to its owner", ErrNothingToDo, t.ID)
	case t.State != records.Held:
		return fmt.Errorf("%w: record %d is %s", ErrNothingToDo, t.ID, t.State)
	}
	return notCreditedBefore(t)
}

// notCreditedBefore refuses what came into the records a second time, as a block's transfer after
// its credit as a balance's surplus.
func notCreditedBefore(t records.Transfer) error {
	if t.Reason == records.ReasonFoundByAudit {
		return fmt.Errorf("%w: record %d was credited before, when balances showed it", ErrNothingToDo, t.ID)
	}
	return nil
}

// wallet is the canonical address to credit.
func (r Rules) wallet(tx *records.Tx, t records.Transfer, to string) (string, error) {
	switch {
	case t.Owner == "" && to == "":
		return "", fmt.Errorf("%w: the owner of record %d is unknown: name a wallet", ErrNothingToDo, t.ID)
	case to == "":
		return t.Owner, nil
	}
	canonical, err := r.payee(tx, r.Network(t.Network).Exchange, to)
	if err == nil && t.Owner != "" && t.Owner != canonical {
		err = fmt.Errorf("%w: record %d belongs to %s: only this wallet can be credited", ErrNothingToDo, t.ID, t.Owner)
	}
	return canonical, err
}

// payee is the canonical form of an address that an operator wants paid; none of ours is.
func (r Rules) payee(tx *records.Tx, id chain.ID, address string) (string, error) {
	canonical, ok := r.Payable(id, address, "")
	if !ok {
		return "", fmt.Errorf("%w: %s is not a payable address on %s", ErrNothingToDo, address, id)
	}
	if _, err := tx.Account(id, canonical); err == nil {
		return "", fmt.Errorf("%w: %s is one of our own accounts", ErrNothingToDo, canonical)
	} else if !errors.Is(err, records.ErrNotFound) {
		return "", err
	}
	return canonical, nil
}

// attribute names the owner of a deposit without one, freezes the present policy of its token, and
// credits it.
func (r Rules) attribute(tx *records.Tx, t records.Transfer, o Order) error {
	n := r.Network(t.Network)
	account, err := tx.Account(t.Chain, t.To)
	if err != nil {
		return err
	}
	token, ok := served(n, account.Kind, t.Asset)
	if !ok {
		return fmt.Errorf("%w: network %s has no token for the asset %s", ErrNothingToDo, n.Name, t.Asset)
	}
	net, reason := valueOf(&t, token)
	if reason == records.ReasonBelowMinimum && o.Small && !net.IsZero() {
		reason = ""
	}
	if reason != "" {
		return fmt.Errorf("%w: record %d is %s", ErrNothingToDo, t.ID, reason)
	}
	err = tx.Attribute(t.ID, records.Attribution{Token: token.TokenID, Owner: o.To, Policy: token.Policy, Net: net})
	if err == nil {
		t, err = tx.Transfer(t.ID)
	}
	if err != nil {
		return err
	}
	return r.queueCredit(tx, n, t)
}

// Refund sends a transfer back instead of crediting it: a held payout, dust, or one on the
// operators' list. A payout that has a slot is never refunded: its chain decides first. A refund
// that is held goes to another address.
func (r Rules) Refund(tx *records.Tx, o Order) error {
	t, err := tx.Transfer(o.Record)
	if err != nil {
		return err
	}
	if t.Direction == records.Funding {
		return fmt.Errorf("%w: record %d is the operators' own funds", ErrNothingToDo, t.ID)
	}
	held, found, err := heldRefund(tx, t.ID)
	if err != nil {
		return err
	}
	if found {
		return r.redirectRefund(tx, o, t, held)
	}
	dust := t.State == records.Refused && t.Reason == records.ReasonDust
	if t.State != records.Final && t.State != records.Held && !dust {
		return fmt.Errorf("%w: record %d is %s", ErrNothingToDo, t.ID, t.State)
	}
	if err := notCreditedBefore(t); err != nil {
		return err
	}
	if err := o.log(tx, "refund"); err != nil {
		return err
	}
	payee, err := r.refundee(tx, t, o.To)
	if err != nil {
		return err
	}
	if err := r.voidCredit(tx, o); err != nil {
		return err
	}
	if err := tx.MoveTransfer(t.ID, t.State, records.Refused, records.ReasonOperator); err != nil {
		return err
	}
	n := r.Network(t.Network)
	if t.Chain == n.Exchange {
		return r.refundExchange(tx, n, t, payee)
	}
	return r.refundSource(tx, n, t, payee)
}

// heldRefund returns the refund of a transfer that is held.
func heldRefund(tx *records.Tx, id uint64) (held records.Payment, found bool, err error) {
	payments, err := tx.PaymentsOf(id)
	for _, p := range payments {
		if p.Purpose == chain.Refund && p.State == records.HeldPayment {
			held, found = p, true
		}
	}
	return held, found, err
}

// redirectRefund sends a held refund to the address that the order names. A refund that may be paid
// already, or has an undecided slot, is not touched. A signer with its own nodes asks for
// approvals, because the transfer does not name the new payee.
func (r Rules) redirectRefund(tx *records.Tx, o Order, t records.Transfer, held records.Payment) error {
	if o.To == "" {
		return fmt.Errorf("%w: refund %d of record %d is held: retry it, or name another address with --to", ErrNothingToDo, held.ID, t.ID)
	}
	if err := o.log(tx, "refund"); err != nil {
		return err
	}
	payee, err := r.refundee(tx, t, o.To)
	if err != nil {
		return err
	}
	if payee == held.Payee {
		return fmt.Errorf("%w: refund %d of record %d goes to %s already: retry it", ErrNothingToDo, held.ID, t.ID, payee)
	}
	if err := o.checkOutcome(tx, held); err != nil {
		return err
	}
	if err := tx.MovePayment(held.ID, held.State, records.VoidPayment, records.ReasonOperator); err != nil {
		return err
	}
	_, err = tx.QueuePayment(records.Payment{
		TransferID: t.ID, Purpose: chain.Refund, Network: held.Network, Token: held.Token,
		Chain: held.Chain, Account: held.Account, Asset: held.Asset, Amount: held.Amount, Payee: payee,
	})
	return err
}

// Reject sends a transfer back whose payment waits, for approvals or for whatever else the signer
// holds it: nothing is kept of it.
func (r Rules) Reject(tx *records.Tx, o Order) error {
	payments, err := tx.PaymentsOf(o.Record)
	if err != nil {
		return err
	}
	waits := func(p records.Payment) bool {
		return p.Purpose == chain.Credit && (p.State == records.HeldPayment || p.State == records.Queued)
	}
	if !slices.ContainsFunc(payments, waits) {
		return fmt.Errorf("%w: record %d has no pending payment", ErrNothingToDo, o.Record)
	}
	return r.Refund(tx, o)
}

// Approve keeps what an approver has signed of a payment that waits, and has the signer asked about
// it again.
func Approve(tx *records.Tx, payment uint64, a chain.Approval) error {
	if err := tx.AddApproval(payment, a); err != nil {
		return err
	}
	p, err := tx.Payment(payment)
	if err != nil || p.State != records.HeldPayment || !slices.Contains(records.AskedAgain(), p.Reason) {
		return err
	}
	return tx.MovePayment(payment, records.HeldPayment, records.Queued, "approved")
}

// WriteOff gives up a transfer whose block has left the chain after it was decided: the amount paid
// for it counts as lost, once. Without a payment nothing is lost: its pending payment is void, and
// it is decided again if it comes back.
func (r Rules) WriteOff(tx *records.Tx, o Order) error {
	t, err := tx.Transfer(o.Record)
	if err != nil {
		return err
	}
	if t.Incident == "" && t.State == records.Orphaned {
		return fmt.Errorf("%w: record %d was not decided, nothing was paid for it", ErrNothingToDo, t.ID)
	}
	if t.Incident == "" {
		return fmt.Errorf("%w: record %d is on its chain, so nothing is lost", ErrNothingToDo, t.ID)
	}
	if err := o.log(tx, "write-off"); err != nil {
		return err
	}
	payments, err := tx.PaymentsOf(t.ID)
	for _, p := range payments {
		if err == nil && p.State == records.HeldPayment {
			err = o.checkOutcome(tx, p)
		}
	}
	if err != nil {
		return err
	}
	_, err = tx.WriteOff(t.ID)
	if errors.Is(err, records.ErrConflict) {
		err = fmt.Errorf("%w: %w", ErrNothingToDo, err)
	}
	return err
}

// refundee is who gets a refund: the sender, or another that the operator names, which is noted for
// the checks of the books.
func (r Rules) refundee(tx *records.Tx, t records.Transfer, to string) (string, error) {
	if to == "" {
		payee, ok := r.Payable(t.Chain, t.From, "")
		if !ok {
			return "", fmt.Errorf("%w: its sender %s cannot be paid: name an address", ErrNothingToDo, t.From)
		}
		return payee, nil
	}
	payee, err := r.payee(tx, t.Chain, to)
	if err != nil || payee == t.From {
		return payee, err
	}
	return payee, tx.AllowRefundTo(t.ID, payee)
}

// voidCredit frees the order's transfer from a payout that has not been bound.
func (r Rules) voidCredit(tx *records.Tx, o Order) error {
	payments, err := tx.PaymentsOf(o.Record)
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
		if err := o.checkOutcome(tx, p); err != nil {
			return err
		}
		if err := tx.MovePayment(p.ID, p.State, records.VoidPayment, records.ReasonOperator); err != nil {
			return err
		}
	}
	return nil
}

func (r Rules) refundExchange(tx *records.Tx, n records.Network, t records.Transfer, payee string) error {
	if t.State != records.Final { // neither strays nor dust were received
		if err := queueReceive(tx, n, t); err != nil {
			return err
		}
	}
	return queueRefund(tx, n, t, payee, t.Amount)
}

// refundSource pays a deposit back from a hot account: the one that has it, or one of those that
// its address is swept to.
func (r Rules) refundSource(tx *records.Tx, n records.Network, t records.Transfer, payee string) error {
	account := n.PayerOf(n.Source, t.Transfer, t.Chain)
	known := t.To == n.Shared
	if a, err := tx.Account(n.Source, t.To); err == nil && a.Kind == records.KindHot {
		account, known = n.RefunderOf(t.Transfer, n.Source), true
	}
	if _, ok := served(n, records.KindDeposit, t.Asset); ok { // what is configured is swept from any address of a user
		known = true
	}
	if !known {
		return fmt.Errorf("%w: %s of an unknown token is at %s, which makes no payments", ErrNothingToDo, t.Asset, t.To)
	}
	_, err := tx.QueuePayment(records.Payment{
		TransferID: t.ID, Purpose: chain.Refund, Network: n.Name, Token: t.Token,
		Chain: n.Source, Account: account, Asset: t.Asset, Amount: t.Amount, Payee: payee,
	})
	return err
}

// RecordRefund orders the refund that was made without us: of everything, to whomever it went, or
// of what a failed payout leaves.
func (r Rules) RecordRefund(tx *records.Tx, t records.Transfer, to string, amount chain.Amount) error {
	if amount == t.Amount {
		o := Order{Record: t.ID}
		if to != t.From {
			o.To = to
		}
		return r.Refund(tx, o)
	}
	if err := r.voidCredit(tx, Order{Record: t.ID}); err != nil {
		return err
	}
	if err := tx.MoveTransfer(t.ID, t.State, records.Refused, records.ReasonPayoutFailed); err != nil {
		return err
	}
	return queueRefund(tx, r.Network(t.Network), t, t.From, amount)
}

// Reclassify decides a transfer that is held as a stranger's again, by the configuration of now:
// its sender may be a funder since, or its token served. What follows from it is queued as for a
// new transfer. One that is credited, refunded or has any payment is not touched.
func (r Rules) Reclassify(tx *records.Tx, o Order) error {
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
	if err := o.log(tx, "reclassify"); err != nil {
		return err
	}
	n := r.Network(t.Network)
	if t.Owner != "" || t.Token != "" {
		return r.serveAgain(tx, n, t)
	}
	return r.decideAgain(tx, n, t)
}

// decideAgain does with a stranger's transfer what is done with a new one that is final.
func (r Rules) decideAgain(tx *records.Tx, n records.Network, t records.Transfer) error {
	switch t.Reason {
	case records.ReasonUnknownToken, records.ReasonUnbound, records.ReasonUnknownLabel:
	default: // no configuration repairs another reason
		return fmt.Errorf("%w: record %d is held as %s, independent of the configuration", ErrNothingToDo, t.ID, t.Reason)
	}
	account, err := tx.Account(t.Chain, t.To)
	if err != nil {
		return err
	}
	row := records.Transfer{ID: t.ID, Network: t.Network, Chain: t.Chain, Transfer: t.Transfer, Height: t.Height}
	if account.Kind == records.KindGateway {
		err = r.withdrawal(tx, n, &row)
	} else {
		err = r.deposit(tx, n, account.Kind, &row)
	}
	if err != nil {
		return err
	}
	row.State, err = outcome(row.Reason)
	if err != nil {
		return err
	}
	if row.State == records.Held {
		return fmt.Errorf("%w: by the current configuration record %d is held as %s", ErrNothingToDo, t.ID, row.Reason)
	}
	if row.State == records.Final {
		row.Reason = records.ReasonOperator
	} else if isDust(row) {
		row.Reason = records.ReasonDust
	}
	if err := tx.Reclassify(row); err != nil {
		return err
	}
	return r.queueFollowing(tx, n, row)
}

// serveAgain continues a transfer whose token had left the configuration when it became final, by
// the policy of its first sight.
func (r Rules) serveAgain(tx *records.Tx, n records.Network, t records.Transfer) error {
	if _, served := n.Token(t.Token); !served || t.Reason != records.ReasonUnknownToken {
		return fmt.Errorf("%w: record %d is held as %s, and its token %q is known: credit or refund it", ErrNothingToDo, t.ID, t.Reason, t.Token)
	}
	if err := tx.MoveTransfer(t.ID, records.Held, records.Final, records.ReasonOperator); err != nil {
		return err
	}
	t.State = records.Final
	return r.queueFollowing(tx, n, t)
}
