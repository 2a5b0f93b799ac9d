package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// Lease is a role held for a time: "payer:eth:0x..". Its epoch grows with every change of hands,
// and a fenced store checks it in every Update.
type Lease struct {
	Role     string
	Holder   string
	Epoch    uint64
	ttl      time.Duration
	store    *Store
	fileLock *flock.Flock // nil unless Hold took a lock file
}

// Lease takes a role for ttl, by the database's clock. The holder's name must be unique to the
// running process: the same holder gets the role again at once, under a new epoch. ErrLeased, with
// the holder's name: another one holds it. On a server the sessions of an earlier holder end, and
// with them its transactions.
func (s *Store) Lease(ctx context.Context, role, holder string, ttl time.Duration) (*Lease, error) {
	l := &Lease{Role: role, Holder: holder, ttl: ttl, store: s}
	err := s.endExpired(ctx, l)
	if err == nil {
		err = s.updateLease(ctx, func(tx *Tx) error { return tx.takeLease(l, false) })
	}
	if err != nil {
		return nil, fmt.Errorf("taking the lease %s: %w", role, err)
	}
	return l, nil
}

// updateLease changes a lease. On a server it does not wait for the lock of the writers, which
// those of a frozen process hold one after the other: the row of the lease is locked instead.
func (s *Store) updateLease(ctx context.Context, f func(*Tx) error) error {
	if s.engine.file != "" {
		return s.unfenced().Update(ctx, f)
	}
	return s.update(ctx, s.db.Reads, func(*Tx) error { return nil }, f)
}

// endSessions reads no table of ours.
const endSessions = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity " +
	"WHERE datname = current_database() AND usename = current_user AND application_name = $1"

// endExpired ends the sessions of a holder on a server whose lease has expired, before l takes it.
// A frozen process leaves transactions, and writers that get the writers' lock one after the other.
func (s *Store) endExpired(ctx context.Context, l *Lease) error {
	if s.engine.file != "" {
		return nil
	}
	var row leaseRow
	err := s.View(ctx, func(tx *Tx) (err error) {
		row, err = tx.freeLease(l, "")
		return err
	})
	if err != nil || row.Expires == 0 || row.Holder == l.Holder {
		return err
	}
	instance := row.Holder[strings.LastIndexByte(row.Holder, '/')+1:]
	_, err = s.db.Reads.ExecContext(ctx, endSessions, sessionsOf(instance))
	return Doing(err, "ending the sessions of %s", row.Holder)
}

// Hold is Lease for holders that all use Hold. On SQLite, whose processes share a machine, each
// holds a lock on a separate file until Release, and the system releases a dead one's lock. So the
// owner of the lock need not wait for the lease of a killed holder. On PostgreSQL it is the same as
// Lease. The lock file stays; it is empty.
func (s *Store) Hold(ctx context.Context, role, holder string, ttl time.Duration) (*Lease, error) {
	if s.engine.file == "" {
		return s.Lease(ctx, role, holder, ttl)
	}
	l := &Lease{Role: role, Holder: holder, ttl: ttl, store: s, fileLock: flock.New(LockFile(s.engine.file, role))}
	locked, err := l.fileLock.TryLock()
	if err == nil && !locked {
		err = s.leasedTo(ctx, role)
	}
	if err == nil {
		if err = s.updateLease(ctx, func(tx *Tx) error { return tx.takeLease(l, true) }); err != nil {
			err = errors.Join(err, l.fileLock.Close())
		}
	}
	if err != nil {
		return nil, fmt.Errorf("taking the lease %s: %w", role, err)
	}
	return l, nil
}

// LockFile is the file that the holder of a role on a SQLite database has locked.
func LockFile(path, role string) string { return path + "." + role + ".lock" }

func (s *Store) unfenced() *Store { return s.Fenced(nil) }

// leasedTo is ErrLeased with the name of the role's holder.
func (s *Store) leasedTo(ctx context.Context, role string) error {
	err := s.View(ctx, func(tx *Tx) error {
		row, _, err := tx.leaseOf(role)
		if err != nil {
			return err
		}
		return fmt.Errorf("%w: %s", ErrLeased, row.Holder)
	})
	return err
}

type leaseRow struct {
	Holder  string `db:"holder"`
	Epoch   uint64 `db:"epoch"`
	Expires int64  `db:"expires_at"`
}

func (tx *Tx) leaseOf(role string) (row leaseRow, found bool, err error) {
	found, err = tx.Get(&row, `SELECT holder, epoch, expires_at FROM leases WHERE role = ?`, role)
	return row, found, err
}

// LeaseState is a lease as its row shows it.
type LeaseState struct {
	Role   string `json:"role"   db:"role"`
	Holder string `json:"holder" db:"holder"` // the last holder, if Held is false
	Epoch  uint64 `json:"epoch"  db:"epoch"`
	Held   bool   `json:"held"   db:"held"` // its time has not ended, by the database's clock
}

// Leases returns all leases that were ever taken.
func (tx *Tx) Leases() (list []LeaseState, err error) {
	now, err := tx.Clock()
	if err == nil {
		err = tx.List(&list, `SELECT role, holder, epoch, expires_at > ? AS held FROM leases ORDER BY role`, now)
	}
	return list, Doing(err, "reading the leases")
}

