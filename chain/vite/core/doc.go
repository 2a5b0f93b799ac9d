// Package core holds the rules of the exchange chain (Vite) that need nothing but their input:
// identifiers and keys, account blocks with their hash and signature, proof of work, quota prices,
// the contract call codec and the gateway's block comments.
//
//	seed ── PrivateKey ── PublicKey ── Address
//	            │
//	AccountBlock ── ComputeHash ── SignWith / Verify ── EncodeBlock / DecodeBlock (JSON)
//	    └─ Data: Method and Event words (ABI), or a gateway Comment
//
// Everything here is pure: no clock, no goroutine, no I/O, no order that depends on a map. It does
// not own ledger state, transport or key storage; those belong to chain/vite/node, chain/vite/client
// and wallet. Rules: docs/exchange-chain-wire.md, whose sections are named where one is kept.
package core
