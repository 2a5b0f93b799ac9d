package store

import (
	"context"
	"fmt"
	"slices"

	"gatewayd/vite/core"
	"gatewayd/vite/ledger"
)

// findTop is the height of the newest snapshot block, 0 without any.
func (h *History) findTop() (top uint64, err error) {
	err = h.runs(^uint64(0), func(run []*ledger.Snapshot) bool {
		top = run[len(run)-1].Height
		return false
	})
	return top, err
}

// Reaches reports whether the history contains the snapshot block, and so everything up to it.
func (h *History) Reaches(n *ledger.Snapshot) bool {
	list, err := h.Snapshots(n.Height, 1)
	return err == nil && len(list) == 1 && list[0].Hash == n.Hash
}

// runs visits the runs of snapshot blocks from the one that contains the height, or the last,
// downwards.
func (h *History) runs(height uint64, f func(run []*ledger.Snapshot) bool) error {
	upper := []byte{keySnapshot + 1}
	if height < ^uint64(0) {
		upper = snapshotKey(height + 1)
	}
	return h.scan([]byte{keySnapshot}, upper, true, func(key, value []byte) (bool, error) {
		r := &ledger.Reader{Data: value}
		run := r.Run(heightIn(key), h.sealing)
		if r.Err != nil || len(run) == 0 {
			return false, fmt.Errorf("%w: snapshot blocks from %d on", ledger.ErrCorrupt, heightIn(key))
		}
		return f(run), nil
	})
}

// Snapshots lists up to count snapshot blocks from the height downwards.
func (h *History) Snapshots(height uint64, count int) (list []*ledger.Snapshot, err error) {
	err = h.runs(height, func(run []*ledger.Snapshot) bool {
		for i := len(run) - 1; i >= 0 && len(list) < count; i-- {
			if run[i].Height <= height {
				list = append(list, run[i])
			}
		}
		return len(list) < count
	})
	return list, err
}

// SnapshotByHash finds a snapshot block by its hash; nil if unknown.
func (h *History) SnapshotByHash(hash core.Hash) (found *ledger.Snapshot, err error) {
	err = h.scan(sealKey(hash, 0), sealKey(hash, ^uint64(0)), false, func(key, _ []byte) (bool, error) {
		list, err := h.Snapshots(heightIn(key), 1)
		if err == nil && len(list) > 0 && list[0].Hash == hash {
			found = list[0]
		}
		return found == nil, err
	})
	return found, err
}

// Balance is the balance as of a snapshot height; had is false if the account did not have the
// token yet.
func (h *History) Balance(a core.Address, token core.TokenID, height uint64) (past ledger.PastBalance, had bool, err error) {
	err = h.scan(balanceKey(a, token, 0), balanceKey(a, token, height+1), true, func(key, value []byte) (bool, error) {
		r := &ledger.Reader{Data: value}
		past, had = ledger.PastBalance{Height: heightIn(key), Amount: r.Amount()}, true
		return false, r.Err
	})
	return past, had, err
}

// Block is the block of a hash; nil if unknown.
func (h *History) Block(hash core.Hash) (*ledger.Entry, error) {
	p, err := h.Location(hash)
	if p == nil || err != nil {
		return nil, err
	}
	var found *ledger.Entry
	err = h.up(p.address, p.At.Height, p.At.Height, func(e *ledger.Entry) (bool, error) {
		found = e
		return false, h.Link(e)
	})
	switch {
	case err != nil:
		return nil, err
	case found == nil || p.At.Number > len(found.Triggered):
		return nil, fmt.Errorf("%w: block %s is not where it should be", ledger.ErrCorrupt, hash)
	case p.At.Number > 0:
		return found.Triggered[p.At.Number-1], nil
	}
	return found, nil
}

// Location is nil for an unknown hash.
func (h *History) Location(hash core.Hash) (*Location, error) {
	value, err := h.get(hashKey(hash))
	if value == nil || err != nil {
		return nil, err
	}
	r := &ledger.Reader{Data: value}
	p := decodeLocation(r)
	return &p, r.Err
}

