package exchangeapi

import (
	"context"
	"math/big"
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"gatewayd/exchangeapi/index"
)

type tokenItem struct {
	TokenID        string  `json:"tokenId"`
	Name           string  `json:"name"`
	Symbol         string  `json:"symbol"`
	OriginalSymbol string  `json:"originalSymbol"`
	TotalSupply    string  `json:"totalSupply"` // smallest units
	Owner          string  `json:"owner"`
	TokenDecimals  int     `json:"tokenDecimals"`
	URLIcon        *string `json:"urlIcon"`
}

func (n *network) tokens(_ context.Context, p params) (any, error) {
	offset, limit, err := p.window(500, 500)
	if err != nil {
		return nil, err
	}
	category := p.get("category")
	if category != "" && category != "all" && category != "quote" {
		return nil, reject(codeParameter, "Invalid category: quote or all is wanted")
	}
	like := strings.ToLower(p.get("tokenSymbolLike"))
	found := slices.DeleteFunc(slices.Clone(n.Index.Tokens()), func(t index.Token) bool {
		return category == "quote" && !t.QuoteType.Valid() || !strings.Contains(strings.ToLower(t.Symbol), like)
	})
	list := []tokenItem{}
	for _, t := range cut(found, offset, limit) {
		list = append(list, tokenItem{t.ID, t.Name, t.Symbol, t.OriginalSymbol, t.TotalSupply, t.Owner, int(t.Decimals), orNull(n.cfg.Tokens[t.ID].Icon)})
	}
	return list, nil
}

// Numbers of the member reissue (docs/exchange-rest.md 1.1).
const (
	reissueYes = 1
	reissueNo  = 2
)

// tokenDetail has members that the chain does not have: they come from the configuration, or are
// null.
type tokenDetail struct {
	TokenID        string  `json:"tokenId"`
	Name           string  `json:"name"`
	Symbol         string  `json:"symbol"`
	OriginalSymbol string  `json:"originalSymbol"`
	TotalSupply    string  `json:"totalSupply"`
	Publisher      string  `json:"publisher"`
	TokenDecimals  int     `json:"tokenDecimals"`
	TokenAccuracy  string  `json:"tokenAccuracy"`
	PublisherDate  *int64  `json:"publisherDate"` // Unix milliseconds
	Reissue        int     `json:"reissue"`
	URLIcon        *string `json:"urlIcon"`

	Gateway  *gatewayDetail      `json:"gateway"` // nil for a token that is not bridged
	Website  *string             `json:"website"`
	Links    map[string][]string `json:"links"`    // by kind
	Overview map[string]string   `json:"overview"` // by language
}

// tokenDetail answers null for a token that the exchange does not know: clients handle that.
func (n *network) tokenDetail(_ context.Context, p params) (any, error) {
	symbol, id := p.get("tokenSymbol"), p.get("tokenId")
	if symbol == "" && id == "" {
		return nil, reject(codeParameter, "Parameter tokenSymbol or tokenId is missing")
	}
	for _, t := range n.Index.Tokens() {
		if id != "" && t.ID != id || symbol != "" && t.Symbol != symbol {
			continue
		}
		return n.detailOf(t), nil
	}
	return nil, nil
}

func (n *network) detailOf(t index.Token) tokenDetail {
	about := n.cfg.Tokens[t.ID]
	detail := tokenDetail{
		TokenID: t.ID, Name: t.Name, Symbol: t.Symbol, OriginalSymbol: t.OriginalSymbol, TotalSupply: t.TotalSupply, Publisher: t.Owner,
		TokenDecimals: int(t.Decimals), TokenAccuracy: accuracy(t.Decimals), Reissue: reissueNo, URLIcon: orNull(about.Icon),
		Gateway: n.gatewayOf(t.ID, t.OriginalSymbol), Website: orNull(about.Website), Links: about.Links, Overview: about.Overview,
	}
	if t.ReIssuable {
		detail.Reissue = reissueYes
	}
	if !about.Published.IsZero() {
		ms := about.Published.UnixMilli()
		detail.PublisherDate = &ms
	}
	return detail
}

// accuracy formats one smallest unit in tokens, with all its decimals.
func accuracy(decimals uint8) string {
	return decimal.NewFromBigInt(big.NewInt(1), -int32(decimals)).StringFixed(int32(decimals))
}

type tokenName struct {
	TokenID string `json:"tokenId"`
	Symbol  string `json:"symbol"`
}

// mapped are the tokens that are traded against a quote token.
func (n *network) mapped(_ context.Context, p params) (any, error) {
	return n.namesBeside(p, func(_, _ index.Token, traded bool) bool { return traded })
}

// unmapped are the tokens that could be, but are not.
func (n *network) unmapped(_ context.Context, p params) (any, error) {
	return n.namesBeside(p, func(t, quote index.Token, traded bool) bool {
		return !traded && t.ID != quote.ID && t.QuoteType <= quote.QuoteType
	})
}

// namesBeside returns the names of the wanted tokens that are traded against the requested quote
// token.
func (n *network) namesBeside(p params, wanted func(t, quote index.Token, traded bool) bool) (any, error) {
	quote, err := quoteToken(n.Index, p)
	if err != nil {
		return nil, err
	}
	traded := tradedAgainst(n.Index, quote.ID)
	list := []tokenName{}
	for _, t := range n.Index.Tokens() {
		if wanted(t, quote, traded[t.ID]) {
			list = append(list, tokenName{t.ID, t.Symbol})
		}
	}
	return list, nil
}

func quoteToken(x exchangeIndex, p params) (index.Token, error) {
	symbol, err := p.required("quoteTokenSymbol")
	if err != nil {
		return index.Token{}, err
	}
	for _, t := range x.Tokens() {
		if t.Symbol == symbol && t.QuoteType.Valid() {
			return t, nil
		}
	}
	return index.Token{}, reject(codeParameter, "Invalid quoteTokenSymbol")
}

func tradedAgainst(x exchangeIndex, quote string) map[string]bool {
	traded := map[string]bool{}
	for _, m := range x.Markets() {
		if m.QuoteToken == quote {
			traded[m.TradeToken] = true
		}
	}
	return traded
}
