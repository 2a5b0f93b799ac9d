package exchangeapi

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"gatewayd/exchangeapi/rates"
)

// exchangeRates returns the requested tokens, or all, whose rate is known. usdRate and cnyRate are
// null when no source has them. Every further currency adds a member.
func (n *network) exchangeRates(_ context.Context, p params) (any, error) {
	symbols, ids := p.list("tokenSymbols"), p.list("tokenIds")
	list := []map[string]any{}
	for _, t := range n.Index.Tokens() {
		if len(symbols)+len(ids) > 0 && !slices.Contains(symbols, t.Symbol) && !slices.Contains(ids, t.ID) {
			continue
		}
		if item := rateItem(n.rates.Of(t.ID, t.Symbol, t.OriginalSymbol), n.Now()); item != nil {
			item["tokenId"], item["tokenSymbol"] = t.ID, t.Symbol
			list = append(list, item)
		}
	}
	return list, nil
}

// rateItem is a quote as clients get it, as old as the oldest of its prices; nil when there is
// none.
func rateItem(q rates.Quote, now time.Time) map[string]any {
	if len(q) == 0 {
		return nil
	}
	item := map[string]any{"usdRate": nil, "cnyRate": nil}
	var oldest time.Time
	stale := false
	for currency, p := range q {
		item[currency+"Rate"] = json.Number(p.Value.String())
		stale = stale || p.Stale(now)
		if oldest.IsZero() || p.At.Before(oldest) {
			oldest = p.At
		}
	}
	item["stale"], item["updateTime"] = stale, oldest.Unix()
	return item
}

// usdCNY is a number, which cannot be marked: a stale one is refused, with when it was good.
func (n *network) usdCNY(context.Context, params) (any, error) {
	ratio, known := n.rates.USDCNY()
	if !known {
		return nil, reject(codeGeneral, "No USD-CNY rate is known")
	}
	if ratio.Stale(n.Now()) {
		return nil, reject(codeGeneral, "The USD-CNY rate is stale: it was %s at %s", ratio.Value, ratio.At.UTC().Format(time.RFC3339))
	}
	return json.Number(ratio.Value.String()), nil
}
