package node

import (
	"gatewayd/chain/vite/core"
)

// state reads what writer.state has written and rebuilds what follows from it. The journal starts empty.
func (r *reader) state(rules rules) *state {
	s := newState(rules)
	s.rollbacks, s.fees = r.uint(), r.amount()
	r.latest(s)
	r.tokens(s)
	r.stakes(s)
	s.exchange = r.exchange()
	for range r.count(core.AddressSize) {
		a := r.account(s)
		s.accounts[a.address] = a
	}
	for range r.count(core.HashSize) {
		e := s.blocks[r.hash()]
		if e == nil {
			r.fail("block in a list")
			return s
		}
		s.pending = append(s.pending, e)
	}
	s.journal, s.floor = journal{}, s.height()
	return s
}

// latest reads the newest snapshot block, the only one in memory. Its hash follows from it.
func (r *reader) latest(s *state) {
	height, at := r.uint(), &reader{data: r.bytes()}
	s.chain = at.run(height, s.rules.sealing())
	if at.err != nil || len(s.chain) != 1 || height == 0 {
		r.fail("latest snapshot block")
		s.chain = []*snapshot{{}}
		return
	}
	s.snapshots[s.latest().Hash] = s.latest()
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

// account reads an account into the one that a stake may have made already.
func (r *reader) account(s *state) *account {
	a := s.account(r.address())
	a.balances, a.powAt = r.balances(), r.uint()
	for range r.count(2) {
		a.usage = append(a.usage, usage{r.uint(), r.uint()})
	}
	a.using = usage{r.uint(), r.uint()}
	a.contract = r.contract()
	a.blocks.tip = BlockID{r.uint(), r.hash()}
	for range r.count(core.HashSize) {
		e := r.send()
		s.blocks[e.block.Hash] = e
		a.unreceived.Set(e)
	}
	return a
}

func (r *reader) send() *entry {
	e := r.entry()
	if e.snapshot.Height == 0 {
		e.snapshot = nil
	}
	e.at = spot{r.uint(), int(r.uint())}
	if !e.block.IsSend() || e.send != nil || len(e.triggered) > 0 {
		r.fail("unreceived send")
	}
	return e
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
