package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/shopspring/decimal"
	"golang.org/x/sync/errgroup"

	"gatewayd/dev"
	"gatewayd/exchangeapi/client"
	"gatewayd/vite/core"
	"gatewayd/vite/dex"
)

// ExchangeOptions are the flags of `gatewaydemo exchange`.
type ExchangeOptions struct {
	Info     string
	URLs     dev.Info // in place of those that the description has
	JSON     bool
	Keep     bool // stop before the permissions and keys are revoked
	Patience time.Duration
}

// exchangeDemo is one run: Alice issues a token and sells it to Bob for dollars that he brings over
// the gateway; she takes them out.
type exchangeDemo struct {
	info       dev.Info
	log        *Log
	api        *client.Client // without a key
	alice, bob *user
	dollars    core.TokenID // the gateway's token
	own        core.TokenID // Alice's
	market     client.Market
	fee        decimal.Decimal // of each side of a fill: the rates of the exchange and of the market's owner
	orders     map[string]order
	pushes     *pushes
	bridged    string         // Bob's deposit on the source chain
	payee      common.Address // whom Alice's withdrawal pays on the source chain
	sent       core.Hash      // of that withdrawal
}

// The amounts that pass the gateway to the exchange, and Alice's withdrawal, in whole tokens.
const (
	bridgedDollars   = 50
	depositedDollars = 40
	depositedTokens  = 1000
	withdrawnDollars = 10
	openMarketFee    = 10_000 // of VITE
)

// RunExchange finds the development environment and takes all steps in it.
func RunExchange(ctx context.Context, o ExchangeOptions, out io.Writer) error {
	info, err := dev.AwaitDaemon(ctx, o.Info, o.URLs)
	if err != nil {
		return err
	}
	if info.API == "" {
		return errors.New("the development environment has no exchange API")
	}
	d := &exchangeDemo{info: info, log: NewLog(out, o.JSON), api: &client.Client{Base: info.API}, orders: map[string]order{}}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	g, ctx := errgroup.WithContext(ctx)
	d.pushes = newPushes(d.log, func(s *client.Stream) { g.Go(func() error { return s.Run(ctx) }) })
	g.Go(func() error {
		defer stop()
		return d.run(ctx, o.Keep)
	})
	return g.Wait()
}

type step struct {
	title string
	do    func(context.Context) error
}

// run takes the steps. With keep it ends before things are revoked and taken out.
func (d *exchangeDemo) run(ctx context.Context, keep bool) error {
	defer d.close()
	steps := []step{
		{"Two users of the exchange", d.open},
		{"Alice issues a token and opens a market of it in dollars", d.openMarket},
		{"API keys, delegation addresses and their permission", d.join},
		{"Bob's dollars come over the gateway, and both fill their exchange accounts", d.fund},
		{"Every topic in three shapes", d.subscribe},
		{"Orders rest and cross", d.trade},
		{"Refused orders", d.refused},
		{"One cancel, and all", d.cancel},
		{"The same by REST", d.read},
	}
	if keep {
		steps = append(steps, step{"Market and keys that remain, to trade by hand", d.handOver})
	} else {
		steps = append(steps,
			step{"Alice revokes the permission, and the dollars leave the exchange", d.takeOut},
			step{"Without permission, and without a key", d.leave},
			step{"The dollars arrive on the source chain", d.paid},
		)
	}
	for _, s := range steps {
		d.log.Step(s.title)
		if err := s.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", s.title, err)
		}
	}
	d.log.Done("All orders, pushes and balances were correct.", d.pushes.counts())
	return nil
}

func (d *exchangeDemo) traders() []*user { return []*user{d.alice, d.bob} }

// open makes both users, the last two of the accounts that have quota, and sends Bob's dollars on
// their way: that takes its time.
func (d *exchangeDemo) open(ctx context.Context) (err error) {
	if d.alice, err = d.user(ctx, "Alice", dev.Users-2); err != nil {
		return err
	}
	if d.bob, err = d.user(ctx, "Bob", dev.Users-1); err != nil {
		return err
	}
	d.dollars = d.bob.Token.ID()
	d.bridged, err = d.bob.Deposit(ctx, d.bob.Whole(bridgedDollars))
	return err
}

