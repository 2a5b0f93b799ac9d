// Package dex is the exchange of the exchange chain as rules alone: prices, orders, books, matching, fees, settlement, and
// the encodings of what the two exchange contracts say to each other and to the world.
//
//	Terms (Market, Rates, limits) ─▶ Order ─▶ Book.Match ─▶ Result ─▶ Book.Apply
//	                                                          ├─▶ Events (logs)
//	                                                          └─▶ Settlement ─▶ Balance
//
// Everything is a function of its arguments: no clock, no I/O, no goroutine, nothing depends on the order of a map. Amounts
// are integers in the token's smallest unit. Amounts and fees are rounded by one rule, exact decimal half-up (Scale.Amount,
// fee); a real chain computes in binary floating point of 120 bits, which comes out one lower for some values that end in
// exactly .5 (docs/exchange-rules.md 2.6). Who follows a real chain takes amounts from its events and does not compute them.
//
// A Book matches in 128-bit numbers where all of a match fit (quick.go), else in 256 (match.go), to the same result. How it
// is laid out in memory, and why: docs/adr/008.
//
// The package does not own balances, books or markets: chain/vite/node keeps them, undoes them and writes them to disk.
package dex
