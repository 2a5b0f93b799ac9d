package signguard

import (
	"context"
	"errors"
)

// Earlier versions may sign with this sign-guard after a downgrade, and store less: 0.2.0 keeps no
// causes, later ones no books of coin. What they paid is then unknown. identity has how much this
// version has seen: its commits, and the payments that were signed without a cause.
const earlierSchema = `DROP INDEX IF EXISTS guard_without_cause;
CREATE INDEX IF NOT EXISTS guard_unauthorized ON guard (number) WHERE ` + withoutCause

const withoutCause = `cause = '' AND payment_id <> 0 AND substr(digest, 1, 8) <> 'receive|' AND substr(digest, 1, 6) <> 'allow|'`

// addSeen adds the columns of what this version has seen. Commits from before the column count as
// seen, because 0.2.0 counts none.
func (g *Guard) addSeen(ctx context.Context, t session) error {
	err := errors.Join(g.addColumn(ctx, t, "identity", "seen_commits", "BIGINT"), g.addColumn(ctx, t, "identity", "seen_payments", "BIGINT NOT NULL DEFAULT 0"))
	if err == nil {
		_, err = t.exec(ctx, `UPDATE identity SET seen_commits = commits WHERE seen_commits IS NULL`)
	}
	return err
}

// restartBooks takes the history as unknown when an earlier version has signed. The chains are
// watched from now on, and the books of coin at deposit addresses begin again: what came before is
// held for people. Coin that was credited by balances is part of the new opening balances.
func restartBooks(ctx context.Context, t session) error {
	r, err := t.exec(ctx, `UPDATE identity SET seen_commits = commits, seen_payments = (SELECT COUNT(*) FROM guard WHERE `+withoutCause+`)
		WHERE seen_commits <> commits OR seen_payments <> (SELECT COUNT(*) FROM guard WHERE `+withoutCause+`)`)
	if err != nil {
		return err
	}
	if n, err := r.RowsAffected(); err != nil || n == 0 {
		return err
	}
	for _, statement := range []string{
		`DELETE FROM watched`,
		`UPDATE openings SET since = 0, amount = '' WHERE since <> 9223372036854775807`,
		`UPDATE arrivals SET height = 0 WHERE height < 0`,
	} {
		if _, err := t.exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}
