package index

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/vite/client"
	"gatewayd/vite/dex"
)

// paged is a node that remembers where its pages of dexTrade's events end.
type paged struct {
	*client.Client
	ends, begins []uint64 // heights of the last event of a full page, and of the first of the page after it
}

func (p *paged) Call(ctx context.Context, result any, method string, params ...any) error {
	err := p.Client.Call(ctx, result, method, params...)
	entries, isEvents := result.(*[]logEntry)
	if err != nil || !isEvents {
		return err
	}
	page, f := *entries, params[0].(client.LogFilter)
	if f.Page > 0 && len(page) > 0 {
		p.begins = append(p.begins, page[0].height())
	}
	if len(page) == f.Size {
		p.ends = append(p.ends, page[len(page)-1].height())
	}
	return nil
}

// TestPagesCutABlock: blocks of 201 events, of which a page of a thousand ends in the middle of one
// (behaviours 25 and 57).
func TestPagesCutABlock(t *testing.T) {
	r := newRig(t)
	const takers = 6
	for n := range takers * dex.MaxFills {
		r.sendOrder(r.alice, dex.Sell, "100", coins(1))
		if n%10 == 9 {
			r.snapshot()
		}
	}
	node := &paged{Client: r.client}
	x := r.openOn(sqliteURL(t), node)
	r.catchUp(x)
	for range takers {
		r.order(r.bob, dex.Buy, "100", coins(150))
	}
	r.catchUp(x)
	require.NotEmpty(t, node.ends)
	require.Equal(t, node.ends, node.begins, "each page ended within a block")
	trades := mustTrades(t, x)
	require.Len(t, trades, takers*dex.MaxFills)
	seen := map[string]bool{}
	for _, one := range trades {
		seen[one.ID] = true
	}
	require.Len(t, seen, len(trades))
	list, err := x.Orders(t.Context(), OrderFilter{Owner: r.bob.addr}, Page{Limit: 10})
	require.NoError(t, err)
	require.Len(t, list.List, takers)
	for _, o := range list.List {
		require.Equal(t, []any{PartiallyCancelled, "100.00", "10000.0000"}, []any{o.Status, o.ExecutedQuantity, o.ExecutedAmount})
	}
	r.same(x)
	r.matchesNode(x)
}
