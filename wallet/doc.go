// Package wallet holds keys: the daemon's own, and those of the stores that people manage.
//
//	Keys     one seed, from which every account of the gateway is derived on both ledgers; unlocked at start
//	Manager  entropy stores of a directory and elsewhere: locked or unlocked in memory, addresses, derivation
//
// Keys answers addresses and signatures and never lets a key out, so that a separate signer may stand behind it. It knows no
// transactions: the adapters build what is signed. Mnemonics and store files are in wallet/entropy, the wallet's JSON-RPC in
// wallet/rpc.
package wallet
