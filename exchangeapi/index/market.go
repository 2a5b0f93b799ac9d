package index

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gatewayd/chain/vite/core"
	"gatewayd/chain/vite/dex"
)

// Precision is how many decimals a market's numbers are shown with. It is a setting of this service; the chain takes more.
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

// rules is what was announced of markets and tokens. A value is never changed once others see it: clone it first.
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
