package node

import (
	"slices"

	"github.com/holiman/uint256"

	"gatewayd/chain/vite/core"
	"gatewayd/chain/vite/dex"
)

// openFee is what a new market costs its creator, in whole VITE.
const openFee = 10_000

func checkOpenMarket(b *core.AccountBlock, args []any) error {
	if args[0].(core.TokenID) == args[1].(core.TokenID) {
		return ErrTokenPair
	}
	return checkNoAmount(b, nil)
}

// openMarket opens a market at once, or, if the exchange does not know the trade token, when the asset contract has told.
func openMarket(x *execution, args []any) error {
	trade, quote, e := args[0].(core.TokenID), args[1].(core.TokenID), &x.state.exchange
	if e.pairs[pair{trade, quote}] != 0 {
		return errMarketExists
	}
	if t := e.tokens[quote]; !t.QuoteType.Valid() {
		return dex.ErrQuoteToken
	}
	if _, known := e.tokens[trade]; !known {
		return x.askForToken(trade, question{quote: quote, creator: x.send.Address})
	}
	return x.openKnown(trade, quote, x.send.Address)
}

func (x *execution) askForToken(token core.TokenID, q question) error {
	s, e := x.state, &x.state.exchange
	put(&s.journal, e.asked, token, append(slices.Clone(e.asked[token]), q))
	return x.ask(core.AssetContract, core.GetTokenInformation, token)
}

// openKnown opens a market of two tokens that the exchange knows.
func (x *execution) openKnown(trade, quote core.TokenID, creator core.Address) error {
	s, e := x.state, &x.state.exchange
	tradeToken, quoteToken, id := e.tokens[trade], e.tokens[quote], uint32(len(e.markets)+1)
	switch {
	case e.pairs[pair{trade, quote}] != 0:
		return errMarketExists
	case tradeToken.Owner != creator:
		return errOnlyOwner
	case id > dex.MaxMarket:
		return errMarketNumber
	}
	market, err := dex.NewMarket(id, &tradeToken, &quoteToken, creator, e.clock)
	if err != nil {
		return err
	}
	scale, err := dex.NewScale(market.TradeDecimals, market.QuoteDecimals)
	if err != nil {
		return err
	}
	if err := s.pay(creator, core.VITE, *vite(openFee)); err != nil {
		return err
	}
	s.take(core.VITE, new(uint256.Int), new(uint256.Int), vite(openFee))
	put(&s.journal, e.markets, id, market)
	put(&s.journal, e.pairs, pair{trade, quote}, id)
	put(&s.journal, e.books, id, dex.NewBook(scale))
	s.addCredit(e.mining.book(dex.QuoteVITE), creator, dex.ListingFee())
	x.announce(dex.MarketEvent, market.Encode())
	return x.ask(core.DexTradeContract, dex.TradeSyncMarket, market.Encode())
}

// learnToken takes the asset contract's answer and does what waited for it. What fails then shows in an errEvent.
func learnToken(x *execution, args []any) error {
	s, e, id := x.state, &x.state.exchange, args[0].(core.TokenID)
	waiting := e.asked[id]
	del(&s.journal, e.asked, id)
	if !args[1].(bool) {
		x.announce(dex.FailureEvent, []byte(errNoSuchToken.Error()))
		return nil
	}
	token := dex.Token{
		ID: id, Decimals: args[2].(uint8), Symbol: args[3].(string), Index: args[4].(uint16), Owner: args[5].(core.Address),
	}
	if known, ok := e.tokens[id]; ok {
		token = known
	}
	for _, q := range waiting {
		if q.quoteType.Valid() {
			token.QuoteType = q.quoteType
		}
	}
	put(&s.journal, e.tokens, id, token)
	x.announce(dex.TokenEvent, token.Encode())
	for _, q := range waiting {
		if !q.quoteType.Valid() {
			x.tryOpen(id, q)
		}
	}
	return nil
}

