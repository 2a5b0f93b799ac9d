package exchangeapi

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/holiman/uint256"

	"gatewayd/exchangeapi/apikey"
	"gatewayd/exchangeapi/index"
	"gatewayd/vite/core"
	"gatewayd/vite/dex"
)

// notes passes blocks that the node has just accepted from us to the index, before a contract has
// processed them.
type notes interface {
	NotePlacement(ctx context.Context, p index.Placement) error
	NoteCancel(ctx context.Context, c index.CancelRequest) error
}

// noteTimeout bounds writing a note. It is written even when the client has gone: the block is on
// the chain.
const noteTimeout = 5 * time.Second

// orderRequest is the order that a request describes, checked against its market.
type orderRequest struct {
	market   index.Market
	side     dex.Side
	price    dex.Price
	quantity uint256.Int
	clientID string // "" for none
}

// placed is the answer to a placement.
type placed struct {
	Symbol  string       `json:"symbol"`
	OrderID string       `json:"orderId"`
	Status  index.Status `json:"status"`

	ClientOrderID string `json:"clientOrderId,omitempty"`
}

// testOrder checks everything that a placement checks; nothing reaches the chain.
func (n *network) testOrder(ctx context.Context, key apikey.Key, p params) (any, error) {
	_, err := n.checkedOrder(ctx, key, p, false)
	return nil, err
}

// checkedOrder reads the order that a request describes and asks the market, the permission, the
// least amount and the balance whether it could be placed.
func (n *network) checkedOrder(ctx context.Context, key apikey.Key, p params, toPlace bool) (orderRequest, error) {
	w, err := n.orderRequest(p)
	if err != nil {
		return orderRequest{}, err
	}
	if err := n.checkUnused(ctx, key, w.clientID, toPlace); err != nil {
		return orderRequest{}, err
	}
	if w.market.Stopped {
		return orderRequest{}, reject(codeParameter, "The market is stopped")
	}
	if err := n.checkPermission(ctx, key, w.market.Symbol); err != nil {
		return orderRequest{}, err
	}
	return w, n.checkFunds(ctx, key.Owner, w)
}

// place puts a limit order on the chain. It answers as soon as the node has the block; whatever the
// exchange makes of it shows as a status.
func (n *network) place(ctx context.Context, key apikey.Key, p params) (any, error) {
	w, err := n.checkedOrder(ctx, key, p, true)
	if err != nil {
		return nil, err
	}
	data, err := dex.FundPlaceAgentOrder.Pack(key.Owner, w.market.Trade, w.market.Quote, bool(w.side), uint8(dex.Limit), w.price.String(), w.quantity)
	if err != nil {
		return nil, fmt.Errorf("encoding an order: %w", err)
	}
	var id core.Hash
	t := &clientOrderBinding{network: n, ClientOrder: apikey.ClientOrder{Key: key.Key, ClientID: w.clientID}}
	err = n.sender.run(ctx, key, func(a *accountSender) (err error) {
		id, err = a.call(ctx, data, t.bind)
		return err
	})
	t.unbindIfRefused(err)
	if err != nil {
		return nil, err
	}
	n.note(func(ctx context.Context) error {
		return n.Index.NotePlacement(ctx, index.Placement{
			Hash: id, Owner: key.Owner, Trade: w.market.Trade, Quote: w.market.Quote, Side: sideNumber(w.side), Type: int(dex.Limit),
			Price: w.price.String(), Quantity: w.quantity,
		})
	})
	return placed{w.market.Symbol, id.String(), index.PendingRequest, w.clientID}, nil
}

// note writes a note. Without it the order shows a little later, from the chain itself.
func (n *network) note(write func(context.Context) error) {
	ctx, cancel := context.WithTimeout(context.Background(), noteTimeout)
	defer cancel()
	if err := write(ctx); err != nil {
		n.Log.WithError(err).Warn("noting a request to the exchange")
	}
}

func sideNumber(s dex.Side) int {
	if s == dex.Sell {
		return 1
	}
	return 0
}

