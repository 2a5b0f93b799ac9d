package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/shopspring/decimal"

	"gatewayd/exchangeapi/client"
)

// The signature of the published sample order.
func ExampleSign() {
	fmt.Println(client.Sign("F6BED9F34912C0B658B58C73B6531721", map[string]string{
		"amount": "10", "key": "913423DE46E97751CCC734F018F09217", "price": "0.09", "side": "0",
		"symbol": "ETH-000_BTC-000", "timestamp": "1567755178560",
	}))
	// Output: 47033f6086b2afc54a0a1f837dccb4ea6fe56a0312bab311e0bbc3941efaf8d6
}

// An account proves itself with its own key, once; sign makes the chain's signature.
func ExampleClient_Apply() {
	var address string
	var publicKey []byte
	var sign func(text []byte) ([]byte, error)

	c := client.Client{Base: "http://127.0.0.1:8090"}
	key, err := c.Apply(context.Background(), client.Wallet{Address: address, PublicKey: publicKey, Sign: sign})
	if err != nil {
		log.Fatal(err)
	}
	c.Key, c.Secret = key.Key, key.Secret // the secret is not shown again
	fmt.Println("send a first transfer to, stake for, and grant your pairs to", key.AgentAddress)
}

func ExampleClient_Place() {
	c := client.Client{Base: "http://127.0.0.1:8090", Key: "...", Secret: "..."}
	placed, err := c.Place(context.Background(), client.NewOrder{
		Symbol: "USDT-000_VITE", Side: client.Buy, Amount: decimal.RequireFromString("10"), Price: decimal.RequireFromString("25.5"),
	})
	switch {
	case errors.Is(err, client.CodeBalance):
		fmt.Println("deposit more first")
	case errors.Is(err, client.CodeMinimum):
		fmt.Println("the order is too small")
	case err != nil:
		log.Fatal(err)
	default:
		fmt.Println(placed.OrderID, placed.Status == client.PendingRequest)
	}
}

// The calls of a cycle are used up: the answer says when the next begins.
func ExampleError() {
	c := client.Client{Base: "http://127.0.0.1:8090", Key: "...", Secret: "..."}
	_, err := c.CancelAll(context.Background(), "USDT-000_VITE")
	var refused *client.Error
	if errors.As(err, &refused) && refused.Code == client.CodeTooFrequent {
		fmt.Println("more calls in", refused.RetryAfter)
	}
}

// A stream reads the book over REST whenever it has connected, and follows the pushes from there.
func ExampleStream() {
	c := client.Client{Base: "http://127.0.0.1:8090"}
	s := client.Stream{
		URL:    c.SocketURL(client.Command),
		Topics: []string{"market.USDT-000_VITE.depth", "market.USDT-000_VITE.trade"},
		Connected: func() {
			if book, err := c.Depth(context.Background(), "USDT-000_VITE", 100, nil); err == nil {
				fmt.Println(len(book.Asks), "asks")
			}
		},
		Handle: func(p client.Push) error {
			if p.Topic != "market.USDT-000_VITE.trade" {
				return nil
			}
			trades, err := p.Trades()
			if err != nil {
				return err
			}
			for _, t := range trades {
				fmt.Println(t.Quantity, "at", t.Price)
			}
			return nil
		},
	}
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	if err := s.Run(ctx); err != nil {
		log.Fatal(err)
	}
}
