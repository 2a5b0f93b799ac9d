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

// Is makes errors.Is compare codes; for the general code (-32002) the texts count too.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	if !ok || t.Code != e.Code {
		return false
	}
	return t.Code != codeOther || t.Message == e.Message
}

// codeOther is the node's code for every method error without a code of its own.
const codeOther = -32002

// Refusals that a sender distinguishes (docs/exchange-chain-rpc.md 5.2). Test with errors.Is.
var (
	ErrShuttingDown    error = &Error{-32000, "server is shutting down"}
	ErrMethod          error = &Error{-32601, "no such method"}
	ErrOutOfQuota      error = &Error{-35002, "out of quota"}
	ErrPoWTwice        error = &Error{-35005, "calc PoW twice referring to one snapshot block"}
	ErrCongested       error = &Error{-35011, "PoW service not supported"}
	ErrQuotaLimit      error = &Error{-35012, "quota limit for block reached"}
	ErrPrevBlock       error = &Error{-36005, "verify prevBlock failed, incorrect use of prevHash or fork happened"}
	ErrAlreadyReceived error = &Error{-36011, "block is already received successfully"}
	ErrNoMarket        error = &Error{-37007, "trade market not exists"}
	ErrNoFundUser      error = &Error{-37013, "fund user doesn't exist"}
	ErrChainForked     error = &Error{codeOther, "chain forked"}
)

// OutcomeUnknown reports whether a block may have been accepted although sending it returned err: a
// broken connection, a timeout, a node that is closing or crashed inside the call, or ErrPrevBlock.
// Look up the block's hash before any other step.
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
