package ws

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/holiman/uint256"
	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/require"

	"gatewayd/exchangeapi/index"
	viteclient "gatewayd/vite/client"
	"gatewayd/vite/core"
	"gatewayd/vite/dex"
	viteledger "gatewayd/vite/ledger"
	"gatewayd/vite/node"
	"gatewayd/vite/rpc"
)

const goldMarket = "GOLD-000_VITE"

// chainEnv is the embedded exchange chain, an index that follows it, and a hub that pushes it.
type chainEnv struct {
	t     *testing.T
	node  *node.Node
	index *index.Index
	gold  core.TokenID
	keys  []core.PrivateKey // the first owns the exchange
	url   string
}

func wholeTokens(n uint64) (z uint256.Int) {
	z.Mul(uint256.NewInt(n), uint256.NewInt(1e18))
	return z
}

func onChain(t *testing.T) *chainEnv {
	e := &chainEnv{t: t, gold: core.TokenID([]byte("gold......"))}
	for _, name := range []string{"admin", "buyer", "seller"} {
		seed := sha256.Sum256([]byte(name))
		key, err := core.NewPrivateKey(seed[:])
		require.NoError(t, err)
		e.keys = append(e.keys, key)
	}
	now := func() time.Time { return time.UnixMilli(1614571200000) }
	var err error
	e.node, err = node.New(node.Config{Genesis: e.genesis(), SnapshotInterval: -1, Now: now})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.node.Close()) })
	socket := filepath.Join(t.TempDir(), "node.ipc")
	server, err := rpc.New(e.node, rpc.Config{IPC: socket, Now: now})
	require.NoError(t, err)
	require.NoError(t, server.Listen())
	e.run(server.Run)
	link, err := viteclient.Dial(t.Context(), socket, viteclient.Options{})
	require.NoError(t, err)
	t.Cleanup(link.Close)
	log := logrus.New()
	log.SetLevel(logrus.PanicLevel)
	e.index, err = index.New(t.Context(), index.Config{
		URL: "sqlite:" + filepath.Join(t.TempDir(), "index.db"), Now: now, Poll: 5 * time.Millisecond,
		Precisions: map[string]index.Precision{goldMarket: {Price: 2, Quantity: 2}},
	}, link, log)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.index.Close()) })
	e.open(now())
	e.run(e.index.Run)
	hub, err := New(Config{}, e.index, nil, log.WithField("test", t.Name()))
	require.NoError(t, err)
	e.run(hub.Run)
	web := httptest.NewServer(hub.Handler())
	t.Cleanup(web.Close)
	e.url = "ws" + strings.TrimPrefix(web.URL, "http") + "/v2/ws"
	require.Eventually(t, func() bool { _, err := e.index.Market(goldMarket); return err == nil }, waitTimeout, time.Millisecond)
	require.Eventually(t, func() bool { // until the hub runs
		c, answer, err := websocket.DefaultDialer.Dial(e.url, nil)
		if err != nil {
			return false
		}
		answer.Body.Close()
		return c.Close() == nil
	}, waitTimeout, time.Millisecond)
	return e
}

func (e *chainEnv) run(part func(context.Context) error) {
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- part(ctx) }()
	e.t.Cleanup(func() {
		stop()
		require.NoError(e.t, <-done)
	})
}

func (e *chainEnv) genesis() viteledger.Genesis {
	admin := e.keys[0].Address()
	g := viteledger.Genesis{ExchangeOwner: admin, StakeLock: 5, Tokens: []viteledger.TokenInfo{
		{ID: e.gold, Name: "Gold", Symbol: "GOLD", Decimals: 18, Owner: admin, TotalSupply: wholeTokens(1e12)},
	}}
	for _, key := range e.keys {
		g.Accounts = append(g.Accounts, viteledger.GenesisAccount{Address: key.Address(), Balances: map[core.TokenID]uint256.Int{core.VITE: wholeTokens(1e8), e.gold: wholeTokens(1e10)}})
		g.Stakes = append(g.Stakes, viteledger.GenesisStake{Staker: admin, Beneficiary: key.Address(), Amount: wholeTokens(1e7)})
	}
	return g
}

// open opens the exchange, gives every user funds to trade with, and opens the market.
func (e *chainEnv) open(now time.Time) {
	admin := e.keys[0].Address()
	e.send(0, core.VITE, uint256.Int{}, dex.FundDexAdmin, uint8(55), admin, admin, admin, false, admin, admin)
	e.send(0, core.VITE, uint256.Int{}, dex.FundNotifyTime, now.Unix())
	e.send(0, core.VITE, uint256.Int{}, dex.FundTradeAdmin, uint8(2), core.VITE, core.VITE, false, core.VITE, uint8(dex.QuoteVITE), uint8(0), 0, uint8(0), 0)
	e.snapshot()
	for who := range e.keys {
		e.send(who, core.VITE, wholeTokens(9e7), dex.FundDeposit)
		e.send(who, e.gold, wholeTokens(9e9), dex.FundDeposit)
	}
	e.snapshot()
	e.send(0, core.VITE, uint256.Int{}, dex.FundOpenMarket, e.gold, core.VITE)
	e.snapshot()
}

func (e *chainEnv) snapshot() {
	_, err := e.node.Snapshot()
	require.NoError(e.t, err)
}

