// Package ethereum is the adapter for Ethereum and other EVM chains: it implements chain.Chain over
// the JSON-RPC of one or several nodes.
//
// It owns reading and proving blocks, finding transfers and our own transactions in them, building,
// pricing, signing and sending payments, and the meaning of a node's answers. It does not own keys
// (a signer), our addresses (owned), records, or any decision about money: it reports the chain's
// content and makes the requested bytes.
//
//	nodes ──▶ agree on a hash ──▶ block + receipts ──▶ header hash, transaction and receipts roots
//	           (majority)          (any one node)       (recomputed here)
//	      ──▶ candidates ──▶ ours? (owned) ──▶ Block
//
// A node can be late, be silent, be wrong. It cannot leave out or invent a transaction or an event
// of a block on whose hash the majority agrees. Three things are not in the roots. Internal native
// transfers before EIP-7708 come from traces; several nodes must agree on each reported one. The
// sender of a transaction is recovered here for each reported one; a node that lies about the
// sender of one of ours can hide an OwnTx, never make one. Nothing is proven when Config.Unverified
// is set. Blocks with transactions of unknown types are accepted as a majority of the nodes shows
// them (unknown_type.go).
package ethereum
