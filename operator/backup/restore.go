package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"gatewayd/config"
	"gatewayd/internal/database"
	"gatewayd/records"
	"gatewayd/status"
	"gatewayd/vite/node"
)

// RestoreOptions of Restore.
type RestoreOptions struct {
	Replace    bool     // databases that are there are renamed
	Only       []string // names in the backup; empty for all. The records always include a check of the sign-guard
	OlderGuard bool     // so is the sign-guard: its signatures since the backup are lost, and accounts are stopped
}

// Restored is the result of Restore.
type Restored struct {
	Manifest  Manifest      `json:"manifest"`
	Config    config.Config `json:"-"`
	Put       []string      `json:"put"`       // files that were put back
	Unchanged []string      `json:"unchanged"` // files that were there and know more
	Aside     []string      `json:"aside"`     // files that were there, by their new names
	Stopped   []Stopped     `json:"stopped"`   // accounts that sign nothing until an operator resumes them
}

// Stopped is an account that was halted.
type Stopped struct {
	Chain   string `json:"chain"`
	Account string `json:"account"`
}

// move is a file that gets another name.
type move struct{ from, to string }

// restore is one run of Restore.
type restore struct {
	*archive
	cfg    config.Config
	o      RestoreOptions
	at     time.Time
	list   []part // that are put back
	aside  []move
	locks  []*flock.Flock
	staged []string
	made   []string // files that the configuration includes, which were missing
	report Restored
}

// Restore puts a backup back where a configuration wants it. Where the configuration's file is
// missing, it is the backup's. It refuses what a daemon is running on, what is newer than this
// program, and files that are there already, unless they may be replaced; then they are renamed. A
// sign-guard and a chain's log that are there and have all that the backup has stay: they must
// never go back. Until everything is staged and checked, nothing is changed.
func Restore(ctx context.Context, path, configPath string, o RestoreOptions) (report Restored, err error) {
	a, err := open(path)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	r := &restore{archive: a, o: o, at: time.Now().UTC()}
	defer r.cleanUp()
	if err := r.readConfig(configPath); err != nil {
		return report, err
	}
	if err := r.plan(); err != nil {
		return report, err
	}
	if err := r.lock(ctx); err != nil {
		return report, err
	}
	if err := r.refuseExisting(func(p part) bool { return p.kind == stored || p.kind == derived }); err != nil {
		return report, err
	}
	if err := r.stage(ctx); err != nil {
		return report, err
	}
	if err := r.refuseExisting(func(part) bool { return true }); err != nil {
		return report, err
	}
	if err := r.stopAccounts(ctx); err != nil {
		return report, err
	}
	err = r.replace(ctx)
	r.report.Manifest, r.report.Config = a.Manifest, r.cfg
	return r.report, err
}

// readConfig takes the configuration that is there, or the backup's.
func (r *restore) readConfig(path string) (err error) {
	if r.cfg, err = config.Load(path); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if r.entry(configName) == nil {
		return err
	}
	if err := r.stageFile(configName, path); err != nil {
		return err
	}
	if err := r.putIncluded(stagedPath(path)); err != nil {
		return fmt.Errorf("the configuration in the backup: %w", err)
	}
	if r.cfg, err = config.Load(stagedPath(path)); err != nil {
		return fmt.Errorf("the configuration in the backup: %w", err)
	}
	r.cfg.Path = path
	return nil
}

// putIncluded puts back the files that the backup's configuration includes, where they are missing:
// it cannot be read without them. They are removed again if the restore fails.
func (r *restore) putIncluded(path string) error {
	list, err := config.Includes(path)
	if err != nil {
		return err
	}
	for i, to := range list {
		if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) || r.entry(includedName(i)) == nil {
			continue
		}
		if below, err := filepath.Rel(filepath.Dir(path), to); err != nil || !filepath.IsLocal(below) {
			return fmt.Errorf("it includes %s, outside its own folder: create this file first", to)
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		staged := stagedPath(to)
		err := r.extract(includedName(i), staged)
		if err == nil {
			err = os.Rename(staged, to)
		}
		if err != nil {
			return errors.Join(err, os.RemoveAll(staged))
		}
		r.made = append(r.made, to)
	}
	return nil
}

