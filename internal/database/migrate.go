package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

// What callers test for with errors.Is.
var (
	ErrNewer = errors.New("the database was written by a newer version")
	ErrOlder = errors.New("the database was written by an older version")
)

// Schema contains the migrations of one owner.
type Schema struct {
	Folders []fs.FS // of SQL files; a file of an earlier one wins
	Table   string  // of the versions: a database may be shared with other owners; empty for goose's own name
	// Joins is set by who only joins the owner's daemon, and does not migrate under its feet: to
	// him a database of an older program is ErrOlder.
	Joins bool
	// Migrating is called before the schema is migrated from one version to another, 0 being an
	// empty database; may be nil.
	Migrating func(from, to int64)
}

// Migrate brings the schema forward. There is no way back: a database of a newer program is
// ErrNewer.
func (db *DB) Migrate(ctx context.Context, s Schema) error {
	pool := db.Writes.DB
	dialect, options := goose.DialectSQLite3, []goose.ProviderOption{goose.WithDisableGlobalRegistry(true)}
	if s.Table != "" {
		options = append(options, goose.WithTableName(s.Table))
	}
	if db.File == "" {
		dialect = goose.DialectPostgres
		pool = db.unlimited()
		defer func() { _ = pool.Close() }()
		session, err := lock.NewPostgresSessionLocker()
		if err != nil {
			return err
		}
		options = append(options, goose.WithSessionLocker(session))
	}
	p, err := goose.NewProvider(dialect, pool, layers(s.Folders), options...)
	if err != nil {
		return fmt.Errorf("reading the migrations: %w", err)
	}
	current, target, err := p.GetVersions(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("reading the schema's version: %w", err)
	case current > target:
		return fmt.Errorf("%w: schema %d, this program knows %d", ErrNewer, current, target)
	case current == target:
		return nil
	case s.Joins:
		return fmt.Errorf("%w: schema %d, this program needs %d", ErrOlder, current, target)
	}
	if s.Migrating != nil {
		s.Migrating(current, target)
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("migrating from schema %d to %d: %w", current, target, err)
	}
	return nil
}

// unlimited is connections to a server whose statements may take any time: a migration of years of
// history does, and one that a limit ends leaves a schema that no program takes.
func (db *DB) unlimited() *sql.DB {
	settings := maps.Clone(db.settings)
	if settings == nil {
		settings = map[string]string{}
	}
	for _, limit := range []string{"statement_timeout", "idle_in_transaction_session_timeout", "lock_timeout"} {
		settings[limit] = "0"
	}
	return openSessions(db.server, settings)
}

// layers is the SQL files of several folders as one folder, the first layer first.
type layers []fs.FS

// Open finds a file in the first layer that has it.
func (l layers) Open(name string) (fs.File, error) {
	for _, layer := range l {
		f, err := layer.Open(name)
		if !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// ReadDir lists the SQL files of all layers.
func (l layers) ReadDir(name string) ([]fs.DirEntry, error) {
	var all []fs.DirEntry
	for _, layer := range l {
		entries, err := fs.ReadDir(layer, name)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if strings.HasSuffix(e.Name(), ".sql") {
				all = append(all, e)
			}
		}
	}
	slices.SortFunc(all, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return all, nil
}
