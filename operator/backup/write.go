package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gatewayd/config"
	"gatewayd/internal/database"
	"gatewayd/vite/ledger"
	"gatewayd/vite/store"
)

// Options of Write.
type Options struct {
	Program string // and its version
	// Apart means that data on a PostgreSQL server was backed up separately, before this.
	Apart bool
}

// Write backs up the gateway of a configuration into a new file, with or without a running daemon,
// and verifies it. An existing file is ErrExists and stays; after a failure, no file remains.
func Write(ctx context.Context, cfg config.Config, target string, o Options) (m Manifest, err error) {
	if _, err := os.Lstat(target); !errors.Is(err, fs.ErrNotExist) {
		return m, errors.Join(err, fmt.Errorf("%s %w: a backup never overwrites a file, use another name", target, ErrExists))
	}
	list, servers := parts(cfg)
	if len(servers) > 0 && !o.Apart {
		return m, onServers(cfg, servers)
	}
	work, err := os.MkdirTemp(filepath.Dir(target), "."+filepath.Base(target)+".part-")
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	made := filepath.Join(work, "backup")
	m = Manifest{Format: format, Program: o.Program, Made: time.Now().UTC().Truncate(time.Second), Absent: absent(cfg, servers)}
	if err := m.write(ctx, list, made, work); err != nil {
		return m, err
	}
	if _, err := verify(ctx, made, work); err != nil {
		return m, fmt.Errorf("verifying what was written: %w", err)
	}
	return m, publish(made, target)
}

// onServers returns the instructions for databases that are not files.
func onServers(cfg config.Config, servers []string) error {
	return fmt.Errorf("%s: on a PostgreSQL server, which has its own backups (docs/operations/backup.md). Create that one first, for example\n"+
		"  pg_dump --format=custom --file=gatewayd-records.dump '%s'\nand then the rest with\n  gatewayd backup -c %s --postgres-apart TARGET",
		strings.Join(servers, ", "), serverURL(cfg), cfg.Path)
}

func serverURL(cfg config.Config) string {
	if _, file := database.Path(cfg.Database.URL); !file && len(cfg.Networks) > 0 {
		return config.PlainURL(cfg.Database.URL)
	}
	return "postgres://..."
}

// write copies all parts into a new file.
func (m *Manifest) write(ctx context.Context, list []part, path, work string) (err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	w := newWriter(file, m.Made)
	for _, p := range list {
		f, err := m.copyPart(ctx, w, p, work)
		if err != nil {
			return fmt.Errorf("backing up %s: %w", p, err)
		}
		m.Files = append(m.Files, f)
	}
	return w.end(*m)
}

func (m *Manifest) copyPart(ctx context.Context, w *writer, p part, work string) (f File, err error) {
	f.Name = p.name
	from := p.path
	if p.kind.database() {
		from = filepath.Join(work, "copy.db")
		if err := p.copyTo(ctx, from); err != nil {
			return f, err
		}
		defer func() { err = errors.Join(err, os.Remove(from)) }()
		if f.Schema, err = database.CheckCopy(ctx, from, p.schema()); err != nil {
			return f, err
		}
	}
	if p.name == recordsName {
		if m.Chains, err = cursors(ctx, from); err != nil {
			return f, err
		}
	}
	in, err := os.Open(from)
	if err != nil {
		return f, err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return f, err
	}
	f.Size = info.Size() // of a log that grows: what is there by now
	if p.kind == chainLog {
		if f.Blocks, err = snapshotBlocks(in, f.Size); err != nil {
			return f, err
		}
	}
	f.SHA256, err = w.add(p.name, in, f.Size)
	return f, err
}

// copyTo copies a database as it is at one moment into a new file.
func (p part) copyTo(ctx context.Context, path string) error {
	if p.server != "" {
		return copyServer(ctx, p.server, path)
	}
	return absentDatabase(database.CopySQLite(ctx, p.path, path))
}

func absentDatabase(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: the daemon creates it at its first start. Is this the daemon's configuration, and its working directory?", err)
	}
	return err
}

// cursors returns the records' followed position of each chain.
func cursors(ctx context.Context, path string) (list []Cursor, err error) {
	db, err := database.OpenCopy(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	rows, err := db.QueryContext(ctx, "SELECT chain, height, hash, final_height FROM cursors ORDER BY chain")
	if err != nil {
		return nil, fmt.Errorf("reading the cursors: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var c Cursor
		if err := rows.Scan(&c.Chain, &c.Height, &c.Hash, &c.Final); err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, rows.Err()
}

// snapshotBlocks counts the snapshot blocks of a complete log.
func snapshotBlocks(log *os.File, size int64) (n uint64, err error) {
	_, err = store.Inspect(log, size, func(record []byte) error {
		if len(record) > 0 && ledger.MakesSnapshot(record[0]) {
			n++
		}
		return nil
	})
	return n, err
}

// publish gives a finished file its name, unless the name is taken, durably.
func publish(made, target string) error {
	err := os.Link(made, target) // unlike a renaming, this never overwrites
	switch {
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%s %w", target, ErrExists)
	case err != nil: // the file system has no links
		err = os.Rename(made, target)
	}
	if err != nil {
		return err
	}
	return syncDir(filepath.Dir(target))
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
