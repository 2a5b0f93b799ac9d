// Package rpc serves a wallet's entropy stores over JSON-RPC 2.0 as the exchange chain's node does: the wallet_* methods of
// both its generations, with its results, codes and texts.
//
//	HTTP ────── loopback, no browser, bearer token ─┐
//	WebSocket ─ loopback, no browser, bearer token ─┼─ go-ethereum rpc.Server ─ api ─┬─ wallet.Manager: stores, keys, passwords
//	Unix socket (0600) ─ message bound ─────────────┘                                └─ ledger: where a transaction goes
//
// Whoever reaches it may do everything, so all three ways have one authority: a file's owner, or the holder of a secret. It
// owns the wire shapes, the transports with their bounds and the making of a transaction. It does not own stores and keys
// (wallet), nor the connection to the exchange chain, which the caller gives as a ledger.
//
// Answers differ from a node's where docs/wallet-differences.md says so; a test replays recordings and reads that list.
// Methods: docs/wallet-rpc.md; codes and transports: docs/exchange-chain-wire.md 5.1, 5.2.
package rpc
