package jsonrpc

import (
	"encoding/json"
	"errors"
	"math/big"
)

// Codes of a real exchange-chain node (docs/exchange-chain-rpc.md 5.2).
const (
	CodeClosing = -32000
	CodePanic   = -32001
	CodeOther   = -32002 // every error of a method without a code of its own
)

// Error is a method's error as it goes onto the wire.
type Error struct {
	Code    int
	Message string
}

// NewError returns an error with its own code.
func NewError(code int, message string) *Error { return &Error{code, message} }

// Other is an error without one.
func Other(message string) error { return NewError(CodeOther, message) }

func (e *Error) Error() string { return e.Message }

// ErrorCode is read by go-ethereum's rpc package.
func (e *Error) ErrorCode() int { return e.Code }

// A node's texts about invalid parameters; the library puts "invalid argument N: " before them.
var (
	ErrAddress   = errors.New("error hex address or prefix")
	errNotString = errors.New("not valid string")
)

// Text reads a JSON string; anything else, null included, is refused.
func Text(raw []byte) (string, error) {
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

// plain reports whether JSON writes these bytes in a string as they are.
func plain(p []byte) bool {
	for _, c := range p {
		if c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// Parse reads a parameter that is text of some kind; what does not parse is refused with the kind's
// own error.
func Parse[T any](raw []byte, parse func(string) (T, error), refusal error) (value T, err error) {
	s, err := Text(raw)
	if err != nil {
		return value, err
	}
	if value, err = parse(s); err != nil {
		return value, refusal
	}
	return value, nil
}

// MaxWork is the greatest difficulty of a proof of work that a node works on.
const MaxWork = 401749796600

// maxInteger is more digits than any amount of 256 bits has, with room for the leading zeros that a
// node tolerates.
const maxInteger = 200

// Integer reads decimal digits with an optional sign and any leading zeros, as a node does.
func Integer(s string) (*big.Int, error) {
	if len(s) <= maxInteger {
		if n, ok := new(big.Int).SetString(s, 10); ok {
			return n, nil
		}
	}
	return nil, Other("convert to big.Int failed")
}

// maxShown bounds a text that is given back.
const maxShown = 200

// Shortened truncates a client's text for an answer.
func Shortened(s string) string {
	if len(s) > maxShown {
		return s[:maxShown] + "..."
	}
	return s
}
