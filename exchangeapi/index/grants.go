package index

import (
	"context"
	"database/sql/driver"
	"fmt"
	"slices"

	"gatewayd/chain/vite/core"
)

// Grants lists the symbols of the markets in which a principal lets an agent trade, in order.
func (x *Index) Grants(ctx context.Context, principal, agent core.Address) ([]string, error) {
	granted := map[int64]bool{} // the last word counts
	err := x.store.lookUp(ctx, func(l *lookup) error {
		return l.rows(`SELECT market, granted FROM ex_grants WHERE principal = ? AND agent = ? ORDER BY height, pos`,
			[]any{principal.String(), agent.String()}, func(row []driver.Value) error {
				granted[row[0].(int64)] = row[1].(int64) == 1
				return nil
			})
	})
	if err != nil {
		return nil, fmt.Errorf("reading grants of %s: %w", principal, err)
	}
	symbols := []string{}
	for _, m := range x.Markets() {
		if granted[int64(m.ID)] {
			symbols = append(symbols, m.Symbol)
		}
	}
	slices.Sort(symbols)
	return symbols, nil
}
