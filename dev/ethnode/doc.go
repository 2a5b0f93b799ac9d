// Package ethnode is a source chain for development and tests: a real Ethereum node of go-ethereum
// library packages, in process, that serves JSON-RPC over HTTP and WebSocket on a loopback port and
// makes its own blocks.
//
//	          Mine, Reorg, Drop, SetBaseFee ...           HTTP + WS (eth_ net_ web3_ debug_ txpool_)
//	tests ───────────────┐                                      ▲
//	                     ▼                                      │
//	period ──▶ producer: build ▶ block log (fsync) ▶ make canonical ▶ safe, finalized
//	                     ▲
//	start ── replay ─────┘
//
// It owns block production, the choice of the branch, the distances of "safe" and "finalized", the
// block log that lets a chain survive its process, and a faucet. Executing and checking blocks, the
// transaction pool and the RPC methods are go-ethereum's own.
//
// It is no part of the bridge: gatewayd reaches it through the same adapter and the same JSON-RPC
// as an external node. Its keys are public knowledge. Never give it a listening address that others
// reach, and never send it anything of value.
package ethnode
