package recovery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/transfers"
)

// Settle records that a final transaction of ours which is not in our records paid a record: its
// credit, its refund or its receive, whichever requests exactly the transaction's effect. When it
// is the record's refund and none is ordered, the refund is ordered first: also one to a party
// other than the sender, since an operator names the record. ErrNothingToDo: the transaction is
// none such, or does not fit, or a slot of the payment is not decided. It also settles a held
// payment whose transaction moved something else, as an operator has verified (payout_differs).
func (r *Recovery) Settle(ctx context.Context, record uint64, hash string) error {
	if done, err := r.settleDiffering(ctx, record, hash); err != nil || done {
		return err
	}
	e, err := r.ownTx(ctx, hash)
	if err != nil {
		return err
	}
	out, err := r.describe(ctx, e)
	if err != nil {
		return fmt.Errorf("reading %s: %w", hash, err)
	}
	if len(out.Members) > 0 {
		return r.settleBatch(ctx, record, e)
	}
	signed, err := r.trace(ctx, e, out, 0)
	if err != nil {
		return err
	}
	credited, err := r.credited(ctx, record)
	if err == nil {
		err = r.showToSigner(ctx, e)
	}
	if err != nil {
		return err
	}
	return r.Store.Update(ctx, func(tx *records.Tx) error {
		if fits, err := signed.of(tx, []uint64{record}); err != nil || len(fits) == 0 {
			return cmp.Or(err, fmt.Errorf("%w: %s was signed for %s, not for record %d", transfers.ErrNothingToDo, hash, signed, record))
		}
		p, err := r.settles(tx, record, e, out, credited)
		if err != nil {
			return err
		}
		return tx.Recovery().SettleUnknownTx(hash, p)
	})
}

// settleDiffering settles the held payment of a record, or a sweep, gas or cold payment as of
// record 0, that a transaction of its own may have paid; false when it is none of such a payment.
func (r *Recovery) settleDiffering(ctx context.Context, record uint64, hash string) (done bool, err error) {
	err = r.Store.Update(ctx, func(tx *records.Tx) error {
		for id := range r.Chains {
			slots, _, err := tx.Slots().AttemptByHash(id, hash)
			if err != nil {
				return err
			}
			for _, s := range slots {
				p, err := tx.Payments().Get(s.PaymentID)
				if err != nil {
					return err
				}
				e, differs, err := tx.Orders().DifferingTx(p.ID)
				if err != nil {
					return err
				}
				if done = differs && e.Tx == hash && p.TransferID == record && p.State == records.HeldPayment; done {
					return tx.Orders().SettleDiffering(p.ID, hash)
				}
			}
		}
		return nil
	})
	return done && err == nil, err
}

// credited returns an unexplained transaction that matches the record's unpaid credit, or is empty.
func (r *Recovery) credited(ctx context.Context, record uint64) (hash string, err error) {
	var credits []records.Payment
	err = r.Store.View(ctx, func(tx *records.Tx) error {
		credits, err = tx.Payments().Of(record)
		return err
	})
	for _, p := range credits {
		if p.Purpose != chain.Credit || p.State == records.Paid || p.State == records.VoidPayment {
			continue
		}
		var unknown []records.OwnTx
		err := r.Store.View(ctx, func(tx *records.Tx) (err error) {
			unknown, err = tx.Recovery().UnknownTxs(p.Chain, p.Account)
			return err
		})
		if err != nil {
			return "", err
		}
		for _, e := range unknown {
			if out, err := r.describe(ctx, e); err != nil || e.OK && fits(p, out) {
				return e.Tx, err
			}
		}
	}
	return "", err
}

func (r *Recovery) ownTx(ctx context.Context, hash string) (e records.OwnTx, err error) {
	found := false
	err = r.Store.View(ctx, func(tx *records.Tx) error {
		e, found, err = tx.OwnTxs().ByHash(hash)
		return err
	})
	if err == nil && !found {
		err = fmt.Errorf("%w: no final block that the daemon has read contains %s from one of our accounts", transfers.ErrNothingToDo, hash)
	}
	return e, err
}

