package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/gorilla/websocket"
	"github.com/shopspring/decimal"

	"gatewayd/exchangeapi/client"
)

// sampleAPI imitates an exchange API in these examples: one answer per path, and one push to each
// subscriber.
func sampleAPI() *httptest.Server {
	mux := http.NewServeMux()
	for path, answer := range map[string]string{
		"/api/v2/agent/info": `{"code":0,"msg":"ok","data":{"agentAddress":"vite_agent"}}`,
		"/api/v2/agent/key":  `{"code":0,"msg":"ok","data":{"address":"vite_me","agentAddress":"vite_agent","apiKey":"K","apiSecret":"S"}}`,
		"/api/v2/order":      `{"code":0,"msg":"ok","data":{"symbol":"USDT-000_VITE","orderId":"c35dd986","status":1}}`,
		"/api/v2/orders":     `{"code":1001,"msg":"Too frequent request","data":{}}`,
		"/api/v2/depth":      `{"code":0,"msg":"ok","data":{"asks":[["25.6","3"]],"bids":[],"timestamp":1}}`,
	} {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "50")
			_, _ = w.Write([]byte(answer))
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		ws, err := new(websocket.Upgrader).Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer ws.Close()
		_, _, _ = ws.ReadMessage() // the subscription
		_ = ws.WriteMessage(websocket.TextMessage, []byte(`{"code":0,"event":"sub","topic":"[market.USDT-000_VITE.depth, market.USDT-000_VITE.trade]"}`))
		_ = ws.WriteMessage(websocket.TextMessage, []byte(`{"event":"push","topic":"market.USDT-000_VITE.trade","timestamp":1,"data":[{"p":"25.6","q":"2"}]}`))
	})
	return httptest.NewServer(mux)
}

// The signature of the published sample order.
func ExampleSign() {
	fmt.Println(client.Sign("F6BED9F34912C0B658B58C73B6531721", map[string]string{
		"amount": "10", "key": "913423DE46E97751CCC734F018F09217", "price": "0.09", "side": "0",
		"symbol": "ETH-000_BTC-000", "timestamp": "1567755178560",
	}))
	// Output: 47033f6086b2afc54a0a1f837dccb4ea6fe56a0312bab311e0bbc3941efaf8d6
}

// An account proves itself with its own key, once; Sign makes the chain's signature.
func ExampleClient_Apply() {
	api := sampleAPI()
	defer api.Close()
	c := client.Client{Base: api.URL}
	wallet := client.Wallet{Address: "vite_me", PublicKey: []byte("public key"), Sign: func([]byte) ([]byte, error) { return []byte("signature"), nil }}

	key, err := c.Apply(context.Background(), wallet)
	if err != nil {
		log.Fatal(err)
	}
	c.Key, c.Secret = key.Key, key.Secret // the secret is not shown again
	fmt.Println("send a first transfer to, stake for, and grant your pairs to", key.AgentAddress)
	// Output: send a first transfer to, stake for, and grant your pairs to vite_agent
}

func ExampleClient_Place() {
	api := sampleAPI()
	defer api.Close()
	c := client.Client{Base: api.URL, Key: "...", Secret: "..."}

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
	// Output: c35dd986 true
}

// The calls of a cycle are used up: the answer contains the start of the next cycle.
func ExampleError() {
	api := sampleAPI()
	defer api.Close()
	c := client.Client{Base: api.URL, Key: "...", Secret: "..."}

	_, err := c.CancelAll(context.Background(), "USDT-000_VITE")
	var refused *client.Error
	if errors.As(err, &refused) && refused.Code == client.CodeTooFrequent {
		fmt.Println("more calls in", refused.RetryAfter)
	}
	// Output: more calls in 50s
}

// A stream reads the book over REST whenever it has connected, and follows the pushes from there.
func ExampleStream() {
	api := sampleAPI()
	defer api.Close()
	c := client.Client{Base: api.URL}

	enough := errors.New("enough")
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
			return enough
		},
	}
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	if err := s.Run(ctx); !errors.Is(err, enough) {
		log.Fatal(err)
	}
	// Output:
	// 1 asks
	// 2 at 25.6
}
