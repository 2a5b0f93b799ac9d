package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/holiman/uint256"
	"github.com/shopspring/decimal"

	api "gatewayd/exchangeapi/client"
	"gatewayd/vite/client"
	"gatewayd/vite/core"
	"gatewayd/vite/dex"
)

// acceptedBlocks are the blocks that the exchange process has accepted. It must never lose one of
// them.
type acceptedBlocks struct {
	mu      sync.Mutex
	blocks  []core.Hash
	orders  int            // of them
	refused map[string]int // by reason; these may be lost
	unclear int            // the process was killed before it answered
	faulty  bool           // what the service needs fails too, so its own errors may hide an order
}

func (p *acceptedBlocks) add(h core.Hash, order bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.blocks = append(p.blocks, h)
	if order {
		p.orders++
	}
}

// addError counts an error as a refusal or as no answer. It returns an error that blames the
// service itself.
func (p *acceptedBlocks) addError(err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var refusal *api.Error
	var byNode *client.Error
	switch {
	case errors.As(err, &refusal) && (refusal.HTTP >= 500 || refusal.Code == api.CodeService):
		if !p.faulty {
			return err
		}
		p.unclear++
	case errors.As(err, &refusal):
		p.refused[fmt.Sprint(refusal.Code, " ", refusal.Msg)]++
	case errors.As(err, &byNode):
		p.refused[byNode.Message]++
	default:
		p.unclear++
	}
	return nil
}

func (p *acceptedBlocks) count() (orders, blocks int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.orders, len(p.blocks)
}

// since are the blocks accepted after the first n.
func (p *acceptedBlocks) since(n int) []core.Hash {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.blocks[n:len(p.blocks):len(p.blocks)]
}

// trader buys and sells while the process is killed and started again.
type trader struct {
	key      core.PrivateKey
	rng      *rand.Rand
	exchange *exchangeProcess
	accepted *acceptedBlocks
	keyed    [2]string     // API key and secret; empty for one who sends his own blocks
	pause    time.Duration // between steps

	recent []placedOrder // that he may want to cancel
	conn   *connection
}

type placedOrder struct {
	symbol string
	id     core.Hash
}

// connection is a trader's connection to one run of the process.
type connection struct {
	info   exchangeURLs
	node   *client.Client
	rest   *api.Client
	height uint64 // of the trader's own chain
	prev   core.Hash
}

// trade runs until ctx ends. It returns only errors that a kill does not explain.
func (t *trader) trade(ctx context.Context) error {
	defer t.hangUp()
	for ctx.Err() == nil {
		if t.conn == nil && !t.connect(ctx) {
			select {
			case <-time.After(20 * time.Millisecond):
			case <-ctx.Done():
			}
			continue
		}
		if err := t.step(ctx); err != nil { // the last one, too, may have placed its order
			var refusal *api.Error
			if !errors.As(err, &refusal) {
				t.hangUp()
			}
			if err := t.accepted.addError(err); err != nil {
				return err
			}
		}
		if t.pause > 0 {
			select {
			case <-time.After(t.pause):
			case <-ctx.Done():
			}
		}
	}
	return nil
}

func (t *trader) hangUp() {
	if t.conn != nil {
		t.conn.node.Close()
		t.conn.rest.HTTP.CloseIdleConnections()
	}
	t.conn = nil
}

// connect is false while the process is not there.
func (t *trader) connect(ctx context.Context) bool {
	info, err := t.exchange.urls()
	if err != nil {
		return false
	}
	n, err := client.Dial(ctx, info.Node, client.Options{Timeout: 10 * time.Second})
	if err != nil {
		return false
	}
	tip, err := n.LatestAccountBlock(ctx, t.key.Address())
	if err != nil || tip == nil {
		n.Close()
		return false
	}
	t.conn = &connection{
		info: info, node: n, rest: &api.Client{Base: info.API, Key: t.keyed[0], Secret: t.keyed[1], HTTP: newHTTPClient()},
		height: tip.Height, prev: tip.Hash,
	}
	return true
}