// settles finds the payment of a record that a transaction paid, or orders the refund that it was.
func (r *Recovery) settles(tx *records.Tx, record uint64, e records.OwnTx, out chain.Outgoing, credited string) (uint64, error) {
	t, err := tx.Transfers().Get(record)
	if err != nil {
		return 0, err
	}
	id, err := unpaidPayment(tx, record, e, out)
	if err != nil || id != 0 {
		return id, err
	}
	refund := out.Source == "" && t.Chain == e.Chain && t.Asset == out.Asset && (t.Amount == out.Amount || t.From == out.To && refundsNet(t, out.Amount))
	switch {
	case !refund:
		return 0, fmt.Errorf("%w: %s moved %s of %s to %q, which does not match record %d", transfers.ErrNothingToDo, e.Tx, out.Amount, out.Asset, out.To, record)
	case credited != "":
		return 0, fmt.Errorf("%w: record %d is credited, not refunded: %s matches its credit", transfers.ErrNothingToDo, record, credited)
	}
	if err := voidBlockedSlots(tx, record); err != nil {
		return 0, err
	}
	if err := r.Rules().RecordRefund(tx, t, out.To, out.Amount); err != nil {
		return 0, err
	}
	if id, err = unpaidPayment(tx, record, e, out); err == nil && id == 0 {
		err = fmt.Errorf("%w: a refund of record %d would leave another account than %s", transfers.ErrNothingToDo, record, e.Account)
	}
	return id, err
}

// refundsNet reports whether an amount equals the refund of a withdrawal with a failed payout.
func refundsNet(t records.Transfer, amount chain.Amount) bool {
	return t.Direction == records.Withdrawal && amount == t.Net
}

// voidBlockedSlots frees the payments of a record that are bound to slots of stopped accounts which
// can pay nothing any more.
func voidBlockedSlots(tx *records.Tx, record uint64) error {
	payments, err := tx.Payments().Of(record)
	if err != nil {
		return err
	}
	for _, p := range payments {
		if p.State != records.Bound {
			continue
		}
		if err := tx.Recovery().VoidBlocked(p.Chain, p.Account); err != nil && !errors.Is(err, records.ErrConflict) {
			return err
		}
	}
	return nil
}

// unpaidPayment is the payment of a record that waits for what a transaction did, or 0.
func unpaidPayment(tx *records.Tx, record uint64, e records.OwnTx, out chain.Outgoing) (uint64, error) {
	payments, err := tx.Payments().Of(record)
	for _, p := range payments {
		waits := p.State == records.Queued || p.State == records.HeldPayment || p.State == records.Bound
		if waits && p.Chain == e.Chain && p.Account == e.Account && fits(p, out) {
			return p.ID, nil
		}
	}
	return 0, err
}

// Settled is one answer of SettleAll.
type Settled struct {
	Payment uint64
	Tx      string
	// the sign-guard knows that it was signed for this payment; otherwise it is the oldest of those
	// alike
	Signed bool
}

