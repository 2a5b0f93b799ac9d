package node

import (
	"bytes"
	"cmp"
	"errors"
	"slices"

	"github.com/holiman/uint256"

	"gatewayd/chain/vite/core"
	"gatewayd/chain/vite/dex"
)

// exchange is what the two exchange contracts keep (docs/exchange-rules.md). dexFund owns all of it but the books, which are
// dexTrade's; both know hashes. Map values are replaced, never changed in place; books change by changeBook.
type exchange struct {
	roles    ExchangeRoles
	clock    int64  // seconds; 0 until the time oracle has spoken
	serial   uint32 // of the next order at this time
	tokens   map[core.TokenID]dex.Token
	markets  map[uint32]dex.Market // numbered from 1 without gaps
	pairs    map[pair]uint32
	minimums map[dex.QuoteType]uint256.Int // where not the default
	funds    map[holding]dex.Balance
	fees     map[core.TokenID]feeIncome
	agents   map[agency]struct{}         // who may trade for whom
	asked    map[core.TokenID][]question // what waits for the asset contract's answer
	hashes   map[core.Hash]dex.OrderID   // orders placed and not ended, by the block that placed them
	books    map[uint32]*dex.Book        // by market

	feeStakes map[core.Hash]feeStake        // stakes for lower fees, by the block that staked
	vips      map[vip]core.Hash             // the stake for an account
	codes     map[core.Address]uint32       // who may invite
	owners    map[uint32]core.Address       // of the codes
	inviters  map[core.Address]core.Address // of the invited
	autoLocks map[core.Address]struct{}     // whose mined VX is locked at once
	locks     lockup                        // VX, for dividends
	unlocking []unlock                      // the first is due first
	mining    mining
}

// pair names a market by its tokens.
type pair struct{ trade, quote core.TokenID }

// feeIncome is what the exchange has taken in, in one token.
type feeIncome struct{ base, operator, listing uint256.Int }

// agency lets an agent trade for a principal in a market.
type agency struct {
	principal, agent core.Address
	market           uint32
}

// question is what to do once a token is known: open a market of it, or make it a quote token.
type question struct {
	quote     core.TokenID
	creator   core.Address
	quoteType dex.QuoteType // not zero: make it a quote token
}

// Reasons for which an exchange contract refuses what it received; they show in errEvent at most.
var (
	errOnlyOwner     = errors.New("only owner allow")
	errNoMarket      = errors.New("trade market not exists")
	errMarketExists  = errors.New("trade market exists")
	errMarketStopped = errors.New("trade market stopped")
	errDexStopped    = errors.New("dex stopped")
	errNotGranted    = errors.New("trade market not granted")
	errNotOrderOwner = errors.New("order to cancel not own to initiator")
	errNoOrder       = errors.New("order not exists")
	errOrderHash     = errors.New("invalid order hash")
	errClock         = errors.New("invalid timestamp from the time oracle")
	errNoClock       = errors.New("the time oracle has not spoken yet")
	errSerials       = errors.New("too many orders at one time")
	errAgentMarket   = errors.New("order is of another market")
	errMarketRules   = errors.New("invalid market settings")
	errMarketNumber  = errors.New("too many markets")
)

func newExchange() exchange {
	return exchange{
		tokens: map[core.TokenID]dex.Token{}, markets: map[uint32]dex.Market{}, pairs: map[pair]uint32{},
		minimums: map[dex.QuoteType]uint256.Int{}, funds: map[holding]dex.Balance{}, fees: map[core.TokenID]feeIncome{},
		agents: map[agency]struct{}{}, asked: map[core.TokenID][]question{},
		hashes: map[core.Hash]dex.OrderID{}, books: map[uint32]*dex.Book{},
		feeStakes: map[core.Hash]feeStake{}, vips: map[vip]core.Hash{}, codes: map[core.Address]uint32{},
		owners: map[uint32]core.Address{}, inviters: map[core.Address]core.Address{}, autoLocks: map[core.Address]struct{}{}, locks: lockup{credits: newCredits()}, mining: newMining(),
	}
}

// market finds a market by its tokens, or is errNoMarket.
func (e *exchange) market(trade, quote core.TokenID) (dex.Market, error) {
	m, ok := e.markets[e.pairs[pair{trade, quote}]]
	if !ok {
		return m, errNoMarket
	}
	return m, nil
}

// minimum is the least amount of an order, in the decimals of the quote type.
func (e *exchange) minimum(q dex.QuoteType) uint256.Int {
	if n, ok := e.minimums[q]; ok {
		return n
	}
	return q.DefaultMinimum()
}

func (e *exchange) standing(a core.Address) dex.Standing {
	_, isVIP := e.vips[vip{a, false}]
	_, isSVIP := e.vips[vip{a, true}]
	_, invited := e.inviters[a]
	return dex.Standing{VIP: isVIP, SVIP: isSVIP, Invited: invited}
}

// openOrder is a copy of an order in its book.
func (e *exchange) openOrder(id dex.OrderID) (dex.Order, bool) {
	book := e.books[id.Market()]
	if book == nil {
		return dex.Order{}, false
	}
	return book.Order(id)
}

// pay takes from what an account has available.
func (s *state) pay(a core.Address, token core.TokenID, amount uint256.Int) error {
	b := s.exchange.funds[holding{a, token}]
	if _, under := b.Available.SubOverflow(&b.Available, &amount); under {
		return dex.ErrFunds
	}
	put(&s.journal, s.exchange.funds, holding{a, token}, b)
	return nil
}

// give adds to what an account has available. The sum of a token cannot exceed its supply, which is below 2^256.
func (s *state) give(a core.Address, token core.TokenID, amount uint256.Int) {
	b := s.exchange.funds[holding{a, token}]
	if _, over := b.Available.AddOverflow(&b.Available, &amount); over {
		panic("node: an exchange balance exceeds 2^256")
	}
	put(&s.journal, s.exchange.funds, holding{a, token}, b)
}

// take books fees.
func (s *state) take(token core.TokenID, base, operator, listing *uint256.Int) {
	f := s.exchange.fees[token]
	f.base.Add(&f.base, base)
	f.operator.Add(&f.operator, operator)
	f.listing.Add(&f.listing, listing)
	put(&s.journal, s.exchange.fees, token, f)
}

// ask calls another contract.
func (x *execution) ask(to core.Address, method core.Method, args ...any) error {
	data, err := method.Pack(args...)
	if err != nil {
		return err
	}
	x.sends = append(x.sends, &core.AccountBlock{
		BlockType: core.SendCall, Address: x.self.address, ToAddress: to, TokenID: core.VITE, Data: data,
	})
	return nil
}

// announce logs an event of the exchange.
func (x *execution) announce(name string, data []byte) {
	x.logs = append(x.logs, VMLog{Topics: []core.Hash{dex.Topic(name)}, Data: data})
}

// fromContract refuses the calls of users to what only contracts may call.
func fromContract(*core.AccountBlock, []any) error { return ErrNoMethod }

func compareHoldings(a, b holding) int {
	return cmp.Or(compareAddresses(a.address, b.address), compareTokens(a.token, b.token))
}

func compareMarkets(a, b uint32) int { return cmp.Compare(a, b) }

func compareHashes(a, b core.Hash) int { return bytes.Compare(a[:], b[:]) }

// sortedKeys lists the keys of a map in an order that depends on nothing else.
func sortedKeys[K comparable, V any](m map[K]V, compare func(a, b K) int) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, compare)
	return keys
}
