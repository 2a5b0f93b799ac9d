package node

import (
	"fmt"
	"slices"

	"gatewayd/chain/vite/core"
)

// findTop is the height of the newest snapshot block, 0 without any.
func (h *history) findTop() (top uint64, err error) {
	err = h.runs(^uint64(0), func(run []*snapshot) bool {
		top = run[len(run)-1].Height
		return false
	})
	return top, err
}

// reaches tells whether the history contains the snapshot block, and so everything up to it.
func (h *history) reaches(n *snapshot) bool {
	list, err := h.snapshots(n.Height, 1)
	return err == nil && len(list) == 1 && list[0].Hash == n.Hash
}

// runs visits the runs of snapshot blocks from the one that contains the height, or the last, downwards.
func (h *history) runs(height uint64, f func(run []*snapshot) bool) error {
	upper := []byte{keySnapshot + 1}
	if height < ^uint64(0) {
		upper = snapshotKey(height + 1)
	}
	return h.scan([]byte{keySnapshot}, upper, true, func(key, value []byte) (bool, error) {
		r := &reader{data: value}
		run := r.run(heightIn(key), h.sealing)
		if r.err != nil || len(run) == 0 {
			return false, fmt.Errorf("%w: snapshot blocks from %d on", ErrCorrupt, heightIn(key))
		}
		return f(run), nil
	})
}

// snapshots lists up to count snapshot blocks from the height downwards.
func (h *history) snapshots(height uint64, count int) (list []*snapshot, err error) {
	err = h.runs(height, func(run []*snapshot) bool {
		for i := len(run) - 1; i >= 0 && len(list) < count; i-- {
			if run[i].Height <= height {
				list = append(list, run[i])
			}
		}
		return len(list) < count
	})
	return list, err
}

// sealed finds a snapshot block by its hash; nil if unknown.
func (h *history) sealed(hash core.Hash) (found *snapshot, err error) {
	err = h.scan(sealKey(hash, 0), sealKey(hash, ^uint64(0)), false, func(key, _ []byte) (bool, error) {
		list, err := h.snapshots(heightIn(key), 1)
		if err == nil && len(list) > 0 && list[0].Hash == hash {
			found = list[0]
		}
		return found == nil, err
	})
	return found, err
}

// balance is the balance as of a snapshot height; had is false if the account did not have the token yet.
func (h *history) balance(a core.Address, token core.TokenID, height uint64) (past pastBalance, had bool, err error) {
	err = h.scan(balanceKey(a, token, 0), balanceKey(a, token, height+1), true, func(key, value []byte) (bool, error) {
		r := &reader{data: value}
		past, had = pastBalance{heightIn(key), r.amount()}, true
		return false, r.err
	})
	return past, had, err
}

// find is the block of a hash; nil if unknown.
func (h *history) find(hash core.Hash) (*entry, error) {
	p, err := h.whereabouts(hash)
	if p == nil || err != nil {
		return nil, err
	}
	var found *entry
	err = h.up(p.address, p.at.height, p.at.height, func(e *entry) (bool, error) {
		found = e
		return false, h.link(e)
	})
	switch {
	case err != nil:
		return nil, err
	case found == nil || p.at.number > len(found.triggered):
		return nil, fmt.Errorf("%w: block %s is not where it should be", ErrCorrupt, hash)
	case p.at.number > 0:
		return found.triggered[p.at.number-1], nil
	}
	return found, nil
}

// whereabouts is nil for an unknown hash.
func (h *history) whereabouts(hash core.Hash) (*whereabouts, error) {
	value, err := h.get(hashKey(hash))
	if value == nil || err != nil {
		return nil, err
	}
	r := &reader{data: value}
	p := r.whereabouts()
	return &p, r.err
}

// up visits the blocks of an account from one height to another, both included, ascending. Who received what they send is
// not told: see link.
func (h *history) up(a core.Address, from, to uint64, f func(*entry) (bool, error)) error {
	return h.scan(blockKey(a, from), blockKey(a, to+1), false, visit(f))
}

// logs visits those blocks of an account from one height to another that have a wanted log, ascending.
func (h *history) logs(
	a core.Address, from, to uint64, wanted func(VMLog) bool, f func(*entry) (more bool),
) error {
	all := visit(func(e *entry) (bool, error) { return f(e), nil })
	return h.scan(blockKey(a, from), blockKey(a, to+1), false, func(key, value []byte) (bool, error) {
		r := &reader{data: value}
		r.point()
		list := r.logs()
		if r.err == nil && !slices.ContainsFunc(list, wanted) {
			return true, nil
		}
		return all(key, value)
	})
}

// down visits the blocks of an account from a height downwards.
func (h *history) down(a core.Address, from uint64, f func(*entry) (bool, error)) error {
	return h.scan(blockKey(a, 0), blockKey(a, from+1), true, visit(f))
}

func visit(f func(*entry) (bool, error)) func(key, value []byte) (bool, error) {
	return func(key, value []byte) (bool, error) {
		r := &reader{data: value}
		e := r.entry()
		if r.err == nil && e.block.Height != heightIn(key) {
			r.fail("height of a block")
		}
		if r.err != nil {
			return false, r.err
		}
		return f(e)
	}
}

// link finds out who received the block, or the sends that it triggered.
func (h *history) link(e *entry) error {
	if e.block.IsSend() {
		p, err := h.whereabouts(e.block.Hash)
		if err != nil {
			return err
		}
		if p != nil && p.receive.Height > 0 {
			e.receive = &entry{block: &core.AccountBlock{Height: p.receive.Height, Hash: p.receive.Hash}}
		}
	}
	for _, t := range e.triggered {
		if err := h.link(t); err != nil {
			return err
		}
	}
	return nil
}

// concerns tells whether the block moves the token. A genesis receive concerns each token that it credits.
func (h *history) concerns(e *entry, token core.TokenID) (bool, error) {
	if e.block.BlockType != core.GenesisReceive {
		return e.moves().Token == token, nil
	}
	_, had, err := h.balance(e.block.Address, token, e.snapshot.Height)
	return had, err
}
