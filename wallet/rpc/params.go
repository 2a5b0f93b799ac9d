package rpc

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"

	"gatewayd/vite/core"
)

// The node's texts for parameters that do not parse; the library puts "invalid argument N: " before them.
var (
	errNotString   = errors.New("not valid string")
	errAddressText = errors.New("error hex address or prefix")
	errTokenText   = errors.New("Not valid hex TokenTypeId") //nolint:staticcheck // the node's text
)

// text is a JSON string; anything else, null included, is refused.
func text(raw []byte) (string, error) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", errNotString
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return "", errNotString
	}
	return s, nil
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

// maxInteger is more digits than any amount of 256 bits has, with room for the leading zeros that a node tolerates.
const maxInteger = 200

var errInteger = other("convert to big.Int failed")

// integer reads decimal digits with an optional sign, as a node does.
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

// hash32 reads the 32 bytes that are to be signed.
func hash32(s string) (core.Hash, error) {
	if len(s) != 2*core.HashSize {
		return core.Hash{}, other(fmt.Sprintf("error hex hash size %d", len(s)))
	}
	raw, err := hex.DecodeString(s)
	if err != nil {
		return core.Hash{}, other(err.Error())
	}
	return core.Hash(raw), nil
}
