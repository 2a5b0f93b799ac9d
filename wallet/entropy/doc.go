// Package entropy turns a wallet's secret into keys and keeps it in an encrypted file.
//
//	entropy ── words (BIP-39) ── seed ──┬── Keys          exchange chain: m/44'/666666'/n'
//	   │                                └── ExtendedKey   Ethereum:       m/44'/60'/0'/0/n
//	   └── Store (scrypt, AES-256-GCM) ── Dir: one file per store, named by its first address
//
// The store's format is the exchange chain node's own EntropyStore, so either reads the other's
// files. It does not own which stores are unlocked, nor who may ask; that is package wallet. No
// error carries a secret. Formats: docs/exchange-chain-wire.md 2 and 3; BIP-32, BIP-39, SLIP-10.
package entropy
