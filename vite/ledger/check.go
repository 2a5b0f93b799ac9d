package ledger

import (
	"errors"

	"gatewayd/vite/core"
)

// The ladder of docs/exchange-chain-rpc.md 5.6 runs through four functions, each used in this
// order: present, checkToken (state), checkAlone, and then checkPlace (state). What a lower rung
// would refuse is not looked at before the rungs above have passed.

// CheckParts checks that the block has the parts that every check needs.
func CheckParts(b *core.AccountBlock) error {
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

// CheckToken is ErrUnknownToken for a token that was never issued. The zero token passes here.
func (s *State) CheckToken(b *core.AccountBlock) error {
	if b.IsSend() && !b.TokenID.IsZero() && s.Tokens[b.TokenID] == nil {
		return ErrUnknownToken
	}
	return nil
}

// Verdict is the result of CheckBlock. It is costly, and needs no state, so it runs outside the
// lock.
type Verdict struct {
	producer error // ErrProducer or nil
	work     error // ErrPoWForm, ErrNonce or nil
	// Send is the send of a receive if memory no longer has it, so that it has been received; nil
	// otherwise.
	Send *Entry
}

// CheckBlock checks hash, signature (by good) and fields, and prepares the findings that the ladder
// wants further down.
func CheckBlock(b *core.AccountBlock, good func(public, message, signature []byte) bool) (Verdict, error) {
	var v Verdict
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

// CheckPlace checks the block against the chain: its send block, producer, work, position.
func (s *State) CheckPlace(b *core.AccountBlock, v Verdict) error {
	var send *Entry
	if b.IsReceive() {
		if send = s.Blocks[b.SendBlockHash]; send == nil {
			send = v.Send
		}
		if send == nil {
			return ErrSendMissing
		}
	}
	if v.producer != nil {
		return v.producer
	}
	if send != nil && (!send.Block.IsSend() || send.Block.ToAddress != b.Address) {
		return ErrProducer // what is no send is addressed to no one
	}
	if v.work != nil {
		return v.work
	}
	tip := s.Accounts[b.Address].Head()
	if b.Height != tip.Height+1 || b.PreviousHash != tip.Hash {
		return ErrPrevious
	}
	if send != nil && (send.Receive != nil || send == v.Send) {
		return ErrReceived
	}
	return nil
}

// Error is a refusal with the code and message of a real node (docs/exchange-chain-rpc.md 5.2).
// Every refusal by Submit, DropUnconfirmed, Rollback and the reads that can refuse is one; other
// errors are faults of this node: a full disk, a cancelled context.
type Error struct {
	Code    int
	Message string
}

func (e *Error) Error() string { return e.Message }

// The refusals, in the order of Submit's checks; codes without a number of their own are -32002.
var (
	ErrEmptyBlock      = &Error{-32002, "empty block"}
	ErrUnsigned        = &Error{-32002, "signature and publicKey all must have value"}
	ErrNoDifficulty    = &Error{-32002, "lack of difficulty field"}
	ErrUnknownToken    = &Error{-32002, "tokenId doesn\u2019t exist"}
	ErrHash            = &Error{-36002, "verify hash failed"}
	ErrSignature       = &Error{-36003, "verify signature failed"}
	ErrFirstIsSend     = &Error{-36001, "general account's sendBlock.Height must be larger than 1"}
	ErrFields          = &Error{-36010, "verify that block field data is illegal"}
	ErrSendMissing     = &Error{-36007, "receive's dependent send block is not exists on chain"}
	ErrProducer        = &Error{-36009, "verify that the producer is illegal"}
	ErrNonce           = &Error{-36004, "check pow nonce failed"}
	ErrPoWForm         = &Error{-36008, "verify that it's not eligible to do pow"}
	ErrPrevious        = &Error{-36005, "verify prevBlock failed, incorrect use of prevHash or fork happened"}
	ErrReceived        = &Error{-36011, "block is already received successfully"}
	ErrBlockType       = &Error{-32002, "generator in verifier run failed"}
	ErrContractOnly    = &Error{-32002, "transaction type not supported"}
	ErrNoContract      = &Error{-35008, "contract not exists"}
	ErrNoMethod        = &Error{-35006, "abi: method not found"}
	ErrMethodParam     = &Error{-35004, "invalid method param"}
	ErrLatency         = &Error{-35007, "invalid response latency"}
	ErrQuotaMultiplier = &Error{-35010, "invalid quota multiplier"}
	ErrRandomDegree    = &Error{-35013, "invalid random degree"}
	ErrIDCollision     = &Error{-35003, "id collision"}
	ErrPoWTwice        = &Error{-35005, "calc PoW twice referring to one snapshot block"}
	ErrQuota           = &Error{-35002, "out of quota"}
	ErrBalance         = &Error{-35001, "insufficient balance for transfer"}
	ErrDexParam        = &Error{-32002, "invalid input param"}
	ErrOrderType       = &Error{-37002, "invalid order type"}
	ErrOrderPrice      = &Error{-37003, "invalid order price format"}
	ErrOrderQuantity   = &Error{-37004, "invalid order quantity"}
	ErrTokenPair       = &Error{-37012, "invalid token pair"}
	ErrInconsistent    = &Error{-36012, "inconsistent execution results in vm"}
)

// Refusals of the reads and of the test controls.
var (
	ErrBlockLimit  = &Error{-35012, "quota limit for block reached"}
	ErrForked      = &Error{-32002, "chain forked"}
	ErrNoTo        = &Error{-32002, "toAddress is nil"}
	ErrNoBlock     = &Error{-32002, "get block failed"}
	ErrNoSnapshot  = &Error{-32002, "snapshot block not exists"}
	ErrConfirmed   = &Error{-32002, "block is in a snapshot already"}
	ErrTooDeep     = &Error{-32002, "snapshot height is not below the latest"}
	ErrBadPageSize = &Error{-32002, "count must be less than 1000"}
)
