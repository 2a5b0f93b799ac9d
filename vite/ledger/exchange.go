package ledger

import (
	"errors"

	"github.com/holiman/uint256"

	"gatewayd/vite/core"
	"gatewayd/vite/dex"
)

// Exchange is the state of the two exchange contracts (docs/exchange-rules.md). dexFund owns all of
// it except the books, which are dexTrade's; both use hashes. Map values are replaced, never
// changed in place; books change by changeBook.
type Exchange struct {
	_        struct{} `cbor:",toarray"`
	Roles    ExchangeRoles
	Clock    int64  // seconds; 0 until the time oracle has spoken
	Serial   uint32 // of the next order at this time
	Tokens   map[core.TokenID]dex.Token
	Markets  map[uint32]dex.Market // numbered from 1 without gaps
	pairs    map[pair]uint32
	Minimums map[dex.QuoteType]uint256.Int // where not the default
	Funds    map[Holding]dex.Balance
	Fees     map[core.TokenID]feeIncome
	Grants   map[Grant]struct{}                  // who may trade for whom
	Asked    map[core.TokenID][]tokenInfoRequest // what waits for the asset contract's answer
	Hashes   map[core.Hash]dex.OrderID           // orders placed and not ended, by the block that placed them
	Books    map[uint32]*dex.Book                `cbor:"-"` // by market

	FeeStakes map[core.Hash]feeStake        // stakes for lower fees, by the block that staked
	Vips      map[vip]core.Hash             `cbor:"-"` // the stake for an account
	Codes     map[core.Address]uint32       // who may invite
	owners    map[uint32]core.Address       // of the codes
	Inviters  map[core.Address]core.Address // of the invited
	AutoLocks map[core.Address]struct{}     // whose mined VX is locked at once
	Locks     lockup                        // VX, for dividends
	Unlocking []unlock                      // the first is due first
	Mining    mining
}

// pair names a market by its tokens.
type pair struct{ trade, quote core.TokenID }

// feeIncome is the exchange's income, in one token.
type feeIncome struct{ Base, Operator, Listing uint256.Int }

// Grant lets an agent trade for a principal in a market.
type Grant struct {
	Principal, Agent core.Address
	Market           uint32
}

// tokenInfoRequest is the action to take once a token is known: open a market of it, or make it a
// quote token.
type tokenInfoRequest struct {
	Quote     core.TokenID
	Creator   core.Address
	QuoteType dex.QuoteType // not zero: make it a quote token
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
	errOperatorRate  = errors.New("operator's fee rate is out of range")
)

func newExchange() Exchange {
	return Exchange{
		Tokens: map[core.TokenID]dex.Token{}, Markets: map[uint32]dex.Market{}, pairs: map[pair]uint32{},
		Minimums: map[dex.QuoteType]uint256.Int{}, Funds: map[Holding]dex.Balance{}, Fees: map[core.TokenID]feeIncome{},
		Grants: map[Grant]struct{}{}, Asked: map[core.TokenID][]tokenInfoRequest{},
		Hashes: map[core.Hash]dex.OrderID{}, Books: map[uint32]*dex.Book{},
		FeeStakes: map[core.Hash]feeStake{}, Vips: map[vip]core.Hash{}, Codes: map[core.Address]uint32{},
		owners: map[uint32]core.Address{}, Inviters: map[core.Address]core.Address{}, AutoLocks: map[core.Address]struct{}{}, Locks: lockup{Credits: newCredits()}, Mining: newMining(),
	}
}

// Market finds a market by its tokens, or is errNoMarket.
func (e *Exchange) Market(trade, quote core.TokenID) (dex.Market, error) {
	m, ok := e.Markets[e.pairs[pair{trade, quote}]]
	if !ok {
		return m, errNoMarket
	}
	return m, nil
}

// Minimum is the least amount of an order, in the decimals of the quote type.
func (e *Exchange) Minimum(q dex.QuoteType) uint256.Int {
	if n, ok := e.Minimums[q]; ok {
		return n
	}
	return q.DefaultMinimum()
}

func (e *Exchange) FeeTier(a core.Address) dex.FeeTier {
	_, isVIP := e.Vips[vip{a, false}]
	_, isSVIP := e.Vips[vip{a, true}]
	_, invited := e.Inviters[a]
	return dex.FeeTier{VIP: isVIP, SVIP: isSVIP, Invited: invited}
}

// VIPStake is the id of the stake that gives an account half the base fee.
func (e *Exchange) VIPStake(a core.Address) (id core.Hash, staked bool) {
	id, staked = e.Vips[vip{a, false}]
	return id, staked
}

// OpenOrder is a copy of an order in its book.
func (e *Exchange) OpenOrder(id dex.OrderID) (dex.Order, bool) {
	book := e.Books[id.Market()]
	if book == nil {
		return dex.Order{}, false
	}
	return book.Order(id)
}

// debitExchange takes from what an account has available.
func (s *State) debitExchange(a core.Address, token core.TokenID, amount uint256.Int) error {
	b := s.Exchange.Funds[Holding{a, token}]
	if _, under := b.Available.SubOverflow(&b.Available, &amount); under {
		return dex.ErrFunds
	}
	put(&s.journal, s.Exchange.Funds, Holding{a, token}, b)
	return nil
}

// creditExchange adds to what an account has available. The sum of a token cannot exceed its
// supply, which is below 2^256.
func (s *State) creditExchange(a core.Address, token core.TokenID, amount uint256.Int) {
	b := s.Exchange.Funds[Holding{a, token}]
	if _, over := b.Available.AddOverflow(&b.Available, &amount); over {
		panic("node: an exchange balance exceeds 2^256")
	}
	put(&s.journal, s.Exchange.Funds, Holding{a, token}, b)
}

// bookFees books fees.
func (s *State) bookFees(token core.TokenID, base, operator, listing *uint256.Int) {
	f := s.Exchange.Fees[token]
	f.Base.Add(&f.Base, base)
	f.Operator.Add(&f.Operator, operator)
	f.Listing.Add(&f.Listing, listing)
	put(&s.journal, s.Exchange.Fees, token, f)
}

// sendContractCall calls another contract.
func (x *execution) sendContractCall(to core.Address, method core.Method, args ...any) error {
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

// ExchangeRoles names the operators of the exchange. All are zero until the owner has set his own
// address.
type ExchangeRoles struct {
	_          struct{} `cbor:",toarray"`
	Owner      core.Address
	Timer      core.Address // sets the exchange's clock
	Trigger    core.Address
	MineProxy  core.Address
	Maintainer core.Address
	Stopped    bool // no new orders
}

// Total is all that was taken in.
func (f *feeIncome) Total() uint256.Int {
	var sum uint256.Int
	sum.Add(&f.Base, &f.Operator)
	sum.Add(&sum, &f.Listing)
	return sum
}