// up visits the blocks of an account from one height to another, both included, ascending. It does
// not return the receivers of their sends: see link.
func (h *History) up(a core.Address, from, to uint64, f func(*ledger.Entry) (bool, error)) error {
	return h.scan(blockKey(a, from), blockKey(a, to+1), false, visit(f))
}

// Logs visits those blocks of an account from one height to another that have a wanted log,
// ascending, until ctx ends.
func (h *History) Logs(
	ctx context.Context, a core.Address, from, to uint64, wanted func(ledger.VMLog) bool, f func(*ledger.Entry) (more bool),
) error {
	all := visit(func(e *ledger.Entry) (bool, error) { return f(e), nil })
	return h.scan(blockKey(a, from), blockKey(a, to+1), false, func(key, value []byte) (bool, error) {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		r := &ledger.Reader{Data: value}
		r.Point()
		list := r.Logs()
		if r.Err == nil && !slices.ContainsFunc(list, wanted) {
			return true, nil
		}
		return all(key, value)
	})
}

// Down visits the blocks of an account from a height downwards.
func (h *History) Down(a core.Address, from uint64, f func(*ledger.Entry) (bool, error)) error {
	return h.scan(blockKey(a, 0), blockKey(a, from+1), true, visit(f))
}

func visit(f func(*ledger.Entry) (bool, error)) func(key, value []byte) (bool, error) {
	return func(key, value []byte) (bool, error) {
		r := &ledger.Reader{Data: value}
		e := r.Entry()
		if r.Err == nil && e.Block.Height != heightIn(key) {
			r.Fail("height of a block")
		}
		if r.Err != nil {
			return false, r.Err
		}
		return f(e)
	}
}

// Link finds out who received the block, or the sends that it triggered.
func (h *History) Link(e *ledger.Entry) error {
	if e.Block.IsSend() {
		p, err := h.Location(e.Block.Hash)
		if err != nil {
			return err
		}
		if p != nil && p.receive.Height > 0 {
			e.Receive = &ledger.Entry{Block: &core.AccountBlock{Height: p.receive.Height, Hash: p.receive.Hash}}
		}
	}
	for _, t := range e.Triggered {
		if err := h.Link(t); err != nil {
			return err
		}
	}
	return nil
}

// Concerns reports whether the block moves the token. A genesis receive concerns each token that it
// credits.
func (h *History) Concerns(e *ledger.Entry, token core.TokenID) (bool, error) {
	if e.Block.BlockType != core.GenesisReceive {
		return e.Transfer().Token == token, nil
	}
	_, had, err := h.Balance(e.Block.Address, token, e.Snapshot.Height)
	return had, err
}

// Chunks reads what the snapshot blocks from one height to another contain, until that weighs so
// much.
func (h *History) Chunks(from, to uint64, room int) (parts []ledger.Confirmed, err error) {
	list, err := h.Snapshots(to, int(to-from)+1)
	if err != nil {
		return nil, err
	}
	for _, n := range slices.Backward(list) {
		if n.Height < from {
			continue // the history ends below
		}
		if room <= 0 {
			break
		}
		p, err := h.confirmed(n)
		if err != nil {
			return nil, err
		}
		room -= p.Weight()
		parts = append(parts, p)
	}
	return parts, nil
}

// confirmed returns the content of a snapshot block.
func (h *History) confirmed(n *ledger.Snapshot) (ledger.Confirmed, error) {
	p := ledger.Confirmed{Snapshot: n}
	for _, a := range n.Accounts() {
		own, err := h.confirmedBy(n, a)
		if err != nil {
			return p, err
		}
		p.Accounts = append(p.Accounts, own)
	}
	return p, nil
}

// confirmedBy are the account's blocks that the snapshot block is the first to contain, oldest
// first.
func (h *History) confirmedBy(n *ledger.Snapshot, a core.Address) (list []*ledger.Entry, err error) {
	err = h.Down(a, n.Content[a].Height, func(e *ledger.Entry) (bool, error) {
		if e.Snapshot.Height < n.Height {
			return false, nil
		}
		list = append(list, e)
		return true, h.Link(e)
	})
	slices.Reverse(list)
	return list, err
}
