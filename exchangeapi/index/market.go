package index

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gatewayd/vite/client"
	"gatewayd/vite/core"
	"gatewayd/vite/dex"
)

// Precision is the number of decimals of a market's numbers. It is a setting of this service; the
// chain accepts more.
type Precision struct {
	Price    int `yaml:"price"`
	Quantity int `yaml:"quantity"`
}

// maxPrecision bounds Precision.
const maxPrecision = 18

func (p Precision) check() error {
	if p.Price < 0 || p.Price > maxPrecision || p.Quantity < 0 || p.Quantity > maxPrecision {
		return fmt.Errorf("a precision is 0 to %d", maxPrecision)
	}
	return nil
}

// market is a market with how it is shown.
type market struct {
	dex.Market
	pair Pair
}

// rules holds the announced rules of markets and tokens. A published value is never changed: clone
// it first.
type rules struct {
	precisions map[string]Precision
	byID       map[uint32]*market
	byTokens   map[tokens]*market
	bySymbol   map[string]*market
	tokens     map[core.TokenID]dex.Token
}

type tokens struct{ trade, quote core.TokenID }

func newRules(precisions map[string]Precision) *rules {
	return &rules{precisions, map[uint32]*market{}, map[tokens]*market{}, map[string]*market{}, map[core.TokenID]dex.Token{}}
}

func (r *rules) clone() *rules {
	return &rules{r.precisions, maps.Clone(r.byID), maps.Clone(r.byTokens), maps.Clone(r.bySymbol), maps.Clone(r.tokens)}
}

func (r *rules) addMarket(m dex.Market) {
	k := &market{Market: m, pair: r.pairOf(&m)}
	r.byID[m.ID], r.bySymbol[m.Symbol], r.byTokens[tokens{m.Trade, m.Quote}] = k, k, k
}

// pairOf names a market. Symbols of tokens are capitals and digits, so the underscore parts them.
func (r *rules) pairOf(m *dex.Market) Pair {
	p, ok := r.precisions[m.Symbol]
	if !ok {
		p = Precision{min(wideDecimals, int(m.QuoteDecimals)), min(wideDecimals, int(m.TradeDecimals))}
	}
	tradeSymbol, quoteSymbol, _ := strings.Cut(m.Symbol, "_")
	return Pair{
		Symbol: m.Symbol, TradeSymbol: tradeSymbol, QuoteSymbol: quoteSymbol,
		TradeToken: m.Trade.String(), QuoteToken: m.Quote.String(), PricePrecision: p.Price, QuantityPrecision: p.Quantity,
	}
}

// sorted lists the markets by symbol.
func (r *rules) sorted() []*market {
	return slices.SortedFunc(maps.Values(r.byID), func(a, b *market) int { return cmp.Compare(a.Symbol, b.Symbol) })
}

// tokenIDs lists each token of a market or an announcement once, in the order of ids.
func (r *rules) tokenIDs() []core.TokenID {
	known := map[core.TokenID]struct{}{}
	for id := range r.tokens {
		known[id] = struct{}{}
	}
	for pair := range r.byTokens {
		known[pair.trade], known[pair.quote] = struct{}{}, struct{}{}
	}
	return slices.SortedFunc(maps.Keys(known), func(a, b core.TokenID) int { return slices.Compare(a[:], b[:]) })
}

// announcement is a row of ex_markets or ex_tokens.
type announcement struct {
	Height uint64 `db:"height"`
	Pos    int    `db:"pos"`
	Data   string `db:"data"`
}

func (t *tx) announce(table string, height uint64, pos int, data []byte) error {
	return t.exec("INSERT INTO "+table+" (height, pos, data) VALUES (?, ?, ?)", height, pos, hex.EncodeToString(data))
}

// readRules reads what was announced; the last word on each market and token counts.
func (t *tx) readRules(precisions map[string]Precision) (*rules, error) {
	r := newRules(precisions)
	err := t.announced("ex_markets", func(data []byte) error {
		m, err := dex.DecodeMarket(data)
		r.addMarket(m)
		return err
	})
	if err != nil {
		return nil, err
	}
	err = t.announced("ex_tokens", func(data []byte) error {
		k, err := dex.DecodeToken(data)
		r.tokens[k.ID] = k
		return err
	})
	return r, err
}

