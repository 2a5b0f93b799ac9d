package recordstest

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"
)

// rowsAtOnce is the number of rows per statement: SQLite compiles it once, and PostgreSQL counts
// its parameters with 16 bits.
const rowsAtOnce = 100

// table collects rows and inserts them many at a time.
type table struct {
	name, columns string
	width         int
	args          []any
}

func newTable(name, columns string) *table {
	return &table{name: name, columns: columns, width: strings.Count(columns, ",") + 1}
}

func (t *table) add(values ...any) {
	if len(values) != t.width {
		panic(fmt.Sprintf("%d values for %d columns of %s", len(values), t.width, t.name))
	}
	t.args = append(t.args, values...)
}

// flush inserts what was collected.
func (t *table) flush(ctx context.Context, tx *sqlx.Tx) error {
	row := "(" + strings.TrimSuffix(strings.Repeat("?, ", t.width), ", ") + ")"
	for part := range slices.Chunk(t.args, rowsAtOnce*t.width) {
		rows := strings.TrimSuffix(strings.Repeat(row+", ", len(part)/t.width), ", ")
		if _, err := tx.ExecContext(ctx, tx.Rebind("INSERT INTO "+t.name+" ("+t.columns+") VALUES "+rows), part...); err != nil {
			return err
		}
	}
	t.args = t.args[:0]
	return nil
}

// history makes the lines that the store's methods write, each with the digest over the one before.
type history struct {
	*table
	seq    uint64
	digest string
}

func (h *history) begin(ctx context.Context, db *sqlx.DB) error {
	h.table = newTable("history", "seq, at, actor, subject, subject_id, event, detail, digest")
	return db.QueryRowxContext(ctx, "SELECT seq, digest FROM history ORDER BY seq DESC LIMIT 1").Scan(&h.seq, &h.digest)
}

func (h *history) add(at int64, subject string, id int64, event, detail string) {
	h.of(at, subject, fmt.Sprint(id), event, detail)
}

func (h *history) of(at int64, subject, of, event, detail string) {
	const actor = "daemon"
	h.seq++
	sum := sha256.New()
	number := func(n uint64) { sum.Write(binary.BigEndian.AppendUint64(nil, n)) }
	for _, field := range []string{h.digest, actor, subject, of, event, detail} {
		number(uint64(len(field)))
		sum.Write([]byte(field))
	}
	number(h.seq)
	number(uint64(at))
	h.digest = hex.EncodeToString(sum.Sum(nil))
	h.table.add(int64(h.seq), at, actor, subject, of, event, detail, h.digest)
}
