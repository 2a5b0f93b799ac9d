package rpc

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"gatewayd/httpserver/jsonrpc"
	"gatewayd/vite/core"
	"gatewayd/vite/ledger"
	"gatewayd/vite/node"
)

// errTokenText is a real node's text for a token that does not parse.
var errTokenText = errors.New("error hex token type id or prefix")

type addressArg struct{ core.Address }

func (a *addressArg) UnmarshalJSON(raw []byte) (err error) {
	a.Address, err = jsonrpc.Parse(raw, core.ParseAddress, jsonrpc.ErrAddress)
	return err
}

type tokenArg struct{ core.TokenID }

func (t *tokenArg) UnmarshalJSON(raw []byte) (err error) {
	t.TokenID, err = jsonrpc.Parse(raw, core.ParseTokenID, errTokenText)
	return err
}

type hashArg struct{ core.Hash }

func (h *hashArg) UnmarshalJSON(raw []byte) error {
	s, err := jsonrpc.Text(raw)
	if err != nil {
		return err
	}
	if len(s) != 2*core.HashSize {
		return fmt.Errorf("error hex hash size %d", len(s))
	}
	var digits [2 * core.HashSize]byte
	copy(digits[:], s)
	_, err = hex.Decode(h.Hash[:], digits[:])
	return err
}

// hashOf is the hash behind an optional parameter.
func (h *hashArg) hashOf() *core.Hash {
	if h == nil {
		return nil
	}
	return &h.Hash
}

// heightArg is a height as text or as a number. What does not parse is the method's error, not a
// parameter error.
type heightArg string

func (h *heightArg) UnmarshalJSON(raw []byte) error {
	if len(raw) > 0 && raw[0] == '"' {
		return json.Unmarshal(raw, (*string)(h))
	}
	var n json.Number
	if err := json.Unmarshal(raw, &n); err != nil {
		return err
	}
	*h = heightArg(n)
	return nil
}

func (h heightArg) height() (uint64, error) {
	n, err := strconv.ParseUint(string(h), 10, 64)
	if err != nil {
		return 0, jsonrpc.Other(jsonrpc.Shortened(err.Error()))
	}
	return n, nil
}

// maxCount bounds every list that a method gives (docs/exchange-chain-rpc.md 5.5).
const maxCount = 1000

var errCount = jsonrpc.Other("count must be less than 1000")

// page checks a page. A negative page or size has nothing on it.
func page(index, size int) (ok bool, err error) {
	if size > maxCount {
		return false, errCount
	}
	return index >= 0 && size > 0, nil
}

// onWire gives an error the code and text of a real node. A fault of our own machine looks like a
// real node's panic: the sender must treat the outcome as unknown. The text is not sent, because
// node.Run ends with it.
func onWire(err error) error {
	if err == nil {
		return nil
	}
	var refused *ledger.Error
	if errors.As(err, &refused) {
		return jsonrpc.NewError(refused.Code, refused.Message)
	}
	var ready *jsonrpc.Error
	if errors.As(err, &ready) {
		return ready
	}
	if errors.Is(err, node.ErrClosed) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return jsonrpc.NewError(jsonrpc.CodeClosing, "server is shutting down")
	}
	return jsonrpc.NewError(jsonrpc.CodePanic, "server execute panic")
}
