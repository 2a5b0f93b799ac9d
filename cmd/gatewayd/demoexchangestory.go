package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/shopspring/decimal"
	"golang.org/x/sync/errgroup"

	"gatewayd/chain"
	"gatewayd/chain/vite/core"
	"gatewayd/chain/vite/dex"
	"gatewayd/exchangeapi/client"
	"gatewayd/wallet/entropy"
)

// exchangeDemo is one run of the demo: Alice issues a token and sells it to Bob for dollars that he brings over the gateway; she takes them out.
type exchangeDemo struct {
	info       devInfo
	keep       bool // leave keys and permissions in place
	log        *demoLog
	alice, bob *demoTrader
	dollars    core.TokenID // the gateway's token
	own        core.TokenID // Alice's
	market     demoMarket
	orders     map[string]*demoOrder // by the names that the story gives them
	watch      *pushWatch
	listen     chan *pushWatch // capacity 1: the story hands over the one watch and goes on
	arriving   bytes.Buffer    // what Bob's deposit prints; read after arrived is closed
	arrived    chan struct{}
	credited   chain.Amount   // what Bob's wallet has of the dollars when they have come
	payee      common.Address // whom Alice's withdrawal pays on the source chain
	sent       core.Hash      // of that withdrawal
}

// What Bob brings over the gateway and onto the exchange, and what Alice withdraws, in dollars.
const (
	bridgedDollars   = 50
	depositedDollars = 40
	withdrawnDollars = 10
)

// The demo's users are the last two of the accounts that a development world stakes quota for; the gateway's demo takes the first.
const (
	demoAlice = devUsers - 2
	demoBob   = devUsers - 1
)

// newTrading is a client of the exchange API without a key.
func newTrading(url string) *client.Client { return &client.Client{Base: url} }

func newExchangeDemo(ctx context.Context, info devInfo, log *demoLog) (*exchangeDemo, error) {
	d := &exchangeDemo{
		info: info, log: log, orders: map[string]*demoOrder{}, listen: make(chan *pushWatch, 1), arrived: make(chan struct{}),
	}
	dollars, err := gatewayToken(info, dollarSymbol+"-000")
	if err != nil {
		return nil, err
	}
	if d.dollars, err = core.ParseTokenID(dollars.Token); err != nil {
		return nil, err
	}
	log.step("Two users of the exchange")
	bridge, err := newBridgeUser(ctx, info, dollars, demoBob, &d.arriving)
	if err != nil {
		return nil, err
	}
	d.bob = &demoTrader{bridgeUser: bridge, name: "Bob", log: log, api: newTrading(info.API)}
	if d.alice, err = d.neighbour(ctx, "Alice", demoAlice); err != nil {
		bridge.close()
		return nil, err
	}
	return d, d.count(ctx)
}

// gatewayToken finds a gateway token of the world.
func gatewayToken(info devInfo, symbol string) (devToken, error) {
	for _, t := range info.Tokens {
		if t.Symbol == symbol {
			return t, nil
		}
	}
	return devToken{}, fmt.Errorf("the world has no token %s", symbol)
}

// neighbour is another user of Bob's token, with nothing on the source chain.
func (d *exchangeDemo) neighbour(ctx context.Context, name string, n uint32) (*demoTrader, error) {
	key, err := entropy.NewKeys(entropy.Seed(d.info.Mnemonic, "")).ByIndex(devUserBase + n)
	if err != nil {
		return nil, err
	}
	u := &bridgeUser{token: d.bob.token, eth: d.bob.eth, gateway: d.bob.gateway, out: d.log}
	if u.vite, err = newViteUser(ctx, d.info.Exchange, key); err != nil {
		return nil, err
	}
	return &demoTrader{bridgeUser: u, name: name, log: d.log, api: newTrading(d.info.API)}, nil
}

func (d *exchangeDemo) close() {
	d.bob.close()
	d.alice.vite.node.Close()
}

func (d *exchangeDemo) traders() []*demoTrader { return []*demoTrader{d.alice, d.bob} }

