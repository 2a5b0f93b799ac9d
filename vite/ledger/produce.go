package ledger

import (
	"errors"
	"math"
	"slices"

	"github.com/holiman/uint256"
	"golang.org/x/crypto/blake2b"

	"gatewayd/vite/core"
)

// stepRules bound one step of the contracts; the kind of a record selects them. Users' blocks come
// between steps.
type stepRules struct {
	receives int // a step ends after so many,
	ownCalls int // before the next call by which a contract continues its own long work (PaymentsPerBlock),
	weight   int // and with the receive that makes its blocks so heavy
	// toContracts: contracts are minted for, and get refunds, which they send back in turn for ever.
	toContracts bool
	// olderSplit: a market buy locks the fee of all its funds (dex.Placement).
	olderSplit bool
}

var (
	steps         = stepRules{receives: 1000, ownCalls: 1, weight: 1 << 20}
	olderBuySteps = stepRules{receives: 1000, ownCalls: 1, weight: 1 << 20, olderSplit: true}
	loopingSteps  = stepRules{receives: 1000, ownCalls: 1, weight: math.MaxInt, toContracts: true, olderSplit: true}
	olderSteps    = stepRules{receives: 10_000, ownCalls: 10_000, weight: math.MaxInt, toContracts: true, olderSplit: true}
)

// Contract receives end in a byte with the result of the call.
const (
	StatusOK     = 0
	StatusFailed = 1
)

// errTooManySends refuses a call that triggers more sends than their index byte can count.
var errTooManySends = errors.New("contract makes too many sends")

// Step lets contracts receive what waits for them, in the order of arrival, and what they send each
// other meanwhile.
func (s *State) Step() { s.Produce(s.steps.receives, s.steps.ownCalls) }

// Produce runs a step of so many receives and own calls of contracts.
func (s *State) Produce(receives, ownCalls int) {
	for weight := s.steps.weight; receives > 0 && weight > 0 && len(s.Pending) > 0; receives-- {
		next := s.Pending[0]
		if next.Block.Address == next.Block.ToAddress {
			if ownCalls == 0 {
				return
			}
			ownCalls--
		}
		set(&s.journal, &s.Pending, s.Pending[1:])
		s.receive(next)
		weight -= s.Recent[len(s.Recent)-1].weight()
	}
}

// execution is one contract receive in the making. The contracts write through it.
type execution struct {
	state *State
	self  *Account
	send  *core.AccountBlock // what is received
	block *core.AccountBlock // the receive
	logs  []VMLog
	sends []*core.AccountBlock
}

// receive makes the contract's receive block for a send: it credits the amount and executes the
// call. A failed call leaves no trace but its block, status 1, and the sends that give amount and
// fee back. What a contract has sent stays: contracts take no refund, and would send it back.
func (s *State) receive(send *Entry) {
	acc := s.account(send.Block.ToAddress)
	tip := acc.Head()
	x := &execution{state: s, self: acc, send: send.Block, block: &core.AccountBlock{
		BlockType: core.Receive, Height: tip.Height + 1, PreviousHash: tip.Hash, Address: acc.address,
		SendBlockHash: send.Block.Hash,
	}}
	mark := s.journal.mark()
	s.credit(acc, send.Block.TokenID, send.Block.Amount)
	status := byte(StatusOK)
	if err := x.run(); err != nil {
		s.journal.revert(mark)
		s.credit(acc, send.Block.TokenID, send.Block.Amount)
		status = StatusFailed
		x.logs, x.sends = nil, nil
		if s.steps.toContracts || !send.Block.Address.IsContract() {
			x.refund()
		}
	}
	x.finish(send, status)
}

// run executes the call and pays for what it sends.
func (x *execution) run() error {
	if err := x.call(); err != nil {
		return err
	}
	if len(x.sends) > math.MaxUint8+1 {
		return errTooManySends
	}
	return x.payForSends()
}

