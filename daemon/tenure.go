package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/sirupsen/logrus"

	"gatewayd/records"
)

// LeaseTTL is the time for which a dead daemon on PostgreSQL keeps others waiting.
const LeaseTTL = 12 * time.Second

// leasePoll is the interval at which leases that others have are asked for.
const leasePoll = 250 * time.Millisecond

// tenure is the time for which a daemon holds a lease: only then it does the work under it. Losing
// one ends all of the daemon's work, not its process.
type tenure struct {
	lease   *records.Lease
	log     *logrus.Logger
	renewed time.Time // when the database last confirmed that the lease is ours
	fault   error     // its error since then
	ended   sync.Once
}

// claim asks for leases. Who stands by already also waits for a database that does not answer: it
// is there for bad times.
type claim struct {
	store   *records.Store
	holder  string
	log     *logrus.Logger
	waiting bool   // for the lease of the process that leads
	logged  string // the text of the last logged error
}

// ask asks once for the lease of a unit. It is nil if another process has it or the database does
// not answer: then ask again.
func (c *claim) ask(ctx context.Context, u unit) (t *tenure, leased bool, err error) {
	lease, err := c.store.Hold(ctx, u.role, c.holder, LeaseTTL)
	if err == nil {
		return &tenure{lease: lease, log: c.log, renewed: time.Now()}, false, nil
	}
	return nil, errors.Is(err, records.ErrLeased), c.note(u, err)
}

// note logs why a lease is not ours, once, or returns a fault that is not to be waited out.
func (c *claim) note(u unit, err error) error {
	leased := errors.Is(err, records.ErrLeased)
	switch {
	case leased && !u.leads():
		return nil
	case !leased && !c.waiting && u.leads():
		return err
	case err.Error() == c.logged:
	case leased:
		c.log.WithError(err).Warn("standing by: another daemon has this database's lease, or was just killed: waiting for the lease to end")
		c.waiting = true
	default:
		c.log.WithError(err).Warn("asking for the lease again")
	}
	c.logged = err.Error()
	return nil
}

// chainsMark is in the names of holders that take a lease for each chain.
const chainsMark = "/chains/"

// holderName is this daemon's name in other daemons' logs: no two have the same, since each opens
// the database anew.
func holderName(store *records.Store, byChain bool) string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	mark := "/"
	if byChain {
		mark = chainsMark
	}
	return fmt.Sprintf("%s/%d%s%s", host, os.Getpid(), mark, store.Instance())
}

// renew renews the lease at a third of its life until ctx ends or the lease is lost.
func (t *tenure) renew(ctx context.Context) error {
	tick := time.NewTicker(LeaseTTL / 3)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		err := t.lease.Renew(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, records.ErrFenced):
			return fmt.Errorf("keeping the lease: %w", err)
		case err != nil:
			t.fault = err
			t.log.WithError(err).Warn("renewing the lease")
		default:
			t.renewed, t.fault = time.Now(), nil
		}
	}
}

// explain adds to the error of a lost lease how long the database was away. It returns other errors
// unchanged.
func (t *tenure) explain(err error) error {
	away := time.Since(t.renewed).Round(time.Second)
	switch {
	case !errors.Is(err, records.ErrFenced) || away < LeaseTTL:
		return err
	case t.fault == nil:
		return fmt.Errorf("%w: the database did not answer a renewal for %s", err, away)
	}
	return fmt.Errorf("%w: the database did not answer a renewal for %s, but \"%w\"", err, away, t.fault)
}

// End gives the lease back, unless it is lost. It is safe to repeat.
func (t *tenure) End() {
	t.ended.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := t.lease.Release(ctx); err != nil {
			t.log.WithError(err).Debug("giving the lease back")
		}
	})
}

// errNotLed marks a standby that could not open its parts under the lease. It opens them again,
// since the database may be away for a moment.
var errNotLed = errors.New("opening what the leader needs")

// runTenures runs a daemon until serving ends or a part fails; its work ends with ctx. It loses its
// lease if the database was away for longer than the lease lasts, or another daemon has taken over.
// Then all its parts are closed and opened again: no earlier state is used again.
func runTenures(ctx, serving context.Context, d *Daemon) error {
	for {
		err := d.serve(ctx, serving)
		d.decide(true) // the exchange API does not wait for another tenure
		d.Close()
		lasting := errors.Is(err, errNotLed) && (errors.Is(err, records.ErrConflict) || errors.Is(err, records.ErrOtherGuard))
		if ctx.Err() != nil || serving.Err() != nil || lasting || (!errors.Is(err, records.ErrFenced) && !errors.Is(err, errNotLed)) {
			return err
		}
		if errors.Is(err, records.ErrFenced) {
			d.log.WithError(err).Error("signing has stopped: the lease is lost; waiting until it is free")
		} else {
			d.log.WithError(err).Warn("opening all parts again")
			select {
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
		}
		if d, err = reopen(ctx, d); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
	}
}

// reopen opens a daemon again, and waits for its database without end.
func reopen(ctx context.Context, d *Daemon) (*Daemon, error) {
	logged := ""
	for {
		next, err := Open(ctx, d.Config, d.deps)
		if err == nil {
			next.again, next.limits, next.alerts = true, d.limits, d.alerts
		}
		if err == nil || ctx.Err() != nil || errors.Is(err, records.ErrNewer) {
			return next, err
		}
		if err.Error() != logged {
			d.log.WithError(err).Warn("waiting for the database")
			logged = err.Error()
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(time.Second):
		}
	}
}