// step does one thing: mostly an order, sometimes a cancel, now and then a deposit or a withdrawal.
func (t *trader) step(ctx context.Context) error {
	symbol := exchangeMarkets[t.rng.IntN(len(exchangeMarkets))]
	switch n := t.rng.IntN(100); {
	case n < 75:
		return t.order(ctx, symbol)
	case n < 95 && len(t.recent) > 0:
		return t.cancel(ctx)
	case n < 97:
		return t.cancelMany(ctx, symbol)
	case n < 99:
		return t.sendBlock(ctx, false, core.VITE, wholeTokens(uint64(1+t.rng.IntN(9)), 18), dex.FundDeposit)
	default:
		return t.sendBlock(ctx, false, core.VITE, uint256.Int{}, dex.FundWithdraw, core.VITE, wholeTokens(uint64(1+t.rng.IntN(9)), 18))
	}
}

// order is mostly one that meets others, and one time in a hundred too small to be taken.
func (t *trader) order(ctx context.Context, symbol string) error {
	sell := t.rng.IntN(2) == 1
	cents := 995 + t.rng.IntN(16)
	if sell {
		cents -= 5
	}
	quantity := uint64(15 + t.rng.IntN(30))
	if t.rng.IntN(100) == 0 {
		quantity = 1
	}
	price := decimal.New(int64(cents), -2)
	if t.keyed[0] == "" {
		token := exchangeTokens[tokenOf(symbol)]
		return t.sendBlock(ctx, true, core.VITE, uint256.Int{}, dex.FundPlaceOrder, token, core.VITE, sell, uint8(dex.Limit), price.String(), wholeTokens(quantity, 8))
	}
	side := api.Buy
	if sell {
		side = api.Sell
	}
	placed, err := t.conn.rest.Place(ctx, api.NewOrder{Symbol: symbol, Side: side, Amount: decimal.NewFromUint64(quantity), Price: price})
	if err != nil {
		return err
	}
	return t.addAccepted(placed.OrderID, symbol)
}

func tokenOf(symbol string) string {
	name, _, _ := strings.Cut(symbol, "_")
	return name
}

// addAccepted adds a block that REST has accepted.
func (t *trader) addAccepted(id, symbol string) error {
	h, err := core.ParseHash(id)
	if err != nil {
		return err
	}
	t.accepted.add(h, symbol != "")
	if symbol != "" {
		t.remember(placedOrder{symbol, h})
	}
	return nil
}

func (t *trader) remember(o placedOrder) {
	if len(t.recent) == 100 {
		t.recent = t.recent[1:]
	}
	t.recent = append(t.recent, o)
}

func (t *trader) cancel(ctx context.Context) error {
	o := t.recent[t.rng.IntN(len(t.recent))]
	if t.keyed[0] == "" {
		return t.sendBlock(ctx, false, core.VITE, uint256.Int{}, dex.FundCancelBySendHash, o.id, core.Address{}, exchangeTokens[tokenOf(o.symbol)], core.VITE)
	}
	done, err := t.conn.rest.Cancel(ctx, o.symbol, o.id.String())
	if err != nil {
		return err
	}
	return t.addAccepted(done.CancelRequest, "")
}

// cancelMany ends all orders of a pair where REST does that.
func (t *trader) cancelMany(ctx context.Context, symbol string) error {
	if t.keyed[0] == "" {
		return nil
	}
	list, err := t.conn.rest.CancelAll(ctx, symbol)
	if err != nil {
		return err
	}
	for _, done := range list {
		if err := t.addAccepted(done.CancelRequest, ""); err != nil {
			return err
		}
	}
	return nil
}

// sendBlock sends a call of dexFund as a block of the trader's account.
func (t *trader) sendBlock(ctx context.Context, order bool, token core.TokenID, amount uint256.Int, m core.Method, args ...any) error {
	data, err := m.Pack(args...)
	if err != nil {
		return err
	}
	b := &core.AccountBlock{
		BlockType: core.SendCall, Address: t.key.Address(), Height: t.conn.height + 1, PreviousHash: t.conn.prev,
		ToAddress: core.DexFundContract, TokenID: token, Amount: amount, Data: data,
	}
	b.SignWith(t.key)
	if err := t.conn.node.SendRawTransaction(ctx, b); err != nil {
		return err
	}
	t.conn.height, t.conn.prev = b.Height, b.Hash
	t.accepted.add(b.Hash, order)
	if order {
		for _, symbol := range exchangeMarkets {
			if exchangeTokens[tokenOf(symbol)] == args[0] {
				t.remember(placedOrder{symbol, b.Hash})
			}
		}
	}
	return nil
}
