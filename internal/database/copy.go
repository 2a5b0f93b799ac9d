package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/mattn/go-sqlite3"
)

// copyStep is the number of pages copied between two checks of the context.
const copyStep = 1024

// CopySQLite copies the file of a SQLite database as it is at one moment, also while others write
// to it, to a new file. It reads one snapshot, so it neither waits for who writes nor holds him up;
// what is written meanwhile stays in the write-ahead log until it has ended.
func CopySQLite(ctx context.Context, from, to string) (err error) {
	if _, err := os.Stat(from); err != nil {
		return err
	}
	f, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	source, err := openConn(from + "?_busy_timeout=5000")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	target, err := openConn(to + "?_synchronous=OFF")
	if err != nil {
		return err
	}
	if err := errors.Join(copyPages(ctx, source, target), target.Close()); err != nil {
		return err
	}
	return f.Sync()
}

func openConn(dsn string) (*sqlite3.SQLiteConn, error) {
	c, err := new(sqlite3.SQLiteDriver).Open(dsn)
	if err != nil {
		return nil, err
	}
	return c.(*sqlite3.SQLiteConn), nil
}

// copyPages holds one snapshot of the source from the first page to the last: without it each
// change by others would begin the copy again.
func copyPages(ctx context.Context, source, target *sqlite3.SQLiteConn) error {
	for _, statement := range []string{"BEGIN", "SELECT COUNT(*) FROM sqlite_schema"} {
		if _, err := source.Exec(statement, nil); err != nil {
			return err
		}
	}
	b, err := target.Backup("main", source, "main")
	if err != nil {
		return err
	}
	for done := false; !done && err == nil; {
		if done, err = b.Step(copyStep); err == nil {
			err = ctx.Err()
		}
	}
	return errors.Join(err, b.Finish())
}

// Bytes of the file that every open connection to a database in WAL mode has locked, according to
// SQLite's file format.
const (
	sharedFirst = 0x40000000 + 2
	sharedSize  = 510
)

// InUse reports whether another process has a SQLite file open. It changes nothing. A file that is
// not there is not in use.
func InUse(path string) (bool, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	lock := syscall.Flock_t{Type: syscall.F_WRLCK, Start: sharedFirst, Len: sharedSize}
	if err := syscall.FcntlFlock(f.Fd(), syscall.F_GETLK, &lock); err != nil {
		return false, fmt.Errorf("asking who has %s open: %w", path, err)
	}
	return lock.Type != syscall.F_UNLCK, nil
}

// OpenCopy opens a SQLite file without writers for reading. The file does not change, and no other
// file is created.
func OpenCopy(path string) (*sql.DB, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	dsn := url.URL{Scheme: "file", Path: path, RawQuery: "mode=ro&immutable=1"}
	return sql.OpenDB(connector{dsn.String(), new(sqlite3.SQLiteDriver)}), nil
}

// CheckCopy reads a complete SQLite file without writers and returns the version of an owner's
// schema in it, 0 for none.
func CheckCopy(ctx context.Context, path string, s Schema) (version int64, err error) {
	db, err := OpenCopy(path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var verdict string
	if err := db.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&verdict); err != nil {
		return 0, fmt.Errorf("checking the database: %w", err)
	}
	if verdict != "ok" {
		return 0, fmt.Errorf("the database is damaged: %s", verdict)
	}
	if len(s.Folders) == 0 {
		return 0, nil
	}
	table := s.Table
	if table == "" {
		table = "goose_db_version"
	}
	if err := db.QueryRowContext(ctx, "SELECT COALESCE(MAX(version_id), 0) FROM "+table).Scan(&version); err != nil {
		return 0, fmt.Errorf("reading the schema's version: %w", err)
	}
	return version, nil
}

// Newest is the version that Migrate brings a database to.
func (s Schema) Newest() (newest int64, err error) {
	files, err := layers(s.Folders).ReadDir(".")
	for _, f := range files {
		number, _, _ := strings.Cut(f.Name(), "_")
		version, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("migration %s: %w", f.Name(), err)
		}
		newest = max(newest, version)
	}
	return newest, err
}
