package dev

import (
	"context"
	"crypto/ecdsa"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/holiman/uint256"
	"github.com/shopspring/decimal"

	"gatewayd/chain"
	"gatewayd/exchangeapi/client"
	"gatewayd/vite/core"
	"gatewayd/vite/dex"
)

// Intervals of the market maker's actions: while the trade page was opened recently or the
// environment is young, and otherwise.
const (
	busyInterval = 2 * time.Second
	idleInterval = time.Minute
	busyFor      = 10 * time.Minute
	levels       = 8 // resting orders on each side of a book
	orderVITE    = 1500
	makerVITE    = 400_000
	makerShare   = 4000 // what the maker has of each token, in thousandths of what orders of all levels take
)

// watch records the last view of a page.
type watch struct {
	now  func() time.Time
	last atomic.Int64 // Unix seconds
}

func (w *watch) markSeen() { w.last.Store(w.now().Unix()) }

// interval returns the time to the next action: shorter while a page is in use.
func (w *watch) interval() time.Duration {
	if w.now().Sub(time.Unix(w.last.Load(), 0)) < busyFor {
		return busyInterval
	}
	return idleInterval
}

// prices are the tokens' initial values in VITE, by symbol: as in rates.json.
var prices = map[string]float64{"ETH": 125_000, "USDT": 50, "DAI": 50}

// book is one market as its maker sees it.
type book struct {
	client.MarketItem
	k       Token
	start   float64
	middle  float64
	resting map[client.Side][]core.Hash // oldest first
	stocked bool                        // with tokens to sell
}

// makeMarkets brings the maker's tokens over the gateway and keeps small books until ctx ends. Bids
// need no tokens, so they come first.
func (u *DemoUsers) makeMarkets(ctx context.Context, source *ecdsa.PrivateKey) error {
	u.watched.markSeen()
	var m *maker
	u.retry(ctx, "opening the market maker's books", func() (err error) {
		m, err = u.openMaker(ctx, source)
		return err
	})
	if m == nil {
		return nil
	}
	defer m.Node.Close()
	for turn := 0; ; turn++ { // the first book has two turns of each round: it is the one that the page opens with
		if err := m.act(ctx, m.books[max(0, turn%(len(m.books)+1)-1)]); err != nil && ctx.Err() == nil {
			u.log.WithError(err).Warn("making a market")
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(m.interval(u.watched.interval())):
		}
	}
}

// maker is the market maker.
type maker struct {
	*Trader
	books   []*book
	filling int // acts that fill the books, without waiting in between
}

// interval is a twentieth of the usual while the books are being filled.
func (m *maker) interval(usual time.Duration) time.Duration {
	if m.filling > 0 {
		m.filling--
		return usual / 20
	}
	return usual
}

func (u *DemoUsers) openMaker(ctx context.Context, source *ecdsa.PrivateKey) (*maker, error) {
	t, err := u.trader(ctx, "the market maker", makerIndex)
	if err != nil {
		return nil, err
	}
	m := &maker{Trader: t}
	if err := m.open(ctx, u, source); err != nil {
		t.Node.Close()
		return nil, err
	}
	return m, nil
}

// open sends the maker's tokens over the gateway and finds its markets.
func (m *maker) open(ctx context.Context, u *DemoUsers, source *ecdsa.PrivateKey) error {
	if err := u.bridge(ctx, m.Trader, source); err != nil {
		return err
	}
	if err := stock(ctx, m.Trader, core.VITE, "VITE", makerVITE, 18); err != nil {
		return err
	}
	for _, k := range u.info.Tokens {
		if err := awaitMarket(ctx, m.Trader, k); err != nil {
			return err
		}
		market, err := marketOf(ctx, m.Trader, k)
		if err != nil {
			return err
		}
		price, err := lastPrice(ctx, m.Trader, market.Symbol, prices[symbolOf(k)])
		if err != nil {
			return err
		}
		m.books = append(m.books, &book{MarketItem: market, k: k, start: price, middle: price, resting: map[client.Side][]core.Hash{}})
	}
	m.filling = 2 * levels * len(m.books)
	return m.cancelAll(ctx)
}

// lastPrice is the price of a market's last trade, or the given one before the first.
func lastPrice(ctx context.Context, t *Trader, symbol string, first float64) (float64, error) {
	list, err := t.API.Tickers(ctx, "", symbol)
	if err != nil || len(list) == 0 || list[0].ClosePrice.IsZero() {
		return first, err
	}
	return list[0].ClosePrice.InexactFloat64(), nil
}

// symbolOf is a token's symbol without the number that makes it unique.
func symbolOf(k Token) string { return k.Symbol[:len(k.Symbol)-len("-000")] }

// makerTokens is the maker's stock of a token, in whole tokens: a multiple of all its asks.
func makerTokens(k Token) uint64 {
	return uint64(makerShare*levels*orderVITE/1000/prices[symbolOf(k)]) + 1
}

