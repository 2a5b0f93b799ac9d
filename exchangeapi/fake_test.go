package exchangeapi

import (
	"context"
	"crypto/sha256"
	"slices"
	"sync"
	"time"

	"github.com/holiman/uint256"
	"github.com/shopspring/decimal"

	"gatewayd/exchangeapi/index"
	"gatewayd/vite/client"
	"gatewayd/vite/core"
	"gatewayd/vite/dex"
)

// fakeIndex is an index whose content tests set.
type fakeIndex struct {
	mu          sync.Mutex
	markets     []index.Market
	tokens      []index.Token
	list        []index.Order // newest first
	trades      []index.Trade // newest first
	bars        []index.Bar
	transfers   []index.Transfer
	depth       index.Depth
	best        index.BookTicker
	tickers     []index.Ticker
	balances    map[core.Address][]index.Balance
	granted     map[string]bool // principal, agent, symbol
	placed      []index.Placement
	cancels     []index.CancelRequest
	fault       error // of every question
	unreached   bool
	page        index.Page
	orderFilter index.OrderFilter

	orderQueries int
	tradeFilter  index.TradeFilter
	barFilter    index.BarFilter
	paid         map[dex.QuoteType]decimal.Decimal
	paidSince    int64
	merge        *int
}

func (s *fakeIndex) Markets() []index.Market { return s.markets }
func (s *fakeIndex) Tokens() []index.Token   { return s.tokens }
func (s *fakeIndex) Tickers() []index.Ticker { return s.tickers }

func (s *fakeIndex) Fees(since int64) map[dex.QuoteType]decimal.Decimal {
	s.paidSince = since
	return s.paid
}

func (s *fakeIndex) Market(symbol string) (index.Market, error) {
	for _, m := range s.markets {
		if m.Symbol == symbol {
			return m, s.fault
		}
	}
	return index.Market{}, index.ErrUnknownMarket
}

func (s *fakeIndex) Order(_ context.Context, owner core.Address, id core.Hash) (*index.Order, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.list {
		if o.Address == owner.String() && o.ID == id.String() {
			return &o, s.fault
		}
	}
	return nil, s.fault
}

func (s *fakeIndex) Orders(_ context.Context, f index.OrderFilter, p index.Page) (index.Orders, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.orderFilter, s.page = f, p
	s.orderQueries++
	open := []index.Status{index.Open, index.PartiallyFilled, index.PendingCancel}
	found := slices.DeleteFunc(slices.Clone(s.list), func(o index.Order) bool {
		return o.Address != f.Owner.String() || f.Symbol != "" && o.Symbol != f.Symbol ||
			f.OpenOnly && !slices.Contains(open, o.Status) || f.Cancellable && (o.Status < index.PendingRequest || o.Status > index.PartiallyFilled || o.Status == index.Filled) || f.Status != nil && *f.Status != o.Status
	})
	return index.Orders{List: cut(found, p.Offset, p.Limit), Total: total(len(found), p)}, s.fault
}

func total(n int, p index.Page) int {
	if p.Total {
		return n
	}
	return -1
}

func (s *fakeIndex) Trades(_ context.Context, f index.TradeFilter, p index.Page) (index.Trades, error) {
	s.tradeFilter, s.page = f, p
	if _, err := s.Market(f.Symbol); err != nil {
		return index.Trades{}, err
	}
	return index.Trades{List: cut(s.trades, p.Offset, p.Limit), Total: total(len(s.trades), p)}, s.fault
}

func (s *fakeIndex) Bars(_ context.Context, f index.BarFilter) ([]index.Bar, error) {
	s.barFilter = f
	if _, err := s.Market(f.Symbol); err != nil {
		return nil, err
	}
	return s.bars, s.fault
}

func (s *fakeIndex) Transfers(_ context.Context, _ core.Address, _ core.TokenID, p index.Page) (index.Transfers, error) {
	s.page = p
	return index.Transfers{List: cut(s.transfers, p.Offset, p.Limit), Total: total(len(s.transfers), p)}, s.fault
}

func (s *fakeIndex) Depth(symbol string, limit int, precision *int) (index.Depth, error) {
	s.page, s.merge = index.Page{Limit: limit}, precision
	_, err := s.Market(symbol)
	return s.depth, err
}

func (s *fakeIndex) BookTicker(symbol string) (index.BookTicker, error) {
	_, err := s.Market(symbol)
	return s.best, err
}

func (s *fakeIndex) Balances(_ context.Context, owner core.Address) ([]index.Balance, error) {
	return s.balances[owner], s.fault
}

func grantKey(principal, agent core.Address, symbol string) string {
	return principal.String() + agent.String() + symbol
}

func (s *fakeIndex) grant(principal, agent core.Address, symbol string, on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.granted[grantKey(principal, agent, symbol)] = on
}

func (s *fakeIndex) Granted(_ context.Context, principal, agent core.Address, symbol string) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.granted[grantKey(principal, agent, symbol)], s.fault
}

func (s *fakeIndex) Lag() index.Lag { return index.Lag{For: 90 * time.Second, Missing: 7} }

func (s *fakeIndex) Reached() bool { return !s.unreached }

func (s *fakeIndex) Ready() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fault
}

func (s *fakeIndex) Grants(_ context.Context, principal, agent core.Address) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []string{}
	for _, m := range s.markets {
		if s.granted[grantKey(principal, agent, m.Symbol)] {
			list = append(list, m.Symbol)
		}
	}
	return list, s.fault
}

