package node

// settled is the snapshot height up to which nothing can be taken back, and the block of which taking back does not need.
func (s *state) settled() uint64 { return max(s.floor, 1) - 1 }

// forget drops blocks and balances from memory that the history has, up to a snapshot height which must be settled. The
// sends that no one has received stay.
func (s *state) forget(upto uint64) {
	for s.chain[0].Height <= upto {
		n := s.chain[0]
		s.chain = s.chain[1:]
		delete(s.snapshots, n.Hash)
		short := &snapshot{Point: n.Point}
		for a := range n.content {
			s.forgetBlocks(s.accounts[a], short)
		}
		for _, h := range n.changed {
			s.accounts[h.address].forgetBalance(h, upto)
		}
	}
}

// forgetBlocks drops the blocks of an account that a snapshot block contains. What stays of them needs of the snapshot
// block no more than its place.
func (s *state) forgetBlocks(a *account, n *snapshot) {
	list := a.blocks.recent
	for len(list) > 0 && list[0].snapshot != nil && list[0].snapshot.Height <= n.Height {
		e := list[0]
		list = list[1:]
		if e.old {
			continue // a taken back block had moved the line on
		}
		s.age(e, n)
		for _, t := range e.triggered {
			s.age(t, n)
		}
		if e.send != nil && e.send.old {
			delete(s.blocks, e.send.block.Hash)
		}
	}
	if len(list) == 0 {
		list = nil // and with it what stood before
	}
	a.blocks.recent = list
}

func (s *state) age(e *entry, n *snapshot) {
	e.old, e.snapshot = true, n
	if !e.block.IsSend() || e.receive != nil && e.receive.old {
		delete(s.blocks, e.block.Hash)
	}
}

func (a *account) forgetBalance(h holding, upto uint64) {
	list := a.past[h.token]
	for len(list) > 0 && list[0].height <= upto {
		list = list[1:]
	}
	if len(list) == 0 {
		delete(a.past, h.token)
		return
	}
	a.past[h.token] = list
}