// tryOpen opens a market that waited, or leaves no trace of it but an errEvent.
func (x *execution) tryOpen(trade core.TokenID, q question) {
	mark, logs, sends := x.state.journal.mark(), len(x.logs), len(x.sends)
	if err := x.openKnown(trade, q.quote, q.creator); err != nil {
		x.state.journal.revert(mark)
		x.logs, x.sends = x.logs[:logs], x.sends[:sends]
		x.announce(dex.FailureEvent, []byte(err.Error()))
	}
}

// The bits of a market's settings.
const (
	setMarketOwner = 1 << iota
	setTakerRate
	setMakerRate
	setMarketStop
	allMarketSettings = setMarketOwner | setTakerRate | setMakerRate | setMarketStop
)

func checkMarketAdmin(b *core.AccountBlock, args []any) error {
	mask := args[0].(uint8)
	rate := func(bit uint8, r int32) bool { return mask&bit == 0 || r >= 0 && r <= dex.MaxOperatorRate }
	switch {
	case mask == 0, mask&^allMarketSettings != 0,
		mask&setMarketOwner != 0 && !isUser(args[3].(core.Address)),
		!rate(setTakerRate, args[4].(int32)), !rate(setMakerRate, args[5].(int32)):
		return ErrDexParam
	}
	return checkNoAmount(b, nil)
}

// marketAdmin changes what a market's operator may change.
func marketAdmin(x *execution, args []any) error {
	mask, e := args[0].(uint8), &x.state.exchange
	market, err := e.market(args[1].(core.TokenID), args[2].(core.TokenID))
	if err != nil {
		return err
	}
	if market.Owner != x.send.Address {
		return errOnlyOwner
	}
	if mask&setMarketOwner != 0 {
		market.Owner = args[3].(core.Address)
	}
	if mask&setTakerRate != 0 {
		market.TakerOperatorRate = uint32(args[4].(int32))
	}
	if mask&setMakerRate != 0 {
		market.MakerOperatorRate = uint32(args[5].(int32))
	}
	if mask&setMarketStop != 0 {
		market.Stopped = args[6].(bool)
	}
	x.setMarket(market)
	return nil
}

func (x *execution) setMarket(market dex.Market) {
	put(&x.state.journal, x.state.exchange.markets, market.ID, market)
	x.announce(dex.MarketEvent, market.Encode())
}

func checkTokenOwner(b *core.AccountBlock, args []any) error {
	if !isUser(args[1].(core.Address)) {
		return ErrDexParam
	}
	return checkNoAmount(b, nil)
}

// transferTokenOwner hands over the right to open markets of a token.
func transferTokenOwner(x *execution, args []any) error {
	e := &x.state.exchange
	token, known := e.tokens[args[0].(core.TokenID)]
	if !known || token.Owner != x.send.Address {
		return errOnlyOwner
	}
	token.Owner = args[1].(core.Address)
	put(&x.state.journal, e.tokens, token.ID, token)
	x.announce(dex.TokenEvent, token.Encode())
	return nil
}

// ownsExchange tells whether the sender administers the exchange: its owner, who is the genesis's until one is stored.
func (x *execution) ownsExchange() bool {
	owner := x.state.exchange.roles.Owner
	if owner.IsZero() {
		owner = x.state.rules.exchangeOwner
	}
	return !owner.IsZero() && owner == x.send.Address
}

// The bits of the exchange's settings.
const (
	setOwner = 1 << iota
	setTimer
	setTrigger
	setStop
	setMineProxy
	setMaintainer
	allDexSettings = setOwner | setTimer | setTrigger | setStop | setMineProxy | setMaintainer
)

func checkDexAdmin(b *core.AccountBlock, args []any) error {
	mask := args[0].(uint8)
	named := map[uint8]any{setOwner: args[1], setTimer: args[2], setTrigger: args[3], setMineProxy: args[5], setMaintainer: args[6]}
	for bit, a := range named {
		if mask&bit != 0 && !isUser(a.(core.Address)) {
			return ErrDexParam
		}
	}
	if mask == 0 || mask&^allDexSettings != 0 {
		return ErrDexParam
	}
	return checkNoAmount(b, nil)
}

