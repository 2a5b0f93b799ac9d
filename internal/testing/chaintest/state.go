package chaintest

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"gatewayd/chain"
)

// gas is the fee of every transaction of the nonce ledger.
const gas = 10

// Why the ledger does not take a transaction. A caller of Broadcast sees them wrapped, as
// information.
var (
	errNumberLow    = errors.New("nonce too low")
	errNumberHigh   = errors.New("nonce too high")
	errPrev         = errors.New("previous block is not the account's last")
	errShort        = errors.New("insufficient balance")
	errSource       = errors.New("no such send to receive")
	errUnderpriced  = errors.New("replacement transaction underpriced")
	errWrongChain   = errors.New("wrong chain")
	errCapBelowBase = errors.New("fee cap below base fee")
	errMissing      = errors.New("inputs missing or spent")
	errImmature     = errors.New("premature spend of a reward")
	errConflict     = errors.New("mempool conflict")
	errDust         = errors.New("dust")
)

// holding is one account's stock of one asset.
type holding struct {
	account string
	asset   chain.Asset
}

// send is value on its way on the linked ledger.
type send struct {
	to     string
	asset  chain.Asset
	amount chain.Amount
}

// receipt is the result of a transaction in its block.
type receipt struct {
	ok    bool
	short bool // it failed because its account had too little
	fee   chain.Amount

	members []chain.Outcome // of a batch
}

// state is the ledger after some transactions in order.
type state struct {
	linked     bool
	rejecting  map[string]bool // payees that fail every payment (nonce ledger); set by the test, not by blocks
	balances   map[holding]chain.Amount
	next       map[string]uint64 // nonce ledger: next nonce; linked ledger: blocks so far
	tip        map[string]string // linked ledger: hash of the account's last block
	unreceived map[string]send   // linked ledger: by hash
	allowed    map[holding]bool  // nonce ledger: tokens that batches may move
	coins      map[string]coin   // ledger of coins: those that are not spent, by outpoint
	burnt      chain.Amount
}

func newState(linked bool, rejecting map[string]bool) *state {
	return &state{
		linked:     linked,
		rejecting:  rejecting,
		balances:   make(map[holding]chain.Amount),
		next:       make(map[string]uint64),
		tip:        make(map[string]string),
		unreceived: make(map[string]send),
		allowed:    make(map[holding]bool),
		coins:      make(map[string]coin),
	}
}

// clone is a copy that shares nothing but the test's own list of rejecting payees.
func (s *state) clone() *state {
	c := *s
	c.balances = maps.Clone(s.balances)
	c.next = maps.Clone(s.next)
	c.tip = maps.Clone(s.tip)
	c.unreceived = maps.Clone(s.unreceived)
	c.allowed = maps.Clone(s.allowed)
	c.coins = maps.Clone(s.coins)
	return &c
}

// nextNumber is the number of the account's next transaction. The linked ledger counts from 1.
func (s *state) nextNumber(account string) uint64 {
	if s.linked {
		return s.next[account] + 1
	}
	return s.next[account]
}

func (s *state) lastHash(account string) string {
	if h := s.tip[account]; h != "" {
		return h
	}
	return zeroHash
}

// apply executes a transaction at a base fee, or returns the reason why no block can include it
// now. An error changes nothing.
func (s *state) apply(t *tx, base chain.Amount) (receipt, error) {
	switch {
	case t.Key == "":
		return receipt{ok: s.applyOutside(t)}, nil
	case s.linked:
		return receipt{ok: true}, s.applyLinked(t)
	default:
		return s.applyNonce(t, base)
	}
}

func (s *state) applyOutside(t *tx) bool {
	for i, o := range t.Outs {
		switch {
		case o.Failed:
		case o.Taken:
			if err := s.debit(holding{o.To, o.Asset}, o.Amount); err != nil {
				panic(fmt.Sprintf("a test took what is missing: %v", err))
			}
		default:
			s.arrive(place(t, i), o.To, o.Asset, o.Amount)
		}
	}
	return true
}

// arrive credits the receiver, or leaves a send for it to take in.
func (s *state) arrive(ref, to string, asset chain.Asset, amount chain.Amount) {
	if s.linked {
		s.unreceived[ref] = send{to, asset, amount}
		return
	}
	s.credit(holding{to, asset}, amount)
}

func (s *state) credit(h holding, amount chain.Amount) {
	sum, err := s.balances[h].Add(amount)
	if err != nil {
		panic(fmt.Sprintf("a test made more than 2^256 of %s: %v", h.asset, err))
	}
	s.balances[h] = sum
}

func (s *state) debit(h holding, amount chain.Amount) error {
	rest, err := s.balances[h].Sub(amount)
	if err != nil {
		return fmt.Errorf("%w: %s of %s has %s, %s wanted", errShort, h.account, h.asset, s.balances[h], amount)
	}
	s.balances[h] = rest
	return nil
}

