package follow

import (
	"context"
	"errors"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/transfers"
	"gatewayd/watcher/frozen"
)

// errAnswerPending means that the chain was not asked yet why a payout failed, or that the signer
// has not read the block yet.
var errAnswerPending = errors.New("the reason of the failed payout is not known yet, or the signer has not received the block")

// cause is for whose want a payment failed on its chain.
type cause struct {
	ours    bool  // our account lacked something
	refused error // frozen.ErrFrozen or frozen.ErrTokenLimit: the token refused it to any payee
}

// failureQueries holds the failed payments about which the chain must be asked, outside the
// database transaction that settles, and the answers until they are used. Its keys are transactions
// in blocks. The answers decide how often a payment is tried, never whether one is paid.
type failureQueries struct {
	open  map[string]failure
	known map[string]cause
}

// failure is a payment that a final block shows to have failed.
type failure struct {
	ownTx   records.OwnTx
	payment records.Payment
	attempt chain.Attempt
	moved   chain.Amount
}

func txInBlock(e records.OwnTx) string { return e.Tx + " " + e.BlockHash }

// blame reports whether a payment that failed is tried again. again means that it would be the
// first time. A withdrawal's payout is tried again if it failed for our own lack; other payments
// always are. If the token refuses every payee, the failure does not count: the payment waits, and
// the channels stop if the token refuses every payment of the account. errAnswerPending: ask again
// after askWhyFailed.
func (f *Follower) blame(tx *records.Tx, q failure, t records.Transfer, again bool) (bool, error) {
	if q.payment.Asset == chain.Native { // coins that an account lacks keep a transaction out of blocks
		return again && t.ID == 0, nil
	}
	checks := chain.CapabilitiesOf(f.chain).Failures != nil
	tries, err := f.mayBeFrozen(tx, q)
	if err != nil {
		return false, err
	}
	if !tries && (!checks || t.ID == 0 || !again) {
		return again, nil
	}
	why, ok := f.failures.known[txInBlock(q.ownTx)]
	if !ok {
		return false, f.ask(tx, q)
	}
	if errors.Is(why.refused, frozen.ErrFrozen) {
		return true, f.deps.Tokens.Close(tx, f.deps.Rules().Network(q.payment.Network), q.payment.Asset, q.payment.Account, why.refused)
	}
	if why.refused != nil {
		return true, nil
	}
	return again && (t.ID == 0 || why.ours), nil
}

// mayBeFrozen reports whether the chain can determine that a token refuses every payment of the
// paying account.
func (f *Follower) mayBeFrozen(tx *records.Tx, q failure) (bool, error) {
	if chain.CapabilitiesOf(f.chain).Tries == nil {
		return false, nil
	}
	a, err := tx.Accounts().Get(f.id, q.ownTx.Account)
	return a.Kind == records.KindHot, err
}

// ask has askWhyFailed ask about a payment.
func (f *Follower) ask(tx *records.Tx, q failure) (err error) {
	if q.moved, err = tx.OwnTxs().PaidBefore(q.ownTx, q.payment.Asset); err != nil {
		return err
	}
	if f.failures.open == nil {
		f.failures = failureQueries{map[string]failure{}, map[string]cause{}}
	}
	f.failures.open[txInBlock(q.ownTx)] = q
	return errAnswerPending
}

// askWhyFailed asks the chain about the payments in f.failures and reports whether there were any.
// Where no majority of nodes answers, the payment counts as one to be tried again: that happens
// once at most, and a second failure costs the same as the first.
func (f *Follower) askWhyFailed(ctx context.Context) (asked bool, err error) {
	f.failures.known = map[string]cause{}
	for at, q := range f.failures.open {
		why, err := f.whyFailed(ctx, q)
		if err != nil && ctx.Err() != nil {
			return false, err
		}
		if err != nil {
			f.log.WithField("payment", q.payment.ID).WithError(err).Warn("reading the reason of a failed payment")
			why.ours = true
		}
		f.failures.known[at] = why
		asked = true
	}
	clear(f.failures.open)
	return asked, nil
}

// whyFailed asks whom the token refused on the block and on the one before it, since the account
// may have been frozen or freed in it.
func (f *Follower) whyFailed(ctx context.Context, q failure) (why cause, err error) {
	var faults error
	if chain.CapabilitiesOf(f.chain).Tries != nil && f.deps.Rules().Network(q.payment.Network).Pays(f.id, q.ownTx.Account) {
		for _, height := range []uint64{q.ownTx.Height, q.ownTx.Height - 1} {
			err := f.deps.Tokens.WhoRefuses(ctx, height, q.ownTx.Account, q.payment)
			switch {
			case errors.Is(err, frozen.ErrFrozen), errors.Is(err, frozen.ErrTokenLimit):
				return cause{refused: err}, nil
			case errors.Is(err, chain.ErrUnavailable):
				faults = err
			}
		}
	}
	c := chain.CapabilitiesOf(f.chain).Failures
	if c == nil {
		return cause{ours: true}, faults
	}
	ours, err := c.FailedForUs(ctx, q.ownTx.Height, q.ownTx.Account, transfers.ChainPayment(q.payment, chain.Amount{}), q.moved, q.attempt)
	return cause{ours: ours}, errors.Join(faults, err)
}
