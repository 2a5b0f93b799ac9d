package node

import (
	"errors"

	"gatewayd/chain/vite/core"
)

// The ladder of docs/exchange-chain-wire.md 5.6 runs through four functions, each used in this order: present, checkToken (state), checkAlone,
// and then checkPlace (state). What a lower rung would refuse is not looked at before the rungs above have passed.

// present checks that the block has the parts that every check needs.
func present(b *core.AccountBlock) error {
	switch {
	case b == nil:
		return ErrEmptyBlock
	case len(b.PublicKey) == 0 || len(b.Signature) == 0:
		return ErrUnsigned
	case b.Nonce != nil && b.Difficulty == nil:
		return ErrNoDifficulty
	}
	return nil
}

// checkToken is ErrUnknownToken for a token that was never issued. The zero token passes here.
func (s *state) checkToken(b *core.AccountBlock) error {
	if b.IsSend() && !b.TokenID.IsZero() && s.tokens[b.TokenID] == nil {
		return ErrUnknownToken
	}
	return nil
}

// verdict is what checkAlone found out about a block. It is costly, and needs no state, so it runs outside the lock.
type verdict struct {
	producer error // ErrProducer or nil
	work     error // ErrPoWForm, ErrNonce or nil
	// send is what a receive names if memory has forgotten it, so that someone has received it; nil otherwise.
	send *entry
}

// checkAlone checks hash, signature (by good) and fields, and prepares the findings that the ladder wants further down.
func checkAlone(b *core.AccountBlock, good func(public, message, signature []byte) bool) (verdict, error) {
	var v verdict
	switch err := b.VerifyBy(good); {
	case errors.Is(err, core.ErrBlockHash):
		return v, ErrHash
	case errors.Is(err, core.ErrBlockSignature):
		return v, ErrSignature
	case err != nil:
		v.producer = ErrProducer
	}
	if err := checkFields(b); err != nil {
		return v, err
	}
	if b.Address.IsContract() {
		v.producer = ErrProducer // contracts' blocks are made here, never taken
	}
	v.work = checkWork(b)
	return v, nil
}

func checkFields(b *core.AccountBlock) error {
	if b.VMLogHash != nil || len(b.Triggered) > 0 {
		return ErrFields
	}
	switch {
	case b.IsSend():
		return checkSendFields(b)
	case b.IsReceive():
		return checkReceiveFields(b)
	}
	return nil
}

func checkSendFields(b *core.AccountBlock) error {
	switch {
	case b.Height == 1:
		return ErrFirstIsSend
	case !b.SendBlockHash.IsZero():
		return ErrFields
	case b.TokenID.IsZero() && !b.Amount.IsZero():
		return ErrFields
	}
	return nil
}

func checkReceiveFields(b *core.AccountBlock) error {
	switch {
	case len(b.Data) > 0, !b.Amount.IsZero(), !b.Fee.IsZero(), !b.TokenID.IsZero(), !b.ToAddress.IsZero():
		return ErrFields
	}
	return nil
}

func checkWork(b *core.AccountBlock) error {
	switch {
	case b.Nonce == nil:
		return nil
	case len(b.Nonce) != core.NonceSize:
		return ErrPoWForm
	case !core.CheckPoW(core.PoWDataHash(b.Address, b.PreviousHash), b.Nonce, b.Difficulty):
		return ErrNonce
	}
	return nil
}

// checkPlace checks the block against the chain: its send block, producer, work, position.
func (s *state) checkPlace(b *core.AccountBlock, v verdict) error {
	var send *entry
	if b.IsReceive() {
		if send = s.blocks[b.SendBlockHash]; send == nil {
			send = v.send
		}
		if send == nil {
			return ErrSendMissing
		}
	}
	if v.producer != nil {
		return v.producer
	}
	if send != nil && (!send.block.IsSend() || send.block.ToAddress != b.Address) {
		return ErrProducer // what is no send is addressed to no one
	}
	if v.work != nil {
		return v.work
	}
	tip := s.accounts[b.Address].tip()
	if b.Height != tip.Height+1 || b.PreviousHash != tip.Hash {
		return ErrPrevious
	}
	if send != nil && (send.receive != nil || send == v.send) {
		return ErrReceived
	}
	return nil
}
