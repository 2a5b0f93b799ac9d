package sqlstore

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"time"
)

// Event is one line of the history.
type Event struct {
	Seq       uint64 `db:"seq"`
	At        time.Time
	Actor     string `db:"actor"`   // daemon, or operator:<name>
	Subject   string `db:"subject"` // transfer, payment, account, chain, channel, binding
	SubjectID string `db:"subject_id"`
	Event     string `db:"event"`
	Detail    string `db:"detail"`
	Digest    string `db:"digest"` // of this line and, by the digest of the line before, of all before it; given by the store
}

type eventRow struct {
	Seq       uint64 `db:"seq"`
	At        int64  `db:"at"`
	Actor     string `db:"actor"`
	Subject   string `db:"subject"`
	SubjectID string `db:"subject_id"`
	Event     string `db:"event"`
	Detail    string `db:"detail"`
	Digest    string `db:"digest"`
}

const eventColumns = `seq, at, actor, subject, subject_id, event, detail, digest`

// verifyBatch is the number of lines verified at a time.
const verifyBatch = 10_000

// historyTip is the newest line of the history.
type historyTip struct {
	Seq    uint64 `db:"seq"`
	Digest string `db:"digest"`
}

// Log appends a line to the history; Seq and At are given by the store, Actor by the context unless
// set. The state-changing methods of Tx log themselves: what remains are incidents and what
// operators do besides. Lines are written together, at the latest before the commit.
func (tx *Tx) Log(e Event) error {
	if tx.last == nil {
		var tip historyTip
		if _, err := tx.Get(&tip, `SELECT seq, digest FROM history ORDER BY seq DESC LIMIT 1`); err != nil {
			return fmt.Errorf("reading the end of the history: %w", err)
		}
		tx.last = &tip
	}
	if e.Actor == "" {
		e.Actor = tx.actor
	}
	r := eventRow{
		Seq: tx.last.Seq + 1, At: tx.Millis(), Actor: Note(e.Actor), Subject: Note(e.Subject), SubjectID: Note(e.SubjectID),
		Event: Note(e.Event), Detail: Note(e.Detail),
	}
	r.Digest = r.digest(tx.last.Digest)
	tx.lines = append(tx.lines, []any{r.Seq, r.At, r.Actor, r.Subject, r.SubjectID, r.Event, r.Detail, r.Digest})
	tx.last = &historyTip{r.Seq, r.Digest}
	if len(tx.lines) < Group {
		return nil
	}
	return tx.flush()
}

// flush writes what was logged and is not written yet.
func (tx *Tx) flush() error {
	if len(tx.lines) == 0 {
		return nil
	}
	lines := tx.lines
	tx.lines = nil
	return Doing(tx.Insert(`history (`+eventColumns+`)`, lines, ""), "writing the history")
}

// LogEvent is Log of an event of the transaction's actor.
func (tx *Tx) LogEvent(subject, id, event, detail string) error {
	return tx.Log(Event{Subject: subject, SubjectID: id, Event: event, Detail: detail})
}

// digest covers the digest of the line before and every field of this one, each with its length, so
// that no two texts are confused.
func (r eventRow) digest(before string) string {
	h := sha256.New()
	for _, field := range []string{before, r.Actor, r.Subject, r.SubjectID, r.Event, r.Detail} {
		writeNumber(h, uint64(len(field)))
		h.Write([]byte(field))
	}
	writeNumber(h, r.Seq)
	writeNumber(h, uint64(r.At))
	return hex.EncodeToString(h.Sum(nil))
}

func writeNumber(h hash.Hash, n uint64) {
	h.Write(binary.BigEndian.AppendUint64(nil, n))
}

func (r eventRow) event() Event {
	return Event{Seq: r.Seq, At: FromMillis(r.At), Actor: r.Actor, Subject: r.Subject, SubjectID: r.SubjectID, Event: r.Event, Detail: r.Detail, Digest: r.Digest}
}

func eventsOf(rows []eventRow) []Event { return Each(rows, eventRow.event) }

// History returns the lines about one subject, oldest first.
func (tx *Tx) History(subject, id string) ([]Event, error) {
	var rows []eventRow
	err := tx.List(&rows, `SELECT `+eventColumns+` FROM history WHERE subject = ? AND subject_id = ? ORDER BY seq`, subject, id)
	return eventsOf(rows), Doing(err, "reading the history of %s %s", subject, id)
}

// HistoryAfter returns the lines after one, oldest first.
func (tx *Tx) HistoryAfter(seq uint64, limit int) ([]Event, error) {
	var rows []eventRow
	err := tx.List(&rows, `SELECT `+eventColumns+` FROM history WHERE seq > ? ORDER BY seq LIMIT ? + 0`, seq, limit)
	return eventsOf(rows), Doing(err, "reading the history")
}

// HistoryBefore returns the lines before one, newest first; people leaves out the daemon's
// automatic actions.
func (tx *Tx) HistoryBefore(seq uint64, people bool, limit int) ([]Event, error) {
	query := `SELECT ` + eventColumns + ` FROM history WHERE seq < ? ORDER BY seq DESC LIMIT ? + 0`
	if people {
		query = `SELECT ` + eventColumns + ` FROM history WHERE actor <> 'daemon' AND seq < ? ORDER BY seq DESC LIMIT ? + 0`
	}
	var rows []eventRow
	err := tx.List(&rows, query, seq, limit)
	return eventsOf(rows), Doing(err, "reading the history")
}

// VerifyHistory recomputes the chain of digests over the complete history. Lines cut off at its end
// look like lines never written: to detect that, store the newest digest elsewhere.
func (tx *Tx) VerifyHistory() error {
	var last historyTip
	for {
		var rows []eventRow
		if err := tx.List(&rows, `SELECT `+eventColumns+` FROM history WHERE seq > ? ORDER BY seq LIMIT ? + 0`, last.Seq, verifyBatch); err != nil {
			return fmt.Errorf("reading the history: %w", err)
		}
		for _, r := range rows {
			if r.Seq != last.Seq+1 || r.Digest != r.digest(last.Digest) {
				return fmt.Errorf("%w: the history is broken at line %d", ErrConflict, last.Seq+1)
			}
			last = historyTip{r.Seq, r.Digest}
		}
		if len(rows) < verifyBatch {
			return nil
		}
	}
}

// HistoryOfActor returns the lines of a person before one, newest first.
func (tx *Tx) HistoryOfActor(actor string, seq uint64, limit int) ([]Event, error) {
	var rows []eventRow
	err := tx.List(&rows, `SELECT `+eventColumns+` FROM history WHERE actor <> 'daemon' AND actor = ? AND seq < ? ORDER BY seq DESC LIMIT ? + 0`, Note(actor), seq, limit)
	return eventsOf(rows), Doing(err, "reading the history of %s", actor)
}
