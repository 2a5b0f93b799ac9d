package records

import (
	"fmt"
	"time"

	"gatewayd/chain"
	"gatewayd/records/sqlstore"
)

// RescanState is the progress of the order to read a block again.
type RescanState string

// The states of a rescan. Failed: its detail contains the reason why nothing was booked.
const (
	RescanOpen   RescanState = "open"
	RescanDone   RescanState = "done"
	RescanFailed RescanState = "failed"
)

// Rescan is a block that an operator has ordered to be read and booked again: the one with the hash
// that was shown to him.
type Rescan struct {
	Chain       chain.ID    `db:"chain"`
	chain.Point             // columns height and hash
	State       RescanState `db:"state"`
	Detail      string      `db:"detail"`
	Actor       string      `db:"actor"`
	ChangedAt   time.Time
}

type rescanRow struct {
	Rescan
	ChangedAt int64 `db:"changed_at"`
}

func (r rescanRow) rescan() Rescan {
	r.Rescan.ChangedAt = sqlstore.FromMillis(r.ChangedAt)
	return r.Rescan
}

// OrderRescan asks the daemon to read a block again and to book its missing content. A new order
// for the same height replaces the old one.
func OrderRescan(tx *Tx, id chain.ID, p chain.Point) error {
	_, err := tx.SQL().Exec(`INSERT INTO rescans (chain, height, hash, state, detail, actor, created_at, changed_at) VALUES (?, ?, ?, 'open', '', ?, ?, ?)
		ON CONFLICT (chain, height) DO UPDATE SET hash = excluded.hash, state = 'open', detail = '', actor = excluded.actor, changed_at = excluded.changed_at`,
		string(id), p.Height, p.Hash, sqlstore.Note(tx.SQL().Actor()), tx.SQL().Millis(), tx.SQL().Millis())
	if err == nil {
		err = tx.SQL().LogEvent("chain", string(id), "rescan_ordered", fmt.Sprintf("block %d %s", p.Height, p.Hash))
	}
	return sqlstore.Doing(err, "ordering block %d of %s to be read again", p.Height, id)
}

// OpenRescans returns the lowest blocks of a chain that wait to be read again: at most limit.
func OpenRescans(tx *Tx, id chain.ID, limit int) ([]Rescan, error) {
	var rows []rescanRow
	err := tx.SQL().List(&rows, `SELECT chain, height, hash, state, detail, actor, changed_at FROM rescans WHERE chain = ? AND state = 'open' ORDER BY height LIMIT ? + 0`, string(id), limit)
	return sqlstore.Each(rows, rescanRow.rescan), sqlstore.Doing(err, "reading the ordered rescans of %s", id)
}

// RescanAt returns the order for a height, or ErrNotFound.
func RescanAt(tx *Tx, id chain.ID, height uint64) (Rescan, error) {
	var r rescanRow
	err := tx.SQL().One(&r, `SELECT chain, height, hash, state, detail, actor, changed_at FROM rescans WHERE chain = ? AND height = ?`, string(id), height)
	return r.rescan(), sqlstore.Doing(err, "reading the rescan of block %d of %s", height, id)
}

// EndRescan stores the result of an open order. ErrConflict: it is not open.
func EndRescan(tx *Tx, r Rescan, state RescanState, detail string) error {
	err := tx.SQL().Change(`UPDATE rescans SET state = ?, detail = ?, changed_at = ? WHERE chain = ? AND height = ? AND state = 'open'`,
		string(state), sqlstore.Note(detail), tx.SQL().Millis(), string(r.Chain), r.Height)
	if err == nil {
		err = tx.SQL().LogEvent("chain", string(r.Chain), "rescan_"+string(state), fmt.Sprintf("block %d %s: %s", r.Height, r.Hash, detail))
	}
	return sqlstore.Doing(err, "ending the rescan of block %d of %s", r.Height, r.Chain)
}
