package rpc

import (
	"context"
	"errors"

	"gatewayd/chain/vite/node"
)

// Codes of a real node (docs/exchange-chain-wire.md 5.2).
const (
	codeClosing = -32000
	codePanic   = -32001
	codeOther   = -32002 // every error of a method without a code of its own
)

// refusal is a method's error as it goes onto the wire; the envelope library asks for the code.
type refusal struct {
	code    int
	message string
}

func (r *refusal) Error() string { return r.message }

// ErrorCode is read by go-ethereum's rpc package.
func (r *refusal) ErrorCode() int { return r.code }

func other(message string) error { return &refusal{codeOther, message} }

// onWire gives an error the code and text of a real node. A fault of our own machine is told as a real node tells its
// panics: the sender must take the outcome as unknown, and the text stays here, because node.Run ends with it.
func onWire(err error) error {
	if err == nil {
		return nil
	}
	var refused *node.Error
	if errors.As(err, &refused) {
		return &refusal{refused.Code, refused.Message}
	}
	var ready *refusal
	if errors.As(err, &ready) {
		return ready
	}
	if errors.Is(err, node.ErrClosed) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return &refusal{codeClosing, "server is shutting down"}
	}
	return &refusal{codePanic, "server execute panic"}
}
