// Package vite is the adapter between the gateway and the exchange chain (Vite): it implements chain.Chain over the JSON-RPC of
// one or more nodes, real or embedded.
//
// The line is the snapshot chain. It is read by chunks, each a snapshot block with all account blocks that it confirms, and recomputed:
//
//	chunks ── check: links, hashes, contents, signatures ── what more than half of the nodes have ── our accounts ── Block(h), Blocks
//
// So a node can neither leave out nor invent a transfer on a line that the majority has (docs/adr/023). A node without chunks is read
// from the accounts' side, and the sends to an account of ours are put at the height whose snapshot block confirmed them first:
//
//	node ── unreceived sends of the account ─────────┐
//	     ── own blocks, newest first ── receives ── their sends ┤── scan: height -> transfers, effects ── Block(h)
//	                                └── effects ─────┘
//
// A scan made at snapshot head S serves all heights up to S. What can be proven by hash and signature is checked, the rest (which
// snapshot block confirmed a send, what a contract sent, that nothing was left out) is believed when the majority of the
// configured nodes says the same.
//
// The package owns: reading and checking, payment data, building and signing of account blocks, quota and proof of work. It owns
// no keys, no database and no decision about money. See docs/payment-rules.md 3, docs/exchange-chain-wire.md 4 and 5.
package vite
