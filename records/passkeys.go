package records

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"gatewayd/records/sqlstore"
)

// Passkey is a key of a user's authenticator.
type Passkey struct {
	ID      string `db:"id"` // base64url, as browsers name it
	User    string `db:"user_name"`
	Label   string `db:"label"`      // that its owner gave it
	Key     string `db:"public_key"` // as configurations name it
	Count   uint32 `db:"sign_count"` // of its signatures, where its authenticator counts
	Created time.Time
	Used    time.Time // zero before the first time
}

// MaxPasskeys bounds a user's passkeys.
const MaxPasskeys = 10

const maxLabel = 64

// What callers test for with errors.Is.
var (
	ErrPasskeyLabel = fmt.Errorf("the label must have 1 to %d characters", maxLabel)
	ErrMany         = fmt.Errorf("at most %d passkeys are allowed: remove one first", MaxPasskeys)
)

// AddPasskey gives a user another one. ErrConflict: it is registered already.
func AddPasskey(tx *Tx, p Passkey) error {
	p.Label = strings.TrimSpace(p.Label)
	if p.Label == "" || len(p.Label) > maxLabel || sqlstore.Note(p.Label) != p.Label {
		return ErrPasskeyLabel
	}
	list, err := Passkeys(tx, p.User)
	if err == nil && len(list) >= MaxPasskeys {
		return ErrMany
	}
	if err == nil {
		_, err = PasskeyOf(tx, p.ID)
	}
	switch {
	case err == nil:
		return fmt.Errorf("%w: this passkey is registered already", ErrConflict)
	case !errors.Is(err, ErrNotFound):
		return err
	}
	_, err = tx.SQL().Exec(`INSERT INTO console_passkeys (id, user_name, label, public_key, sign_count, created_at) VALUES (?, ?, ?, ?, ?, ?)`,
		p.ID, p.User, p.Label, p.Key, p.Count, tx.SQL().Millis())
	if err == nil {
		err = logUser(tx, p.User, "passkey added", p.Label+" "+p.Key)
	}
	return sqlstore.Doing(err, "adding a passkey of console user %s", p.User)
}

// RemovePasskey takes a passkey of a user away, and ends the user's sessions but the one of a
// token; ErrNotFound where the user has no such passkey.
func RemovePasskey(tx *Tx, user, id, but string) error {
	n, err := tx.SQL().Exec(`DELETE FROM console_passkeys WHERE id = ? AND user_name = ?`, sqlstore.Note(id), sqlstore.Note(user))
	if err == nil && n == 0 {
		err = ErrNotFound
	}
	if err == nil {
		_, err = tx.SQL().Exec(`DELETE FROM console_sessions WHERE user_name = ? AND token <> ?`, sqlstore.Note(user), hashOf(but))
	}
	if err == nil {
		err = logUser(tx, user, "passkey removed", id)
	}
	return sqlstore.Doing(err, "removing a passkey of console user %s", user)
}

type passkeyRow struct {
	Passkey
	CreatedAt int64 `db:"created_at"`
	UsedAt    int64 `db:"used_at"`
}

func (r passkeyRow) passkey() Passkey {
	r.Created, r.Used = sqlstore.FromMillis(r.CreatedAt), sqlstore.TimeOrZero(r.UsedAt)
	return r.Passkey
}

// Passkeys are a user's, oldest first.
func Passkeys(tx *Tx, user string) ([]Passkey, error) {
	var rows []passkeyRow
	err := tx.SQL().List(&rows, `SELECT id, user_name, label, public_key, sign_count, created_at, used_at FROM console_passkeys
		WHERE user_name = ? ORDER BY created_at, id`, sqlstore.Note(user))
	return sqlstore.Each(rows, passkeyRow.passkey), sqlstore.Doing(err, "reading the passkeys of console user %s", user)
}

// PasskeyOf returns one by its id, or ErrNotFound.
func PasskeyOf(tx *Tx, id string) (Passkey, error) {
	var r passkeyRow
	err := tx.SQL().One(&r, `SELECT id, user_name, label, public_key, sign_count, created_at, used_at FROM console_passkeys WHERE id = ?`, sqlstore.Note(id))
	return r.passkey(), sqlstore.Doing(err, "reading a passkey")
}

// UsePasskey notes the counter of a signature. One that is not above the last is ErrUsed: it was
// used before, or another authenticator has the key. Those that do not count stay at zero.
func UsePasskey(tx *Tx, id string, count uint32) error {
	n, err := tx.SQL().Exec(`UPDATE console_passkeys SET sign_count = ?, used_at = ? WHERE id = ? AND (sign_count < ? OR (sign_count = 0 AND ? = 0))`,
		count, tx.SQL().Millis(), sqlstore.Note(id), count, count)
	if err != nil {
		return fmt.Errorf("using a passkey: %w", err)
	}
	if n == 0 {
		return ErrUsed
	}
	return nil
}
