package index

import (
	"fmt"
)

// undoRow is a row of ex_undo.
type undoRow struct {
	Height uint64 `db:"height"`
	Pos    int    `db:"pos"`
	ID     string `db:"id"`
	Placed uint64 `db:"placed"`
	progress
}

const undoColumns = "height, pos, id, placed, state, reason, executed, executed_amount, base_fee, operator_fee"

// remember stores what an order is before an event changes it.
func (a *applier) remember(b *block, pos int, o *orderRow) error {
	err := a.named(`INSERT INTO ex_undo (`+undoColumns+`) VALUES (:height, :pos, :id, :placed, :state, :reason, :executed,
		:executed_amount, :base_fee, :operator_fee)`, &undoRow{b.height, pos, o.ID, o.Placed, o.progress})
	if err != nil {
		return fmt.Errorf("remembering order %s: %w", o.ID, err)
	}
	return nil
}

// undo takes back everything that the contract's blocks above a height did.
func (a *applier) undo(c contract, height uint64) error {
	a.undone = true
	step := a.undoFund
	if c == trade {
		step = a.undoTrade
	}
	if err := step(height); err != nil {
		return fmt.Errorf("taking back dex %s above %d: %w", c, height, err)
	}
	return nil
}

// undoTrade puts orders back to what they were, drops trades and makes their bars anew.
func (a *applier) undoTrade(height uint64) error {
	roots, err := a.failedRoots(height)
	if err != nil {
		return err
	}
	orders, err := a.restore(height)
	if err != nil {
		return err
	}
	if err := a.undoTrades(height); err != nil {
		return err
	}
	if err := a.drop(height, "ex_undo"); err != nil {
		return err
	}
	if err := a.dropBlocks(trade, height); err != nil {
		return err
	}
	for _, o := range orders {
		if err := a.settleRestored(o); err != nil {
			return err
		}
	}
	for _, root := range roots {
		if err := a.settleRoot(root); err != nil {
			return err
		}
	}
	return nil
}

// failedRoots are the users' sends that failed in the blocks above a height.
func (a *applier) failedRoots(height uint64) (roots []string, err error) {
	var sends []string
	err = a.list(&sends, "SELECT send FROM ex_blocks WHERE contract = 'trade' AND height > ? AND ok = 0 AND send <> ''", height)
	for i := 0; err == nil && i < len(sends); i++ {
		var root string
		root, err = a.root(sends[i])
		roots = append(roots, root)
	}
	return roots, err
}

// restore answers the orders that blocks above a height changed as they were before, in the order of the first change.
func (a *applier) restore(height uint64) (orders []*orderRow, err error) {
	var rows []undoRow
	if err := a.list(&rows, "SELECT "+undoColumns+" FROM ex_undo WHERE height > ? ORDER BY height, pos", height); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, row := range rows {
		if seen[row.ID] {
			continue // the oldest line is what it was
		}
		seen[row.ID] = true
		o, err := a.order(row.ID)
		if err != nil {
			return nil, err
		}
		if o == nil {
			return nil, fmt.Errorf("%w: order %s", errHistory, row.ID)
		}
		o.Placed, o.progress = row.Placed, row.progress
		orders = append(orders, o)
	}
	return orders, nil
}

// settleRestored stores a restored order. One that dexTrade has not taken any more is again what dexFund made of it.
func (a *applier) settleRestored(o *orderRow) error {
	if o.Placed > 0 {
		return a.changed(o)
	}
	o.InnerID, o.Serial = "", 0
	if o.Created = o.ReceivedAt; o.Created == 0 {
		o.Created = o.Noted
	}
	return a.settleOrder(o)
}

func (a *applier) undoTrades(height uint64) error {
	var first []struct {
		Market uint32 `db:"market"`
		At     int64  `db:"at"`
	}
	if err := a.list(&first, "SELECT market, MIN(at) AS at FROM ex_trades WHERE height > ? GROUP BY market ORDER BY market", height); err != nil {
		return err
	}
	if err := a.drop(height, "ex_trades"); err != nil {
		return err
	}
	for _, f := range first {
		if err := a.rebuildBars(f.Market, f.At); err != nil {
			return err
		}
	}
	return a.saveBars()
}

// undoFund drops what was announced and puts orders that waited for dexTrade back.
func (a *applier) undoFund(height uint64) error {
	var sends []string
	err := a.list(&sends, "SELECT send FROM ex_blocks WHERE contract = 'fund' AND height > ? AND send <> '' ORDER BY height", height)
	if err != nil {
		return err
	}
	if err := a.drop(height, "ex_markets", "ex_tokens", "ex_grants", "ex_transfers"); err != nil {
		return err
	}
	if err := a.dropBlocks(fund, height); err != nil {
		return err
	}
	for _, send := range sends {
		o, err := a.order(send)
		if err == nil && o != nil {
			err = a.settleOrder(o)
		}
		if err != nil {
			return err
		}
	}
	a.rules, err = a.readRules(a.rules.precisions)
	return err
}

func (a *applier) drop(height uint64, tables ...string) error {
	for _, table := range tables {
		if err := a.exec("DELETE FROM "+table+" WHERE height > ?", height); err != nil {
			return err
		}
	}
	return nil
}

func (a *applier) dropBlocks(c contract, height uint64) error {
	return a.exec("DELETE FROM ex_blocks WHERE contract = ? AND height > ?", c, height)
}
