package ledger

import (
	"github.com/holiman/uint256"

	"gatewayd/vite/core"
	"gatewayd/vite/dex"
)

// orderCall is an order as a call asks for it.
type orderCall struct {
	trade, quote core.TokenID
	side         dex.Side
	kind         dex.Type
	price        string
	quantity     uint256.Int
}

func orderCallOf(args []any) orderCall {
	return orderCall{
		args[0].(core.TokenID), args[1].(core.TokenID), dex.Side(args[2].(bool)), dex.Type(args[3].(uint8)), args[4].(string),
		args[5].(uint256.Int),
	}
}

// checkPlaceOrder refuses what can be seen to be wrong before anything is known of the market.
func checkPlaceOrder(b *core.AccountBlock, args []any) error {
	i := orderCallOf(args)
	price, err := dex.ParsePrice(i.price)
	switch {
	case !i.kind.Valid():
		return ErrOrderType
	case err != nil, price.IsZero() && i.kind != dex.MarketPrice:
		return ErrOrderPrice
	case i.quantity.IsZero():
		return ErrOrderQuantity
	}
	return checkNoAmount(b, nil)
}

func checkPlaceAgentOrder(b *core.AccountBlock, args []any) error {
	if !isUser(args[0].(core.Address)) {
		return ErrDexParam
	}
	return checkPlaceOrder(b, args[1:])
}

func placeOwnOrder(x *execution, args []any) error {
	i := orderCallOf(args)
	market, err := x.state.Exchange.Market(i.trade, i.quote)
	if err != nil {
		return err
	}
	return x.place(&market, x.send.Address, i)
}

// placeAgentOrder is an order of the principal in everything but the hash, which is that of the
// agent's block.
func placeAgentOrder(x *execution, args []any) error {
	i, e := orderCallOf(args[1:]), &x.state.Exchange
	market, err := e.Market(i.trade, i.quote)
	if err != nil {
		return err
	}
	principal := args[0].(core.Address)
	if _, granted := e.Grants[Grant{principal, x.send.Address, market.ID}]; !granted {
		return errNotGranted
	}
	return x.place(&market, principal, i)
}

// place locks what the order needs, stamps it, and hands it to dexTrade.
func (x *execution) place(market *dex.Market, owner core.Address, i orderCall) error {
	s, e := x.state, &x.state.Exchange
	switch {
	case e.Roles.Stopped:
		return errDexStopped
	case market.Stopped:
		return errMarketStopped
	case e.Clock == 0:
		return errNoClock
	case e.Serial > dex.MaxSerial:
		return errSerials
	}
	price, err := dex.ParsePrice(i.price)
	if err != nil {
		return err
	}
	locks := Holding{owner, market.Quote}
	if i.side == dex.Sell {
		locks.Token = market.Trade
	}
	balance := e.Funds[locks]
	order, err := market.Place(&dex.Placement{
		Owner: owner, Side: i.side, Type: i.kind, Price: price, Quantity: i.quantity, SendHash: x.send.Hash,
		Time: e.Clock, Serial: e.Serial, FeeTier: e.FeeTier(owner), Available: balance.Available,
		Minimum: e.Minimum(market.QuoteType), OlderSplit: s.steps.olderSplit,
	})
	if err != nil {
		return err
	}
	if balance, err = balance.Lock(order.Locked()); err != nil {
		return err
	}
	put(&s.journal, e.Funds, locks, balance)
	put(&s.journal, e.Hashes, order.SendHash, order.ID)
	set(&s.journal, &e.Serial, e.Serial+1)
	return x.sendContractCall(core.DexTradeContract, dex.TradePlaceOrder, dex.EncodeOrder(&order))
}

// cancelThroughFund passes a cancel to dexTrade, behind all orders that came through here before
// it. An agent names the principal and must be granted the pair that he names. Unlike a real
// node's, this contract also checks the pair of the order (docs/exchange-rules.md 2.11).
func cancelThroughFund(x *execution, args []any) error {
	hash, principal, e := args[0].(core.Hash), args[1].(core.Address), &x.state.Exchange
	market, err := e.Market(args[2].(core.TokenID), args[3].(core.TokenID))
	if err != nil {
		return err
	}
	owner := x.send.Address
	if !principal.IsZero() && principal != owner {
		if _, granted := e.Grants[Grant{principal, owner, market.ID}]; !granted {
			return errNotGranted
		}
		if id, open := e.Hashes[hash]; open && id.Market() != market.ID {
			return errAgentMarket
		}
		owner = principal
	}
	return x.sendContractCall(core.DexTradeContract, dex.TradeInnerCancel, hash, owner)
}

func checkAgents(b *core.AccountBlock, args []any) error {
	action, agent := args[0].(uint8), args[1].(core.Address)
	trades, quotes := args[2].([]core.TokenID), args[3].([]core.TokenID)
	switch {
	case action != ActionAdd && action != ActionRemove, !isUser(agent), agent == b.Address,
		len(trades) == 0, len(trades) != len(quotes):
		return ErrDexParam
	}
	return checkNoAmount(b, nil)
}

// configAgents grants or revokes, pair by pair; what is so already changes nothing and logs
// nothing.
func configAgents(x *execution, args []any) error {
	s, e, grant := x.state, &x.state.Exchange, args[0].(uint8) == ActionAdd
	trades, quotes := args[2].([]core.TokenID), args[3].([]core.TokenID)
	for i := range trades {
		market, err := e.Market(trades[i], quotes[i])
		if err != nil {
			return err
		}
		key := Grant{x.send.Address, args[1].(core.Address), market.ID}
		if _, granted := e.Grants[key]; granted == grant {
			continue
		}
		event := dex.Grant{Principal: key.Principal, Agent: key.Agent, Market: key.Market}
		if grant {
			put(&s.journal, e.Grants, key, struct{}{})
			x.announce(dex.GrantEvent, event.Encode())
		} else {
			del(&s.journal, e.Grants, key)
			x.announce(dex.RevokeEvent, event.Encode())
		}
	}
	return nil
}
