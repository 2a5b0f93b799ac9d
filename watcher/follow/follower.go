// Package follow keeps the records on each chain's line: it reads blocks, stores what they show of
// ours, goes back over re-orgs, decides what has become final, and settles our own transactions.
package follow

import (
	"context"
	"errors"
	"fmt"

	"github.com/sirupsen/logrus"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/records/signguard"
	"gatewayd/transfers"
	"gatewayd/watcher/frozen"
	"gatewayd/watcher/reconcile"
	"gatewayd/watcher/recovery"
)

// Signer lets the signer see for itself what final blocks show of its signatures.
type Signer interface {
	ReadOutcomes(ctx context.Context, id chain.ID, height uint64) error
	// Anchors returns which coins the sign-guard has signed for as those of numbers.
	Anchors(ctx context.Context, id chain.ID, coins ...string) ([]signguard.Anchor, error)
	// Free is signguard.ErrRefused while the signer has not seen that the payment lost its slot, if
	// it reads blocks itself.
	Free(ctx context.Context, paymentID uint64) error
}

// Parts are a Follower's dependencies. Store must be fenced by the daemon's lease.
type Parts struct {
	Store      records.Transactor
	Rules      func() transfers.Rules
	Tokens     *frozen.Tokens
	Signer     Signer
	Wake       func() // wakes the payers
	FetchAhead int    // blocks read in parallel from a linked chain that answers no ranges
	Log        logrus.FieldLogger
}

// New makes the follower of a chain.
func New(p Parts, id chain.ID, c chain.Chain) *Follower {
	return &Follower{deps: p, id: id, chain: c, coins: chain.CapabilitiesOf(c).Coins != nil, log: p.Log.WithField("chain", id), ahead: newReadAhead()}
}

// Follower keeps the database on a chain's line: block by block, back over re-orgs, never below the
// final point.
type Follower struct {
	deps  Parts
	id    chain.ID
	chain chain.Chain
	coins bool // it is a ledger of coins
	log   logrus.FieldLogger

	settled      chain.Head // the head up to which everything was decided; zero after the cursor has moved
	news         bool       // something has changed that a payer may work on, since the payers were woken last
	failures     failureQueries
	signerBlocks signerBlocks
	ahead        readAhead
}

// maxRows bounds the transfers to us and transactions of ours in one database transaction.
const maxRows = 1000

// Round brings the cursor to the head and decides what has become final.
func (f *Follower) Round(ctx context.Context) error {
	head, err := f.chain.Head(ctx)
	if err != nil {
		return fmt.Errorf("asking for the head: %w", err)
	}
	cur, err := f.cursor(ctx, head)
	if err != nil || cur.Halted {
		return err
	}
	if err := f.follow(ctx, cur, head); err != nil {
		return f.haltOn(ctx, err, head)
	}
	if err := f.rescan(ctx); err != nil {
		return err
	}
	if cur, err = f.cursor(ctx, head); err != nil {
		return err
	}
	if err := f.settleOrStepBack(ctx, cur, head); err != nil {
		return f.haltOn(ctx, err, head)
	}
	if f.news { // most blocks have nothing for us, and a payer's round costs more than such a block
		f.news = false
		f.deps.Wake()
	}
	if head.Latest.Height < cur.Final.Height {
		return cur.ShorterLine(head.Latest.Height)
	}
	return nil
}

// follow applies blocks up to the head. It changes direction once at most: a node that lags behind
// on a fork would otherwise make it step forward and back forever, and the next round may ask a
// better node. When blocks cannot be read after others were applied, the round ends without an
// error: the next one reads only the missing ones.
func (f *Follower) follow(ctx context.Context, cur records.Cursor, head chain.Head) error {
	back, again, progress := false, false, false
	for cur.Height < head.Latest.Height || (cur.Height == head.Latest.Height && cur.Hash != head.Latest.Hash) {
		next, err := f.advance(ctx, cur, head)
		switch {
		case progress && errors.Is(err, errReading):
			f.log.WithError(err).Debug("reading again in the next round")
			return nil
		case err != nil:
			return err
		case next.Missing:
			return nil
		case next.Height >= cur.Height:
			progress = progress || next.Height > cur.Height
			again = back
		case again:
			return nil
		default:
			back = true
		}
		cur = next
	}
	return nil
}

