package ledger

import (
	"slices"

	"github.com/holiman/uint256"

	"gatewayd/vite/core"
	"gatewayd/vite/dex"
)

// OpenFee is the cost of a new market for its creator, in VITE.
const OpenFee = 10_000

func checkOpenMarket(b *core.AccountBlock, args []any) error {
	if args[0].(core.TokenID) == args[1].(core.TokenID) {
		return ErrTokenPair
	}
	return checkNoAmount(b, nil)
}

// openMarket opens a market at once or, if the exchange does not know the trade token, after the
// asset contract's answer.
func openMarket(x *execution, args []any) error {
	trade, quote, e := args[0].(core.TokenID), args[1].(core.TokenID), &x.state.Exchange
	if e.pairs[pair{trade, quote}] != 0 {
		return errMarketExists
	}
	if t := e.Tokens[quote]; !t.QuoteType.Valid() {
		return dex.ErrQuoteToken
	}
	if _, known := e.Tokens[trade]; !known {
		return x.requestTokenInfo(trade, tokenInfoRequest{Quote: quote, Creator: x.send.Address})
	}
	return x.openKnown(trade, quote, x.send.Address)
}

func (x *execution) requestTokenInfo(token core.TokenID, q tokenInfoRequest) error {
	s, e := x.state, &x.state.Exchange
	put(&s.journal, e.Asked, token, append(slices.Clone(e.Asked[token]), q))
	return x.sendContractCall(core.AssetContract, core.GetTokenInformation, token)
}

// openKnown opens a market of two tokens that the exchange knows.
func (x *execution) openKnown(trade, quote core.TokenID, creator core.Address) error {
	s, e := x.state, &x.state.Exchange
	tradeToken, quoteToken, id := e.Tokens[trade], e.Tokens[quote], uint32(len(e.Markets)+1)
	switch {
	case e.pairs[pair{trade, quote}] != 0:
		return errMarketExists
	case tradeToken.Owner != creator:
		return errOnlyOwner
	case id > dex.MaxMarket:
		return errMarketNumber
	}
	market, err := dex.NewMarket(id, &tradeToken, &quoteToken, creator, e.Clock)
	if err != nil {
		return err
	}
	scale, err := dex.NewScale(market.TradeDecimals, market.QuoteDecimals)
	if err != nil {
		return err
	}
	if err := s.debitExchange(creator, core.VITE, *vite(OpenFee)); err != nil {
		return err
	}
	s.bookFees(core.VITE, new(uint256.Int), new(uint256.Int), vite(OpenFee))
	put(&s.journal, e.Markets, id, market)
	put(&s.journal, e.pairs, pair{trade, quote}, id)
	put(&s.journal, e.Books, id, dex.NewBook(scale))
	s.AddCredit(e.Mining.Book(dex.QuoteVITE), creator, dex.ListingFee())
	x.announce(dex.MarketEvent, market.Encode())
	return x.sendContractCall(core.DexTradeContract, dex.TradeSyncMarket, market.Encode())
}

// receiveTokenInfo takes the asset contract's answer and does what waited for it. What fails then
// shows in an errEvent.
func receiveTokenInfo(x *execution, args []any) error {
	s, e, id := x.state, &x.state.Exchange, args[0].(core.TokenID)
	waiting := e.Asked[id]
	del(&s.journal, e.Asked, id)
	if !args[1].(bool) {
		x.announce(dex.FailureEvent, []byte(errNoSuchToken.Error()))
		return nil
	}
	token := dex.Token{
		ID: id, Decimals: args[2].(uint8), Symbol: args[3].(string), Index: args[4].(uint16), Owner: args[5].(core.Address),
	}
	if known, ok := e.Tokens[id]; ok {
		token = known
	}
	for _, q := range waiting {
		if q.QuoteType.Valid() {
			token.QuoteType = q.QuoteType
		}
	}
	put(&s.journal, e.Tokens, id, token)
	x.announce(dex.TokenEvent, token.Encode())
	for _, q := range waiting {
		if !q.QuoteType.Valid() {
			x.tryOpen(id, q)
		}
	}
	return nil
}

