package backup

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"time"

	"gatewayd/chain"
	"gatewayd/config"
	"gatewayd/internal/database"
	"gatewayd/records"
	"gatewayd/records/signguard"
	"gatewayd/vite/store"
)

// keeps is true when the existing file of a part stays, because it has everything that the backup
// has. A sign-guard that lacks something is an error.
func (r *restore) keeps(ctx context.Context, p part) (bool, error) {
	if p.server != "" {
		return keepsServer(ctx, p, stagedPath(p.path))
	}
	if _, err := os.Stat(p.path); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return false, err
	}
	switch p.kind {
	case chainLog:
		whole, err := wholeFrames(r.section(p.name))
		if err != nil {
			return false, err
		}
		return r.beginsLike(p, whole)
	case plain:
		return r.beginsLike(p, r.section(p.name).Size())
	case guarded:
		return r.keepsGuard(ctx, p)
	}
	return false, nil
}

func (r *restore) keepsGuard(ctx context.Context, p part) (bool, error) {
	if r.o.OlderGuard {
		return false, nil
	}
	g, err := signguard.Open(p.path)
	if err != nil {
		return false, notNewest(p.path, err)
	}
	lacks, err := g.Lacks(ctx, stagedPath(p.path))
	if err == nil && lacks != "" {
		err = errors.New("it does not know " + lacks + " of the backup")
	}
	if err = errors.Join(err, g.Close()); err != nil {
		return false, notNewest(p.path, err)
	}
	return true, nil
}

func notNewest(path string, err error) error {
	return fmt.Errorf("the sign-guard %s cannot be the newest one: %w. Restore the newest one; if it is lost, use the backup's with --replace --older-guard", path, err)
}

// wholeFrames returns the end of a log's last complete frame.
func wholeFrames(log *io.SectionReader) (int64, error) {
	s, err := store.Inspect(log, log.Size(), func([]byte) error { return nil })
	return s.Bytes, err
}

// beginsLike is true when the existing file of a part begins with that many bytes of the backup's.
func (r *restore) beginsLike(p part, size int64) (bool, error) {
	there, err := os.Open(p.path)
	if err != nil {
		return false, err
	}
	defer there.Close()
	a, b := bufio.NewReader(io.LimitReader(there, size)), bufio.NewReader(io.LimitReader(r.section(p.name), size))
	for {
		x, errX := a.ReadByte()
		y, errY := b.ReadByte()
		switch {
		case errors.Is(errX, io.EOF) && errors.Is(errY, io.EOF):
			return true, nil
		case errX != nil && !errors.Is(errX, io.EOF):
			return false, fmt.Errorf("comparing %s with the backup's: %w", p.path, errX)
		case errY != nil && !errors.Is(errY, io.EOF):
			return false, fmt.Errorf("comparing %s with the backup's: %w", p.path, errY)
		case errX != nil || errY != nil || x != y:
			return false, nil
		}
	}
}

// stopAccounts halts every paying account in the staged records when the sign-guard is the
// backup's: later signatures are then unknown. It also skips as many addresses as may have been
// given since. Where the sign-guard is the newest, the daemon automatically detects keys that have
// signed more.
func (r *restore) stopAccounts(ctx context.Context) error {
	for _, p := range r.list {
		if p.kind != guarded {
			continue
		}
		if err := r.passOver(ctx, stagedPath(p.path)); err != nil {
			return err
		}
		return r.halt(ctx)
	}
	return nil
}

// halt leaves the records of a signer's daemon to the daemon: it stops every account when it sees
// that the sign-guard knows less than before.
func (r *restore) halt(ctx context.Context) error {
	if r.cfg.Signs() {
		return nil
	}
	where := r.cfg.Database
	staged := slices.ContainsFunc(r.list, func(p part) bool { return p.name == recordsName })
	if path, file := database.Path(where.URL); file && staged {
		where.URL = "sqlite:" + stagedPath(path)
	}
	s, err := records.Open(ctx, where)
	if err != nil {
		return fmt.Errorf("opening the restored records: %w", err)
	}
	why := "restored with the sign-guard of the backup of " + r.Made.Format(time.RFC3339) + ", which does not know later signatures"
	err = s.Update(ctx, func(tx *records.Tx) error {
		for _, id := range r.cfg.ChainIDs() {
			accounts, err := tx.Accounts().List(id, records.KindHot, records.KindGas, records.KindGateway)
			if err != nil {
				return err
			}
			for _, a := range accounts {
				if err := tx.Accounts().SetState(id, a.Account, records.AccountHalted, why); err != nil {
					return err
				}
				r.report.Stopped = append(r.report.Stopped, Stopped{string(id), a.Account})
			}
		}
		return nil
	})
	return errors.Join(err, s.Close())
}

// maxPassed bounds the addresses that are passed over: no gateway gives out more between two
// backups.
const maxPassed = 1_000_000

// passOver takes the addresses as given that new users may have got since the backup.
func (r *restore) passOver(ctx context.Context, guard string) error {
	g, err := signguard.Open(guard)
	if err != nil {
		return err
	}
	passed := map[chain.ID]bool{}
	for _, n := range r.cfg.Networks {
		if err == nil && !passed[n.Source] {
			err, passed[n.Source] = g.PassOver(ctx, n.Source, givenSince(r.cfg, r.at.Sub(r.Made))), true
		}
	}
	return errors.Join(err, g.Close())
}

// givenSince returns the number of addresses that the limit of new users permits in a period: each
// started day counts in full, plus one, as a day may start at any moment.
func givenSince(cfg config.Config, since time.Duration) int {
	perDay := cfg.Gateway.BindingsPerDay()
	days := int(math.Ceil(max(since, 0).Hours()/24)) + 1
	return min(days*perDay, maxPassed)
}
