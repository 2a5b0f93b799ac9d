package operator

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/mattn/go-sqlite3"

	"gatewayd/chain"
	"gatewayd/config"
	"gatewayd/internal/database"
	"gatewayd/records"
)

// plainError is an error in words for the person at the terminal. What it was stays inside it for
// errors.Is.
type plainError struct {
	text  string
	cause error
}

func (e plainError) Error() string { return e.text }
func (e plainError) Unwrap() error { return e.cause }

func plainly(cause error, format string, args ...any) error {
	return plainError{fmt.Sprintf(format, args...), cause}
}

// AsTold keeps the words of an error that is already clear.
func AsTold(err error) error { return plainError{err.Error(), err} }

// constraintText matches the databases' texts of a violated constraint.
var constraintText = regexp.MustCompile(`constraint failed|violates|duplicate key`)

// PlainError returns the meaning of a command's error and the next step, where its own text is that
// of a database or of the system.
func PlainError(err error) error {
	var told plainError
	var path *os.PathError
	switch {
	case err == nil, errors.As(err, &told):
		return err
	case errors.Is(err, records.ErrNewer):
		return plainly(err, "the database was written by a newer gatewayd: use that version, or an earlier backup")
	case errors.Is(err, records.ErrOlder):
		return plainly(err, "the database is of an older gatewayd: start the daemon of this version first to upgrade it")
	case errors.Is(err, records.ErrUnknownOutcome):
		return plainly(err, "the database connection was lost: check `gatewayd records show` or `channel list` for the result before you repeat the command")
	case errors.Is(err, records.ErrConflict) && constraintText.MatchString(err.Error()):
		return plainly(err, "the records changed, or do not allow it: nothing was done. Check `gatewayd records show`, and order it again if needed")
	case errors.Is(err, chain.ErrUnavailable) && chain.PlainError(err) != err.Error():
		return plainly(err, "too few nodes of the chain answer (%s), so nothing was done: `gatewayd doctor` checks each of them", chain.PlainError(err))
	case errors.As(err, &path) && errors.Is(err, os.ErrPermission):
		return plainly(err, "%s may not be opened by this user: run the command as the daemon's user", path.Path)
	}
	return plainDatabaseError(err)
}

// InAmounts is an error of the watcher with its amounts as people read them.
func InAmounts(c config.Config, err error) error {
	if err == nil {
		return nil
	}
	if text := c.InWholeUnits(err.Error()); text != err.Error() {
		return plainly(err, "%s", text)
	}
	return err
}

// plainDatabaseError does the same for errors of SQLite and PostgreSQL.
func plainDatabaseError(err error) error {
	var lite sqlite3.Error
	var refused *pgconn.ConnectError
	var server *pgconn.PgError
	key := "database.url"
	if of := new(database.KeyError); errors.As(err, &of) {
		key = of.Key
	}
	switch {
	case errors.Is(err, database.ErrPooled):
		return plainly(err, "%s", pooledText(key))
	case errors.As(err, &lite):
		return plainly(err, "%s", sqliteText(lite))
	case errors.As(err, &server):
		return plainly(err, "%s", postgresText(server, key))
	case errors.As(err, &refused):
		return plainly(err, "PostgreSQL does not answer at the address of `%s`: is it running, and may this machine connect?", key)
	}
	return err
}

func sqliteText(e sqlite3.Error) string {
	switch e.Code {
	case sqlite3.ErrBusy, sqlite3.ErrLocked:
		return "the database is locked: another program has been writing to it for more than five seconds. Try again; if it persists, look for a running copy or backup"
	case sqlite3.ErrNotADB, sqlite3.ErrCorrupt:
		return "the database file is damaged or not a database of gatewayd: stop the daemon and see docs/operations/backup.md"
	case sqlite3.ErrCantOpen, sqlite3.ErrPerm, sqlite3.ErrReadonly, sqlite3.ErrAuth:
		return "the database file cannot be opened or written: run the command as the daemon's user, on the daemon's machine"
	case sqlite3.ErrFull:
		return "the disk is full: free some space; nothing was changed"
	case sqlite3.ErrIoErr:
		return "the database file cannot be read from disk: see the system's log"
	}
	return "the database file refused the operation: run `gatewayd doctor`; nothing was changed"
}

// Classes and codes of PostgreSQL's errors that an operator can act on.
const (
	classConnection    = "08"
	classAuthorization = "28"
	noSuchDatabase     = "3D000"
	classResources     = "53"
	classIntervention  = "57"
	noPrivilege        = "42501"
	readOnly           = "25006"
	protocolViolation  = "08P01"
	statementExists    = "42P05"
	noSuchStatement    = "26000"
)

func pooledText(key string) string { return "`" + key + "`: " + database.ErrPooled.Error() }

func postgresText(e *pgconn.PgError, key string) string {
	switch e.Code {
	case noSuchDatabase:
		return "PostgreSQL has no database of the name in `" + key + "`: create it, or correct the name"
	case noPrivilege:
		return "PostgreSQL denies this to the user: grant the rights on the database and its schema, or correct the user in `" + key + "`"
	case statementExists, noSuchStatement:
		return "PostgreSQL mixes the sessions of several connections: " + pooledText(key)
	case protocolViolation: // of poolers
		return "PostgreSQL or the pooler in front of it refuses the connection by `" + key + "`: " + e.Message
	case readOnly:
		return "PostgreSQL is read only: `" + key + "` names a standby, use the primary"
	}
	switch e.Code[:min(2, len(e.Code))] {
	case classAuthorization:
		return "PostgreSQL refuses the user or the password of `" + key + "`: the password comes from PGPASSFILE or PGPASSWORD"
	case classResources:
		return "PostgreSQL has no space or no free connections: see its log"
	case classIntervention, classConnection:
		return "PostgreSQL is stopping, starting or has cancelled the statement: try again later"
	}
	return "PostgreSQL refused the operation (code " + e.Code + "): see its log; nothing was changed"
}

// UsageError is a command that was written wrongly.
type UsageError struct{ error }

func (e UsageError) Unwrap() error { return e.error }

func Usagef(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }

// oneOf is a usage error unless a value of a flag, if there is one, is among those that exist.
func oneOf(flag, value string, exist []string) error {
	if value == "" || slices.Contains(exist, value) {
		return nil
	}
	return Usagef("--%s %q: must be one of %s", flag, value, strings.Join(exist, ", "))
}

// Grouped writes a number with commas.
func Grouped(n uint64) string {
	text := strconv.FormatUint(n, 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
