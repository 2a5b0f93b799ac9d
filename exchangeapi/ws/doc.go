// Package ws pushes what happens on the exchange to WebSocket clients: the topics of docs/exchange-api.md in the three
// shapes that clients speak (docs/exchange-rules.md 1.12).
//
//	index ─▶ updates ─▶ round: what waits, merged ─▶ frames, one per topic and shape ─▶ queue ─▶ socket
//	         after commit                                                               of each connection
//
// It owns connections, subscriptions and queues, and nothing that outlives them. It reads no chain and no database and
// computes no figures: an update of exchangeapi/index says all that a push says.
//
// Promises. Pushes leave after the index's commit, and of one update in the order orders, trades, depths, tickers,
// candles. Orders and trades are all pushed, or the connection is closed with a reason: a client who is too slow, and
// everybody concerned if this process itself fell behind. Of depths, tickers and candles, which are whole states, a
// newer one may take the place of an older one that was not sent yet.
package ws
