package rpc

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"gatewayd/httpserver/jsonrpc"
	"gatewayd/wallet"
	"gatewayd/wallet/keystore"
)

// Codes of a node besides those of jsonrpc (docs/exchange-chain-rpc.md 5.2), and one that it does
// not have.
const (
	codeLimit    = -32005 // ours: too many calls, or too many wrong passwords
	codeParams   = -32602
	codePassword = -34001
)

// Refusal is a method's error as it goes onto the wire. A ledger returns it for what the exchange
// chain's node refused.
type Refusal = jsonrpc.Error

func required(member string) error {
	return jsonrpc.NewError(codeParams, "invalid argument 0: "+member+" is required")
}

// isForCaller reports whether an error's text is for the caller. What is not here may carry
// anything, so it stays in the log.
func isForCaller(err error) bool {
	return slices.ContainsFunc([]error{
		wallet.ErrUnknownStore, wallet.ErrLocked, wallet.ErrAddressNotFound, wallet.ErrRangeOrder, wallet.ErrRangeSize,
		keystore.ErrStore, keystore.ErrAddressMismatch, keystore.ErrPath, keystore.ErrNotHardened,
		keystore.ErrWordCount, keystore.ErrChecksum,
	}, func(known error) bool { return errors.Is(err, known) })
}

// onWire gives an error its code and text. ok is false for a fault of our own machine, which looks
// like a node's panic.
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
		return jsonrpc.NewError(codePassword, keystore.ErrPassword.Error()), true
	case errors.As(err, &throttled):
		return jsonrpc.NewError(codeLimit, throttled.Error()), true
	case errors.Is(err, wallet.ErrBusy):
		return jsonrpc.NewError(codeLimit, wallet.ErrBusy.Error()), true
	case errors.As(err, &word): // it goes to who sent it
		return jsonrpc.NewError(jsonrpc.CodeOther, fmt.Sprintf("word `%s` not found in reverse map", jsonrpc.Shortened(word.Word))), true
	case errors.Is(err, keystore.ErrExists):
		return jsonrpc.NewError(jsonrpc.CodeOther, "entropy store exists; it is not overwritten"), true
	case isForCaller(err):
		return jsonrpc.NewError(jsonrpc.CodeOther, err.Error()), true
	case errors.As(err, &file) && file.Op == "stat": // of the file that the caller named
		return jsonrpc.NewError(jsonrpc.CodeOther, file.Error()), true
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return jsonrpc.NewError(jsonrpc.CodeClosing, "server is shutting down"), true
	}
	return jsonrpc.NewError(jsonrpc.CodePanic, "server execute panic"), false
}