// freeLease returns the row of a lease that l may take. ErrLeased: another holder has it. ends is
// SQL at the end of the statement.
func (tx *Tx) freeLease(l *Lease, ends string) (row leaseRow, err error) {
	if _, err := tx.Get(&row, `SELECT holder, epoch, expires_at FROM leases WHERE role = ?`+ends, l.Role); err != nil {
		return row, err
	}
	now, err := tx.Clock()
	if err == nil && row.Holder != l.Holder && row.Expires > now {
		err = fmt.Errorf("%w: %s", ErrLeased, row.Holder)
	}
	return row, err
}

// takeLease makes l the holder. It waits for transactions that work under the lease now. inherit
// means that the holder in the row is known to be dead.
func (tx *Tx) takeLease(l *Lease, inherit bool) error {
	if _, err := tx.Exec(`INSERT INTO leases (role, holder, epoch, expires_at) VALUES (?, '', 0, 0) ON CONFLICT (role) DO NOTHING`, l.Role); err != nil {
		return err
	}
	row, err := tx.freeLease(l, tx.engine.take)
	if err != nil && (!inherit || !errors.Is(err, ErrLeased)) {
		return err
	}
	now, err := tx.Clock()
	if err != nil {
		return err
	}
	l.Epoch = row.Epoch + 1
	return tx.Change(`UPDATE leases SET holder = ?, epoch = ?, expires_at = ? WHERE role = ?`, l.Holder, l.Epoch, now+l.ttl.Milliseconds(), l.Role)
}

// Renew holds the lease for its time from now on. ErrFenced: it is lost, and so is everything done
// under it that is not stored.
func (l *Lease) Renew(ctx context.Context) error { return l.extend(ctx, l.ttl) }

// Release gives the role back at once.
func (l *Lease) Release(ctx context.Context) error {
	err := l.extend(ctx, 0)
	if l.fileLock != nil {
		err = errors.Join(err, l.fileLock.Close())
	}
	return err
}

func (l *Lease) extend(ctx context.Context, d time.Duration) error {
	err := l.store.updateLease(ctx, func(tx *Tx) error {
		if err := tx.checkFence(l); err != nil {
			return err
		}
		now, err := tx.Clock()
		if err != nil {
			return err
		}
		expires := now + d.Milliseconds()
		if d == 0 {
			expires = 0
		}
		return tx.Change(`UPDATE leases SET expires_at = ? WHERE role = ? AND holder = ? AND epoch = ?`, expires, l.Role, l.Holder, l.Epoch)
	})
	return Doing(err, "the lease %s", l.Role)
}

// checkFence is ErrFenced, with what became of the lease, unless it is held now. On a server no
// process takes the lease before this transaction ends.
func (tx *Tx) checkFence(l *Lease) error {
	now, err := tx.Clock()
	if err != nil {
		return err
	}
	ends := now
	if l.fileLock != nil { // until Release its time does not end
		ends = 0
	}
	var epoch uint64
	held, err := tx.Get(&epoch, `SELECT epoch FROM leases WHERE role = ? AND holder = ? AND epoch = ? AND expires_at > ?`+tx.engine.share, l.Role, l.Holder, l.Epoch, ends)
	if err == nil && !held {
		return tx.lostLease(l, now)
	}
	return err
}

// lostLease returns ErrFenced with the reason: the lease expired without a renewal, it was
// released, or another holder has the role.
func (tx *Tx) lostLease(l *Lease, now int64) error {
	row, found, err := tx.leaseOf(l.Role)
	switch {
	case err != nil:
		return err
	case found && (row.Holder != l.Holder || row.Epoch != l.Epoch):
		return fmt.Errorf("%w: %s has taken it", ErrFenced, row.Holder)
	case row.Expires == 0:
		return fmt.Errorf("%w: it was given back", ErrFenced)
	}
	return fmt.Errorf("%w: it expired %s ago, and no process has taken it", ErrFenced, time.Duration(now-row.Expires)*time.Millisecond)
}

// Clock is the database's own time in Unix milliseconds.
func (tx *Tx) Clock() (ms int64, err error) {
	err = tx.One(&ms, "SELECT "+tx.engine.clock)
	return ms, err
}

// Led reports whether a role is held now, as far as visible from outside: on SQLite by the lock
// file, else by the database's clock.
func (s *Store) Led(ctx context.Context, role string) (led bool, err error) {
	if s.engine.file != "" {
		l := flock.New(LockFile(s.engine.file, role))
		free, err := l.TryLock()
		if err == nil && free {
			err = l.Close()
		}
		if err != nil {
			return false, fmt.Errorf("reading the holder of the lease %s: %w", role, err)
		}
		return !free, nil
	}
	err = s.View(ctx, func(tx *Tx) error {
		now, err := tx.Clock()
		if err != nil {
			return err
		}
		led, err = tx.Exists("SELECT 1 FROM leases WHERE role = ? AND expires_at > ?", role, now) // only where leases have no lock file
		return err
	})
	return led, Doing(err, "reading the holder of the lease %s", role)
}
