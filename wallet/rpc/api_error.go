package rpc

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"gatewayd/wallet"
	"gatewayd/wallet/keystore"
)

// Codes of a node (docs/exchange-chain-wire.md 5.2), and one that it does not have.
const (
	codeClosing  = -32000
	codeFault    = -32001
	codeOther    = -32002 // every error of a method without a code of its own
	codeLimit    = -32005 // ours: too many calls, or too many wrong passwords
	codeParams   = -32602
	codePassword = -34001
)

// Refusal is a method's error as it goes onto the wire. A ledger returns it for what the exchange chain's node refused.
type Refusal struct {
	Code    int
	Message string
}

func (r *Refusal) Error() string { return r.Message }

// ErrorCode is read by go-ethereum's rpc package.
func (r *Refusal) ErrorCode() int { return r.Code }

func other(message string) error { return &Refusal{codeOther, message} }

func required(member string) error {
	return &Refusal{codeParams, "invalid argument 0: " + member + " is required"}
}

// told are the errors whose text is for the caller. What is not here may carry anything, so it stays in the log.
func told(err error) bool {
	for _, known := range []error{
		wallet.ErrUnknownStore, wallet.ErrLocked, wallet.ErrAddressNotFound, wallet.ErrRangeOrder, wallet.ErrRangeSize,
		keystore.ErrStore, keystore.ErrAddressMismatch, keystore.ErrPath, keystore.ErrNotHardened,
		keystore.ErrWordCount, keystore.ErrChecksum,
	} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

// onWire gives an error its code and text. ok is false for a fault of our own machine, which is told as a node tells its
// panics.
func onWire(err error) (r *Refusal, ok bool) {
	var (
		word      *keystore.WordError
		throttled *wallet.ThrottledError
		file      *fs.PathError
	)
	switch {
	case errors.As(err, &r):
		return r, true
	case errors.Is(err, keystore.ErrPassword):
		return &Refusal{codePassword, keystore.ErrPassword.Error()}, true
	case errors.As(err, &throttled):
		return &Refusal{codeLimit, throttled.Error()}, true
	case errors.Is(err, wallet.ErrBusy):
		return &Refusal{codeLimit, wallet.ErrBusy.Error()}, true
	case errors.As(err, &word): // it goes to who sent it
		return &Refusal{codeOther, fmt.Sprintf("word `%s` not found in reverse map", shortened(word.Word))}, true
	case errors.Is(err, keystore.ErrExists):
		return &Refusal{codeOther, "entropy store exists; it is not overwritten"}, true
	case told(err):
		return &Refusal{codeOther, err.Error()}, true
	case errors.As(err, &file) && file.Op == "stat": // of the file that the caller named
		return &Refusal{codeOther, file.Error()}, true
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return &Refusal{codeClosing, "server is shutting down"}, true
	}
	return &Refusal{codeFault, "server execute panic"}, false
}

// shortened bounds a text that is given back.
func shortened(s string) string {
	if len(s) > 100 {
		return s[:100] + "..."
	}
	return s
}
