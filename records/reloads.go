package records

import (
	"fmt"
	"time"

	"gatewayd/records/sqlstore"
)

// ReloadState is the progress of an order to read the configuration again.
type ReloadState string

// The states of a reload. Refused: nothing of the file was taken.
const (
	ReloadOpen    ReloadState = "open"
	ReloadDone    ReloadState = "done"
	ReloadRefused ReloadState = "refused"
)

// Reload is one reading of the configuration file by the daemon.
type Reload struct {
	ID          uint64      `db:"id"`
	State       ReloadState `db:"state"`
	Fingerprint string      `db:"fingerprint"` // of the file's content; empty while it is open or where the file could not be read
	Report      string      `db:"report"`      // in JSON, for whoever ordered it
	Actor       string      `db:"actor"`
	ChangedAt   time.Time
}

type reloadRow struct {
	Reload
	ChangedAt int64 `db:"changed_at"`
}

const reloadColumns = `id, state, fingerprint, report, actor, changed_at`

func (r reloadRow) reload() Reload {
	r.Reload.ChangedAt = sqlstore.FromMillis(r.ChangedAt)
	return r.Reload
}

// OrderReload asks the running daemon to read its configuration again, and answers the order's
// number.
func OrderReload(tx *Tx) (id uint64, err error) {
	id, err = newReload(tx)
	return id, sqlstore.Doing(err, "ordering the configuration to be read again")
}

func newReload(tx *Tx) (id uint64, err error) {
	if id, err = tx.SQL().NextID("reloads"); err == nil {
		_, err = tx.SQL().Exec(`INSERT INTO reloads (id, state, actor, created_at, changed_at) VALUES (?, 'open', ?, ?, ?)`, id, sqlstore.Note(tx.SQL().Actor()), tx.SQL().Millis(), tx.SQL().Millis())
	}
	return id, err
}

// OpenReload returns the oldest order that waits; false when there is none.
func OpenReload(tx *Tx) (Reload, bool, error) {
	var r reloadRow
	found, err := tx.SQL().Get(&r, `SELECT `+reloadColumns+` FROM reloads WHERE state = 'open' ORDER BY id LIMIT 1`)
	return r.reload(), found, sqlstore.Doing(err, "finding orders to reload the configuration")
}

// EndReload stores the result of an order. ErrConflict: it is not open.
func EndReload(tx *Tx, r Reload) error {
	err := tx.SQL().Change(`UPDATE reloads SET state = ?, fingerprint = ?, report = ?, changed_at = ? WHERE id = ? AND state = 'open'`,
		string(r.State), r.Fingerprint, r.Report, tx.SQL().Millis(), r.ID)
	if err == nil {
		err = tx.SQL().LogEvent("configuration", r.Fingerprint, string(r.State), r.Report)
	}
	return sqlstore.Doing(err, "noting that the configuration was read again")
}

// NoteReload is EndReload of a reading without an order.
func NoteReload(tx *Tx, r Reload) (err error) {
	if r.ID, err = newReload(tx); err != nil {
		return fmt.Errorf("noting that the configuration was read: %w", err)
	}
	return EndReload(tx, r)
}

// ReloadByID returns an order, or ErrNotFound.
func ReloadByID(tx *Tx, id uint64) (Reload, error) {
	var r reloadRow
	err := tx.SQL().One(&r, `SELECT `+reloadColumns+` FROM reloads WHERE id = ?`, id)
	return r.reload(), sqlstore.Doing(err, "reading the order %d", id)
}

// Configured returns the reading by whose configuration the daemon works, or worked last; false
// when none was noted.
func Configured(tx *Tx) (Reload, bool, error) {
	var r reloadRow
	found, err := tx.SQL().Get(&r, `SELECT `+reloadColumns+` FROM reloads WHERE state = 'done' ORDER BY id DESC LIMIT 1`)
	return r.reload(), found, sqlstore.Doing(err, "reading which configuration the daemon has")
}
