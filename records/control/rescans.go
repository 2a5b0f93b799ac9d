package control

import (
	"fmt"
	"time"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/records/sqlstore"
)

// RescanState is how far the order to read a block again has come.
type RescanState string

// The states of a rescan. Failed: its detail says why nothing was booked.
const (
	RescanOpen   RescanState = "open"
	RescanDone   RescanState = "done"
	RescanFailed RescanState = "failed"
)

// Rescan is a block that an operator has ordered to be read and booked again: the one with the hash that was shown to him.
type Rescan struct {
	Chain chain.ID
	chain.Point
	State     RescanState
	Detail    string
	Actor     string
	ChangedAt time.Time
}

type rescanRow struct {
	Chain     string `db:"chain"`
	Height    uint64 `db:"height"`
	Hash      string `db:"hash"`
	State     string `db:"state"`
	Detail    string `db:"detail"`
	Actor     string `db:"actor"`
	ChangedAt int64  `db:"changed_at"`
}

func (r rescanRow) rescan() Rescan {
	return Rescan{
		Chain: chain.ID(r.Chain), Point: chain.Point{Height: r.Height, Hash: r.Hash}, State: RescanState(r.State),
		Detail: r.Detail, Actor: r.Actor, ChangedAt: sqlstore.FromMillis(r.ChangedAt),
	}
}

// OrderRescan asks the daemon to read a block again and to book what the records miss of it. An order for the same height is taken anew.
func OrderRescan(tx *records.Tx, id chain.ID, p chain.Point) error {
	_, err := tx.SQL().Exec(`INSERT INTO rescans (chain, height, hash, state, detail, actor, created_at, changed_at) VALUES (?, ?, ?, 'open', '', ?, ?, ?)
		ON CONFLICT (chain, height) DO UPDATE SET hash = excluded.hash, state = 'open', detail = '', actor = excluded.actor, changed_at = excluded.changed_at`,
		string(id), p.Height, p.Hash, sqlstore.Note(tx.SQL().Actor()), tx.SQL().Millis(), tx.SQL().Millis())
	if err == nil {
		err = tx.SQL().LogEvent("chain", string(id), "rescan_ordered", fmt.Sprintf("block %d %s", p.Height, p.Hash))
	}
	if err != nil {
		return fmt.Errorf("ordering block %d of %s to be read again: %w", p.Height, id, err)
	}
	return nil
}

// OpenRescans answers the lowest blocks of a chain that wait to be read again: at most limit.
func OpenRescans(tx *records.Tx, id chain.ID, limit int) ([]Rescan, error) {
	var rows []rescanRow
	err := tx.SQL().List(&rows, `SELECT chain, height, hash, state, detail, actor, changed_at FROM rescans WHERE chain = ? AND state = 'open' ORDER BY height LIMIT ? + 0`, string(id), limit)
	if err != nil {
		return nil, fmt.Errorf("reading the ordered rescans of %s: %w", id, err)
	}
	out := make([]Rescan, len(rows))
	for i, r := range rows {
		out[i] = r.rescan()
	}
	return out, nil
}

// RescanAt answers the order for a height, or ErrNotFound.
func RescanAt(tx *records.Tx, id chain.ID, height uint64) (Rescan, error) {
	var r rescanRow
	err := tx.SQL().One(&r, `SELECT chain, height, hash, state, detail, actor, changed_at FROM rescans WHERE chain = ? AND height = ?`, string(id), height)
	if err != nil {
		return Rescan{}, fmt.Errorf("reading the rescan of block %d of %s: %w", height, id, err)
	}
	return r.rescan(), nil
}

// EndRescan says what became of an open order. ErrConflict: it is not open.
func EndRescan(tx *records.Tx, r Rescan, state RescanState, detail string) error {
	err := tx.SQL().Change(`UPDATE rescans SET state = ?, detail = ?, changed_at = ? WHERE chain = ? AND height = ? AND state = 'open'`,
		string(state), sqlstore.Note(detail), tx.SQL().Millis(), string(r.Chain), r.Height)
	if err == nil {
		err = tx.SQL().LogEvent("chain", string(r.Chain), "rescan_"+string(state), fmt.Sprintf("block %d %s: %s", r.Height, r.Hash, detail))
	}
	if err != nil {
		return fmt.Errorf("ending the rescan of block %d of %s: %w", r.Height, r.Chain, err)
	}
	return nil
}
