package rpc

import (
	"encoding/hex"
	"errors"
	"fmt"

	"gatewayd/httpserver/jsonrpc"
	"gatewayd/vite/core"
)

var errTokenText = errors.New("Not valid hex TokenTypeId") //nolint:staticcheck // the node's text

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

// hash32 reads the 32 bytes that are to be signed.
func hash32(s string) (core.Hash, error) {
	if len(s) != 2*core.HashSize {
		return core.Hash{}, jsonrpc.Other(fmt.Sprintf("error hex hash size %d", len(s)))
	}
	raw, err := hex.DecodeString(s)
	if err != nil {
		return core.Hash{}, jsonrpc.Other(err.Error())
	}
	return core.Hash(raw), nil
}
