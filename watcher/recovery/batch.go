package recovery

import (
	"context"
	"fmt"
	"slices"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/transfers"
)

// matchBatch matches each payment of a batch as a transaction of its own.
func (r *Recovery) matchBatch(ctx context.Context, f UnknownTx) (UnknownTx, error) {
	made := f.Made(len(f.Out.Members))
	f.Known, f.Harmless = true, "none of its payments was made"
	for place, out := range f.Out.Members {
		one := UnknownTx{OwnTx: f.OwnTx, Out: out}
		one.OK, one.Void = made[place] == chain.MemberPaid, made[place] == chain.MemberVoid
		one, err := r.matchOne(ctx, one, place)
		if err != nil {
			return f, err
		}
		f.Batch = append(f.Batch, one)
		if one.OK {
			f.Harmless, f.Known, f.Pays = "", f.Known && one.Known, append(f.Pays, one.Pays...)
		}
	}
	f.Signed = fmt.Sprintf("%d payments", len(f.Batch))
	return f, nil
}

// choose finds a payment that is not taken for each payment that a transaction made, by place; zero
// where nothing was paid, or nothing of ours fits. all reports whether everything that was paid
// fits one of ours.
func (f UnknownTx) choose(taken map[uint64]bool) (payments []uint64, all bool) {
	members := f.Batch
	if len(members) == 0 {
		members = []UnknownTx{f}
	}
	payments, all = make([]uint64, len(members)), true
	some := false
	for place, one := range members {
		i := slices.IndexFunc(one.Pays, func(p records.Payment) bool { return !taken[p.ID] && !slices.Contains(payments, p.ID) })
		if i >= 0 {
			payments[place], some = one.Pays[i].ID, true
		} else if one.OK {
			all = false
		}
	}
	return payments, all && some
}

// settleBatch settles all payments of a batch, one of which is a record's.
func (r *Recovery) settleBatch(ctx context.Context, record uint64, e records.OwnTx) error {
	f, err := r.match(ctx, e)
	if err != nil {
		return err
	}
	payments, all := f.choose(nil)
	of := slices.ContainsFunc(f.Pays, func(p records.Payment) bool { return p.TransferID == record && slices.Contains(payments, p.ID) })
	switch {
	case !of:
		return fmt.Errorf("%w: no payment of %s matches record %d", transfers.ErrNothingToDo, e.Tx, record)
	case !all:
		return fmt.Errorf("%w: %s made payments that match no record: accepting it settles the others", transfers.ErrNothingToDo, e.Tx)
	}
	if err := r.showToSigner(ctx, e); err != nil {
		return err
	}
	return r.Store.Update(ctx, func(tx *records.Tx) error { return tx.Recovery().SettleUnknownTx(e.Tx, payments...) })
}

// settlePart settles what fits of a batch, and keeps an operator's word on the rest.
func (r *Recovery) settlePart(ctx context.Context, f UnknownTx, payments []uint64, why string) error {
	if err := r.showToSigner(ctx, f.OwnTx); err != nil {
		return err
	}
	return r.Store.Update(ctx, func(tx *records.Tx) error {
		if err := tx.Recovery().SettleUnknownTx(f.Tx, payments...); err != nil {
			return err
		}
		return tx.Log(records.Event{Subject: "account", SubjectID: f.Account, Event: "accepted", Detail: f.Tx + " " + why})
	})
}

// did describes a transaction's effect, in the middle of a sentence.
func (f UnknownTx) did() string {
	if len(f.Batch) > 0 {
		return fmt.Sprintf("made %d payments", len(f.Batch))
	}
	return fmt.Sprintf("moved %s of %s to %s", f.Out.Amount, f.Out.Asset, f.Out.To)
}
