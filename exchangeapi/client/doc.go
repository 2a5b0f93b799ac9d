// Package client is a client of the exchange API (docs/exchange-api.md) for bots and tests: API keys, signed and public
// REST calls, and a subscription to pushes, in any of the three shapes, that connects again by itself.
//
//	c := client.Client{Base: "http://127.0.0.1:8090", Key: key, Secret: secret}
//	placed, err := c.Place(ctx, client.NewOrder{Symbol: "VX_VITE", Side: client.Buy, Amount: amount, Price: price})
//
// It owns no state but its connections, and knows nothing of this module's other packages: it can be copied out.
package client
