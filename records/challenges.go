package records

import (
	"time"

	"gatewayd/records/sqlstore"
)

// maxChallenges bounds the open challenges. Those that end first are removed.
const maxChallenges = 1000

// AddChallenge stores a challenge for a passkey, for one use in a while, in any process: to
// register it for a user, or to sign in, which is for no user.
func AddChallenge(tx *Tx, challenge, user string, lasts time.Duration) error {
	now := tx.SQL().Now()
	_, err := tx.SQL().Exec(`DELETE FROM console_challenges WHERE ends_at <= ?`, now.UnixMilli())
	if err == nil {
		_, err = tx.SQL().Exec(`DELETE FROM console_challenges WHERE digest IN (SELECT digest FROM console_challenges ORDER BY ends_at DESC LIMIT ? + 0 OFFSET ? + 0)`,
			maxChallenges, maxChallenges-1)
	}
	if err == nil {
		_, err = tx.SQL().Exec(`INSERT INTO console_challenges (digest, user_name, ends_at) VALUES (?, ?, ?)`, hashOf(challenge), user, now.Add(lasts).UnixMilli())
	}
	return sqlstore.Doing(err, "storing a challenge")
}

// UseChallenge uses a challenge up. ErrNotFound: it was not issued to this user, was used before,
// or has ended.
func UseChallenge(tx *Tx, challenge, user string) error {
	n, err := tx.SQL().Exec(`DELETE FROM console_challenges WHERE digest = ? AND user_name = ? AND ends_at > ?`,
		hashOf(challenge), sqlstore.Note(user), tx.SQL().Millis())
	if err == nil && n == 0 {
		err = ErrNotFound
	}
	return sqlstore.Doing(err, "using a challenge")
}
