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

// undoWidth is the number of columns.
const undoWidth = 10

func (r *undoRow) appendColumns(values []any) []any {
	return r.progress.appendColumns(append(values, r.Height, r.Pos, r.ID, r.Placed))
}

// remember stores what an order is before an event of dexTrade changes it, for as long as the event
// may be taken back.
func (a *applier) remember(b *block, pos int, o *orderRow) {
	if !a.settled(trade, b.height) {
		a.undoRows = append(a.undoRows, undoRow{b.height, pos, o.ID, o.Placed, o.progress})
	}
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

// undoTrade restores orders, drops trades and rebuilds their bars.
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

// restore returns the orders that blocks above a height changed as they were before, in the order
// of the first change.
func (a *applier) restore(height uint64) (orders []*orderRow, err error) {
	var rows []undoRow
	if err := a.list(&rows, "SELECT "+undoColumns+" FROM ex_undo WHERE height > ? ORDER BY height, pos", height); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, row := range rows {
		if seen[row.ID] {
			continue // the oldest row has not changed
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

// settleRestored stores a restored order. One that dexTrade has not taken any more is again what
// dexFund made of it. A cancel that was decided waits again.
func (a *applier) settleRestored(o *orderRow) (err error) {
	if o.Cancel == "" && !o.over() {
		if o.Cancel, err = a.pending(o.ID); err != nil {
			return err
		}
	}
	if o.Placed > 0 {
		a.changed(o)
		return nil
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
	return nil
}

// undoFund drops what was announced and puts orders that waited for dexTrade back.
func (a *applier) undoFund(height uint64) error {
	var blocks []blockRow
	err := a.list(&blocks, "SELECT "+blockColumns+" FROM ex_blocks WHERE contract = 'fund' AND height > ? AND send <> '' ORDER BY height", height)
	if err != nil {
		return err
	}
	if err := a.drop(height, "ex_markets", "ex_tokens", "ex_grants", "ex_transfers"); err != nil {
		return err
	}
	if err := a.dropBlocks(fund, height); err != nil {
		return err
	}
	for i := range blocks {
		if err := a.unreceive(&blocks[i]); err != nil {
			return err
		}
	}
	a.rules, err = a.readRules(a.rules.precisions)
	return err
}

// unreceive puts back the order that a block of dexFund received, or the one whose cancel it did.
func (a *applier) unreceive(b *blockRow) error {
	o, err := a.order(b.Send)
	if err != nil {
		return err
	}
	if o != nil {
		return a.settleOrder(o)
	}
	if b.Cancels == "" {
		return nil
	}
	if o, err = a.order(b.Cancels); err != nil || o == nil || o.Cancel != b.Send {
		return err
	}
	if o.Cancel, err = a.pending(o.ID); err != nil {
		return err
	}
	a.changedIfSeen(o)
	return nil
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