func (d *exchangeDemo) close() {
	for _, t := range d.traders() {
		if t != nil {
			t.Close()
		}
	}
}

// openMarket makes a token and its market, and waits until the API knows it.
func (d *exchangeDemo) openMarket(ctx context.Context) (err error) {
	a := d.alice
	err = dev.Within(ctx, dev.Soon, "the exchange to take dollars as a quote token", func() (bool, error) {
		t, err := a.Vite.Node.ExchangeToken(ctx, d.dollars)
		return err == nil && t.QuoteType != 0, nil
	})
	if err != nil {
		return err
	}
	if d.own, err = a.issue(ctx); err != nil {
		return err
	}
	if err := a.ToExchange(ctx, core.VITE, openMarketFee, 18); err != nil {
		return err
	}
	if err := a.Vite.Call(ctx, dex.FundOpenMarket, d.own, d.dollars); err != nil {
		return err
	}
	err = dev.Within(ctx, dev.Soon, "the API to know the market", func() (bool, error) {
		opened, err := a.Vite.Node.Market(ctx, d.own, d.dollars)
		if err != nil {
			return false, nil //nolint:nilerr // there is none yet
		}
		d.market, err = d.api.Market(ctx, opened.Symbol)
		if errors.Is(err, client.CodeGeneral) { // "Invalid symbol"
			return false, nil
		}
		return err == nil, err
	})
	if err != nil {
		return err
	}
	m := d.market
	base := decimal.New(2, -3)
	if d.fee = base.Add(m.OperatorTakerFee); !m.OperatorMakerFee.Equal(m.OperatorTakerFee) {
		return fmt.Errorf("the owner's rates differ: %s and %s", m.OperatorMakerFee, m.OperatorTakerFee)
	}
	d.log.Note("%s (%s): %s, smallest order %s %s, fees %s and %s of the owner", m.TradingCurrency, d.own, m.Symbol, m.MinOrderSize, m.QuoteCurrency, base, m.OperatorTakerFee)
	return nil
}

// join gives both an API key and lets its delegation address trade.
func (d *exchangeDemo) join(ctx context.Context) error {
	for _, t := range d.traders() {
		if err := t.Apply(ctx); err != nil {
			return err
		}
		if err := t.Equip(ctx); err != nil {
			return err
		}
		if err := t.ConfigAgent(ctx, dev.GrantPair, d.own, d.dollars); err != nil {
			return err
		}
		d.log.Note("%s grants it %s", t.Name, d.market.Symbol)
	}
	for _, t := range d.traders() {
		if err := t.HasQuota(ctx); err != nil {
			return err
		}
	}
	return nil
}

// fund moves what both trade with to the exchange. Once the API lists that, it knows the
// permissions, too, which came before.
func (d *exchangeDemo) fund(ctx context.Context) error {
	if err := d.alice.ToExchange(ctx, d.own, depositedTokens, ownDecimals); err != nil {
		return err
	}
	d.log.Note("Alice has deposited %d %s on the exchange", depositedTokens, d.market.TradingCurrency)
	if _, err := d.bob.Await(ctx, "/deposit-records", d.bridged, "TOT_CONFIRMED"); err != nil {
		return err
	}
	if err := d.bob.Collect(ctx, d.bob.Whole(bridgedDollars)); err != nil {
		return err
	}
	if err := d.bob.ToExchange(ctx, d.dollars, depositedDollars, d.bob.Token.Decimals); err != nil {
		return err
	}
	d.log.Note("Bob has deposited %d %s on the exchange", depositedDollars, d.market.QuoteCurrency)
	return nil
}

// subscribe has both users' and the market's topics pushed.
func (d *exchangeDemo) subscribe(ctx context.Context) error {
	topics := topicsOf(d.market, d.alice.Account(), d.bob.Account())
	if err := d.pushes.subscribe(ctx, d.api, topics); err != nil {
		return err
	}
	for _, s := range shapes {
		d.log.Note("%-7s %s", s, d.api.SocketURL(s))
	}
	for _, t := range topics {
		d.log.Note("        %s", t)
	}
	return nil
}

