package client

import (
	"errors"
	"fmt"

	"gatewayd/vite/core"
)

// ErrTooLarge is a response above Options.MaxResponse.
var ErrTooLarge = errors.New("the node's response is too large")

// Error is a node's refusal. The code is the node's own; the message its own text.
type Error struct {
	Code    int
	Message string
}

func (e *Error) Error() string { return fmt.Sprintf("node error %d: %s", e.Code, shortened(e.Message)) }

// Is makes errors.Is compare codes; for the code that stands for everything else (-32002) the texts count too.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	if !ok || t.Code != e.Code {
		return false
	}
	return t.Code != codeOther || t.Message == e.Message
}

// codeOther is the node's code for every method error without a code of its own.
const codeOther = -32002

// Refusals that a sender tells apart (docs/exchange-chain-wire.md 5.2). Test with errors.Is.
var (
	ErrShuttingDown    error = &Error{-32000, "server is shutting down"}
	ErrPanic           error = &Error{-32001, "server execute panic"}
	ErrMethod          error = &Error{-32601, "no such method"}
	ErrParams          error = &Error{-32602, "bad parameters"}
	ErrBalance         error = &Error{-35001, "insufficient balance for transfer"}
	ErrOutOfQuota      error = &Error{-35002, "out of quota"}
	ErrMethodParam     error = &Error{-35004, "invalid method param"}
	ErrPoWTwice        error = &Error{-35005, "calc PoW twice referring to one snapshot block"}
	ErrABIMethod       error = &Error{-35006, "abi: method not found"}
	ErrNoContract      error = &Error{-35008, "contract not exists"}
	ErrCongested       error = &Error{-35011, "PoW service not supported"}
	ErrQuotaLimit      error = &Error{-35012, "quota limit for block reached"}
	ErrFirstBlock      error = &Error{-36001, "general account's sendBlock.Height must be larger than 1"}
	ErrHash            error = &Error{-36002, "verify hash failed"}
	ErrSignature       error = &Error{-36003, "verify signature failed"}
	ErrNonce           error = &Error{-36004, "check pow nonce failed"}
	ErrPrevBlock       error = &Error{-36005, "verify prevBlock failed, incorrect use of prevHash or fork happened"}
	ErrPending         error = &Error{-36006, "verify referred block failed, pending for them"}
	ErrNoSend          error = &Error{-36007, "receive's dependent send block is not exists on chain"}
	ErrPoWForm         error = &Error{-36008, "verify that it's not eligible to do pow"}
	ErrProducer        error = &Error{-36009, "verify that the producer is illegal"}
	ErrField           error = &Error{-36010, "verify that block field data is illegal"}
	ErrAlreadyReceived error = &Error{-36011, "block is already received successfully"}
	ErrInconsistent    error = &Error{-36012, "inconsistent execution results in vm"}
	ErrOrderType       error = &Error{-37002, "invalid order type"}
	ErrOrderPrice      error = &Error{-37003, "invalid order price format"}
	ErrNoMarket        error = &Error{-37007, "trade market not exists"}
	ErrNoOrder         error = &Error{-37008, "order not exists"}
	ErrTokenPair       error = &Error{-37012, "invalid token pair"}
	ErrNoFundUser      error = &Error{-37013, "fund user doesn't exist"}
	ErrExchangeToken   error = &Error{codeOther, "invalid token"}
	ErrChainForked     error = &Error{codeOther, "chain forked"}
	ErrNotSupported    error = &Error{codeOther, "not supported"}
)

// Permanent tells whether a refused block can never be accepted as it is. Everything else is undecided: what the node said
// may change with the next snapshot, or the block may even be in the chain (ErrPrevBlock answers its re-sending, too).
func Permanent(err error) bool {
	if errors.Is(err, core.ErrBlockJSON) {
		return true
	}
	var e *Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code {
	case -32602, -35001, -35004, -35006, -35008, -36001, -36002, -36003, -36004, -36008, -36009, -36010, -36012,
		-37002, -37003, -37012:
		return true
	}
	return false
}

// OutcomeUnknown tells whether a block may have been accepted although sending it gave err: a broken connection, a
// timeout, a node that is closing or crashed inside the call, or ErrPrevBlock. Look the block's hash up before anything else.
func OutcomeUnknown(err error) bool {
	if err == nil || errors.Is(err, core.ErrBlockJSON) {
		return false
	}
	var e *Error
	if !errors.As(err, &e) {
		return true
	}
	switch e.Code {
	case -32000, -32001, -32603, -36005, -36006:
		return true
	}
	return false
}

// shortened keeps a node from filling logs with its texts.
func shortened(s string) string {
	if len(s) > 200 {
		return s[:200] + "..."
	}
	return s
}
