package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"gatewayd/dev"
	"gatewayd/dev/demo"
	"gatewayd/exchangeapi/apikey"
	"gatewayd/exchangeapi/client"
	"gatewayd/vite/core"
	"gatewayd/vite/dex"
)

// TestDemoExchange plays the exchange's demo to its end, for people and, in the environment that it
// has used, for programs.
func TestDemoExchange(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *dev.Options) { o.API = "127.0.0.1:0" })
	o := demo.ExchangeOptions{Info: filepath.Join(filepath.Dir(r.Info.Config), "dev.json")}
	var out bytes.Buffer
	require.NoError(t, demo.RunExchange(t.Context(), o, &out), &out)
	for _, want := range []string{
		"5. Every topic in three shapes", "market.DEMO-000_USDT-000.kline.week  o 1 h 1 l 0.9 c 0.9 v 12", `as {"message":{"asks":`, "of protobuf: ",
		"S1, Alice sells 10 at 1: 4 Filled", "B3, Bob buys 5 at 0.9: 8 Partially Cancelled", "S4, Alice sells 3 at 1.3: 7 Cancelled",
		"permission was revoked: code 1002, No permission", "key was removed: code 1002, Invalid key", " has 10 USDT-000\n",
	} {
		require.Contains(t, out.String(), want)
	}

	out.Reset()
	o.JSON = true
	require.NoError(t, demo.RunExchange(t.Context(), o, &out), &out)
	counts := map[string]int{}
	topics := map[string]bool{}
	var last demo.Event
	for line := range strings.Lines(out.String()) {
		last = demo.Event{}
		require.NoError(t, json.Unmarshal([]byte(line), &last), line)
		counts[last.Event]++
		if last.Event == "push" {
			require.NotEmpty(t, last.Data, line)
			topics[last.Shape+" "+last.Topic] = true
		}
	}
	require.Len(t, topics, 3*14, "every topic in every shape")
	require.Equal(t, "done", last.Event)
	require.Equal(t, counts["push"], last.Counts["command"]+last.Counts["opType"]+last.Counts["binary"])
	require.Equal(t, 12, counts["step"])
	require.Contains(t, out.String(), "DEMO-001_USDT-000", "a market of its own each time")
	r.waitUntilSettled(t)
}

// TestDemoExchangeKeeps: the keys that the demo leaves can be used, and an operator sees and ends
// them; then one that an operator issues.
func TestDemoExchangeKeeps(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *dev.Options) { o.API = "127.0.0.1:0" })
	var out bytes.Buffer
	o := demo.ExchangeOptions{Info: filepath.Join(filepath.Dir(r.Info.Config), "dev.json"), Keep: true}
	require.NoError(t, demo.RunExchange(t.Context(), o, &out), &out)
	kept := regexp.MustCompile(`Alice: address=(\S+) key=(\S+) secret=(\S+)`).FindStringSubmatch(out.String())
	require.Len(t, kept, 4, &out)
	api := &client.Client{Base: r.Info.API}
	api.Key, api.Secret = kept[2], kept[3]
	order := client.NewOrder{Symbol: "DEMO-000_USDT-000", Side: client.Sell, Amount: decimal.NewFromInt(2), Price: decimal.NewFromInt(7)}
	placed, err := api.Place(t.Context(), order)
	require.NoError(t, err)
	require.Equal(t, client.PendingRequest, placed.Status)
	requireFresh(t, r, api, kept[1], placed.OrderID)
	requireClientKnows(t, *api, kept[1], "DEMO-000_USDT-000", "USDT-000")

	require.Contains(t, r.mustCommand(t, "apikey", "list"), kept[2])
	_, err = r.command(t, "apikey", "issue", kept[1])
	require.ErrorIs(t, err, apikey.ErrExists)
	r.mustCommand(t, "apikey", "revoke", kept[2])
	require.Eventually(t, func() bool { return errors.Is(api.TestOrder(t.Context(), order), client.CodeParameter) }, time.Minute, 300*time.Millisecond,
		"the daemon sees it within a second")
	var issued shownKey
	require.NoError(t, json.Unmarshal([]byte(r.mustCommand(t, "apikey", "issue", kept[1], "--json")), &issued))
	api.Key, api.Secret = issued.Key, issued.Secret
	_, err = api.Place(t.Context(), order)
	require.NoError(t, err, "the permission is the delegation address's, which stays the same")
}

// requireFresh checks that the exchange's clock is set every second, so that recent orders are
// found by their time.
func requireFresh(t *testing.T, r *rig, api *client.Client, owner, order string) {
	t.Helper()
	placed := time.Now().Unix()
	waitFor(t, "the order among those of the last seconds", func() bool {
		found, err := api.Orders(t.Context(), client.OrderFilter{Address: owner, StartTime: placed - 5}, client.Page{})
		return err == nil && len(found.Order) > 0 && found.Order[0].OrderID == order && found.Order[0].Status == client.Open
	})
	var told []int64
	waitFor(t, "five times told", func() bool {
		at, err := r.Operator.Node.ExchangeTime(t.Context())
		require.NoError(t, err)
		if len(told) == 0 || told[len(told)-1] != at {
			told = append(told, at)
		}
		return len(told) == 5
	})
	require.Less(t, told[4]-told[0], int64(30), "a second each, and time for a slow machine")
}

