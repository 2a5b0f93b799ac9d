package index

import (
	"errors"
	"fmt"

	"gatewayd/vite/client"
	"gatewayd/vite/core"
	"gatewayd/vite/dex"
)

// call is a user's call of dexFund, as far as the index needs it.
type call struct {
	place   *Placement // an order
	market  uint32     // of the order, where the contract's event contains it; else its tokens do
	cancel  core.Hash  // the order that is to be cancelled
	clock   int64      // the time oracle's time
	deposit bool
	// withdrawn and withdrawal are set by a withdrawal.
	withdrawal bool
	token      core.TokenID
	amount     amount
}

// errNotSeen marks a block that does not show what was asked of dexFund.
var errNotSeen = errors.New("the block does not show what was asked for")

// relayedCall reads what a user asked of dexFund from what that asked of dexTrade.
func relayedCall(b *block) (c call, err error) {
	switch {
	case b.ok && dex.TradeInnerCancel.Matches(b.relayed):
		var owner core.Address
		return c, dex.TradeInnerCancel.Scan(b.relayed, &c.cancel, &owner)
	case b.ok && dex.TradePlaceOrder.Matches(b.relayed):
		return relayedOrder(b)
	}
	return c, errNotSeen
}

func relayedOrder(b *block) (c call, err error) {
	var encoded []byte
	if err := dex.TradePlaceOrder.Scan(b.relayed, &encoded); err != nil {
		return c, err
	}
	o, err := dex.DecodeOrder(encoded)
	if err != nil {
		return c, err
	}
	c.market = o.ID.Market()
	c.place = &Placement{
		Hash: b.send, Owner: o.Owner, Side: sideNumber(o.ID.Side()), Type: int(o.Type), Price: o.ID.Price().String(), Quantity: o.Quantity,
	}
	return c, nil
}

// readCall reads a call of dexFund by a user. Data that is no call, or a call of no interest, is
// the zero value.
func readCall(b *block) call {
	switch data := b.call; {
	case dex.FundPlaceOrder.Matches(data):
		return placeCall(dex.FundPlaceOrder, b, false)
	case dex.OldFundPlaceOrder.Matches(data):
		return placeCall(dex.OldFundPlaceOrder, b, false)
	case dex.FundPlaceAgentOrder.Matches(data):
		return placeCall(dex.FundPlaceAgentOrder, b, true)
	case dex.OldFundPlaceAgentOrder.Matches(data):
		return placeCall(dex.OldFundPlaceAgentOrder, b, true)
	case dex.FundNotifyTime.Matches(data):
		var c call
		if dex.FundNotifyTime.Scan(data, &c.clock) != nil {
			return call{}
		}
		return c
	case dex.FundDeposit.Matches(data), dex.OldFundDeposit.Matches(data):
		return call{deposit: true, token: b.callToken, amount: b.callAmount}
	case dex.FundWithdraw.Matches(data):
		return withdrawCall(dex.FundWithdraw, data)
	case dex.OldFundWithdraw.Matches(data):
		return withdrawCall(dex.OldFundWithdraw, data)
	}
	return call{}
}

func withdrawCall(m core.Method, data []byte) call {
	c := call{withdrawal: true}
	if m.Scan(data, &c.token, &c.amount.Int) != nil {
		return call{}
	}
	return c
}

func placeCall(m core.Method, b *block, agent bool) call {
	p := Placement{Hash: b.send, Owner: b.from}
	var sell bool
	var kind uint8
	into := []any{&p.Trade, &p.Quote, &sell, &kind, &p.Price, &p.Quantity}
	if agent {
		into = append([]any{&p.Owner}, into...)
	}
	if m.Scan(b.call, into...) != nil {
		return call{}
	}
	p.Side, p.Type = sideNumber(dex.Side(sell)), int(kind)
	return call{place: &p}
}

func sideNumber(s dex.Side) int {
	if s == dex.Sell {
		return 1
	}
	return 0
}

// event is a decoded log; one member is set, or none if the log is of no interest.
type event struct {
	placed   *dex.Placed
	updated  *dex.Updated
	trade    *dex.Trade
	market   *dex.Market
	token    *dex.Token
	grant    *dex.Grant
	granted  bool
	transfer *dex.Transfer
}

// readEvent decodes a log of either contract. A log of a known name that cannot be read is
// dex.ErrWire.
func readEvent(log client.VMLog) (e event, err error) {
	if len(log.Topics) == 0 {
		return e, nil
	}
	switch log.Topics[0] {
	case dex.Topic(dex.NewOrderEvent):
		e.placed, err = decoded(dex.DecodePlaced(log.Data))
	case dex.Topic(dex.OrderUpdateEvent):
		e.updated, err = decoded(dex.DecodeUpdated(log.Data))
	case dex.Topic(dex.TradeEvent):
		e.trade, err = decoded(dex.DecodeTrade(log.Data))
	case dex.Topic(dex.MarketEvent):
		e.market, err = decoded(dex.DecodeMarket(log.Data))
	case dex.Topic(dex.TokenEvent):
		e.token, err = decoded(dex.DecodeToken(log.Data))
	case dex.Topic(dex.GrantEvent):
		e.grant, err = decoded(dex.DecodeGrant(log.Data))
		e.granted = true
	case dex.Topic(dex.RevokeEvent):
		e.grant, err = decoded(dex.DecodeGrant(log.Data))
	case dex.Topic(dex.TransferEvent):
		e.transfer, err = decoded(dex.DecodeTransfer(log.Data))
	}
	return e, err
}

func decoded[T any](v T, err error) (*T, error) { return &v, err }

// decode reads a block's logs.
func (b *block) decode() (err error) {
	b.events = make([]event, len(b.logs))
	for i, log := range b.logs {
		if b.events[i], err = readEvent(log); err != nil {
			return fmt.Errorf("event %d: %w", i, err)
		}
	}
	return nil
}