func (s *fakeIndex) NotePlacement(_ context.Context, p index.Placement) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.placed = append(s.placed, p)
	return nil
}

func (s *fakeIndex) NoteCancel(_ context.Context, c index.CancelRequest) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cancels = append(s.cancels, c)
	return nil
}

// fakeNode accepts blocks as a node of the exchange chain does: complete, signed, linked to the
// tip, with quota.
type fakeNode struct {
	mu         sync.Mutex
	blocks     map[core.Address][]*core.AccountBlock
	waiting    map[core.Address][]client.AccountBlock
	quota      map[core.Address]int // blocks that the address can still make
	available  map[core.Address]uint256.Int
	minimum    uint256.Int
	tier       dex.FeeTier
	asked      int // order limits
	tips       int // asked for
	looked     int // up by hash
	mined      client.TradeMining
	minedFault error
	minedAsked int
	answer     func(taken error) error          // replaces the caller's answer; nil keeps the true one
	before     func(b *core.AccountBlock) error // runs ahead of a block; an error refuses it
}

func newFakeNode() *fakeNode {
	return &fakeNode{
		blocks: map[core.Address][]*core.AccountBlock{}, waiting: map[core.Address][]client.AccountBlock{},
		quota: map[core.Address]int{}, available: map[core.Address]uint256.Int{}, minimum: dex.QuoteVITE.DefaultMinimum(),
	}
}

func (l *fakeNode) LatestAccountBlock(_ context.Context, a core.Address) (*client.AccountBlock, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tips++
	chain := l.blocks[a]
	if len(chain) == 0 {
		return nil, nil
	}
	tip := chain[len(chain)-1]
	return &client.AccountBlock{Height: tip.Height, Hash: tip.Hash}, nil
}

func (l *fakeNode) AccountBlockByHash(ctx context.Context, h core.Hash) (*client.AccountBlock, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.looked++
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	for _, chain := range l.blocks {
		for _, b := range chain {
			if b.Hash == h {
				return &client.AccountBlock{Height: b.Height, Hash: b.Hash}, nil
			}
		}
	}
	return nil, nil
}

func (l *fakeNode) UnreceivedBlocks(_ context.Context, a core.Address, _, _ int) ([]client.AccountBlock, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.waiting[a], nil
}

func (l *fakeNode) SendRawTransaction(_ context.Context, b *core.AccountBlock) error {
	if l.before != nil {
		if err := l.before(b); err != nil {
			return err
		}
	}
	err := l.accept(b)
	if l.answer != nil {
		return l.answer(err)
	}
	return err
}

func (l *fakeNode) accept(b *core.AccountBlock) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := b.Verify(); err != nil {
		return &client.Error{Code: -36003, Message: "verify signature failed"}
	}
	chain := l.blocks[b.Address]
	var prev core.Hash
	if len(chain) > 0 {
		prev = chain[len(chain)-1].Hash
	}
	switch {
	case b.Height != uint64(len(chain))+1 || b.PreviousHash != prev:
		return client.ErrPrevBlock
	case b.Height == 1 && b.IsSend():
		return &client.Error{Code: -36001, Message: "general account's sendBlock.Height must be larger than 1"}
	case l.quota[b.Address] == 0:
		return client.ErrOutOfQuota
	}
	l.quota[b.Address]--
	copied := *b
	l.blocks[b.Address] = append(chain, &copied)
	return nil
}

func (l *fakeNode) PlaceOrderInfo(_ context.Context, a core.Address, _, _ core.TokenID, _ bool) (client.PlaceOrderInfo, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked++
	return client.PlaceOrderInfo{Available: l.available[a], Minimum: l.minimum, FeeRate: 200, VIP: l.tier.VIP, SVIP: l.tier.SVIP, Invited: l.tier.Invited}, nil
}

func (l *fakeNode) TradeMining(context.Context) (client.TradeMining, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.minedAsked++
	return l.mined, l.minedFault
}

func (l *fakeNode) Quota(_ context.Context, a core.Address) (client.Quota, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := uint64(l.quota[a]) * core.QuotaPerUT
	return client.Quota{Current: n, Max: n, Stake: *uint256.NewInt(n)}, nil
}

// calls are the calls of dexFund that an address has made.
func (l *fakeNode) calls(a core.Address) (list []*core.AccountBlock) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, b := range l.blocks[a] {
		if b.IsSend() && b.ToAddress == core.DexFundContract {
			list = append(list, b)
		}
	}
	return list
}

// fakeAgents derives the keys of delegation addresses from those of their owners.
type fakeAgents struct{ salt string }

func keyOf(text string) core.PrivateKey {
	seed := sha256.Sum256([]byte(text))
	k, err := core.NewPrivateKey(seed[:])
	if err != nil {
		panic(err)
	}
	return k
}

func (p fakeAgents) key(owner core.Address) core.PrivateKey { return keyOf(p.salt + owner.String()) }

func (p fakeAgents) Agent(_ context.Context, owner core.Address) (core.Address, error) {
	return p.key(owner).Address(), nil
}

func (p fakeAgents) SignAgent(_ context.Context, owner core.Address, block *core.AccountBlock) (public, signature []byte, err error) {
	k := p.key(owner)
	b := k.Public()
	return b[:], k.Sign(block.Hash[:]), nil
}

// clock does not move until it is advanced.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func uint256Of(n uint64) *uint256.Int { return uint256.NewInt(n) }