// plan holds the backup's files against the configuration's.
func (r *restore) plan() error {
	for _, name := range r.o.Only {
		if r.entry(name) == nil {
			return fmt.Errorf("the backup has no file %q: --verify lists its contents", name)
		}
	}
	wanted, _ := parts(r.cfg)
	paths := map[string]bool{}
	for _, p := range wanted {
		paths[p.name] = true
		switch {
		case p.ofConfig(), !r.wants(p):
		case r.entry(p.name) != nil:
			r.list = append(r.list, p)
		case p.needs():
			return fmt.Errorf("the configuration %s needs %s, which the backup does not contain: is it of this gateway?", r.cfg.Path, p)
		}
	}
	for _, f := range r.Files {
		if p, _ := find(f.Name); p.needs() && !paths[f.Name] {
			return fmt.Errorf("the backup contains %s, which is not in the configuration %s: is it of this gateway?", f.Name, r.cfg.Path)
		}
	}
	return nil
}

// wants is true for a part that was asked for.
func (r *restore) wants(p part) bool {
	only := r.o.Only
	return len(only) == 0 || slices.Contains(only, p.name) || p.kind == guarded && slices.Contains(only, recordsName)
}

// lock keeps daemons from what is to be replaced, or is ErrInUse.
func (r *restore) lock(ctx context.Context) error {
	for _, p := range r.list {
		if err := os.MkdirAll(filepath.Dir(p.path), 0o700); err != nil {
			return err
		}
		used, err := false, error(nil)
		switch {
		case p.name == recordsName:
			used, err = r.take(records.LockFile(p.path, status.Role))
		case p.kind == chainLog:
			used, err = r.take(filepath.Join(filepath.Dir(p.path), node.LockName))
		}
		if err == nil && !used && p.kind.database() && p.server == "" {
			used, err = database.InUse(p.path)
		}
		if err != nil {
			return err
		}
		if used {
			return inUse(p.path)
		}
	}
	if _, file := database.Path(r.cfg.Database.URL); !file && len(r.cfg.Networks) > 0 && !r.cfg.Signs() {
		return r.checkServer(ctx)
	}
	return nil
}

func inUse(what string) error {
	return fmt.Errorf("%s: %w: stop it first (or the command that has the file open)", what, ErrInUse)
}

// checkServer refuses while a daemon works on a server's records.
func (r *restore) checkServer(ctx context.Context) error {
	s, err := records.Open(ctx, r.cfg.Database)
	if err != nil {
		return fmt.Errorf("opening the records, which are to be restored before this: %w", err)
	}
	err = s.View(ctx, func(tx *records.Tx) error {
		held, err := records.Leases(tx)
		if slices.ContainsFunc(held, func(l records.LeaseState) bool { return l.Held }) {
			err = inUse("database.url")
		}
		return err
	})
	return errors.Join(err, s.Close())
}

func (r *restore) take(path string) (used bool, err error) {
	l := flock.New(path)
	locked, err := l.TryLock()
	if err == nil && locked {
		r.locks = append(r.locks, l)
	}
	return !locked, err
}

// stagedPath returns the temporary name of a staged file.
func stagedPath(path string) string {
	return filepath.Join(filepath.Dir(path), ".restore-"+filepath.Base(path))
}

