package rpc

import (
	"encoding/hex"

	"gatewayd/httpserver/jsonrpc"
	"gatewayd/vite/core"
	"gatewayd/vite/dex"
	"gatewayd/vite/node"
)

// Refusals of contract_getContractStorage.
var (
	errStorageKey  = jsonrpc.Other("key or prefix must be hexadecimal")
	errStorageSize = jsonrpc.Other("too many keys: give a longer prefix")
)

// maxStorageVisits bounds the keys that one query reads.
const maxStorageVisits = 10_000

// GetContractStorage gives the keys with a prefix, and their values, in hexadecimal. dexTrade keeps
// open orders under their ids. No other contract has keys here.
func (c *contractAPI) GetContractStorage(a addressArg, prefix string) (map[string]string, error) {
	start, err := hex.DecodeString(prefix)
	if err != nil {
		return nil, errStorageKey
	}
	storage, complete := map[string]string{}, true
	if a.Address != core.DexTradeContract {
		return storage, nil
	}
	readInMemory(c.node, func(v *node.View) {
		complete = v.Exchange().WalkOrders(start, maxStorageVisits, func(o *dex.Order) {
			storage[o.ID.String()] = hex.EncodeToString(dex.EncodeOrder(o))
		})
	})
	if !complete {
		return nil, errStorageSize
	}
	return storage, nil
}