// pair finds the market of a private request.
func (n *network) pair(p params) (index.Market, error) {
	symbol, err := p.required("symbol")
	if err != nil {
		return index.Market{}, err
	}
	m, err := n.Index.Market(symbol)
	if errors.Is(err, index.ErrUnknownMarket) {
		return index.Market{}, reject(codeParameter, textSymbol)
	}
	return m, err
}

func (n *network) orderRequest(p params) (orderRequest, error) {
	market, err := n.pair(p)
	if err != nil {
		return orderRequest{}, err
	}
	w := orderRequest{market: market}
	if w.clientID, err = p.clientID(); err != nil {
		return orderRequest{}, err
	}
	if w.price, err = readPrice(p.get("price"), market.PricePrecision); err != nil {
		return orderRequest{}, err
	}
	if w.quantity, err = readQuantity(p.get("amount"), market); err != nil {
		return orderRequest{}, err
	}
	switch p.get("side") {
	case "0":
	case "1":
		w.side = dex.Sell
	default:
		return orderRequest{}, reject(codeParameter, "Invalid side: 0 (buy) or 1 (sell) is wanted")
	}
	return w, nil
}

// priceDecimals is the number of decimals of a price on the chain.
const priceDecimals = 12

// readPrice reads a price as the chain does and refuses decimals beyond the market's.
func readPrice(text string, precision int) (dex.Price, error) {
	price, err := dex.ParsePrice(text)
	if err != nil || price.IsZero() {
		return dex.Price{}, reject(codeParameter, "Invalid price")
	}
	step := uint64(1)
	for range priceDecimals - max(0, min(precision, priceDecimals)) {
		step *= 10
	}
	if price.Frac%step != 0 {
		return dex.Price{}, reject(codeParameter, "Invalid price: at most %d decimals", precision)
	}
	return price, nil
}

// readQuantity reads an amount of the trade token into its smallest unit.
func readQuantity(text string, m index.Market) (uint256.Int, error) {
	units, decimals, dotted := strings.Cut(text, ".")
	if units+decimals == "" || dotted && decimals == "" || strings.Trim(units+decimals, "0123456789") != "" || len(text) > 60 {
		return uint256.Int{}, reject(codeParameter, "Invalid amount")
	}
	decimals = strings.TrimRight(decimals, "0")
	if most := min(m.QuantityPrecision, int(m.TradeDecimals)); len(decimals) > most {
		return uint256.Int{}, reject(codeParameter, "Invalid amount: at most %d decimals", most)
	}
	raw := strings.TrimLeft(units+decimals+strings.Repeat("0", int(m.TradeDecimals)-len(decimals)), "0")
	quantity, err := uint256.FromDecimal(raw)
	if raw == "" || err != nil {
		return uint256.Int{}, reject(codeParameter, "Invalid amount")
	}
	return *quantity, nil
}

// checkPermission asks the chain whether the account has granted the pair to the key's delegation
// address.
func (n *network) checkPermission(ctx context.Context, key apikey.Key, symbol string) error {
	granted, err := n.Index.Granted(ctx, key.Owner, key.Agent, symbol)
	if err != nil {
		return nodeError(fmt.Errorf("asking for the permission: %w", err))
	}
	if !granted {
		return reject(codeParameter, "No permission for %s", symbol)
	}
	return nil
}

// checkFunds applies the exchange's own rules to the order: the least amount and what the account
// has. The chain has the last word.
func (n *network) checkFunds(ctx context.Context, owner core.Address, w orderRequest) error {
	limits, err := n.orderMinimums.query(ctx, owner, w.market, w.side)
	if err != nil {
		return nodeError(err)
	}
	m := dexMarket(w.market)
	_, err = m.Place(&dex.Placement{
		Owner: owner, Side: w.side, Type: dex.Limit, Price: w.price, Quantity: w.quantity,
		FeeTier: limits.feeTier, Available: limits.available, Minimum: limits.minimum,
	})
	switch {
	case errors.Is(err, dex.ErrTooSmall):
		return reject(codeMinimum, textMinimum)
	case errors.Is(err, dex.ErrFunds):
		return reject(codeFunds, textFunds)
	case err != nil:
		return reject(codeParameter, "Invalid amount").because(err)
	}
	return nil
}
