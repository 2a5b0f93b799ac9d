package watcher

import (
	"context"

	"gatewayd/records"
)

// maxShown bounds how many blocks wait to be shown to the signer.
const maxShown = 1024

// shown is the final blocks that the signer is to look at, because they show of a signature something else than that it paid: it believes blocks that
// it reads itself, not us. They are shown outside the database transaction that settles.
type shown struct {
	open  map[uint64]bool // heights
	known map[uint64]bool // that it has seen since the newest head
}

// show puts a block on the list, and tells whether the signer has seen it.
func (s *shown) show(height uint64) (seen bool) {
	if s.known[height] {
		return true
	}
	if s.open == nil {
		s.open, s.known = map[uint64]bool{}, map[uint64]bool{}
	}
	if len(s.open) < maxShown {
		s.open[height] = true
	}
	return false
}

// showBlocks shows the signer what is on the list, and tells whether it has seen one. What its nodes cannot tell yet stays on the list.
func (f *follower) showBlocks(ctx context.Context) (seen bool, err error) {
	for height := range f.shown.open {
		if err := f.Signer.Decide(ctx, f.id, height); err != nil {
			if ctx.Err() != nil {
				return false, err
			}
			f.log.WithField("height", height).WithError(err).Warn("showing a final block to the signer")
			continue
		}
		delete(f.shown.open, height)
		f.shown.known[height], seen = true, true
	}
	return seen, nil
}

// showNewLine shows the blocks in which a line pays that has taken the place of another: what was signed in that one is void then.
func (f *follower) showNewLine(paid []records.Slot, effects []records.OwnTx) {
	for i, s := range paid {
		if s.Branch > 1 {
			f.shown.show(effects[i].Height)
		}
	}
}
