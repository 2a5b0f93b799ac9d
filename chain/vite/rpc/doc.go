// Package rpc serves the embedded exchange chain's JSON-RPC as a real Vite node serves it: methods, JSON types member by
// member, error codes and texts, subscriptions and polling filters, over HTTP, WebSocket and a Unix socket.
//
//	HTTP ─ host check ─ CORS ─ /health ─┐
//	WebSocket ─ host check ─────────────┼─ go-ethereum rpc.Server ─ one type per module ─ node.Node
//	Unix socket (0600) ─ message bound ─┘        ledger contract net util subscribe dex dexfund dextrade
//	                                             tx pledge onroad mintage pow health
//
// It owns the wire shapes and the transports with their bounds. It does not own the ledger (chain/vite/node), hashing and
// keys (chain/vite/core), or the JSON-RPC envelope, which is go-ethereum's. Where that makes answers differ from a real
// node's, docs/node-differences.md says so; the replay test holds every other recorded answer.
//
// Wire: docs/exchange-chain-wire.md 5, docs/exchange-rules.md 3.5, testdata/*.jsonl.
package rpc