func dexAdmin(x *execution, args []any) error {
	if !x.ownsExchange() {
		return errOnlyOwner
	}
	mask, r := args[0].(uint8), x.state.exchange.roles
	for _, role := range []struct {
		bit   uint8
		place *core.Address
		value any
	}{
		{setOwner, &r.Owner, args[1]}, {setTimer, &r.Timer, args[2]}, {setTrigger, &r.Trigger, args[3]},
		{setMineProxy, &r.MineProxy, args[5]}, {setMaintainer, &r.Maintainer, args[6]},
	} {
		if mask&role.bit != 0 {
			*role.place = role.value.(core.Address)
		}
	}
	if mask&setStop != 0 {
		r.Stopped = args[4].(bool)
	}
	set(&x.state.journal, &x.state.exchange.roles, r)
	return nil
}

// The bits of what an administrator of the exchange sets for trading.
const (
	setAllowMining = 1 << iota
	setQuoteToken
	setMinimum
	setMiningMinimum
	setStable
	allTradeSettings = setAllowMining | setQuoteToken | setMinimum | setMiningMinimum | setStable
)

func checkTradeAdmin(b *core.AccountBlock, args []any) error {
	mask := args[0].(uint8)
	switch {
	case mask == 0, mask&^allTradeSettings != 0,
		mask&setQuoteToken != 0 && !dex.QuoteType(args[5].(uint8)).Valid(),
		mask&setMinimum != 0 && !dex.QuoteType(args[6].(uint8)).Valid(),
		mask&setMiningMinimum != 0 && !dex.QuoteType(args[8].(uint8)).Valid():
		return ErrDexParam
	}
	return checkNoAmount(b, nil)
}

func tradeAdmin(x *execution, args []any) error {
	if !x.ownsExchange() {
		return errOnlyOwner
	}
	s, e, mask := x.state, &x.state.exchange, args[0].(uint8)
	if mask&(setAllowMining|setStable) != 0 {
		market, err := e.market(args[1].(core.TokenID), args[2].(core.TokenID))
		if err != nil {
			return err
		}
		x.flagMarket(market, mask, args[3].(bool))
	}
	if mask&setMiningMinimum != 0 {
		put(&s.journal, e.mining.leasts, dex.QuoteType(args[8].(uint8)), args[9].(uint256.Int))
	}
	if mask&setMinimum != 0 {
		put(&s.journal, e.minimums, dex.QuoteType(args[6].(uint8)), args[7].(uint256.Int))
	}
	if mask&setQuoteToken != 0 {
		return x.setQuote(args[4].(core.TokenID), dex.QuoteType(args[5].(uint8)))
	}
	return nil
}

// flagMarket lets fees of a market mine VX, or makes it one without fees, or takes that back. Orders in the book keep the
// rates that they were placed with.
func (x *execution) flagMarket(market dex.Market, mask uint8, on bool) {
	if mask&setAllowMining != 0 {
		market.AllowMining = on
	}
	if mask&setStable != 0 {
		market.Stable = on
	}
	x.setMarket(market)
}

// setQuote makes a token a quote token. Its type is part of its markets, so it is set once.
func (x *execution) setQuote(id core.TokenID, quoteType dex.QuoteType) error {
	token, known := x.state.exchange.tokens[id]
	switch {
	case !known:
		return x.askForToken(id, question{quoteType: quoteType})
	case token.QuoteType.Valid():
		return errMarketRules
	}
	token.QuoteType = quoteType
	put(&x.state.journal, x.state.exchange.tokens, id, token)
	x.announce(dex.TokenEvent, token.Encode())
	return nil
}

// notifyTime sets the exchange's clock, which never goes back and skips no day. In another day the contract calls itself to
// pay what the day before has left.
func notifyTime(x *execution, args []any) error {
	s, e, now := x.state, &x.state.exchange, args[0].(int64)
	switch {
	case e.roles.Timer != x.send.Address:
		return errOnlyOwner
	case now <= e.clock, now < dex.FirstPeriod, now > dex.MaxTime,
		e.clock > 0 && dex.PeriodOf(now) > dex.PeriodOf(e.clock)+1:
		return errClock
	}
	set(&s.journal, &e.clock, now)
	set(&s.journal, &e.serial, 0)
	s.closeCycle()
	return x.callItself()
}
