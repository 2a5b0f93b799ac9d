// Package index follows the exchange on the exchange chain and keeps what the exchange API answers from: orders, trades,
// bars, books, tickers, tokens, markets, deposits and withdrawals.
//
//	node ─▶ blocks of dexFund, dexTrade ─▶ ONE SQL TRANSACTION: rows + cursors ─▶ books in memory ─▶ Update to subscribers
//
// It owns its database, on SQLite or PostgreSQL, which can always be built anew from the chain; only notes of orders that no
// contract has received yet are lost by that. It serves no HTTP, signs and sends nothing, and computes no amounts: they are
// taken from the chain's events (docs/exchange-rules.md 2.6).
package index
