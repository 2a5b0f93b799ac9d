// Package chaintest is a ledger in memory and the conformance suite of the chain.Chain port.
//
// It owns Chain, a small ledger that keeps the rules that matter to a payer, in three kinds, and
// Run, the suite that every adapter passes:
//
//	nonce ledger (like Ethereum)          linked ledger (like the exchange chain)
//	mempool, one transaction per nonce    no mempool: a block must link to the account's tip
//	fees, replacement by higher fees      no fees, no replacement
//	balance moves when a block is mined   a send is pending until the receiver's own block takes it
//
// The ledger of coins (like Bitcoin) has no accounts: a transaction spends coins and makes others.
// A coin is spent once. Of two transactions in the pool that spend it, the higher fee stays.
//
// Tests drive it: mine, re-organise, drop, gossip, endow, deposit, use a key without our knowledge,
// and lie in any call. It owns no signature scheme (a transaction carries its key's path instead)
// and no network.
package chaintest