// tryOpen opens a market that waited, or leaves no trace of it but an errEvent.
func (x *execution) tryOpen(trade core.TokenID, q tokenInfoRequest) {
	mark, logs, sends := x.state.journal.mark(), len(x.logs), len(x.sends)
	if err := x.openKnown(trade, q.Quote, q.Creator); err != nil {
		x.state.journal.revert(mark)
		x.logs, x.sends = x.logs[:logs], x.sends[:sends]
		x.announce(dex.FailureEvent, []byte(err.Error()))
	}
}

// The bits of a market's settings.
const (
	SetMarketOwner = 1 << iota
	SetTakerRate
	SetMakerRate
	SetMarketStop
	allMarketSettings = SetMarketOwner | SetTakerRate | SetMakerRate | SetMarketStop
)

func checkMarketAdmin(b *core.AccountBlock, args []any) error {
	mask := args[0].(uint8)
	switch {
	case mask == 0, mask&^allMarketSettings != 0,
		mask&SetMarketOwner != 0 && !isUser(args[3].(core.Address)):
		return ErrDexParam
	}
	return checkNoAmount(b, nil)
}

// operatorRatesValid reports whether the rates that a call sets are within the bound.
func operatorRatesValid(args []any) bool {
	mask := args[0].(uint8)
	for bit, rate := range map[uint8]int32{SetTakerRate: args[4].(int32), SetMakerRate: args[5].(int32)} {
		if mask&bit != 0 && (rate < 0 || rate > dex.MaxOperatorRate) {
			return false
		}
	}
	return true
}

// marketAdmin changes what a market's operator may change. As on a real chain, a send with a rate
// outside the bound is accepted, and fails here.
func marketAdmin(x *execution, args []any) error {
	mask, e := args[0].(uint8), &x.state.Exchange
	market, err := e.Market(args[1].(core.TokenID), args[2].(core.TokenID))
	if err != nil {
		return err
	}
	if market.Owner != x.send.Address {
		return errOnlyOwner
	}
	if !operatorRatesValid(args) {
		return errOperatorRate
	}
	if mask&SetMarketOwner != 0 {
		market.Owner = args[3].(core.Address)
	}
	if mask&SetTakerRate != 0 {
		market.TakerOperatorRate = uint32(args[4].(int32))
	}
	if mask&SetMakerRate != 0 {
		market.MakerOperatorRate = uint32(args[5].(int32))
	}
	if mask&SetMarketStop != 0 {
		market.Stopped = args[6].(bool)
	}
	x.setMarket(market)
	return nil
}

func (x *execution) setMarket(market dex.Market) {
	put(&x.state.journal, x.state.Exchange.Markets, market.ID, market)
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
	e := &x.state.Exchange
	token, known := e.Tokens[args[0].(core.TokenID)]
	if !known || token.Owner != x.send.Address {
		return errOnlyOwner
	}
	token.Owner = args[1].(core.Address)
	put(&x.state.journal, e.Tokens, token.ID, token)
	x.announce(dex.TokenEvent, token.Encode())
	return nil
}

// ownsExchange reports whether the sender administers the exchange: its owner, who is the genesis's
// until one is stored.
func (x *execution) ownsExchange() bool {
	owner := x.state.Exchange.Roles.Owner
	if owner.IsZero() {
		owner = x.state.Rules.exchangeOwner
	}
	return !owner.IsZero() && owner == x.send.Address
}