// settleOrStepBack settles. When our block at the new final height is not the final one, our line
// is a fork and is undone block by block.
func (f *Follower) settleOrStepBack(ctx context.Context, cur records.Cursor, head chain.Head) error {
	err := f.settle(ctx, head)
	if errors.Is(err, records.ErrParent) {
		_, err = f.stepBackIfProven(ctx, cur, head)
	}
	return err
}

// cursor returns our position; a chain that was never followed starts at its final point.
func (f *Follower) cursor(ctx context.Context, head chain.Head) (cur records.Cursor, err error) {
	read := func(tx *records.Tx) error {
		cur, err = tx.Chains().Cursor(f.id)
		return err
	}
	if err := f.deps.Store.View(ctx, read); err != nil || !cur.Missing {
		return cur, err
	}
	err = f.deps.Store.Update(ctx, func(tx *records.Tx) error {
		if err := tx.Chains().Start(f.id, head.Final); err != nil {
			return err
		}
		if err := tx.Chains().SetHead(f.id, head); err != nil {
			return err
		}
		return read(tx)
	})
	return cur, err
}

// advance applies the next few blocks, or steps back one when the line has changed. A cursor with
// Missing set means that the node's line ends here for now.
func (f *Follower) advance(ctx context.Context, cur records.Cursor, head chain.Head) (records.Cursor, error) {
	if cur.Height >= head.Latest.Height {
		return f.stepBackIfProven(ctx, cur, head)
	}
	blocks, fresh, err := f.next(ctx, cur.Height+1, head.Latest.Height)
	if errors.Is(err, chain.ErrNotFound) {
		cur.Missing = true
		return cur, nil
	}
	if err != nil {
		return cur, err
	}
	line := linked(blocks, cur.Hash)
	if err := f.findSpenders(ctx, line); err != nil {
		return cur, err
	}
	if len(line) < len(blocks) {
		f.ahead.drop()
	}
	switch {
	case len(line) == 0 && fresh:
		return f.stepBackIfProven(ctx, cur, head)
	case len(line) == 0: // kept blocks may be older than the chain's change
		return f.advance(ctx, cur, head)
	}
	stored, err := f.applyAndSettle(ctx, line, head)
	if err == nil && !stored {
		err = f.applyAll(ctx, line)
		stored = err == nil
	}
	if !stored {
		f.ahead.drop()
	}
	if err != nil {
		return cur, err
	}
	cur.Point = line[len(line)-1].Point
	if err := f.settleOrStepBack(ctx, cur, head); err != nil {
		return cur, err
	}
	return f.cursor(ctx, head)
}

// applyAndSettle stores blocks that one transaction takes, and settles in the same transaction: at
// the head of a chain that is one durable commit a block instead of two. It stores nothing where
// that does not work, so that applying and settling apart can show which one fails.
func (f *Follower) applyAndSettle(ctx context.Context, blocks []chain.Block, head chain.Head) (stored bool, err error) {
	if groupSize(blocks) < len(blocks) {
		return false, nil
	}
	both := func(ctx context.Context, head chain.Head) (more bool, err error) {
		err = f.deps.Store.Update(ctx, func(tx *records.Tx) error {
			if err := f.applyBlocks(tx, blocks); err != nil {
				return err
			}
			more, err = f.settleIn(ctx, tx, head)
			return err
		})
		stored = err == nil
		return more, err
	}
	f.settled = chain.Head{}
	err = f.settleFrom(ctx, head, both)
	if !stored && ctx.Err() == nil && !errors.Is(err, records.ErrFenced) && !errors.Is(err, records.ErrUnknownOutcome) {
		err = nil
	}
	return stored, err
}

// applyAll stores blocks, as many in a transaction as there is room for. A group that fails is
// stored block by block, so that what is good is kept and the fault named.
func (f *Follower) applyAll(ctx context.Context, blocks []chain.Block) error {
	for len(blocks) > 0 {
		n := groupSize(blocks)
		if err := f.apply(ctx, blocks[:n]); err != nil {
			if n == 1 {
				return fmt.Errorf("applying block %d: %w", blocks[0].Height, err)
			}
			n = 1
			if err := f.apply(ctx, blocks[:n]); err != nil {
				return fmt.Errorf("applying block %d: %w", blocks[0].Height, err)
			}
		}
		blocks = blocks[n:]
	}
	return nil
}