// payForSends debits the contract for its sends. A mint (type 3) makes what it sends.
func (x *execution) payForSends() error {
	for _, b := range x.sends {
		if b.BlockType == core.SendReissue {
			continue
		}
		if err := x.state.debit(x.self, b.TokenID, b.Amount); err != nil {
			return err
		}
	}
	return nil
}

// refund gives back what a failed call came with. It cannot fail: the amount was just credited.
func (x *execution) refund() {
	if !x.send.Amount.IsZero() {
		x.transfer(x.send.Address, x.send.TokenID, x.send.Amount)
	}
	if !x.send.Fee.IsZero() {
		x.state.unburnFee(x.send.Fee)
		x.state.credit(x.self, core.VITE, x.send.Fee)
		x.transfer(x.send.Address, core.VITE, x.send.Fee)
	}
	if err := x.payForSends(); err != nil {
		panic("node: a refund exceeds what came: " + err.Error())
	}
}

// finish seals the receive block and puts it and its sends into the chain. The amount is credited
// already.
func (x *execution) finish(send *Entry, status byte) {
	s, b := x.state, x.block
	e := &Entry{Block: b, Send: send, Logs: x.logs}
	for i, t := range x.sends {
		t.Hash = t.ComputeTriggeredHash(b, uint8(i))
		b.Triggered = append(b.Triggered, t)
		e.Triggered = append(e.Triggered, &Entry{Block: t, At: Position{b.Height, i + 1}})
	}
	if len(x.logs) > 0 {
		h := LogHash(x.logs, b)
		b.VMLogHash = &h
	}
	public := s.Rules.Producer.Public()
	b.Data = x.receipt(status)
	b.PublicKey = public[:]
	b.Hash = b.ComputeHash()

	s.append(x.self, e)
	s.settle(x.self, e)
	for _, t := range e.Triggered {
		put(&s.journal, s.Blocks, t.Block.Hash, t)
		s.open(t)
	}
}

// receipt is 32 bytes that commit to what the call did, zero for a failed one, and the status.
func (x *execution) receipt(status byte) []byte {
	var sum core.Hash
	if status == StatusOK && len(x.logs)+len(x.sends) > 0 {
		p := slices.Clone(x.block.SendBlockHash[:])
		for _, t := range x.block.Triggered {
			p = append(p, t.Hash[:]...)
		}
		if x.block.VMLogHash != nil {
			p = append(p, x.block.VMLogHash[:]...)
		}
		sum = blake2b.Sum256(p)
	}
	return append(sum[:], status)
}

// LogHash commits to the logs of a receive block: topics and data of each, then address and
// previous hash of the block. It fits the recorded block 200c5329… of the asset contract
// (docs/exchange-chain-wire.md 4.9).
func LogHash(logs []VMLog, b *core.AccountBlock) core.Hash {
	var p []byte
	for _, l := range logs {
		for _, t := range l.Topics {
			p = append(p, t[:]...)
		}
		p = append(p, l.Data...)
	}
	p = append(p, b.Address[:]...)
	return blake2b.Sum256(append(p, b.PreviousHash[:]...))
}

// transfer sends from the contract.
func (x *execution) transfer(to core.Address, token core.TokenID, amount uint256.Int) {
	x.sends = append(x.sends, &core.AccountBlock{
		BlockType: core.SendCall, Address: x.self.address, ToAddress: to, TokenID: token, Amount: amount,
	})
}

// mint sends new tokens.
func (x *execution) mint(to core.Address, token core.TokenID, amount uint256.Int) {
	x.sends = append(x.sends, &core.AccountBlock{
		BlockType: core.SendReissue, Address: x.self.address, ToAddress: to, TokenID: token, Amount: amount,
	})
}

// emit logs an event. Values that do not fit it are a fault of this program's tables.
func (x *execution) emit(event core.Event, values ...any) error {
	topics, data, err := event.Pack(values...)
	if err != nil {
		return err
	}
	x.logs = append(x.logs, VMLog{Topics: topics, Data: data})
	return nil
}
