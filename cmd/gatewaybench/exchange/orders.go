package exchange

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/labstack/echo/v4"
	"github.com/shopspring/decimal"
	"golang.org/x/sys/unix"

	"gatewayd/cmd/gatewaybench/bench"
	apiclient "gatewayd/exchangeapi/client"
	"gatewayd/vite/core"
)

// orderCase is about an order's whole way.
func orderCase() bench.Case {
	return bench.Case{
		Name: "order-rest", Unit: "order", Ours: ordersOverREST,
		About: "an order over REST into the book: key, rules, JSON-RPC, chain, match; yardstick: the sum of its parts measured alone",
		Yardsticks: []bench.Side{
			{Name: "HTTP echo", Part: echoOrders}, {Name: "HMAC", Part: bench.Loop(10*restOrders, authenticate)},
			{Name: "sign", Part: bench.Loop(2*restOrders, signHash)}, {Name: "verify", Part: bench.Loop(2*restOrders, verifyBlock)},
			{Name: "log append", Part: bench.Loop(restOrders, appendBlock)},
		},
		Goals: []bench.Goal{{Of: bench.CPU, Budget: 2.5, Limit: 2, Sum: true}},
	}
}

const (
	restOrders  = 4000
	restClients = 8
	// perAgent is how many orders the quota of a full window pays for, with room to spare.
	perAgent = 2000
)

// ordersOverREST places orders by several clients at a time and lets the exchange match them.
func ordersOverREST(ctx context.Context, r *bench.Run) (f bench.Figure, err error) {
	n := r.N(restOrders)
	s, err := openEnv(ctx, r.Dir, max(restClients, n/perAgent+1))
	if err != nil {
		return bench.Figure{}, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.enrol(ctx); err != nil {
		return bench.Figure{}, err
	}
	for i, t := range s.traders { // the first order of each opens its delegation address
		if _, err := t.api.Place(ctx, newOrder(n+i)); err != nil {
			return bench.Figure{}, err
		}
	}
	s.unfollow() // what the index does is after the book
	return r.Measure(n, func() error {
		err := share(n, len(s.traders), func(trader, i int) error {
			_, err := s.traders[trader].api.Place(ctx, newOrder(i))
			return err
		})
		return errors.Join(err, s.chain.Node.Tick())
	})
}

// newOrder is the n-th order: two in three rest, every third meets what rests on the other side.
func newOrder(n int) apiclient.NewOrder {
	o, away := apiclient.NewOrder{Symbol: symbol, Side: apiclient.Sell}, int64(1+n*7%500)
	if n%3 == 2 {
		away = -away % 10
	}
	if n%2 == 0 {
		o.Side, away = apiclient.Buy, -away
	}
	o.Price, o.Amount = decimal.New(15_000+away, -4), decimal.New(int64(20_000+n%10_000), -2)
	return o
}

// echoOrders places the same orders with a handler that answers what a placed order is answered with.
func echoOrders(ctx context.Context, r *bench.Run) (bench.Figure, error) {
	type answer struct {
		Code int              `json:"code"`
		Msg  string           `json:"msg"`
		Data apiclient.Placed `json:"data"`
	}
	e := echo.New()
	e.POST("/api/v2/order", func(c echo.Context) error {
		return c.JSON(http.StatusOK, answer{Msg: "ok", Data: apiclient.Placed{Symbol: c.FormValue("symbol"), OrderID: strings.Repeat("0", 64)}})
	})
	server := httptest.NewServer(e)
	defer server.Close()
	c := apiclient.Client{
		Base: server.URL, Key: strings.Repeat("A", 32), Secret: strings.Repeat("B", 32),
		HTTP: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: restClients}},
	}
	n := r.N(restOrders)
	return r.Measure(n, func() error {
		return share(n, restClients, func(_, i int) error {
			_, err := c.Place(ctx, newOrder(i))
			return err
		})
	})
}

// authenticate is the server's half of a request's authentication; the client's is in the echo.
func authenticate(*bench.Run) (func() error, error) {
	secret := strings.Repeat("B", 32)
	values := map[string]string{"symbol": symbol, "amount": "200.00", "price": "1.5000", "side": "0", "key": strings.Repeat("A", 32), "timestamp": "1790000000000"}
	return func() error {
		if apiclient.Sign(secret, values) == "" {
			return errors.New("no signature")
		}
		return nil
	}, nil
}

func signHash(*bench.Run) (func() error, error) {
	s, err := NewSigner(0)
	hash := make([]byte, core.HashSize)
	return func() error {
		if len(s.key.Sign(hash)) != core.SignatureSize {
			return errors.New("no signature")
		}
		return nil
	}, err
}

// appendBlock makes a block of an order's size durable.
func appendBlock(r *bench.Run) (func() error, error) {
	file, err := os.Create(filepath.Join(r.Dir, "log"))
	block := make([]byte, 600)
	rand.Read(block) // never fails
	return func() error {
		if _, err := file.Write(block); err != nil {
			return fmt.Errorf("writing: %w", err)
		}
		return unix.Fdatasync(int(file.Fd()))
	}, err
}
