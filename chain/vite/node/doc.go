// Package node is the embedded exchange chain: one producer, account chains and a snapshot chain with the rules of a real
// Vite node that clients can see (wire facts sections 4 to 6).
//
//	Submit ─▶ check (hash, signature, work) ─▶ state: validate, apply ─▶ log ─▶ disk ─▶ events
//	Run ──── tick: contracts receive ─────────▶    "        "           "
//	    ──── snapshot: confirms ──────────────▶    "        "           "
//	New ◀─── state file + rest of the log
//	Read ─── View: what JSON-RPC shows
//
// The built-in contracts issue tokens (asset), lend quota (quota), and run the exchange: dexFund keeps balances, markets and
// permissions, dexTrade the books, by the rules of chain/vite/dex.
//
//	user ─▶ dexFund: lock, stamp ─▶ dexTrade: match, log ─▶ dexFund: settle
//
// The whole chain is in memory: about 200 bytes per snapshot block and 800 per account block, for ever. A start replays the
// log from the newest state file; some 200,000 blocks take a second. A snapshot chain can be rolled back 1000 blocks.
//
// State is a pure function of the block log: time comes from its records, contract blocks are made anew on replay. The
// package owns the ledger, its built-in contracts and its files. It does not own keys, hashing or call data
// (chain/vite/core), the exchange's arithmetic (chain/vite/dex), JSON-RPC (chain/vite/rpc), or consensus between several
// producers, which it has not.
package node