// SettleAll settles every unexplained transaction of a stopped account to the unpaid payment that
// it was signed for. Without the sign-guard's data, it takes the oldest that requests exactly its
// effect: identical payments are the same to their payee.
func (r *Recovery) SettleAll(ctx context.Context, id chain.ID, account string, patience time.Duration) ([]Settled, error) {
	list, err := r.UnknownTxs(ctx, id, account, patience)
	if err != nil {
		return nil, err
	}
	if err := r.showToSigner(ctx, ownTxsOf(list)...); err != nil {
		return nil, err
	}
	var done []Settled
	taken := map[uint64]bool{}
	err = r.Store.Update(ctx, func(tx *records.Tx) error {
		for _, known := range []bool{true, false} { // what is known first, so that nothing else takes its payment
			for _, f := range list {
				payments, all := f.choose(taken)
				if f.Known != known || !all {
					continue
				}
				if err := tx.Recovery().SettleUnknownTx(f.Tx, payments...); err != nil {
					return err
				}
				for _, p := range payments {
					if p != 0 {
						taken[p] = true
						done = append(done, Settled{p, f.Tx, known})
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return done, nil
}

func ownTxsOf(list []UnknownTx) []records.OwnTx {
	out := make([]records.OwnTx, len(list))
	for i, f := range list {
		out[i] = f.OwnTx
	}
	return out
}

// Accept records in the history that an operator knows of a transaction which pays none of our
// liabilities. One that fits an unpaid payment or an open refund is not accepted: it must be
// settled.
func (r *Recovery) Accept(ctx context.Context, id chain.ID, account, hash, why string, patience time.Duration) error {
	list, err := r.UnknownTxs(ctx, id, account, patience)
	if err != nil {
		return err
	}
	for _, f := range list {
		if f.Tx == hash {
			return r.accept(ctx, f, why)
		}
	}
	return fmt.Errorf("%w: %s is not an unexplained transaction of %s", transfers.ErrNothingToDo, hash, account)
}

func (r *Recovery) accept(ctx context.Context, f UnknownTx, why string) error {
	if f.Cold != "" {
		return fmt.Errorf("%w: %s went to the cold address: resuming the account settles it automatically", transfers.ErrNothingToDo, f.Tx)
	}
	if payments, all := f.choose(nil); len(f.Batch) > 0 && !all && len(f.Pays) > 0 {
		return r.settlePart(ctx, f, payments, why)
	}
	if len(f.Pays) > 0 {
		return fmt.Errorf("%w: %s matches payment %d of record %d: settle it", transfers.ErrNothingToDo, f.Tx, f.Pays[0].ID, f.Pays[0].TransferID)
	}
	if len(f.Refunds) > 0 {
		return fmt.Errorf("%w: %s matches a refund of record %d: settle it", transfers.ErrNothingToDo, f.Tx, f.Refunds[0])
	}
	if err := r.showToSigner(ctx, f.OwnTx); err != nil {
		return err
	}
	return r.Store.Update(ctx, func(tx *records.Tx) error { return tx.Recovery().AcceptUnknownTx(f.Chain, f.Account, f.Tx, why) })
}

// Resume lets a stopped account sign again. It first accepts transactions that cannot have paid a
// user, and settles those to the cold address. Then it requires, in this order: everything of the
// account on the ledger final; every final transaction of every account on the network's chains
// explained; and nothing left that only the sign-guard has. The last applies to every other stopped
// paying account of the network, too, whose payments may be this one's refunds. ErrNotAtRest,
// ErrBehind: ask again later; the daemon works on it. ErrNothingToDo: an operator must explain or
// decide something first.
func (r *Recovery) Resume(ctx context.Context, id chain.ID, account string, patience time.Duration) error {
	s, err := r.Position(ctx, id, account)
	if err != nil {
		return err
	}
	if s.Account.State != records.AccountHalted && s.Account.State != records.AccountRecovering {
		return fmt.Errorf("%w: the account is %s", transfers.ErrNothingToDo, s.Account.State)
	}
	list, err := r.UnknownTxs(ctx, id, account, patience)
	if err != nil {
		return err
	}
	if err := r.explain(ctx, list); err != nil {
		return err
	}
	if err := r.atRest(ctx, s); err != nil {
		return err
	}
	return r.Store.Update(ctx, func(tx *records.Tx) error {
		if err := r.explained(tx, s.Account); err != nil {
			return err
		}
		if err := tx.Recovery().Resume(id, account, s.resumption()); err != nil {
			return err
		}
		if err := releaseSweeps(tx, id, account); err != nil {
			return err
		}
		return r.Guard.Release(ctx, id, account, s.Tip.Next) // proven by final blocks, so also right if this transaction is lost
	})
}

// releaseSweeps voids the sweeps and the cold money of an account that wait for a slot: their
// amounts may have moved since, and the next sweep recomputes them. Top-ups stay, because a signed
// sweep may wait for its coins.
func releaseSweeps(tx *records.Tx, id chain.ID, account string) error {
	waiting, err := tx.Recovery().Unpaid(id, account)
	if err != nil {
		return err
	}
	for _, p := range waiting {
		if p.State == records.Bound || p.Purpose != chain.Sweep && p.Purpose != chain.Cold {
			continue
		}
		err := tx.Payments().Move(p.ID, p.State, records.VoidPayment, "recounted after a recovery")
		if err != nil && !errors.Is(err, records.ErrConflict) { // an older line of ours may still carry it out
			return err
		}
	}
	return nil
}

// explain accepts what can have paid no user, settles what went to the cold address, and names the
// first transaction that may have.
func (r *Recovery) explain(ctx context.Context, list []UnknownTx) error {
	for _, f := range list {
		if f.Cold == "" && (f.Harmless == "" || len(f.Pays) > 0) {
			return fmt.Errorf("%w: transaction %s of %s %s and is not explained%s: settle or accept it",
				transfers.ErrNothingToDo, f.Tx, f.Account, f.did(), signedFor(f.Signed))
		}
	}
	if err := r.showToSigner(ctx, ownTxsOf(list)...); err != nil {
		return err
	}
	for _, f := range list {
		err := r.Store.Update(ctx, func(tx *records.Tx) error {
			if f.Cold != "" {
				return r.settleCold(tx, f)
			}
			return tx.Recovery().AcceptUnknownTx(f.Chain, f.Account, f.Tx, f.Harmless)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// signedFor describes the signed payment of a transaction, in the middle of a sentence.
func signedFor(what string) string {
	if what == "" {
		return ""
	}
	return " (it was signed for " + what + ")"
}

// settleCold makes a transaction to the cold address a payment there, so that the books know where
// the money is.
func (r *Recovery) settleCold(tx *records.Tx, f UnknownTx) error {
	a, err := tx.Accounts().Get(f.Chain, f.Account)
	if err != nil {
		return err
	}
	return tx.Recovery().SettleUnknownCold(records.Payment{
		Purpose: chain.Cold, Network: a.Network, Token: f.Cold, Chain: f.Chain, Account: f.Account, Asset: f.Out.Asset, Amount: f.Out.Amount, Payee: f.Out.To,
	}, f.Tx, "sent by hand, found when the account was resumed")
}

// atRest is ErrNotAtRest while something of the account, or of another stopped paying account of
// its network, may still be mined. The account is then put to recovering: the daemon sees what it
// knows through and cancels the rest.
func (r *Recovery) atRest(ctx context.Context, s Position) error {
	if why := s.moving(); why != "" {
		return errors.Join(fmt.Errorf("%w: %s", ErrNotAtRest, why), r.recovering(ctx, s, why))
	}
	others, err := r.stoppedBeside(ctx, s.Account)
	if err != nil {
		return err
	}
	for _, o := range others {
		beside, err := r.Position(ctx, o.Chain, o.Account)
		if err != nil {
			return err
		}
		if why := beside.moving(); why != "" {
			return fmt.Errorf("%w: %s", ErrNotAtRest, why)
		}
	}
	return nil
}

// recovering is the state in which the daemon brings an account to rest. Where blocks are linked it
// has no means to, and needs none.
func (r *Recovery) recovering(ctx context.Context, s Position, why string) error {
	if s.Account.State == records.AccountRecovering || s.Tip.Hash != "" {
		return nil
	}
	return r.Store.Update(ctx, func(tx *records.Tx) error {
		return tx.Accounts().SetState(s.Account.Chain, s.Account.Account, records.AccountRecovering, why)
	})
}

func (r *Recovery) stoppedBeside(ctx context.Context, a records.Account) (list []records.Account, err error) {
	n := r.network(a)
	err = r.Store.View(ctx, func(tx *records.Tx) error {
		for _, id := range []chain.ID{n.Source, n.Exchange} {
			stopped, err := tx.Recovery().StoppedAccounts(id)
			if err != nil {
				return err
			}
			for _, s := range stopped {
				if s.Network == a.Network && s.Kind != records.KindDeposit && (s.Chain != a.Chain || s.Account != a.Account) {
					list = append(list, s)
				}
			}
		}
		return nil
	})
	return list, err
}

// explained requires consistent books on both chains of a network before anything is signed again:
// an unknown transaction of one account may have paid a pending payment of another.
func (r *Recovery) explained(tx *records.Tx, a records.Account) error {
	n := r.network(a)
	for _, id := range []chain.ID{n.Source, n.Exchange} {
		open, err := tx.Recovery().Unexplained(id)
		if err != nil {
			return err
		}
		for _, other := range open {
			harmless, err := r.harmlessAccount(tx, id, other)
			if err != nil {
				return err
			}
			if !harmless {
				return fmt.Errorf("%w: %s on %s made transactions that are not explained: settle or accept them first", transfers.ErrNothingToDo, other, id)
			}
		}
	}
	return nil
}

// harmlessAccount reports whether an account pays none of our users: the hot account continues
// without a check of all deposit addresses.
func (r *Recovery) harmlessAccount(tx *records.Tx, id chain.ID, account string) (bool, error) {
	a, err := tx.Accounts().Get(id, account)
	return a.Kind == records.KindDeposit || a.Kind == records.KindGas, err
}