func (s *state) applyLinked(t *tx) error {
	if next := s.nextNumber(t.account); t.Number != next {
		return fmt.Errorf("%w: height %d, the next is %d", errPrev, t.Number, next)
	}
	if last := s.lastHash(t.account); t.Prev != last {
		return fmt.Errorf("%w: %.8s, the last is %.8s", errPrev, t.Prev, last)
	}
	if err := s.moveLinked(t); err != nil {
		return err
	}
	s.next[t.account] = t.Number
	s.tip[t.account] = t.hash
	return nil
}

func (s *state) moveLinked(t *tx) error {
	if t.Purpose != chain.Receive {
		if err := s.debit(holding{t.account, t.Asset}, t.Amount); err != nil {
			return err
		}
		for i, m := range t.Members {
			s.unreceived[memberPlace(t, i)] = send{m.To, t.Asset, m.Amount}
		}
		if len(t.Members) == 0 {
			s.unreceived[t.hash] = send{t.To, t.Asset, t.Amount}
		}
		return nil
	}
	in, ok := s.unreceived[t.Source]
	if !ok || in.to != t.account {
		return fmt.Errorf("%w: %.8s", errSource, t.Source)
	}
	delete(s.unreceived, t.Source)
	s.credit(holding{t.account, in.asset}, in.amount)
	return nil
}

func (s *state) applyNonce(t *tx, base chain.Amount) (receipt, error) {
	if err := s.checkNonce(t, base); err != nil {
		return receipt{}, err
	}
	fee, err := price(t, base)
	if err != nil {
		return receipt{}, err
	}
	coin := holding{t.account, chain.Native}
	if err := s.debit(coin, fee); err != nil {
		return receipt{}, err
	}
	s.burnt, _ = s.burnt.Add(fee)
	s.next[t.account]++
	short := s.balances[holding{t.account, t.Asset}].Less(t.Amount)
	switch {
	case t.Purpose == chain.Allow:
		s.allowed[holding{t.account, t.Asset}] = true
		return receipt{ok: true, fee: fee}, nil
	case t.Purpose == chain.Batch && !short:
		return s.applyBatch(t, fee)
	}
	if s.rejecting[t.To] || short {
		return receipt{short: short, fee: fee}, nil
	}
	s.credit(holding{t.To, t.Asset}, t.Amount)
	return receipt{ok: true, fee: fee}, s.debit(holding{t.account, t.Asset}, t.Amount)
}

// applyBatch pays the members of a batch that take it. A token must have been allowed, and the
// contract must not fail.
func (s *state) applyBatch(t *tx, fee chain.Amount) (receipt, error) {
	from := holding{t.account, t.Asset}
	if t.Asset != chain.Native && !s.allowed[from] || s.rejecting[t.To] {
		return receipt{fee: fee}, nil
	}
	r := receipt{ok: true, fee: fee, members: paidAll(t)}
	for i, m := range t.Members {
		if s.rejecting[m.To] {
			r.members[i] = chain.MemberVoid
			continue
		}
		s.credit(holding{m.To, t.Asset}, m.Amount)
		if err := s.debit(from, m.Amount); err != nil {
			return receipt{}, err
		}
	}
	return r, nil
}

func paidAll(t *tx) []chain.Outcome {
	return slices.Repeat([]chain.Outcome{chain.MemberPaid}, len(t.Members))
}

// memberPlace names one payment of a batch.
func memberPlace(t *tx, i int) string { return fmt.Sprintf("%s:%d", t.hash, i) }

func (s *state) checkNonce(t *tx, base chain.Amount) error {
	next := s.nextNumber(t.account)
	switch {
	case t.Number < next:
		return fmt.Errorf("%w: %d, the next is %d", errNumberLow, t.Number, next)
	case t.Number > next:
		return fmt.Errorf("%w: %d, the next is %d", errNumberHigh, t.Number, next)
	case t.Cap.Less(base):
		return fmt.Errorf("%w: %s below %s", errCapBelowBase, t.Cap, base)
	}
	return s.checkFunds(t)
}

// checkFunds asks, as go-ethereum does, for the value and the dearest fee together.
func (s *state) checkFunds(t *tx) error {
	cost, err := t.cost()
	if err != nil {
		return err
	}
	if has := s.balances[holding{t.account, chain.Native}]; has.Less(cost) {
		return fmt.Errorf("%w: %s has %s, up to %s wanted", errShort, t.account, has, cost)
	}
	return nil
}

// price is the fee of a transaction at a base fee: gas x min(cap, base + tip).
func price(t *tx, base chain.Amount) (chain.Amount, error) {
	per, err := base.Add(t.Tip)
	if err != nil {
		return chain.Amount{}, err
	}
	if t.Cap.Less(per) {
		per = t.Cap
	}
	return per.Mul(gas)
}

// place names one movement inside a transaction: stable wherever the transaction is mined. The
// linked ledger moves one thing per block.
func place(t *tx, i int) string {
	if len(t.Outs) == 1 {
		return t.hash
	}
	return fmt.Sprintf("%s:%d", t.hash, i)
}
