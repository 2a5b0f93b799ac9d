package records

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

//go:embed migrations
var migrations embed.FS

// migrate brings the schema forward. There is no way back: a database of a newer program is ErrNewer. Who only joins a daemon does not migrate
// under its feet: to him one of an older program is ErrOlder.
func migrate(ctx context.Context, db *sql.DB, e engine, joins bool, tell func(from, to int64)) error {
	common, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	guards, err := fs.Sub(migrations, e.guards)
	if err != nil {
		return err
	}
	dialect, options := goose.DialectSQLite3, []goose.ProviderOption{goose.WithDisableGlobalRegistry(true)}
	if e.driver == "pgx" {
		dialect = goose.DialectPostgres
		session, err := lock.NewPostgresSessionLocker()
		if err != nil {
			return err
		}
		options = append(options, goose.WithSessionLocker(session))
	}
	p, err := goose.NewProvider(dialect, db, layers{guards, common}, options...)
	if err != nil {
		return fmt.Errorf("reading the migrations: %w", err)
	}
	return bringUp(ctx, p, joins, tell)
}

func bringUp(ctx context.Context, p *goose.Provider, joins bool, tell func(from, to int64)) error {
	current, target, err := p.GetVersions(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("reading the schema's version: %w", err)
	case current > target:
		return fmt.Errorf("%w: schema %d, this program knows %d", ErrNewer, current, target)
	case current == target:
		return nil
	case joins:
		return fmt.Errorf("%w: schema %d, this program wants %d", ErrOlder, current, target)
	}
	if tell != nil {
		tell(current, target)
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("migrating from schema %d to %d: %w", current, target, err)
	}
	return nil
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