func (t *tx) announced(table string, f func(data []byte) error) error {
	var rows []announcement
	if err := t.list(&rows, "SELECT height, pos, data FROM "+table+" ORDER BY height, pos"); err != nil {
		return fmt.Errorf("reading %s: %w", table, err)
	}
	for _, row := range rows {
		data, err := hex.DecodeString(row.Data)
		if err == nil {
			err = f(data)
		}
		if err != nil {
			return fmt.Errorf("reading %s at %d.%d: %w", table, row.Height, row.Pos, err)
		}
	}
	return nil
}

// Tokens lists the tokens of the exchange by symbol. A token that the node could not be asked about
// yet shows what the exchange announced, without name and supply.
func (x *Index) Tokens() []Token {
	x.cache.mu.Lock()
	defer x.cache.mu.Unlock()
	var list []Token
	for _, id := range x.cache.rules.tokenIDs() {
		t, known := x.cache.infos[id]
		announced, isAnnounced := x.cache.rules.tokens[id]
		if !known && !isAnnounced {
			continue
		}
		if !known {
			t = Token{
				ID: id.String(), Name: announced.Symbol, Symbol: announced.FullSymbol(), OriginalSymbol: announced.Symbol,
				TotalSupply: "0", Owner: announced.Owner.String(), Decimals: announced.Decimals,
			}
		}
		t.QuoteType = x.cache.rules.quoteType(id)
		list = append(list, t)
	}
	slices.SortFunc(list, func(a, b Token) int { return cmp.Or(cmp.Compare(a.Symbol, b.Symbol), cmp.Compare(a.ID, b.ID)) })
	return list
}

// quoteType is a token's type as a quote token, from its announcement or a market of it.
func (r *rules) quoteType(id core.TokenID) dex.QuoteType {
	if t := r.tokens[id]; t.QuoteType != 0 {
		return t.QuoteType
	}
	for pair, m := range r.byTokens {
		if pair.quote == id {
			return m.QuoteType
		}
	}
	return 0
}

func tokenOf(i *client.TokenInfo) Token {
	k := dex.Token{Symbol: i.Symbol, Index: i.Index}
	return Token{
		ID: i.ID.String(), Name: i.Name, Symbol: k.FullSymbol(), OriginalSymbol: i.Symbol, TotalSupply: i.TotalSupply.Dec(),
		Owner: i.Owner.String(), Decimals: i.Decimals, ReIssuable: i.IsReIssuable,
	}
}

// loadTokens asks the node about tokens that are new. What fails is asked again by reloadTokens.
func (x *Index) loadTokens(ctx context.Context) {
	for _, id := range x.cache.current().tokenIDs() {
		x.cache.mu.Lock()
		_, known := x.cache.infos[id]
		x.cache.mu.Unlock()
		if !known {
			x.queryToken(ctx, id)
		}
	}
}

// reloadTokens asks about all tokens: supplies and owners change.
func (x *Index) reloadTokens(ctx context.Context) {
	for _, id := range x.cache.current().tokenIDs() {
		x.queryToken(ctx, id)
	}
}

func (x *Index) queryToken(ctx context.Context, id core.TokenID) {
	info, err := x.node.TokenInfo(ctx, id)
	if err != nil || info == nil || info.ID != id {
		x.log.WithError(err).WithField("token", id.String()).Debug("the node does not return a token")
		return
	}
	x.cache.mu.Lock()
	defer x.cache.mu.Unlock()
	x.cache.infos[id] = tokenOf(info)
}

// Balances asks the node what an account has on the exchange, by symbol; none is an empty list. The
// node, because fees, mined tokens and stakes move balances without an event; it may lag a fill by
// its settlement (docs/exchange-rules.md 2.1).
func (x *Index) Balances(ctx context.Context, owner core.Address) ([]Balance, error) {
	funds, err := x.node.Funds(ctx, owner)
	if err != nil {
		return nil, fmt.Errorf("reading the exchange balance of %s: %w", owner, err)
	}
	list := make([]Balance, 0, len(funds))
	for id, f := range funds {
		if f.Token == nil {
			return nil, fmt.Errorf("reading the exchange balance of %s in %s: tokenInfo is missing", owner, id)
		}
		t := tokenOf(f.Token)
		list = append(list, Balance{
			Token: id, Symbol: t.Symbol, Decimals: t.Decimals, RawAvailable: f.Available, RawLocked: f.Locked,
			Available: formatAmount(&f.Available, t.Decimals, wideDecimals), Locked: formatAmount(&f.Locked, t.Decimals, wideDecimals),
		})
	}
	slices.SortFunc(list, func(a, b Balance) int {
		return cmp.Or(cmp.Compare(a.Symbol, b.Symbol), slices.Compare(a.Token[:], b.Token[:]))
	})
	return list, nil
}