// The bits of the exchange's settings.
const (
	setOwner = 1 << iota
	setTimer
	setTrigger
	SetStop
	setMineProxy
	setMaintainer
	allDexSettings = setOwner | setTimer | setTrigger | SetStop | setMineProxy | setMaintainer
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
	mask, r := args[0].(uint8), x.state.Exchange.Roles
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
	if mask&SetStop != 0 {
		r.Stopped = args[4].(bool)
	}
	set(&x.state.journal, &x.state.Exchange.Roles, r)
	return nil
}

// The bits of what an administrator of the exchange sets for trading.
const (
	SetAllowMining = 1 << iota
	SetQuoteToken
	SetMinimum
	SetMiningMinimum
	SetStable
	allTradeSettings = SetAllowMining | SetQuoteToken | SetMinimum | SetMiningMinimum | SetStable
)

func checkTradeAdmin(b *core.AccountBlock, args []any) error {
	mask := args[0].(uint8)
	switch {
	case mask == 0, mask&^allTradeSettings != 0,
		mask&SetQuoteToken != 0 && !dex.QuoteType(args[5].(uint8)).Valid(),
		mask&SetMinimum != 0 && !dex.QuoteType(args[6].(uint8)).Valid(),
		mask&SetMiningMinimum != 0 && !dex.QuoteType(args[8].(uint8)).Valid():
		return ErrDexParam
	}
	return checkNoAmount(b, nil)
}

func tradeAdmin(x *execution, args []any) error {
	if !x.ownsExchange() {
		return errOnlyOwner
	}
	s, e, mask := x.state, &x.state.Exchange, args[0].(uint8)
	if mask&(SetAllowMining|SetStable) != 0 {
		market, err := e.Market(args[1].(core.TokenID), args[2].(core.TokenID))
		if err != nil {
			return err
		}
		x.flagMarket(market, mask, args[3].(bool))
	}
	if mask&SetMiningMinimum != 0 {
		put(&s.journal, e.Mining.Leasts, dex.QuoteType(args[8].(uint8)), args[9].(uint256.Int))
	}
	if mask&SetMinimum != 0 {
		put(&s.journal, e.Minimums, dex.QuoteType(args[6].(uint8)), args[7].(uint256.Int))
	}
	if mask&SetQuoteToken != 0 {
		return x.setQuote(args[4].(core.TokenID), dex.QuoteType(args[5].(uint8)))
	}
	return nil
}

// flagMarket lets fees of a market mine VX, or makes it one without fees, or takes that back.
// Orders in the book keep the rates that they were placed with.
func (x *execution) flagMarket(market dex.Market, mask uint8, on bool) {
	if mask&SetAllowMining != 0 {
		market.AllowMining = on
	}
	if mask&SetStable != 0 {
		market.Stable = on
	}
	x.setMarket(market)
}

// setQuote makes a token a quote token. Its type is part of its markets, so it is set once.
func (x *execution) setQuote(id core.TokenID, quoteType dex.QuoteType) error {
	token, known := x.state.Exchange.Tokens[id]
	switch {
	case !known:
		return x.requestTokenInfo(id, tokenInfoRequest{QuoteType: quoteType})
	case token.QuoteType.Valid():
		return errMarketRules
	}
	token.QuoteType = quoteType
	put(&x.state.journal, x.state.Exchange.Tokens, id, token)
	x.announce(dex.TokenEvent, token.Encode())
	return nil
}

// notifyTime sets the exchange's clock, which never goes back and skips no day. In another day the
// contract calls itself to pay what the day before has left.
func notifyTime(x *execution, args []any) error {
	s, e, now := x.state, &x.state.Exchange, args[0].(int64)
	switch {
	case e.Roles.Timer != x.send.Address:
		return errOnlyOwner
	case now <= e.Clock, now < dex.FirstPeriod, now > dex.MaxTime,
		e.Clock > 0 && dex.PeriodOf(now) > dex.PeriodOf(e.Clock)+1:
		return errClock
	}
	set(&s.journal, &e.Clock, now)
	set(&s.journal, &e.Serial, 0)
	s.closeCycle()
	return x.callItself()
}
