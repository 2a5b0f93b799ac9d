package backup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"gatewayd/internal/database"
	"gatewayd/records"
	"gatewayd/records/signguard"
	"gatewayd/vite/store"
)

// Verify reads a complete backup: every byte against its digests, every page of its databases,
// every frame of its log; the records and the sign-guard are opened. A database of a newer program
// is ErrNewer, any inconsistency ErrDamaged. It needs space for the largest database in the
// system's folder for temporary files.
func Verify(ctx context.Context, path string) (m Manifest, err error) {
	work, err := os.MkdirTemp("", "gatewayd-verify-")
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	return verify(ctx, path, work)
}

func verify(ctx context.Context, path, work string) (m Manifest, err error) {
	a, err := open(path)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	for _, f := range a.Files {
		p, _ := find(f.Name)
		if err := a.checkFile(ctx, p, f, work); err != nil {
			return a.Manifest, fmt.Errorf("%s: %s: %w", path, f.Name, err)
		}
	}
	return a.Manifest, nil
}

// checkFile checks one file of a backup as the program will read it.
func (a *archive) checkFile(ctx context.Context, p part, f File, work string) (err error) {
	switch {
	case p.kind == chainLog:
		_, err := store.Inspect(a.section(p.name), f.Size, func([]byte) error { return nil })
		return err
	case !p.kind.database():
		return nil
	}
	path := filepath.Join(work, "check.db")
	defer func() { err = errors.Join(err, removeDatabase(path)) }()
	if err := a.extract(p.name, path); err != nil {
		return err
	}
	return checkDatabase(ctx, p, f, path)
}

func checkDatabase(ctx context.Context, p part, f File, path string) error {
	version, err := database.CheckCopy(ctx, path, p.schema())
	if err != nil {
		return err
	}
	newest, err := p.schema().Newest()
	switch {
	case err != nil:
		return err
	case version != f.Schema:
		return fmt.Errorf("%w: its schema is %d, but %d in the manifest", ErrDamaged, version, f.Schema)
	case version > newest:
		return fmt.Errorf("%w: schema %d, this one knows %d: use the gatewayd that made it, or a later one", ErrNewer, version, newest)
	case p.name == recordsName:
		return opens(ctx, path)
	case p.kind == guarded:
		g, err := signguard.Open(path)
		if err != nil {
			return err
		}
		return g.Close()
	}
	return nil
}

// opens opens records as a command does. Those of an older program are brought up to date by the
// daemon that starts on them.
func opens(ctx context.Context, path string) error {
	s, err := records.OpenExisting(ctx, records.Config{URL: "sqlite:" + path})
	if errors.Is(err, records.ErrOlder) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.Close()
}

// removeDatabase removes a SQLite file with its companion files.
func removeDatabase(path string) error {
	var errs []error
	for _, suffix := range sqliteSuffixes {
		if err := os.Remove(path + suffix); !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// sqliteSuffixes are the suffixes of a SQLite database's files.
var sqliteSuffixes = []string{"", "-wal", "-shm"}
