package records

import (
	"fmt"
	"time"
)

// ReloadState is how far an order to read the configuration again has come.
type ReloadState string

// The states of a reload. Refused: nothing of the file was taken.
const (
	ReloadOpen    ReloadState = "open"
	ReloadDone    ReloadState = "done"
	ReloadRefused ReloadState = "refused"
)

// Reload is one reading of the configuration file by the daemon.
type Reload struct {
	ID          uint64
	State       ReloadState
	Fingerprint string // of what the file said; empty while it is open or where the file could not be read
	Report      string // in JSON, for whoever ordered it
	Actor       string
	ChangedAt   time.Time
}

type reloadRow struct {
	ID          uint64 `db:"id"`
	State       string `db:"state"`
	Fingerprint string `db:"fingerprint"`
	Report      string `db:"report"`
	Actor       string `db:"actor"`
	ChangedAt   int64  `db:"changed_at"`
}

const reloadColumns = `id, state, fingerprint, report, actor, changed_at`

func (r reloadRow) reload() Reload {
	return Reload{r.ID, ReloadState(r.State), r.Fingerprint, r.Report, r.Actor, fromMillis(r.ChangedAt)}
}

// OrderReload asks the running daemon to read its configuration again, and answers the order's number.
func (tx *Tx) OrderReload() (id uint64, err error) {
	if id, err = tx.newReload(); err != nil {
		return 0, fmt.Errorf("ordering the configuration to be read again: %w", err)
	}
	return id, nil
}

func (tx *Tx) newReload() (id uint64, err error) {
	if id, err = tx.nextID("reloads"); err == nil {
		_, err = tx.exec(`INSERT INTO reloads (id, state, actor, created_at, changed_at) VALUES (?, 'open', ?, ?, ?)`, id, note(tx.actor), tx.millis(), tx.millis())
	}
	return id, err
}

// OpenReload answers the oldest order that waits; false when there is none.
func (tx *Tx) OpenReload() (Reload, bool, error) {
	var r reloadRow
	found, err := tx.get(&r, `SELECT `+reloadColumns+` FROM reloads WHERE state = 'open' ORDER BY id LIMIT 1`)
	if err != nil {
		return Reload{}, false, fmt.Errorf("looking for orders to read the configuration again: %w", err)
	}
	return r.reload(), found, nil
}

// EndReload says what became of an order. ErrConflict: it is not open.
func (tx *Tx) EndReload(r Reload) error {
	err := tx.change(`UPDATE reloads SET state = ?, fingerprint = ?, report = ?, changed_at = ? WHERE id = ? AND state = 'open'`,
		string(r.State), r.Fingerprint, r.Report, tx.millis(), r.ID)
	if err == nil {
		err = tx.log("configuration", r.Fingerprint, string(r.State), r.Report)
	}
	if err != nil {
		return fmt.Errorf("noting that the configuration was read again: %w", err)
	}
	return nil
}

// NoteReload is EndReload of a reading that nobody has ordered here.
func (tx *Tx) NoteReload(r Reload) (err error) {
	if r.ID, err = tx.newReload(); err != nil {
		return fmt.Errorf("noting that the configuration was read: %w", err)
	}
	return tx.EndReload(r)
}

// ReloadByID answers an order, or ErrNotFound.
func (tx *Tx) ReloadByID(id uint64) (Reload, error) {
	var r reloadRow
	if err := tx.one(&r, `SELECT `+reloadColumns+` FROM reloads WHERE id = ?`, id); err != nil {
		return Reload{}, fmt.Errorf("reading the order %d: %w", id, err)
	}
	return r.reload(), nil
}

// Configured answers the reading by whose configuration the daemon works, or worked last; false when none was noted.
func (tx *Tx) Configured() (Reload, bool, error) {
	var r reloadRow
	found, err := tx.get(&r, `SELECT `+reloadColumns+` FROM reloads WHERE state = 'done' ORDER BY id DESC LIMIT 1`)
	if err != nil {
		return Reload{}, false, fmt.Errorf("reading which configuration the daemon has: %w", err)
	}
	return r.reload(), found, nil
}
