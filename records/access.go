package records

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"gatewayd/records/sqlstore"
)

// Role is the set of a console user's rights.
type UserRole string

// The roles. All of them may read everything.
const (
	Viewer   UserRole = "viewer"
	Operator UserRole = "operator" // orders
	Approver UserRole = "approver" // approves
)

// Roles are all of them.
func UserRoles() []UserRole { return []UserRole{Viewer, Operator, Approver} }

// What callers test for with errors.Is.
var (
	ErrUserName = errors.New("the name must have 2 to 32 lower-case letters, digits, dots, underscores and dashes")
	ErrRole     = fmt.Errorf("the role must be one of %v", UserRoles())
	ErrUsed     = errors.New("the code was used before")
)

// User is a person who may sign in.
type User struct {
	Name     string   `db:"name"`
	Role     UserRole `db:"role"`
	Password string   `db:"password"` // hashed, with its salt
	TOTP     string   `db:"totp"`     // secret of the second factor, base32
	Created  time.Time
}

var names = regexp.MustCompile(`^[a-z0-9._-]{2,32}$`)

// Put adds a user, or gives one another role, password and second factor. Whoever was signed in
// under the name no longer is, and has no passkeys.
func PutUser(tx *Tx, u User) error {
	switch {
	case !names.MatchString(u.Name):
		return ErrUserName
	case !slices.Contains(UserRoles(), u.Role):
		return ErrRole
	}
	_, err := tx.SQL().Exec(`INSERT INTO console_users (name, role, password, totp, created_at) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (name) DO UPDATE SET role = excluded.role, password = excluded.password, totp = excluded.totp, totp_step = 0`,
		u.Name, string(u.Role), u.Password, u.TOTP, tx.SQL().Millis())
	for _, forget := range []string{`DELETE FROM console_sessions WHERE user_name = ?`, `DELETE FROM console_passkeys WHERE user_name = ?`} {
		if err == nil {
			_, err = tx.SQL().Exec(forget, u.Name)
		}
	}
	if err == nil {
		err = logUser(tx, u.Name, "set", string(u.Role))
	}
	return sqlstore.Doing(err, "setting console user %s", u.Name)
}

// Remove takes a user away and ends the sessions, or is ErrNotFound.
func RemoveUser(tx *Tx, name string) error {
	_, err := tx.SQL().Exec(`DELETE FROM console_sessions WHERE user_name = ?`, sqlstore.Note(name))
	if err == nil {
		var n int64
		if n, err = tx.SQL().Exec(`DELETE FROM console_users WHERE name = ?`, sqlstore.Note(name)); err == nil && n == 0 {
			err = ErrNotFound
		}
	}
	if err == nil {
		err = logUser(tx, name, "removed", "")
	}
	return sqlstore.Doing(err, "removing console user %s", name)
}

func logUser(tx *Tx, name, event, detail string) error {
	return tx.Log(Event{Subject: "console", SubjectID: name, Event: event, Detail: detail})
}

type userRow struct {
	User
	CreatedAt int64 `db:"created_at"`
}

func (r userRow) user() User {
	r.Created = sqlstore.FromMillis(r.CreatedAt)
	return r.User
}

const userColumns = `name, role, password, totp, created_at`

// Users are all who may sign in, by name.
func Users(tx *Tx) ([]User, error) {
	var rows []userRow
	err := tx.SQL().List(&rows, `SELECT `+userColumns+` FROM console_users ORDER BY name`)
	return sqlstore.Each(rows, userRow.user), sqlstore.Doing(err, "reading the console's users")
}

// UserOf returns one by name, or ErrNotFound.
func UserOf(tx *Tx, name string) (User, error) {
	var r userRow
	if !names.MatchString(name) { // a user has one spelling, by which tries to sign in are counted
		return User{}, fmt.Errorf("reading a console user: %w", ErrNotFound)
	}
	err := tx.SQL().One(&r, `SELECT `+userColumns+` FROM console_users WHERE name = ?`, name)
	return r.user(), sqlstore.Doing(err, "reading a console user")
}

// UseCode uses a code of a user's second factor up: the same or an earlier one is ErrUsed from then
// on.
func UseCode(tx *Tx, name string, step uint64) error {
	n, err := tx.SQL().Exec(`UPDATE console_users SET totp_step = ? WHERE name = ? AND totp_step < ?`, step, name, step)
	if err != nil {
		return fmt.Errorf("using a code of console user %s: %w", name, err)
	}
	if n == 0 {
		return ErrUsed
	}
	return nil
}