// groupSize returns how many of the blocks one transaction takes: at least one.
func groupSize(blocks []chain.Block) int {
	rows := 0
	for i, b := range blocks {
		rows += len(b.Transfers) + len(b.OwnTxs) + len(b.Coins)
		if i > 0 && rows > maxRows {
			return i
		}
	}
	return len(blocks)
}

// apply stores blocks, their transfers and our own transactions in them in one transaction.
func (f *Follower) apply(ctx context.Context, blocks []chain.Block) error {
	f.settled = chain.Head{}
	return f.deps.Store.Update(ctx, func(tx *records.Tx) error { return f.applyBlocks(tx, blocks) })
}

func (f *Follower) applyBlocks(tx *records.Tx, blocks []chain.Block) error {
	for _, b := range blocks {
		if err := f.applyBlock(tx, b); err != nil {
			return err
		}
	}
	return tx.Chains().NoteTracing(f.id, blocks)
}

func (f *Follower) applyBlock(tx *records.Tx, b chain.Block) error {
	if err := tx.Chains().Advance(f.id, b); err != nil {
		return err
	}
	f.news = f.news || len(b.Transfers) > 0 || len(b.OwnTxs) > 0 || f.coins // final blocks give coins to spend
	for _, t := range b.Transfers {
		if err := f.StoreTransfer(tx, t, b); err != nil {
			return fmt.Errorf("transfer %s: %w", t.Ref, err)
		}
	}
	ownTxs := make([]records.OwnTx, len(b.OwnTxs))
	for i, e := range b.OwnTxs {
		ownTxs[i] = records.OwnTx{Chain: f.id, BlockHash: b.Hash, Height: b.Height, OwnTx: e}
	}
	return tx.OwnTxs().SeeAll(f.id, ownTxs)
}

func (f *Follower) StoreTransfer(tx *records.Tx, t chain.Transfer, b chain.Block) error {
	row, ok, err := f.deps.Rules().Classify(tx, f.id, t)
	if err != nil || !ok {
		return err
	}
	_, err = f.storeRow(tx, row, b)
	return err
}

// storeRow stores a classified transfer as its block shows it and reports whether anything changed.
func (f *Follower) storeRow(tx *records.Tx, row records.Transfer, b chain.Block) (changed bool, err error) {
	row.Height, row.BlockHash, row.BlockAt = b.Height, b.Hash, b.Time
	row, changed, err = tx.Transfers().See(row)
	if err == nil && changed {
		f.news = true
		f.log.WithFields(logrus.Fields{"transfer": row.ID, "tx": row.Tx, "height": b.Height, "state": row.State}).Log(levelOf(tx, row), "transfer seen")
	}
	return changed, err
}

// stepBackIfProven undoes the cursor's block when the chain seems to have changed. At our final
// point it first checks the final blocks that the nodes agree on. A single node that lags behind
// may show another branch and must not halt the chain.
func (f *Follower) stepBackIfProven(ctx context.Context, cur records.Cursor, head chain.Head) (records.Cursor, error) {
	if cur.Height > cur.Final.Height {
		return f.stepBack(ctx, cur)
	}
	theirs := head.Final
	for theirs.Height > cur.Final.Height {
		b, err := f.chain.Block(ctx, theirs.Height)
		if err != nil {
			return cur, fmt.Errorf("verifying a fork: %w", err)
		}
		if b.Hash != theirs.Hash {
			break
		}
		theirs = chain.Point{Height: b.Height - 1, Hash: b.Parent}
	}
	if theirs.Height != cur.Final.Height || theirs.Hash == cur.Final.Hash {
		return cur, fmt.Errorf("a node reports a fork below block %d: %w", cur.Final.Height, chain.ErrUnavailable)
	}
	return f.stepBack(ctx, cur)
}

// stepBack leaves the cursor's block. Transfers that were decided on it are an incident: their
// payments stop where they still can.
func (f *Follower) stepBack(ctx context.Context, cur records.Cursor) (records.Cursor, error) {
	f.settled, f.news = chain.Head{}, true
	f.ahead.drop()
	err := f.deps.Store.Update(ctx, func(tx *records.Tx) error {
		left, err := tx.Chains().StepBack(f.id)
		if err != nil {
			return err
		}
		for _, t := range left {
			if err := f.recordIncident(tx, t); err != nil {
				return err
			}
		}
		cur, err = tx.Chains().Cursor(f.id)
		return err
	})
	if err == nil {
		f.log.WithField("height", cur.Height).Info("reverted blocks after a reorganisation")
	}
	return cur, err
}