// count notes what both have on the exchange before anything happens: the world may have been used.
func (d *exchangeDemo) count(ctx context.Context) error {
	for _, t := range d.traders() {
		have, err := t.api.Balance(ctx, t.vite.address().String())
		if err != nil {
			return err
		}
		t.purse = purseOf(have)
		d.log.note("%s is %s", t.name, t.vite.address())
	}
	return nil
}

// run plays the story. Bob's deposit takes its time on the source chain, so it is made beside the first steps.
func (d *exchangeDemo) run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return d.bridge(ctx) })
	g.Go(func() error {
		select {
		case w := <-d.listen:
			return w.Run(ctx)
		case <-ctx.Done():
			return nil
		}
	})
	g.Go(func() error {
		defer stop()
		return d.play(ctx)
	})
	return g.Wait()
}

// scene is a step of the story.
type scene struct {
	title string
	do    func(context.Context) error
}

// scenes are the story. One that keeps what it made ends before things are revoked and taken out.
func (d *exchangeDemo) scenes() []scene {
	list := []scene{
		{"Alice issues a token and opens a market of it in dollars", d.openMarket},
		{"API keys, delegation addresses and their permission", d.join},
		{"Bob's dollars come over the gateway, and both fill their exchange accounts", d.fund},
		{"Every topic in three shapes", d.hear},
		{"Orders rest and cross", d.trade},
		{"What is refused", d.refused},
		{"One cancel, and all", d.cancel},
		{"What REST says of it", d.read},
	}
	if d.keep {
		return append(list, scene{"What stays, to trade by hand", d.handOver})
	}
	return append(list,
		scene{"Alice revokes the permission, and the dollars leave the exchange", d.takeOut},
		scene{"Without permission, and without a key", d.leave},
		scene{"The dollars arrive on the source chain", d.paid},
	)
}

// play is the story, step by step.
func (d *exchangeDemo) play(ctx context.Context) error {
	for _, s := range d.scenes() {
		d.log.step(s.title)
		if err := s.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", s.title, err)
		}
	}
	d.log.done("Every order, push and balance was as it should be.", d.watch.counts())
	return nil
}

// patientGateway is how long the gateway may take for one record: confirmations on both chains.
const patientGateway = 3 * time.Minute

// bridge deposits Bob's dollars on the source chain and waits until the gateway has credited them.
func (d *exchangeDemo) bridge(ctx context.Context) error {
	amount := whole(bridgedDollars, d.bob.token.Decimals)
	before, err := d.bob.vite.balance(ctx, d.dollars)
	if err != nil {
		return err
	}
	if d.credited, err = before.Add(amount); err != nil {
		return err
	}
	hash, err := d.bob.deposit(ctx, amount)
	if err != nil {
		return err
	}
	err = within(ctx, patientGateway, "the gateway to credit the deposit", func() (bool, error) {
		_, err := d.bob.await(ctx, "/deposit-records", hash.Hex(), "TOT_CONFIRMED")
		return true, err
	})
	if err == nil {
		close(d.arrived)
	}
	return err
}

// openMarket makes a token and its market, which costs 10,000 VITE from the exchange balance.
func (d *exchangeDemo) openMarket(ctx context.Context) (err error) {
	a := d.alice
	err = within(ctx, soon, "the exchange to take dollars as a quote token", func() (bool, error) {
		t, err := a.vite.node.ExchangeToken(ctx, d.dollars)
		return err == nil && t.QuoteType != 0, nil
	})
	if err != nil {
		return err
	}
	if d.own, err = a.issue(ctx); err != nil {
		return err
	}
	if err := a.toExchange(ctx, core.VITE, openMarketFee, 18); err != nil {
		return err
	}
	if err := a.vite.call(ctx, dex.FundOpenMarket, d.own, d.dollars); err != nil {
		return err
	}
	var symbol string
	err = within(ctx, soon, "the market to open", func() (bool, error) {
		m, err := a.vite.node.Market(ctx, d.own, d.dollars)
		symbol = m.Symbol
		return err == nil, nil // there is none yet
	})
	if err != nil {
		return err
	}
	return d.describeMarket(ctx, symbol)
}

