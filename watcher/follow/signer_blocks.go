package follow

import (
	"context"

	"gatewayd/records"
)

// maxSignerBlocks bounds how many blocks wait to be shown to the signer.
const maxSignerBlocks = 1024

// signerBlocks is a queue of final blocks that the signer must read itself: in each of them a
// transaction that it signed did something else than pay. The signer does not take the daemon's
// word for that. The queue is worked off outside the database transaction that settles.
type signerBlocks struct {
	pending map[uint64]bool // heights that the signer has not read yet
	shown   map[uint64]bool // heights that it has read since the newest head
}

// add queues a block, unless the signer has read it already: then it returns true.
func (s *signerBlocks) add(height uint64) (seen bool) {
	if s.shown[height] {
		return true
	}
	if s.pending == nil {
		s.pending, s.shown = map[uint64]bool{}, map[uint64]bool{}
	}
	if len(s.pending) < maxSignerBlocks {
		s.pending[height] = true
	}
	return false
}

// showBlocks has the signer read the queued blocks and reports whether it has read any. A block
// that its nodes do not have yet stays in the queue.
func (f *Follower) showBlocks(ctx context.Context) (seen bool, err error) {
	for height := range f.signerBlocks.pending {
		if err := f.deps.Signer.ReadOutcomes(ctx, f.id, height); err != nil {
			if ctx.Err() != nil {
				return false, err
			}
			f.log.WithField("height", height).WithError(err).Warn("showing a final block to the signer")
			continue
		}
		delete(f.signerBlocks.pending, height)
		f.signerBlocks.shown[height], seen = true, true
	}
	return seen, nil
}

// addBranchBlocks queues the blocks of payments made in a later branch of an account: what was
// signed in the branch before it is void then.
func (f *Follower) addBranchBlocks(paid []records.Slot, ownTxs []records.OwnTx) {
	heights := make(map[string]uint64, len(ownTxs))
	for _, e := range ownTxs {
		heights[e.Tx] = e.Height
	}
	for _, s := range paid {
		if s.Branch > 1 {
			f.signerBlocks.add(heights[s.Tx])
		}
	}
}
