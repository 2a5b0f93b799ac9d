package rpc

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strconv"

	"gatewayd/vite/core"
	"gatewayd/vite/ledger"
	"gatewayd/vite/node"
)

// The texts of a real node for parameters that do not parse; the library puts "invalid argument N: " before them.
var (
	errNotString   = errors.New("not valid string")
	errAddressText = errors.New("error hex address or prefix")
	errTokenText   = errors.New("error hex token type id or prefix")
)

// text is a JSON string; anything else, null included, is refused.
func text(raw []byte) (string, error) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", errNotString
	}
	if inside := raw[1 : len(raw)-1]; plain(inside) {
		return string(inside), nil
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return "", errNotString
	}
	return s, nil
}

// plain tells whether JSON writes these bytes in a string as they are.
func plain(p []byte) bool {
	for _, c := range p {
		if c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

type addressArg struct{ core.Address }

func (a *addressArg) UnmarshalJSON(raw []byte) error {
	s, err := text(raw)
	if err != nil {
		return err
	}
	if a.Address, err = core.ParseAddress(s); err != nil {
		return errAddressText
	}
	return nil
}

type tokenArg struct{ core.TokenID }

func (t *tokenArg) UnmarshalJSON(raw []byte) error {
	s, err := text(raw)
	if err != nil {
		return err
	}
	if t.TokenID, err = core.ParseTokenID(s); err != nil {
		return errTokenText
	}
	return nil
}

type hashArg struct{ core.Hash }

func (h *hashArg) UnmarshalJSON(raw []byte) error {
	s, err := text(raw)
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

// heightArg is a height as text or as a number. What does not parse is the method's error, not a parameter error.
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
		return 0, other(shortened(err.Error()))
	}
	return n, nil
}

// maxInteger is more digits than any amount of 256 bits has, with room for the leading zeros that a node tolerates.
const maxInteger = 200

var errInteger = other("convert to big.Int failed")

// integer reads decimal digits with an optional sign and any leading zeros, as a node does.
func integer(s string) (*big.Int, error) {
	if len(s) > maxInteger {
		return nil, errInteger
	}
	n, ok := new(big.Int).SetString(s, 10)
	if !ok {
		return nil, errInteger
	}
	return n, nil
}

func shortened(s string) string {
	if len(s) > 200 {
		return s[:200] + "..."
	}
	return s
}

// maxCount bounds every list that a method gives (docs/exchange-chain-wire.md 5.5).
const maxCount = 1000

var errCount = other("count must be less than 1000")

// page checks a page. A negative page or size has nothing on it.
func page(index, size int) (ok bool, err error) {
	if size > maxCount {
		return false, errCount
	}
	return index >= 0 && size > 0, nil
}

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
	var refused *ledger.Error
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
