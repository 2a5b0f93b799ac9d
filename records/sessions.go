package records

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"gatewayd/records/sqlstore"
)

// Lifetime of a session: without a request, and in any case.
const (
	SessionIdle = 30 * time.Minute
	Longest     = 12 * time.Hour
)

// seenEvery is the precision of a session's last request.
const seenEvery = time.Minute

// Session is a signed-in user.
type UserSession struct {
	User User
	CSRF string // what a request that changes something must carry
}

// SignIn begins a session under a token that only the user has.
func SignIn(tx *Tx, name, token, csrf string) error {
	now := tx.SQL().Now()
	_, err := tx.SQL().Exec(`DELETE FROM console_sessions WHERE ends_at < ?`, now.UnixMilli())
	if err == nil {
		_, err = tx.SQL().Exec(`INSERT INTO console_sessions (token, user_name, csrf, seen_at, ends_at) VALUES (?, ?, ?, ?, ?)`,
			hashOf(token), name, csrf, now.UnixMilli(), now.Add(Longest).UnixMilli())
	}
	if err == nil {
		err = logUser(tx, name, "signed in", "")
	}
	return sqlstore.Doing(err, "signing console user %s in", name)
}

// SignOut ends the session of a token, if there is one.
func SignOut(tx *Tx, token string) error {
	_, err := tx.SQL().Exec(`DELETE FROM console_sessions WHERE token = ?`, hashOf(token))
	return sqlstore.Doing(err, "signing out")
}

// UserSessionOf returns the session of a token, or ErrNotFound when there is none or it has ended.
// due means that it needs a touch.
func UserSessionOf(tx *Tx, token string) (s UserSession, due bool, err error) {
	var r struct {
		userRow
		CSRF   string `db:"csrf"`
		SeenAt int64  `db:"seen_at"`
	}
	now := tx.SQL().Now()
	err = tx.SQL().One(&r, `SELECT u.name, u.role, u.password, u.totp, u.created_at, s.csrf, s.seen_at FROM console_sessions s
		JOIN console_users u ON u.name = s.user_name WHERE s.token = ? AND s.seen_at > ? AND s.ends_at > ?`,
		hashOf(token), now.Add(-SessionIdle).UnixMilli(), now.UnixMilli())
	return UserSession{r.user(), r.CSRF}, now.Sub(sqlstore.FromMillis(r.SeenAt)) >= seenEvery, sqlstore.Doing(err, "reading a session")
}

// Touch notes that the session of a token is used.
func TouchSession(tx *Tx, token string) error {
	_, err := tx.SQL().Exec(`UPDATE console_sessions SET seen_at = ? WHERE token = ?`, tx.SQL().Millis(), hashOf(token))
	return sqlstore.Doing(err, "touching a session")
}

func hashOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}