func TestDemoExchangeWithoutAnEnvironment(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // what is not there now will not come
	o := demo.ExchangeOptions{Info: filepath.Join(t.TempDir(), "dev.json")}
	require.ErrorContains(t, demo.RunExchange(ctx, o, io.Discard), "start one with `make run` in another terminal")

	nobody := "http://127.0.0.1:1"
	require.NoError(t, dev.Info{Gateway: nobody}.Write(o.Info))
	err := demo.RunExchange(ctx, o, io.Discard)
	require.ErrorContains(t, err, "the gateway at "+nobody+" does not answer")
	require.ErrorContains(t, err, "make run")
	o.URLs.Gateway = nobody + "/other"
	require.ErrorContains(t, demo.RunExchange(ctx, o, io.Discard), "the gateway at "+nobody+"/other does not answer")
}

// cuttingProxy forwards connections to a server until it cuts them on request.
type cuttingProxy struct {
	net.Listener
	to    string
	mu    sync.Mutex
	open  []net.Conn
	ended sync.WaitGroup
}

func newCuttingProxy(t *testing.T, to string) *cuttingProxy {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	c := &cuttingProxy{Listener: l, to: to}
	c.ended.Go(c.serve)
	t.Cleanup(func() {
		l.Close()
		c.cut()
		c.ended.Wait()
	})
	return c
}

func (c *cuttingProxy) serve() {
	for {
		in, err := c.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("tcp", c.to)
		if err != nil {
			in.Close()
			continue
		}
		c.mu.Lock()
		c.open = append(c.open, in, out)
		c.mu.Unlock()
		for _, pair := range [][2]net.Conn{{in, out}, {out, in}} {
			c.ended.Go(func() {
				_, _ = io.Copy(pair[0], pair[1]) // ends when either is cut
				pair[0].Close()
			})
		}
	}
}

func (c *cuttingProxy) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.open {
		conn.Close()
	}
	c.open = nil
}

// TestStreamOnTheExchange has the client's stream on the real hub and a live index, in each shape:
// it subscribes, hears, is cut off, and subscribes and hears again.
func TestStreamOnTheExchange(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *dev.Options) { o.API = "127.0.0.1:0" })
	api := &client.Client{Base: r.Info.API}
	waitFor(t, "the last market", func() bool {
		list, err := api.Markets(t.Context(), client.Page{})
		return err == nil && len(list) == len(dev.Tokens())
	})
	bidder := newBidder(t, r)
	base, err := url.Parse(r.Info.API)
	require.NoError(t, err)
	topic := "market." + bidder.symbol + ".depth"
	for _, shape := range []client.Shape{client.Command, client.OpType, client.Binary} {
		t.Run(shape.String(), func(t *testing.T) {
			proxy := newCuttingProxy(t, base.Host)
			heard, connected := make(chan client.Push, 100), make(chan struct{}, 100)
			s := client.Stream{
				URL: strings.Replace(api.SocketURL(shape), base.Host, proxy.Addr().String(), 1), Shape: shape, Topics: []string{topic},
				Retry: time.Millisecond, Ping: 10 * time.Millisecond, Connected: func() { connected <- struct{}{} },
				Handle: func(p client.Push) error {
					heard <- p
					return nil
				},
			}
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error, 1) // room for the answer
			go func() { ended <- s.Run(ctx) }()
			for range 3 {
				<-connected
				price := bidder.bid(t)
				push := <-heard
				require.Equal(t, topic, push.Topic)
				depth, err := push.Depth()
				require.NoError(t, err)
				require.Equal(t, price, depth.Bids[0].Price.String())
				proxy.cut()
			}
			stop()
			require.NoError(t, <-ended)
		})
	}
	unknown := client.Stream{URL: api.SocketURL(client.Command), Topics: []string{topic, "market.NO_VITE.depth"}}
	err = unknown.Run(t.Context())
	require.ErrorIs(t, err, client.ErrRefused)
	require.ErrorContains(t, err, "market.NO_VITE.depth")
}

// bidder places one order after the other by its own hand, each a VITE better than the last.
type bidder struct {
	*dev.ViteUser
	token  core.TokenID
	symbol string
	price  int
}

func newBidder(t *testing.T, r *rig) *bidder {
	b := &bidder{ViteUser: r.newUser(t, "USDT").Vite, symbol: "USDT-000_VITE", price: 10}
	var err error
	b.token, err = core.ParseTokenID(r.token(t, "USDT").Token)
	require.NoError(t, err)
	deposit, err := dex.FundDeposit.Pack()
	require.NoError(t, err)
	_, err = b.Send(t.Context(), core.DexFundContract, core.VITE, dev.Whole(100_000, 18).Uint256(), deposit)
	require.NoError(t, err)
	return b
}

func (b *bidder) bid(t *testing.T) (price string) {
	t.Helper()
	b.price++
	price = strconv.Itoa(b.price)
	quantity := *dev.Whole(100, 6).Uint256()
	require.NoError(t, b.Call(t.Context(), dex.FundPlaceOrder, b.token, core.VITE, bool(dex.Buy), uint8(dex.Limit), price, quantity))
	return price
}
