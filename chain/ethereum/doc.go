// Package ethereum is the adapter for Ethereum and other EVM chains: it implements chain.Chain over the JSON-RPC of one or several nodes.
//
// It owns how blocks are read and proven, how transfers and our own transactions are found in them, how payments are built, priced,
// signed and sent, and what a node's answers mean. It does not own keys (a signer), our addresses (owned), records, or any decision
// about money: it reports what stands on the chain and makes the bytes it is asked for.
//
//	nodes ──▶ agree on a hash ──▶ block + receipts ──▶ header hash, transaction root, receipts root ──▶ candidates ──▶ ours? ──▶ Block
//	           (majority)          (any one node)       (recomputed here)                                (owned)
//
// What a node can do: be late, be silent, be wrong. What it cannot do: leave out or invent a transaction or an event of a block on whose
// hash the majority agrees. Three things are not in the roots: internal native transfers before EIP-7708 (traces; several nodes must
// agree on each one that would be reported), the sender of a transaction (recovered here for each one that is reported; a node that lies
// about the sender of one of ours can hide an OwnTx, never make one), and everything when Config.Unverified is set. Blocks with transactions
// of types that are not known here are believed as a majority of the nodes shows them (unknown_type.go).
package ethereum
