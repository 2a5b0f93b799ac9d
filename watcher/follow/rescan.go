package follow

import (
	"context"
	"errors"
	"fmt"

	"github.com/sirupsen/logrus"

	"gatewayd/chain"
	"gatewayd/records"
)

// maxRescans bounds the ordered blocks of a round, so that following continues meanwhile.
const maxRescans = 64

// rescan reads the blocks again that operators have ordered, and books what the records miss of
// them. An order that the rules do not allow, or whose block no node gives, has failed: following
// does not wait for it.
func (f *Follower) rescan(ctx context.Context) error {
	var open []records.Rescan
	err := f.deps.Store.View(ctx, func(tx *records.Tx) (err error) {
		open, err = records.OpenRescans(tx, f.id, maxRescans)
		return err
	})
	if err != nil {
		return err
	}
	for _, o := range open {
		if err := f.rescanOne(ctx, o); err != nil {
			return fmt.Errorf("booking block %d again: %w", o.Height, err)
		}
	}
	return nil
}

func (f *Follower) rescanOne(ctx context.Context, o records.Rescan) error {
	b, err := f.chain.Block(ctx, o.Height)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	switch {
	case err != nil:
		return f.endRescan(ctx, o, records.RescanFailed, "the nodes do not return this block: "+err.Error())
	case b.Hash != o.Hash:
		return f.endRescan(ctx, o, records.RescanFailed, "the nodes have a different block now: "+b.Hash)
	}
	if err := f.findSpenders(ctx, []chain.Block{b}); err != nil {
		return err
	}
	f.settled = chain.Head{}
	err = f.deps.Store.Update(records.WithActor(ctx, o.Actor), func(tx *records.Tx) error {
		n, err := f.bookAgain(tx, b)
		if err != nil {
			return err
		}
		return records.EndRescan(tx, o, records.RescanDone, fmt.Sprintf("%d booked", n))
	})
	if err == nil || ctx.Err() != nil || errors.Is(err, records.ErrFenced) || errors.Is(err, records.ErrUnknownOutcome) {
		return err
	}
	return f.endRescan(ctx, o, records.RescanFailed, err.Error())
}

func (f *Follower) endRescan(ctx context.Context, o records.Rescan, state records.RescanState, detail string) error {
	f.log.WithFields(logrus.Fields{"height": o.Height, "state": state}).Warn("rescan: " + detail)
	return f.deps.Store.Update(records.WithActor(ctx, o.Actor), func(tx *records.Tx) error { return records.EndRescan(tx, o, state, detail) })
}

// bookAgain stores what the records miss of a block of the line, as the follower does with a new
// one. It changes nothing the second time.
func (f *Follower) bookAgain(tx *records.Tx, b chain.Block) (booked int, err error) {
	if err := tx.Chains().EnsureBlock(f.id, b); err != nil {
		return 0, err
	}
	for _, t := range b.Transfers {
		changed, err := f.storeLateTransfer(tx, t, b)
		if err != nil {
			return 0, fmt.Errorf("transfer %s: %w", t.Ref, err)
		}
		booked += countIf(changed)
	}
	for _, e := range b.OwnTxs {
		changed, err := tx.OwnTxs().SeeLate(records.OwnTx{Chain: f.id, BlockHash: b.Hash, Height: b.Height, OwnTx: e})
		if err != nil {
			return 0, fmt.Errorf("our transaction %s: %w", e.Tx, err)
		}
		booked += countIf(changed)
	}
	return booked, nil
}

func countIf(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// storeLateTransfer is StoreTransfer for a block that is read again: a transfer to an address
// before it was given to its user belongs to no user.
func (f *Follower) storeLateTransfer(tx *records.Tx, t chain.Transfer, b chain.Block) (changed bool, err error) {
	row, ok, err := f.deps.Rules().Classify(tx, f.id, t)
	if err != nil || !ok {
		return false, err
	}
	early, err := tx.Chains().BeforeAddress(f.id, t.To, b.Height)
	if err != nil {
		return false, err
	}
	if early && row.Owner != "" {
		row.Reason, row.Token, row.Owner, row.Payee, row.Net = records.ReasonBeforeAddress, "", "", "", chain.Amount{}
	}
	return f.storeRow(tx, row, b)
}