// read holds the queries against what was done.
func (d *exchangeDemo) read(ctx context.Context) error {
	symbol := d.market.Symbol
	var errs []error
	check := func(what string, ok bool, err error) {
		if err != nil || !ok {
			errs = append(errs, fmt.Errorf("%s: differs from the trades (%w)", what, err))
			return
		}
		d.log.Note("%s", what)
	}
	records, err := d.api.TradeRecords(ctx, client.TradeFilter{Symbol: symbol}, client.Page{Total: true})
	check("trades/all: three trades", records.Total == 3, err)
	ticker, err := d.api.Tickers(ctx, "", symbol)
	check("ticker/24hr: 12 traded, the last at 0.9", len(ticker) == 1 && ticker[0].Quantity.Equal(soldTokens) && ticker[0].ClosePrice.String() == "0.9", err)
	bars, err := d.api.Klines(ctx, client.KlineFilter{Symbol: symbol, Interval: "day"})
	check("klines: 12 traded", decimal.Sum(decimal.Zero, bars.V...).Equal(soldTokens), err)
	depth, err := d.api.Depth(ctx, symbol, 0, nil)
	check("depth: nothing is left in the book", len(depth.Asks)+len(depth.Bids) == 0, err)
	for t, placed := range map[*user]int{d.alice: 4, d.bob: 3} {
		filter := client.OrderFilter{Address: t.Account(), Symbol: symbol}
		open, err := d.api.OpenOrders(ctx, filter, client.Page{})
		check("orders/open: none of "+t.Name, len(open.Order) == 0, err)
		mine, err := d.api.Orders(ctx, filter, client.Page{Total: true})
		check(fmt.Sprintf("orders: %d of %s", placed, t.Name), mine.Total == placed, err)
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if err := d.pushes.waitUntilEqual(ctx); err != nil {
		return err
	}
	d.log.Note("pushes: all topics, the same in all three shapes")
	return nil
}

// handOver prints the data that a reader needs to continue. The accounts are public, so their keys
// are no secret.
func (d *exchangeDemo) handOver(context.Context) error {
	d.log.Note("symbol=%s", d.market.Symbol)
	for _, t := range d.traders() {
		d.log.Note("%s: address=%s key=%s secret=%s", t.Name, t.Account(), t.API.Key, t.API.Secret)
	}
	d.log.Note("A key has 60 private calls a minute, and the demo has used some; gatewayd apikey limit KEY 1000 -c %s gives it more.", d.info.Config)
	return nil
}

// takeOut revokes Alice's permission, withdraws all dollars from the exchange, and sends part of
// her earnings to the source chain.
func (d *exchangeDemo) takeOut(ctx context.Context) (err error) {
	a := d.alice
	if err := a.ConfigAgent(ctx, dev.RevokePair, d.own, d.dollars); err != nil {
		return err
	}
	for _, t := range d.traders() {
		if err := t.fromExchange(ctx, d.market.QuoteCurrency); err != nil {
			return err
		}
	}
	if d.payee, err = dev.NewPayee(); err != nil {
		return err
	}
	d.sent, err = a.Withdraw(ctx, d.payee.Hex(), a.Whole(withdrawnDollars))
	return err
}

// leave shows that an order is refused after the permission has gone, and after the key has gone.
func (d *exchangeDemo) leave(ctx context.Context) error {
	order := d.request(client.Sell, "5", "1")
	_, err := d.alice.API.Place(ctx, order)
	if err := d.refusedWith(err, client.CodeParameter, "Alice's order after the permission was revoked"); err != nil {
		return err
	}
	for _, t := range d.traders() {
		if err := t.API.RemoveKey(ctx, t.Wallet()); err != nil {
			return fmt.Errorf("removing %s's key: %w", t.Name, err)
		}
		_, err = t.API.Place(ctx, order)
		if err := d.refusedWith(err, client.CodeParameter, t.Name+"'s order after the key was removed"); err != nil {
			return err
		}
	}
	return nil
}

// paid waits for the gateway's payment on the source chain.
func (d *exchangeDemo) paid(ctx context.Context) error {
	if _, err := d.alice.Await(ctx, "/withdraw-records", d.sent.String(), "OPPOSITE_CONFIRMED"); err != nil {
		return err
	}
	return d.alice.Paid(ctx, d.payee.Hex(), d.alice.Whole(withdrawnDollars))
}
