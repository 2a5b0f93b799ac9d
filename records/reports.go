package records

import (
	"encoding/json"
	"time"

	"gatewayd/records/sqlstore"
)

// NoteReport stores a report of a part of the running daemon.
func NoteReport(tx *Tx, name string, report any) error {
	text, err := json.Marshal(report)
	if err == nil {
		_, err = tx.SQL().Exec(`INSERT INTO reports (name, report, at) VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET report = excluded.report, at = excluded.at`,
			name, string(text), tx.SQL().Millis())
	}
	return sqlstore.Doing(err, "noting the report %s", name)
}

// ReadReport reads what was stored last, and when; false when nothing ever was.
func ReadReport(tx *Tx, name string, into any) (at time.Time, ever bool, err error) {
	var row struct {
		Report string `db:"report"`
		At     int64  `db:"at"`
	}
	if ever, err = tx.SQL().Get(&row, `SELECT report, at FROM reports WHERE name = ?`, name); err == nil && ever {
		err = json.Unmarshal([]byte(row.Report), into)
	}
	return sqlstore.FromMillis(row.At), ever, sqlstore.Doing(err, "reading the report %s", name)
}
