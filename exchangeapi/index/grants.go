package index

import (
	"context"
	"fmt"
	"slices"

	"gatewayd/chain/vite/core"
)

// Grants lists the symbols of the markets in which a principal lets an agent trade, in order.
func (x *Index) Grants(ctx context.Context, principal, agent core.Address) ([]string, error) {
	var rows []struct {
		Market  uint32 `db:"market"`
		Granted bool   `db:"granted"`
	}
	err := x.store.glance(ctx, func(t *tx) error {
		return t.list(&rows, `SELECT market, granted FROM ex_grants WHERE principal = ? AND agent = ? ORDER BY height, pos`,
			principal.String(), agent.String())
	})
	if err != nil {
		return nil, fmt.Errorf("reading grants of %s: %w", principal, err)
	}
	last := map[uint32]bool{} // the last word counts
	for _, r := range rows {
		last[r.Market] = r.Granted
	}
	symbols := []string{}
	for _, m := range x.Markets() {
		if last[m.ID] {
			symbols = append(symbols, m.Symbol)
		}
	}
	slices.Sort(symbols)
	return symbols, nil
}
