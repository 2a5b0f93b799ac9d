package node

import (
	"time"

	"gatewayd/chain/vite/core"
)

// state reads what writer.state has written and rebuilds what follows from it. The journal starts empty.
func (r *reader) state(rules rules) *state {
	s := newState(rules)
	s.rollbacks, s.fees = r.uint(), r.amount()
	r.snapshots(s)
	r.tokens(s)
	r.stakes(s)
	s.exchange = r.exchange()
	for range r.count(core.AddressSize) {
		a := r.account(s)
		s.accounts[a.address] = a
	}
	pending, recent := r.hashes(), r.hashes()
	if r.err != nil {
		return s
	}
	s.link(r)
	s.pending, s.recent = s.find(r, pending), s.find(r, recent)
	s.rebuildSnapshots(r)
	s.journal, s.floor = journal{}, s.height()
	if r.hash() != s.latest().Hash {
		r.fail("latest snapshot hash")
	}
	return s
}

func (r *reader) snapshots(s *state) {
	for range r.count(2) {
		n := &snapshot{Point: Point{Height: s.height() + 1, Time: time.Unix(r.int(), 0).UTC()}, seed: r.uint()}
		s.chain = append(s.chain, n)
	}
	if len(s.chain) == 0 {
		r.fail("snapshot chain")
	}
}

func (r *reader) tokens(s *state) {
	for range r.count(core.TokenIDSize) {
		t := r.token()
		s.tokens[t.ID] = t
		s.symbols[t.Symbol] = max(s.symbols[t.Symbol], t.Index+1)
	}
}

func (r *reader) stakes(s *state) {
	for range r.count(core.HashSize) {
		s.addStake(Stake{
			ID: r.hash(), Staker: r.address(), Beneficiary: r.address(), Amount: r.amount(), ExpirationHeight: r.uint(),
		})
	}
}

func (r *reader) hashes() []core.Hash {
	var list []core.Hash
	for range r.count(core.HashSize) {
		list = append(list, r.hash())
	}
	return list
}

// account reads an account into the one that a stake may have made already.
func (r *reader) account(s *state) *account {
	a := s.account(r.address())
	a.balances, a.powAt = r.balances(), r.uint()
	for range r.count(2) {
		a.usage = append(a.usage, usage{r.uint(), r.uint()})
	}
	r.past(a)
	a.contract = r.contract()
	for range r.count(core.HashSize) {
		a.blocks = append(a.blocks, r.entry(s))
	}
	return a
}

func (r *reader) past(a *account) {
	for range r.count(core.TokenIDSize) {
		id := r.tokenID()
		var list []pastBalance
		for range r.count(2) {
			list = append(list, pastBalance{r.uint(), r.amount()})
		}
		a.past[id] = list
	}
}

func (r *reader) contract() *ContractInfo {
	if !r.bool() {
		return nil
	}
	c := &ContractInfo{Code: r.optional()}
	r.raw(c.GID[:])
	c.ResponseLatency, c.RandomDegree, c.QuotaMultiplier = r.byte(), r.byte(), r.byte()
	c.Builtin = r.bool()
	return c
}

func (r *reader) entry(s *state) *entry {
	e := &entry{block: r.block(), byStake: r.uint(), total: r.uint()}
	e.snapshot = r.snapshotAt(s)
	for range r.count(2) {
		var l VMLog
		for range r.count(core.HashSize) {
			l.Topics = append(l.Topics, r.hash())
		}
		l.Data = r.optional()
		e.logs = append(e.logs, l)
	}
	for range r.count(core.HashSize) {
		t := &entry{block: r.block(), snapshot: e.snapshot}
		e.triggered = append(e.triggered, t)
		e.block.Triggered = append(e.block.Triggered, t.block)
	}
	return e
}

// snapshotAt is nil for height 0.
func (r *reader) snapshotAt(s *state) *snapshot {
	height := r.uint()
	switch {
	case height == 0:
		return nil
	case height > s.height():
		r.fail("snapshot height")
		return nil
	}
	return s.chain[height-1]
}

// link fills the index of blocks, joins receives with their sends, and lists the sends that wait.
func (s *state) link(r *reader) {
	for _, a := range s.accounts {
		for _, e := range a.blocks {
			s.blocks[e.block.Hash] = e
			for _, t := range e.triggered {
				s.blocks[t.block.Hash] = t
			}
		}
	}
	for _, a := range s.accounts {
		for _, e := range a.blocks {
			if e.block.SendBlockHash.IsZero() {
				continue
			}
			if e.send = s.blocks[e.block.SendBlockHash]; e.send == nil {
				r.fail("send block of a receive")
				return
			}
			e.send.receive = e
		}
	}
	for _, e := range s.blocks {
		if e.block.IsSend() && e.receive == nil {
			s.account(e.block.ToAddress).unreceived.Set(e)
		}
	}
}

func (s *state) find(r *reader, hashes []core.Hash) []*entry {
	var list []*entry
	for _, h := range hashes {
		e := s.blocks[h]
		if e == nil {
			r.fail("block in a list")
			return nil
		}
		list = append(list, e)
	}
	return list
}

// rebuildSnapshots restores contents and hashes of the snapshot chain from the blocks that it contains.
func (s *state) rebuildSnapshots(r *reader) {
	for _, a := range s.accounts {
		for _, e := range a.blocks {
			if n := e.snapshot; n != nil {
				if n.content == nil {
					n.content = map[core.Address]BlockID{}
				}
				n.content[a.address] = BlockID{e.block.Height, e.block.Hash}
			}
		}
	}
	var previous core.Hash
	for _, n := range s.chain {
		n.previous = previous
		n.Hash = n.hash(s.rules.digest)
		s.snapshots[n.Hash] = n
		previous = n.Hash
	}
}