func (r *restore) stageFile(name, path string) error {
	to := stagedPath(path)
	if err := removeDatabase(to); err != nil { // of a restore that was killed
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	r.staged = append(r.staged, to)
	return r.extract(name, to)
}

// stage writes all files under temporary names, checks them there, and leaves out those that must
// not replace a present file.
func (r *restore) stage(ctx context.Context) error {
	var list []part
	for _, p := range r.list {
		if err := r.stageFile(p.name, p.path); err != nil {
			return fmt.Errorf("restoring %s: %w", p, err)
		}
		if p.kind.database() {
			if err := checkDatabase(ctx, p, *r.entry(p.name), stagedPath(p.path)); err != nil {
				return fmt.Errorf("%s: %s: %w", r.archive.path, p.name, err)
			}
		}
		keep, err := r.keeps(ctx, p)
		if err != nil {
			return err
		}
		if keep {
			r.report.Unchanged = append(r.report.Unchanged, p.place())
		} else {
			list = append(list, p)
		}
	}
	r.list = list
	return nil
}

// refuseExisting is ErrExists for files that are there, unless they may be renamed.
func (r *restore) refuseExisting(of func(part) bool) error {
	mark := ".replaced-" + r.at.Format("20060102T150405Z")
	var there []string
	r.aside = nil
	for _, p := range r.list {
		if !of(p) || p.server != "" { // those were looked at when they were staged
			continue
		}
		files, err := p.existing(mark)
		if err != nil {
			return err
		}
		if len(files) > 0 {
			there = append(there, p.path)
		}
		r.aside = append(r.aside, files...)
	}
	if len(there) > 0 && !r.o.Replace {
		return fmt.Errorf("%s %w: --replace renames it and restores the backup's. Nothing was changed", strings.Join(there, " and "), ErrExists)
	}
	return nil
}

// existing are the files of a part that are in its place, with the names that they get: a
// database's so that it can be opened by its new name, a chain's with all that was made from its
// log.
func (p part) existing(mark string) (files []move, err error) {
	var all []move
	switch {
	case p.kind == chainLog:
		all, err = chainFiles(filepath.Dir(p.path), mark)
	case p.kind.database():
		for _, suffix := range sqliteSuffixes {
			all = append(all, move{p.path + suffix, p.path + mark + suffix})
		}
	default:
		all = []move{{p.path, p.path + mark}}
	}
	for _, f := range all {
		if _, err := os.Lstat(f.from); err == nil {
			files = append(files, f)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return files, err
}

// chainFiles are the log of a chain and what is made from it.
func chainFiles(dir, mark string) ([]move, error) {
	made, err := filepath.Glob(filepath.Join(dir, "state-*"))
	all := []move{}
	for _, path := range append(made, filepath.Join(dir, node.LogName), filepath.Join(dir, "history"), filepath.Join(dir, "history.broken")) {
		all = append(all, move{path, filepath.Join(dir, mark[1:], filepath.Base(path))})
	}
	return all, err
}

// replace renames what is there and puts what is staged in its place: the records first, in which
// accounts are stopped already.
func (r *restore) replace(ctx context.Context) error {
	for _, f := range r.aside {
		err := os.MkdirAll(filepath.Dir(f.to), 0o700)
		if err == nil {
			err = os.Rename(f.from, f.to)
		}
		if err != nil {
			return halfway(err)
		}
		r.report.Aside = append(r.report.Aside, f.to)
	}
	for _, p := range r.list {
		if err := r.putPart(ctx, p); err != nil {
			return halfway(err)
		}
	}
	r.report.Put, r.made = append(r.report.Put, r.made...), nil
	if _, err := os.Lstat(stagedPath(r.cfg.Path)); err == nil {
		return r.put(r.cfg.Path)
	}
	return nil
}

func (r *restore) putPart(ctx context.Context, p part) error {
	if p.server != "" {
		return r.fillServer(ctx, p)
	}
	return r.put(p.path)
}

func halfway(err error) error {
	return fmt.Errorf("%w: the restore is incomplete; do not start the daemon, fix the cause and restore again with --replace", err)
}

func (r *restore) put(path string) error {
	if err := os.Rename(stagedPath(path), path); err != nil {
		return err
	}
	r.report.Put = append(r.report.Put, path)
	return syncDir(filepath.Dir(path))
}

// cleanUp removes what was staged and not put back, and lets daemons in again.
func (r *restore) cleanUp() {
	for _, path := range r.staged {
		_ = removeDatabase(path)
	}
	for _, path := range r.made {
		_ = os.Remove(path)
	}
	for _, l := range r.locks {
		_ = l.Close()
	}
}
