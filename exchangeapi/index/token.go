package index

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"gatewayd/chain/vite/client"
	"gatewayd/chain/vite/core"
	"gatewayd/chain/vite/dex"
)

// Tokens lists the tokens of the exchange by symbol. A token that the node could not be asked about yet shows what the
// exchange announced, without name and supply.
func (x *Index) Tokens() []Token {
	x.memory.mu.Lock()
	defer x.memory.mu.Unlock()
	var list []Token
	for _, id := range x.memory.rules.tokenIDs() {
		t, known := x.memory.infos[id]
		announced, isAnnounced := x.memory.rules.tokens[id]
		if !known && !isAnnounced {
			continue
		}
		if !known {
			t = Token{
				ID: id.String(), Name: announced.Symbol, Symbol: announced.FullSymbol(), OriginalSymbol: announced.Symbol,
				TotalSupply: "0", Owner: announced.Owner.String(), Decimals: announced.Decimals,
			}
		}
		t.QuoteType = x.memory.rules.quoteType(id)
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

// learn asks the node about tokens that are new. What fails is asked again by learnAnew.
func (x *Index) learn(ctx context.Context) {
	for _, id := range x.memory.current().tokenIDs() {
		x.memory.mu.Lock()
		_, known := x.memory.infos[id]
		x.memory.mu.Unlock()
		if !known {
			x.ask(ctx, id)
		}
	}
}

// learnAnew asks about all tokens: supplies and owners change.
func (x *Index) learnAnew(ctx context.Context) {
	for _, id := range x.memory.current().tokenIDs() {
		x.ask(ctx, id)
	}
}

func (x *Index) ask(ctx context.Context, id core.TokenID) {
	info, err := x.node.TokenInfo(ctx, id)
	if err != nil || info == nil || info.ID != id {
		x.log.WithError(err).WithField("token", id.String()).Debug("the node does not tell about a token")
		return
	}
	x.memory.mu.Lock()
	defer x.memory.mu.Unlock()
	x.memory.infos[id] = tokenOf(info)
}

// Balances asks the node what an account has on the exchange, by symbol; none is an empty list. The node, because fees,
// mined tokens and stakes move balances without an event; it may lag a fill by its settlement (docs/exchange-rules.md 2.1).
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
			Available: cutAmount(&f.Available, t.Decimals, wideDecimals), Locked: cutAmount(&f.Locked, t.Decimals, wideDecimals),
		})
	}
	slices.SortFunc(list, func(a, b Balance) int {
		return cmp.Or(cmp.Compare(a.Symbol, b.Symbol), slices.Compare(a.Token[:], b.Token[:]))
	})
	return list, nil
}
