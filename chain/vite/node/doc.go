// Package node is the embedded exchange chain: one producer, account chains and a snapshot chain with the rules of a real
// Vite node that clients can see (docs/exchange-chain-wire.md 4 to 6).
//
//	Submit ─▶ check (hash, signature, work) ─▶ state: validate, apply ─▶ log ─▶ disk ─▶ events
//	Run ──── tick: contracts receive ─────────▶    "        "           "
//	    ──── snapshot: confirms ──────────────▶    "        "           "
//	     ─── settle: old blocks ──────────────▶ history ─▶ disk
//	New ◀─── state file + rest of the log
//	Read ─── View: what JSON-RPC shows, from the state or the history
//
// The built-in contracts issue tokens (asset), lend quota (quota), and run the exchange: dexFund keeps balances, markets and
// permissions, dexTrade the books, by the rules of chain/vite/dex.
//
//	user ─▶ dexFund: lock, stamp ─▶ dexTrade: match, log ─▶ dexFund: settle
//
// In memory is what a later block can depend on (balances, unreceived sends, books, contracts), and of blocks those that can
// be rolled back: the newest 1000 snapshot blocks, fewer of a busy chain. The rest is in the history, a table on disk that
// follows from the log (docs/adr/010). A start loads the newest state file and replays the log from there.
//
// State is a pure function of the block log: time comes from its records, contract blocks are made anew on replay. The
// package owns the ledger, its built-in contracts and its files. It does not own keys, hashing or call data
// (chain/vite/core), the exchange's arithmetic (chain/vite/dex), JSON-RPC (chain/vite/rpc), or consensus between several
// producers, which it has not.
package node
