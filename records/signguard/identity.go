package signguard

import (
	"context"
	"crypto/rand"
	"errors"

	"gatewayd/records/sqlstore"
)

// Identity identifies a sign-guard and the number of its commits. A guard with fewer commits than
// the records have seen of it is older than they are.
type Identity struct {
	ID      string `json:"id" db:"id"`           // made by chance with the sign-guard
	Commits uint64 `json:"commits" db:"commits"` // transactions since; it never falls
}

// epoch and holder are of the signer that has taken it last.
const identitySchema = `CREATE TABLE IF NOT EXISTS identity ("only" INT PRIMARY KEY CHECK ("only" = 1), id TEXT NOT NULL, commits BIGINT NOT NULL,
	epoch BIGINT NOT NULL DEFAULT 0, holder TEXT NOT NULL DEFAULT '')`

// identityLock waits for the commits of a signer that serves, and keeps later ones out. The
// statements that make the tables lock several of them, in another order than a commit does. Each
// commit locks the identity first, so without this lock the two can deadlock.
const identityLock = `LOCK TABLE identity IN EXCLUSIVE MODE`

// identify makes the identity of a new sign-guard, or of a file from before there were any.
func (g *Guard) identify(ctx context.Context, t session) error {
	if _, err := t.exec(ctx, identitySchema); err != nil {
		return err
	}
	if g.file == "" {
		if _, err := t.exec(ctx, identityLock); err != nil {
			return err
		}
	}
	if err := errors.Join(g.addColumn(ctx, t, "identity", "epoch", "BIGINT NOT NULL DEFAULT 0"), g.addColumn(ctx, t, "identity", "holder", "TEXT NOT NULL DEFAULT ''")); err != nil {
		return err
	}
	if _, err := t.exec(ctx, `INSERT INTO identity ("only", id, commits) VALUES (1, ?, 0) ON CONFLICT DO NOTHING`, rand.Text()); err != nil {
		return err
	}
	return g.addSeen(ctx, t)
}

// Identity returns which sign-guard this is.
func (g *Guard) Identity(ctx context.Context) (id Identity, err error) {
	err = g.db.one(ctx, &id, `SELECT id, commits FROM identity`)
	return id, sqlstore.Doing(err, "reading the sign-guard's id")
}
