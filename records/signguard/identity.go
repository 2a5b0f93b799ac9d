package signguard

import (
	"context"
	"crypto/rand"
	"fmt"

	"github.com/jmoiron/sqlx"
)

// Identity tells one sign-guard from another, and how much it has been told. A guard with fewer commits than the records have seen of it is older
// than they are.
type Identity struct {
	ID      string `json:"id" db:"id"`           // made by chance with the file
	Commits uint64 `json:"commits" db:"commits"` // transactions since; it never falls
}

const identitySchema = `CREATE TABLE IF NOT EXISTS identity (only INT PRIMARY KEY CHECK (only = 1), id TEXT NOT NULL, commits BIGINT NOT NULL)`

// identify makes the identity of a new file, or of one from before there were any.
func identify(ctx context.Context, t *sqlx.Tx) error {
	if _, err := t.ExecContext(ctx, identitySchema); err != nil {
		return err
	}
	_, err := t.ExecContext(ctx, `INSERT INTO identity (only, id, commits) VALUES (1, ?, 0) ON CONFLICT DO NOTHING`, rand.Text())
	return err
}

// Identity answers whose file this is.
func (g *Guard) Identity(ctx context.Context) (id Identity, err error) {
	if err = g.db.GetContext(ctx, &id, `SELECT id, commits FROM identity`); err != nil {
		return Identity{}, fmt.Errorf("reading the sign-guard's id: %w", err)
	}
	return id, nil
}
