// Package contracts holds the Solidity contracts of development chains and tests, with Go bindings:
// a standard ERC-20, a batch payer, a price feed, and contracts that misbehave in the ways a bridge
// meets (fee on transfer, no return value, false events, refused or hidden movements of native
// coin).
//
// Payouts alone is for public chains: package ethereum contains its code and pays by it
// (docs/adr/029). Its address follows from its code, so a change of it is another contract.
//
// This package does not know any chain: it deploys nothing and connects to nothing.
//
// The sources are in src; scripts/contracts.sh (make contracts) generates everything else from
// them, and make contracts-check reports whether the committed files still match.
package contracts
