package watcher

import (
	"context"
	"errors"

	"gatewayd/chain"
	"gatewayd/records"
)

// errNotAsked: the chain has not been asked yet for whose want a payout failed.
var errNotAsked = errors.New("the chain was not asked yet why a payout failed")

// blamer is a chain that can tell for whose want a payment failed in a final block.
type blamer interface {
	// FailedForUs tells whether an attempt of a payment that failed in the block at a final height did so for want of ours: the account had less of
	// the asset than the payment says, moved being what its transactions before that one took in the same block, or the attempt used up all the
	// gas that we gave it, and we would have given more. chain.ErrUnavailable: no majority of the nodes tells, or keeps the state of that block.
	FailedForUs(ctx context.Context, height uint64, account string, pay chain.Payment, moved chain.Amount, a chain.Attempt) (bool, error)
}

// blame collects what has to be asked outside the database transaction that settles, and keeps the answers until they are used. Its keys are
// transactions in blocks. It decides how often a payout is tried, never whether one is paid.
type blame struct {
	open  map[string]failure
	known map[string]bool
}

// failure is a payout that a final block shows to have failed.
type failure struct {
	effect  records.Effect
	payment records.Payment
	attempt chain.Attempt
	moved   chain.Amount
}

func inBlock(e records.Effect) string { return e.Tx + " " + e.BlockHash }

// oursFailed tells whether a payout that failed is to be tried again, because it failed for want of ours. errNotAsked: the next call will know.
func (f *follower) oursFailed(tx *records.Tx, p records.Payment, att records.Attempt, e records.Effect) (bool, error) {
	if _, ok := f.chain.(blamer); !ok || p.Asset == chain.Native { // coins that an account lacks keep a transaction out of blocks
		return !ok && p.Asset != chain.Native, nil
	}
	if ours, ok := f.blame.known[inBlock(e)]; ok {
		return ours, nil
	}
	moved, err := tx.PaidBefore(e, p.Asset)
	if err != nil {
		return false, err
	}
	if f.blame.open == nil {
		f.blame = blame{map[string]failure{}, map[string]bool{}}
	}
	f.blame.open[inBlock(e)] = failure{e, p, att.Attempt, moved}
	return false, errNotAsked
}

// ask puts to the chain what settling has left open, and tells whether there was anything. Where no majority of nodes tells, the payout counts as
// failed for want of ours: it is tried once more at most, and a second failure costs the same as a first.
func (f *follower) ask(ctx context.Context) (asked bool, err error) {
	f.blame.known = map[string]bool{}
	for at, q := range f.blame.open {
		ours, err := f.chain.(blamer).FailedForUs(ctx, q.effect.Height, q.effect.Account, order(q.payment, chain.Amount{}), q.moved, q.attempt)
		if err != nil && ctx.Err() != nil {
			return false, err
		}
		if err != nil {
			f.log.WithField("payment", q.payment.ID).WithError(err).Warn("asking why a payout failed")
		}
		f.blame.known[at] = ours || err != nil
		asked = true
	}
	clear(f.blame.open)
	return asked, nil
}