// bridge deposits the maker's tokens unless they have come before.
func (u *DemoUsers) bridge(ctx context.Context, t *Trader, source *ecdsa.PrivateKey) error {
	payer, err := NewEthUser(ctx, u.info.Source, source)
	if err != nil {
		return err
	}
	defer payer.Client.Close()
	gateway := NewGatewayUser(u.info.Gateway)
	for _, k := range u.info.Tokens {
		have, err := t.API.Balance(ctx, t.Account())
		if err != nil {
			return err
		}
		if _, known := have[k.Symbol]; known {
			continue
		}
		info, err := gateway.DepositInfo(ctx, k.Token, t.Account())
		if err != nil {
			return err
		}
		amount := Whole(makerTokens(k), k.Decimals)
		target, value, call := TransferOf(k.Asset, common.HexToAddress(info.DepositAddress), amount.Uint256().ToBig(), []byte(info.Label))
		if _, err := payer.Submit(ctx, target, value, call); err != nil {
			return fmt.Errorf("depositing %s: %w", k.Symbol, err)
		}
	}
	return nil
}

// cancelAll clears what an earlier run has left.
func (m *maker) cancelAll(ctx context.Context) error {
	open, err := m.API.OpenOrders(ctx, client.OrderFilter{Address: m.Account()}, client.Page{Limit: 100})
	if err != nil {
		return err
	}
	for _, o := range open.Order {
		id, err := core.ParseHash(o.OrderID)
		if err != nil {
			return err
		}
		if err := m.cancel(ctx, id, o.TradeToken, o.QuoteToken); err != nil {
			return err
		}
	}
	return nil
}

func (m *maker) cancel(ctx context.Context, id core.Hash, trade, quote string) error {
	t, err := core.ParseTokenID(trade)
	if err != nil {
		return err
	}
	q, err := core.ParseTokenID(quote)
	if err != nil {
		return err
	}
	return m.Call(ctx, dex.FundCancelBySendHash, id, m.Address(), t, q)
}

// act is one thing in one market: an order that fills a side, a trade, or an order that takes the
// place of the oldest.
func (m *maker) act(ctx context.Context, b *book) error {
	if !b.stocked {
		if err := m.restock(ctx, b); err != nil {
			return err
		}
	}
	b.middle += b.middle*(rand.Float64()-0.5)*0.004 + (b.start-b.middle)*0.02
	side := client.Side(rand.IntN(2))
	if !b.stocked || len(b.resting[client.Buy]) < levels {
		side = client.Buy
	} else if len(b.resting[client.Sell]) < levels {
		side = client.Sell
	}
	if len(b.resting[side]) < levels {
		return m.rest(ctx, b, side, len(b.resting[side]))
	}
	if rand.IntN(2) == 0 && b.stocked {
		_, err := m.place(ctx, b, side, b.middle*(1+0.02*sign(side)), 0.1+0.3*rand.Float64())
		return err
	}
	oldest := b.resting[side][0]
	b.resting[side] = b.resting[side][1:]
	if err := m.cancel(ctx, oldest, b.TradeToken, b.QuoteToken); err != nil {
		return err
	}
	return m.rest(ctx, b, side, rand.IntN(levels))
}

// sign is the direction of a price that is worse for who is on a side.
func sign(side client.Side) float64 {
	if side == client.Buy {
		return 1
	}
	return -1
}

// rest puts an order so many steps from the middle.
func (m *maker) rest(ctx context.Context, b *book, side client.Side, step int) error {
	id, err := m.place(ctx, b, side, b.middle*(1-away(step, rand.Float64())*sign(side)), 0.5+rand.Float64())
	if err == nil {
		b.resting[side] = append(b.resting[side], id)
	}
	return err
}

// away is the distance of a resting order from the middle, as a part of the price.
func away(step int, random float64) float64 { return 0.001 + 0.0015*float64(step) + 0.0005*random }

// place sends an order over a share of orderVITE and answers its id.
func (m *maker) place(ctx context.Context, b *book, side client.Side, price, share float64) (core.Hash, error) {
	p := priceOf(price, b.start)
	quantity := quantityOf(share*orderVITE, p, b.k.Decimals)
	units, err := chain.ParseAmount(quantity.Shift(int32(b.k.Decimals)).String())
	if err != nil {
		return core.Hash{}, err
	}
	data, err := dex.FundPlaceOrder.Pack(b.k.ID(), core.VITE, side == client.Sell, uint8(dex.Limit), p.String(), *units.Uint256())
	if err != nil {
		return core.Hash{}, err
	}
	return m.Send(ctx, core.DexFundContract, core.VITE, new(uint256.Int), data)
}

// priceOf is a readable price near that of a market.
func priceOf(price, near float64) decimal.Decimal {
	decimals := int32(4)
	if near >= 1000 {
		decimals = 1
	}
	return decimal.NewFromFloat(price).Truncate(decimals)
}

// quantityOf is a readable quantity that is worth so much VITE at a price.
func quantityOf(vite float64, price decimal.Decimal, decimals uint8) decimal.Decimal {
	return decimal.NewFromFloat(vite).Div(price).Truncate(int32(min(decimals, 6)))
}

// restock takes in the maker's tokens when they have come over the gateway, and puts them onto the
// exchange.
func (m *maker) restock(ctx context.Context, b *book) error {
	if err := m.ReceiveAll(ctx); err != nil {
		return err
	}
	have, err := m.API.Balance(ctx, m.Account())
	if err != nil {
		return err
	}
	if _, b.stocked = have[b.k.Symbol]; b.stocked {
		return nil
	}
	amount := Whole(makerTokens(b.k), b.k.Decimals)
	wallet, err := m.Balance(ctx, b.k.ID())
	if err != nil || wallet.Less(amount) {
		return err
	}
	data, err := dex.FundDeposit.Pack()
	if err != nil {
		return err
	}
	_, err = m.Send(ctx, core.DexFundContract, b.k.ID(), amount.Uint256(), data)
	return err
}