// send calls dexFund and lets the contracts work.
func (e *chainEnv) send(who int, token core.TokenID, amount uint256.Int, m core.Method, args ...any) core.Hash {
	e.t.Helper()
	data, err := m.Pack(args...)
	require.NoError(e.t, err)
	b := &core.AccountBlock{
		BlockType: core.SendCall, Address: e.keys[who].Address(), ToAddress: core.DexFundContract, TokenID: token, Amount: amount, Data: data, Height: 1,
	}
	e.node.Read(func(v *node.View) {
		if head := v.AccountHead(b.Address); head != nil {
			b.Height, b.PreviousHash = head.Height+1, head.Hash
		}
	})
	b.SignWith(e.keys[who])
	require.NoError(e.t, e.node.Submit(e.t.Context(), b))
	require.NoError(e.t, e.node.Tick())
	return b.Hash
}

// builtBook is a book as a client builds it from pushes (docs/exchange-pushes.md, "A book from
// updates").
type builtBook struct {
	t          *testing.T
	last       uint64
	asks, bids map[string]string
}

func (b *builtBook) take(u heardUpdate) {
	if u.Snapshot {
		b.asks, b.bids = map[string]string{}, map[string]string{}
	} else {
		require.Equal(b.t, b.last+1, u.First, "no change is missing")
	}
	b.last = u.Last
	for to, levels := range map[*map[string]string][][2]string{&b.asks: u.Asks, &b.bids: u.Bids} {
		for _, l := range levels {
			(*to)[l[0]] = l[1]
			if l[1] == "0" {
				delete(*to, l[0])
			}
		}
	}
}

func (b *builtBook) equals(d index.Depth) bool {
	of := func(levels []index.Level) map[string]string {
		m := map[string]string{}
		for _, l := range levels {
			m[l.Price] = l.Quantity
		}
		return m
	}
	return maps.Equal(b.asks, of(d.Asks)) && maps.Equal(b.bids, of(d.Bids))
}

// TestBookFromUpdates: after random orders and cancels, with the connection cut repeatedly, a book
// built from the updates equals that of REST. There are more levels than a book shows, so that
// levels enter and leave the visible part. GATEWAYD_TEST_BOOK_ORDERS is the number of orders; a
// full run has 10,000.
func TestBookFromUpdates(t *testing.T) {
	orders := 800
	if text := os.Getenv("GATEWAYD_TEST_BOOK_ORDERS"); text != "" {
		var err error
		orders, err = strconv.Atoi(text)
		require.NoError(t, err)
	}
	const reconnects = 20
	e := onChain(t)
	book := &builtBook{t: t}
	c := e.dial()
	chance := rand.New(rand.NewPCG(1, 2))
	var placed []core.Hash
	for i := range orders {
		placed = e.act(chance, placed)
		if i%8 == 7 {
			e.snapshot() // which gives quota again
		}
		if i%(orders/reconnects) == orders/reconnects-1 {
			if chance.IntN(2) == 0 { // sometimes with all read, sometimes in the middle of it
				e.settle(c, book)
			}
			c.Close()
			c = e.dial()
			e.settle(c, book)
		}
	}
	e.settle(c, book)
	require.NotEmpty(t, book.asks)
	require.NotEmpty(t, book.bids)
}

// act places an order or cancels one, and is the orders that may rest.
func (e *chainEnv) act(chance *rand.Rand, placed []core.Hash) []core.Hash {
	who, sell := 1+chance.IntN(2), chance.IntN(2) == 0
	if len(placed) > 0 && chance.IntN(4) == 0 {
		at := chance.IntN(len(placed))
		for _, one := range []int{1, 2} {
			e.send(one, core.VITE, uint256.Int{}, dex.FundCancelBySendHash, placed[at], e.keys[one].Address(), e.gold, core.VITE)
		}
		return slices.Delete(placed, at, at+1)
	}
	price := 1000 + chance.IntN(300)
	if sell {
		price += 200
	}
	text := strconv.Itoa(price/100) + "." + strconv.Itoa(100 + price%100)[1:]
	return append(placed, e.send(who, core.VITE, uint256.Int{}, dex.FundPlaceOrder, e.gold, core.VITE, sell, uint8(dex.Limit), text, wholeTokens(uint64(20+chance.IntN(50)))))
}

func (e *chainEnv) dial() *client {
	e.t.Helper()
	c, answer, err := websocket.DefaultDialer.Dial(e.url, nil)
	require.NoError(e.t, err)
	answer.Body.Close()
	e.t.Cleanup(func() { c.Close() })
	one := &client{e.t, c}
	one.sendText(subscribe("market." + goldMarket + ".depth.updates"))
	return one
}

// settle reads pushes until the book is the one that REST answers, and the index has read the
// chain.
func (e *chainEnv) settle(c *client, book *builtBook) {
	e.t.Helper()
	for until := time.Now().Add(waitTimeout); ; {
		require.True(e.t, time.Now().Before(until), "the book stays another than REST's")
		if e.index.Ready() == nil && e.index.Lag().Missing == 0 && book.asks != nil {
			if d, err := e.index.Depth(goldMarket, index.MaxDepth, nil); err == nil && book.equals(d) {
				return
			}
		}
		require.NoError(e.t, c.SetReadDeadline(time.Now().Add(waitTimeout)))
		_, data, err := c.ReadMessage()
		require.NoError(e.t, err)
		var push struct {
			Event string
			Data  heardUpdate
		}
		require.NoError(e.t, json.Unmarshal(data, &push))
		if push.Event == "push" {
			book.take(push.Data)
		}
	}
}