// openMarketFee is what a market costs, in VITE.
const openMarketFee = 10_000

// describeMarket waits until the API knows the market, and notes how it computes.
func (d *exchangeDemo) describeMarket(ctx context.Context, symbol string) error {
	var m client.Market
	err := within(ctx, soon, "the API to know the market "+symbol, func() (bool, error) {
		var err error
		m, err = d.alice.api.Market(ctx, symbol)
		if errors.Is(err, client.CodeGeneral) { // "Invalid symbol"
			return false, nil
		}
		return err == nil, err
	})
	if err != nil {
		return err
	}
	if !m.OperatorMakerFee.Equal(m.OperatorTakerFee) {
		return fmt.Errorf("%s: the owner's rates differ: %s and %s", symbol, m.OperatorMakerFee, m.OperatorTakerFee)
	}
	d.market = demoMarket{
		symbol: symbol, trade: m.TradingCurrency, quote: m.QuoteCurrency, quoteDecimals: int32(d.alice.token.Decimals),
		base: decimal.New(2, -3), operator: m.OperatorTakerFee,
	}
	d.log.note("%s (%s): %s, smallest order %s %s, fees %s and %s of the owner", m.TradingCurrency, d.own, symbol, m.MinOrderSize, m.QuoteCurrency,
		d.market.base, d.market.operator)
	return d.alice.balances(ctx)
}

// join gives both an API key and lets its delegation address trade.
func (d *exchangeDemo) join(ctx context.Context) error {
	for _, t := range d.traders() {
		if err := t.apply(ctx); err != nil {
			return err
		}
		if err := t.equip(ctx); err != nil {
			return err
		}
		if err := t.configAgent(ctx, grantPair, d.own, d.dollars); err != nil {
			return err
		}
		d.log.note("%s grants it %s", t.name, d.market.symbol)
	}
	for _, t := range d.traders() {
		if err := t.hasQuota(ctx); err != nil {
			return err
		}
	}
	return nil
}

// ownTokens is how many of her tokens Alice puts on the exchange.
const ownTokens = 1000

// fund moves what both trade with to the exchange. Once the API lists that, it knows the permissions, too, which came before.
func (d *exchangeDemo) fund(ctx context.Context) error {
	if err := d.fill(ctx, d.alice, d.own, d.market.trade, ownTokens, demoDecimals); err != nil {
		return err
	}
	select {
	case <-d.arrived:
	case <-ctx.Done():
		return ctx.Err()
	}
	if _, err := d.arriving.WriteTo(d.log); err != nil {
		return err
	}
	if err := d.bob.takeIn(ctx, d.dollars, d.credited); err != nil {
		return err
	}
	return d.fill(ctx, d.bob, d.dollars, d.market.quote, depositedDollars, d.bob.token.Decimals)
}

// fill deposits whole tokens on a trader's exchange account.
func (d *exchangeDemo) fill(ctx context.Context, t *demoTrader, token core.TokenID, symbol string, tokens uint64, decimals uint8) error {
	if err := t.toExchange(ctx, token, tokens, decimals); err != nil {
		return err
	}
	t.purse.add(symbol, decimal.NewFromUint64(tokens), decimal.Zero)
	d.log.note("%s has deposited %d %s on the exchange", t.name, tokens, symbol)
	return t.balances(ctx)
}

// hear subscribes to everything.
func (d *exchangeDemo) hear(ctx context.Context) error {
	topics := topicsOf(d.market.symbol, d.market.quote, dollarSymbol, d.alice.vite.address().String(), d.bob.vite.address().String())
	d.watch = newPushWatch(newTrading(d.info.API), d.log, topics)
	d.listen <- d.watch
	if err := within(ctx, soon, "the WebSocket streams", func() (bool, error) { return d.watch.ready(), nil }); err != nil {
		return err
	}
	for _, s := range allShapes() {
		d.log.note("%-7s %s", s, d.watch.api.SocketURL(s))
	}
	for _, t := range topics {
		d.log.note("        %s", t)
	}
	return nil
}
