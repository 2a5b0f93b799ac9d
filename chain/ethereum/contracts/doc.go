// Package contracts holds the Solidity contracts of development chains and tests, with Go bindings:
// a standard ERC-20, a batch payer, a price feed, and contracts that misbehave in the ways a bridge
// meets (fee on transfer, no return value, false events, refused or hidden movements of native
// coin).
//
// It does not know any chain: it deploys nothing and connects to nothing. No contract here is meant
// for a public chain.
//
// The sources are in src; scripts/contracts.sh (make contracts) generates everything else from
// them, and make contracts-check reports whether the committed files still match.
package contracts
