package transfers

import (
	"errors"
	"fmt"
	"slices"

	"gatewayd/chain"
	"gatewayd/records"
)

// checkOutcome refuses to make a payment again, or to give it back, when a final transaction of it
// moved something else. The order may state that nothing moved, which is stored in the history.
func (o Order) checkOutcome(tx *records.Tx, p records.Payment) error {
	e, differs, err := tx.Orders().DifferingTx(p.ID)
	if err != nil || !differs {
		return err
	}
	if o.NothingMoved {
		return tx.Orders().NothingMoved(p.ID, e.Tx)
	}
	return fmt.Errorf("%w: payment %d may be paid: its transaction %s is final on %s and differs from the payment. Check it: "+
		"`gatewayd records settle %d %[3]s` if it paid, --nothing-moved if it provably moved no funds", ErrNothingToDo, p.ID, e.Tx, e.Chain, p.TransferID)
}

// mayRetry: a payment is held, or a deposit was not credited for its size or its unknown time.
func mayRetry(s subject) error {
	if _, held := s.held(); held || s.creditableToOwner() {
		return nil
	}
	return fmt.Errorf("%w: record %d is %s and nothing of it is held", ErrNothingToDo, s.ID, s.State)
}

// retry continues a stuck transfer: a held payment is queued. A deposit below its minimum, or one
// that only balances show without a date, is credited anyway. It never makes a second payment: one
// that might be on its chain is not touched.
func (r Rules) retry(tx *records.Tx, o Order, s subject) error {
	if err := o.log(tx, OrderRetry); err != nil {
		return err
	}
	if p, held := s.held(); held {
		if err := o.checkOutcome(tx, p); err != nil {
			return err
		}
		return tx.Payments().Move(p.ID, records.HeldPayment, records.Queued, records.ReasonOperator)
	}
	return r.release(tx, s.Transfer)
}

// mayHold: a payment waits that no operator holds yet.
func mayHold(s subject) error {
	if _, waits := s.waiting(); waits {
		return nil
	}
	return fmt.Errorf("%w: record %d has no pending payment: it has none yet, is held by an operator, or is signed", ErrNothingToDo, s.ID)
}

// hold keeps a payment that waits from being paid until an operator orders otherwise: neither time
// nor people's approvals let it go. What is signed is not held any more.
func (r Rules) hold(tx *records.Tx, o Order, s subject) error {
	if err := o.log(tx, OrderHold); err != nil {
		return err
	}
	p, _ := s.waiting()
	if p.State == records.HeldPayment {
		return tx.Payments().NoteHeld(p.ID, records.ReasonOperator)
	}
	return tx.Payments().Move(p.ID, records.Queued, records.HeldPayment, records.ReasonOperator)
}

// release credits a deposit whose owner is known.
func (r Rules) release(tx *records.Tx, t records.Transfer) error {
	if err := tx.Transfers().Move(t.ID, t.State, records.Final, records.ReasonOperator); err != nil {
		return err
	}
	return r.queueCredit(tx, r.Network(t.Network), t)
}

// mayCredit: the transfer is a deposit that waits for a decision.
func mayCredit(s subject) error {
	switch {
	case s.Direction != records.Deposit:
		return fmt.Errorf("%w: record %d is a %s, only deposits are credited to a wallet", ErrNothingToDo, s.ID, s.Direction)
	case s.State == records.Refused && s.Reason == records.ReasonBelowMinimum:
		return fmt.Errorf("%w: record %d is below the minimum: retry credits it to its owner", ErrNothingToDo, s.ID)
	case s.State != records.Held:
		return fmt.Errorf("%w: record %d is %s", ErrNothingToDo, s.ID, s.State)
	case s.Owner != "" && s.Net.IsZero():
		return fmt.Errorf("%w: record %d is worth less than the smallest unit of the token", ErrNothingToDo, s.ID)
	}
	return notCreditedBefore(s.Transfer)
}

