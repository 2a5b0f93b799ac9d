package ledger

import (
	"github.com/holiman/uint256"

	"gatewayd/vite/core"
)

// Apply executes a user's block that checkPlace has passed and puts it into the chain, or refuses
// it and changes nothing.
func (s *State) Apply(b *core.AccountBlock) error {
	switch {
	case b.BlockType == core.SendCreate:
		return s.addCreate(b)
	case b.BlockType == core.SendCall:
		return s.addSend(b)
	case b.IsSend():
		return ErrContractOnly
	case b.IsReceive():
		return s.addReceive(b)
	}
	return ErrBlockType
}

func (s *State) addReceive(b *core.AccountBlock) error {
	p, err := s.charge(s.Accounts[b.Address], b, core.QuotaPerUT)
	if err != nil {
		return err
	}
	if b.BlockType != core.Receive {
		return ErrInconsistent // types 5 and 7 are judged as a receive, and then are none
	}
	acc := s.account(b.Address)
	e := &Entry{Block: b, Send: s.Blocks[b.SendBlockHash], ByStake: p.byStake, Total: p.total}
	s.spend(acc, b, p)
	s.append(acc, e)
	s.settle(acc, e)
	s.credit(acc, e.Send.Block.TokenID, e.Send.Block.Amount)
	return nil
}

// addSend is a transfer or a call of a contract.
func (s *State) addSend(b *core.AccountBlock) error {
	cost, err := s.Cost(b.BlockType, b.ToAddress, b.Data)
	if err != nil {
		return err
	}
	p, err := s.charge(s.Accounts[b.Address], b, cost)
	if err != nil {
		return err
	}
	if isBuiltin(b.ToAddress) {
		if err := checkCall(b); err != nil {
			return err
		}
	}
	return s.debitAndAppend(b, p)
}

// addCreate registers the contract; its code comes when the producer receives the block.
func (s *State) addCreate(b *core.AccountBlock) error {
	info, err := parseCreation(b.Data)
	if err != nil {
		return err
	}
	cost, err := s.Cost(b.BlockType, b.ToAddress, b.Data)
	if err != nil {
		return err
	}
	p, err := s.charge(s.Accounts[b.Address], b, cost)
	if err != nil {
		return err
	}
	if b.ToAddress != core.ContractAddress(b.Address, b.Height, b.PreviousHash) {
		return ErrInconsistent
	}
	if s.Contract(b.ToAddress) != nil {
		return ErrIDCollision
	}
	mark := s.journal.mark()
	contract := s.account(b.ToAddress)
	set(&s.journal, &contract.Contract, info)
	if err := s.debitAndAppend(b, p); err != nil {
		s.journal.revert(mark)
		return err
	}
	return nil
}

// debitAndAppend takes amount and fee from the sender and offers the send. The fee that the block
// states must be the one that it owes; whether the sender can pay is asked before that.
func (s *State) debitAndAppend(b *core.AccountBlock, p price) error {
	fee := core.RequiredFee(b.BlockType, b.ToAddress, b.Data)
	acc := s.account(b.Address) // exists: height is above 1
	mark := s.journal.mark()
	err := s.debit(acc, b.TokenID, b.Amount)
	if err == nil {
		err = s.debit(acc, core.VITE, fee)
	}
	if err == nil && b.Fee != fee {
		err = ErrInconsistent
	}
	if err != nil {
		s.journal.revert(mark)
		return err
	}
	if !fee.IsZero() {
		s.burnFee(fee)
	}
	e := &Entry{Block: b, ByStake: p.byStake, Total: p.total}
	s.spend(acc, b, p)
	s.append(acc, e)
	s.open(e)
	return nil
}

// vite converts VITE to its smallest unit.
func vite(n uint64) *uint256.Int {
	return new(uint256.Int).Mul(uint256.NewInt(n), uint256.NewInt(1e18))
}