// recordIncident holds what is not signed yet for a decided transfer whose block has left the line,
// and closes its channels (docs/records.md#transfer-something-came-in).
func (f *Follower) recordIncident(tx *records.Tx, t records.Transfer) error {
	if t.State == records.Seen || t.State == records.Orphaned {
		return nil
	}
	const why = "a decided transfer left the chain"
	payments, err := tx.Payments().Of(t.ID)
	if err != nil {
		return err
	}
	for _, p := range payments {
		if p.State != records.Queued {
			continue
		}
		if err := tx.Payments().Move(p.ID, records.Queued, records.HeldPayment, why); err != nil {
			return err
		}
	}
	f.log.WithFields(logrus.Fields{"transfer": t.ID, "tx": t.Tx}).Error(why)
	for _, d := range []records.Direction{records.Deposit, records.Withdrawal} {
		if err := records.StopChannel(tx, t.Network, t.Token, d, fmt.Sprintf("%s: %d", why, t.ID)); err != nil {
			return err
		}
	}
	return nil
}

// settle stores the head and decides every transfer and every transaction of ours that has become
// final, in groups. A head that was settled already has nothing new.
func (f *Follower) settle(ctx context.Context, head chain.Head) error {
	if head == f.settled {
		return nil
	}
	return f.settleFrom(ctx, head, f.settleGroup)
}

// settleFrom settles in groups, the first of them by another function.
func (f *Follower) settleFrom(ctx context.Context, head chain.Head, group func(context.Context, chain.Head) (more bool, err error)) error {
	for ; ; group = f.settleGroup {
		more, err := group(ctx, head)
		if err != nil {
			return err
		}
		asked, err := f.askWhyFailed(ctx)
		if err != nil {
			return err
		}
		seen, err := f.showBlocks(ctx)
		if err != nil {
			return err
		}
		if !more && !asked && !seen {
			f.settled = head
			clear(f.signerBlocks.shown)
			return nil
		}
	}
}

func (f *Follower) settleGroup(ctx context.Context, head chain.Head) (more bool, err error) {
	err = f.deps.Store.Update(ctx, func(tx *records.Tx) error {
		more, err = f.settleIn(ctx, tx, head)
		return err
	})
	return more, err
}

// settleIn decides a group in a transaction.
func (f *Follower) settleIn(ctx context.Context, tx *records.Tx, head chain.Head) (more bool, err error) {
	if err := tx.Chains().SetHead(f.id, head); err != nil {
		return false, err
	}
	cur, err := tx.Chains().Cursor(f.id)
	if err != nil {
		return false, err
	}
	moreTransfers, err := f.decideFinal(tx, cur)
	if err != nil {
		return false, err
	}
	moreOwnTxs, err := f.settleOwnTxs(ctx, tx)
	if err != nil {
		return false, err
	}
	if more = moreTransfers || moreOwnTxs; more || len(f.failures.open) > 0 {
		return more, nil
	}
	return more, reconcile.FoldCoin(tx, f.chain)
}

// haltOn stops the chain permanently when blocks below the final point have changed. Decisions from
// lost blocks are marked and named.
func (f *Follower) haltOn(ctx context.Context, err error, head chain.Head) error {
	if !errors.Is(err, records.ErrFinality) {
		return err
	}
	why := err.Error()
	var blocks records.HaltBlocks
	if fork, err := f.findLost(ctx, head); err == nil {
		why += "; " + fork.String()
		blocks = fork.Blocks()
	} else {
		f.log.WithError(err).Warn("finding the last common block")
	}
	f.log.Error("the chain changed below its final block: halted, needs an operator: " + why)
	return f.deps.Store.Update(ctx, func(tx *records.Tx) error { return tx.Chains().HaltAt(f.id, why, blocks) })
}

// findLost finds out where the pasts part and marks what was decided after that.
func (f *Follower) findLost(ctx context.Context, head chain.Head) (recovery.Fork, error) {
	var cur records.Cursor
	err := f.deps.Store.View(ctx, func(tx *records.Tx) (err error) {
		cur, err = tx.Chains().Cursor(f.id)
		return err
	})
	if err != nil {
		return recovery.Fork{}, err
	}
	return recovery.Lost(ctx, f.deps.Store, f.chain, cur, head)
}