// credit pays a held deposit to a user: the one that the records know, or, where they know none,
// the one that the operator names. Then the policy in force now is frozen into the record. A
// transfer is credited or refunded once: whoever comes second finds it decided.
func (r Rules) credit(tx *records.Tx, o Order, s subject) (err error) {
	if o.To, err = r.wallet(tx, s.Transfer, o.To); err != nil {
		return err
	}
	if err := o.log(tx, OrderCredit); err != nil {
		return err
	}
	if s.Owner == "" {
		return r.attribute(tx, s.Transfer, o)
	}
	return r.release(tx, s.Transfer)
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
	if _, err := tx.Accounts().Get(id, canonical); err == nil {
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
	account, err := tx.Accounts().Get(t.Chain, t.To)
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
	err = tx.Orders().Attribute(t.ID, records.Attribution{Token: token.TokenID, Owner: o.To, Policy: token.Policy, Net: net})
	if err == nil {
		t, err = tx.Transfers().Get(t.ID)
	}
	if err != nil {
		return err
	}
	return r.queueCredit(tx, n, t)
}

// mayRefund: the transfer is not refunded yet, and no payout of it is signed.
func mayRefund(s subject) error {
	if s.Direction == records.Funding {
		return fmt.Errorf("%w: record %d is the operators' own funds", ErrNothingToDo, s.ID)
	}
	if _, found := s.heldRefund(); found {
		return nil
	}
	if s.State != records.Final && s.State != records.Held && !s.tooSmall() {
		return fmt.Errorf("%w: record %d is %s", ErrNothingToDo, s.ID, s.State)
	}
	if err := noneSigned(s); err != nil {
		return err
	}
	return notCreditedBefore(s.Transfer)
}

// noneSigned returns an error if a payout is signed, or a refund exists.
func noneSigned(s subject) error {
	for _, p := range s.payments {
		pays := p.Purpose != chain.Receive && p.State != records.VoidPayment
		if pays && (p.Purpose == chain.Refund || !unsigned(p)) {
			return fmt.Errorf("%w: payment %d is a %s and %s", ErrNothingToDo, p.ID, p.Purpose, p.State)
		}
	}
	return nil
}

// refund sends a transfer back instead of crediting it: a held payout, one that was kept for its
// size, or one on the operators' list. A payout that has a slot is never refunded: its chain
// decides first. A refund that is held goes to another address.
func (r Rules) refund(tx *records.Tx, o Order, s subject) error {
	if held, found := s.heldRefund(); found {
		return r.redirectRefund(tx, o, s.Transfer, held)
	}
	if err := o.log(tx, OrderRefund); err != nil {
		return err
	}
	payee, err := r.refundee(tx, s.Transfer, o.To)
	if err != nil {
		return err
	}
	if err := r.voidCredit(tx, o, s); err != nil {
		return err
	}
	if err := tx.Transfers().Move(s.ID, s.State, records.Refused, records.ReasonOperator); err != nil {
		return err
	}
	n := r.Network(s.Network)
	if s.Chain == n.Exchange {
		return r.refundExchange(tx, n, s.Transfer, payee)
	}
	return r.refundSource(tx, n, s.Transfer, payee)
}

// redirectRefund sends a held refund to the address that the order names. A refund that may be paid
// already, or has an undecided slot, is not touched. A signer with its own nodes asks for
// approvals, because the transfer does not name the new payee.
func (r Rules) redirectRefund(tx *records.Tx, o Order, t records.Transfer, held records.Payment) error {
	if o.To == "" {
		return fmt.Errorf("%w: refund %d of record %d is held: retry it, or name another address with --to", ErrNothingToDo, held.ID, t.ID)
	}
	if err := o.log(tx, OrderRefund); err != nil {
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
	if err := tx.Payments().Move(held.ID, held.State, records.VoidPayment, records.ReasonOperator); err != nil {
		return err
	}
	_, err = tx.Payments().Queue(records.Payment{
		TransferID: t.ID, Purpose: chain.Refund, Network: held.Network, Token: held.Token,
		Chain: held.Chain, Account: held.Account, Asset: held.Asset, Amount: held.Amount, Payee: payee,
	})
	return err
}

// mayReject: a payout waits.
func mayReject(s subject) error {
	pending := func(p records.Payment) bool { return p.Purpose == chain.Credit && unsigned(p) }
	if !slices.ContainsFunc(s.payments, pending) {
		return fmt.Errorf("%w: record %d has no pending payment", ErrNothingToDo, s.ID)
	}
	return mayRefund(s)
}

// Approve keeps what an approver has signed of a payment that waits, and has the signer asked about
// it again.
func Approve(tx *records.Tx, payment uint64, a chain.Approval) error {
	if err := tx.Payments().Approve(payment, a); err != nil {
		return err
	}
	p, err := tx.Payments().Get(payment)
	if err != nil || p.State != records.HeldPayment || !slices.Contains(records.AskedAgain(), p.Reason) {
		return err
	}
	return tx.Payments().Move(payment, records.HeldPayment, records.Queued, "approved")
}

// mayWriteOff: the transfer's block has left the chain after the transfer was decided.
func mayWriteOff(s subject) error {
	switch {
	case s.Incident == "" && s.State == records.Orphaned:
		return fmt.Errorf("%w: record %d was not decided, nothing was paid for it", ErrNothingToDo, s.ID)
	case s.Incident == "":
		return fmt.Errorf("%w: record %d is on its chain, so nothing is lost", ErrNothingToDo, s.ID)
	}
	return nil
}

// writeOff gives up a transfer whose block has left the chain after it was decided: the amount paid
// for it counts as lost, once. Without a payment nothing is lost: its pending payment is void, and
// it is decided again if it comes back.
func (r Rules) writeOff(tx *records.Tx, o Order, s subject) error {
	if err := o.log(tx, OrderWriteOff); err != nil {
		return err
	}
	for _, p := range s.payments {
		if p.State == records.HeldPayment {
			if err := o.checkOutcome(tx, p); err != nil {
				return err
			}
		}
	}
	_, err := tx.Orders().WriteOff(s.ID)
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
	return payee, tx.Orders().AllowRefundTo(t.ID, payee)
}

// voidCredit frees the order's transfer from a payout that has not been bound (noneSigned).
func (r Rules) voidCredit(tx *records.Tx, o Order, s subject) error {
	for _, p := range s.payments {
		if p.Purpose == chain.Receive || p.State == records.VoidPayment {
			continue
		}
		if err := o.checkOutcome(tx, p); err != nil {
			return err
		}
		if err := tx.Payments().Move(p.ID, p.State, records.VoidPayment, records.ReasonOperator); err != nil {
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
	if a, err := tx.Accounts().Get(n.Source, t.To); err == nil && a.Kind == records.KindHot {
		account, known = n.RefunderOf(t.Transfer, n.Source), true
	}
	if _, ok := served(n, records.KindDeposit, t.Asset); ok { // what is configured is swept from any address of a user
		known = true
	}
	if !known {
		return fmt.Errorf("%w: %s of an unknown token is at %s, which makes no payments", ErrNothingToDo, t.Asset, t.To)
	}
	_, err := tx.Payments().Queue(records.Payment{
		TransferID: t.ID, Purpose: chain.Refund, Network: n.Name, Token: t.Token,
		Chain: n.Source, Account: account, Asset: t.Asset, Amount: t.Amount, Payee: payee,
	})
	return err
}

// RecordRefund orders the refund that was made without us: of everything, to whomever it went, or
// of what a failed payout leaves.
func (r Rules) RecordRefund(tx *records.Tx, t records.Transfer, to string, amount chain.Amount) error {
	o := Order{Record: t.ID}
	if amount == t.Amount {
		if to != t.From {
			o.To = to
		}
		return r.Order(tx, OrderRefund, o)
	}
	s, err := subjectOf(tx, t.ID)
	if err == nil {
		err = noneSigned(s)
	}
	if err == nil {
		err = r.voidCredit(tx, o, s)
	}
	if err != nil {
		return err
	}
	if err := tx.Transfers().Move(t.ID, t.State, records.Refused, records.ReasonPayoutFailed); err != nil {
		return err
	}
	return queueRefund(tx, r.Network(t.Network), t, t.From, amount)
}

// mayReclassify: the transfer is held for a reason that another configuration repairs, and has no
// payment.
func mayReclassify(s subject) error {
	switch {
	case s.State != records.Held:
		return fmt.Errorf("%w: record %d is %s", ErrNothingToDo, s.ID, s.State)
	case slices.ContainsFunc(s.payments, func(p records.Payment) bool { return p.State != records.VoidPayment }):
		return fmt.Errorf("%w: record %d has a payment", ErrNothingToDo, s.ID)
	case s.classified() && s.Reason != records.ReasonUnknownToken:
		return fmt.Errorf("%w: record %d is held as %s, and its token %q is known: credit or refund it", ErrNothingToDo, s.ID, s.Reason, s.Token)
	}
	switch s.Reason {
	case records.ReasonUnknownToken, records.ReasonUnbound, records.ReasonUnknownLabel:
		return nil
	}
	return fmt.Errorf("%w: record %d is held as %s, independent of the configuration", ErrNothingToDo, s.ID, s.Reason)
}

// reclassify decides a transfer that is held as a stranger's again, by the configuration of now:
// its sender may be a funder since, or its token served. What follows from it is queued as for a
// new transfer. One that is credited, refunded or has any payment is not touched.
func (r Rules) reclassify(tx *records.Tx, o Order, s subject) error {
	if err := o.log(tx, OrderReclassify); err != nil {
		return err
	}
	n := r.Network(s.Network)
	if s.classified() {
		return r.serveAgain(tx, n, s.Transfer)
	}
	return r.decideAgain(tx, n, s.Transfer)
}

// decideAgain does with a stranger's transfer what is done with a new one that is final.
func (r Rules) decideAgain(tx *records.Tx, n records.Network, t records.Transfer) error {
	account, err := tx.Accounts().Get(t.Chain, t.To)
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
	if err := tx.Orders().Reclassify(row); err != nil {
		return err
	}
	return r.queueFollowing(tx, n, row)
}

// serveAgain continues a transfer whose token had left the configuration when it became final, by
// the policy of its first sight.
func (r Rules) serveAgain(tx *records.Tx, n records.Network, t records.Transfer) error {
	if _, served := n.Token(t.Token); !served {
		return fmt.Errorf("%w: record %d is held as %s, and its token %q is not configured", ErrNothingToDo, t.ID, t.Reason, t.Token)
	}
	if err := tx.Transfers().Move(t.ID, records.Held, records.Final, records.ReasonOperator); err != nil {
		return err
	}
	t.State = records.Final
	return r.queueFollowing(tx, n, t)
}
