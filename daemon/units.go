package daemon

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"gatewayd/chain"
	"gatewayd/config"
	"gatewayd/internal/database"
	"gatewayd/records"
	"gatewayd/signer/remote"
	"gatewayd/status"
	"gatewayd/watcher"
)

// freeFor is the time for which a chain must be free before a process takes it that does not lead:
// the one that leads comes first, so that one process has all where it may.
const freeFor = 2 * time.Second

// unit is the work under one lease (docs/adr/013-orders-reload-and-lease.md).
type unit struct {
	role  string   // of the lease
	whole bool     // it is all work
	chain chain.ID // empty: the work of the process that leads, which is of no one chain
}

func (u unit) leads() bool           { return u.chain == "" }
func (u unit) owns(id chain.ID) bool { return u.whole || id == u.chain }

// part is a unit that this process works on.
type part struct {
	unit
	tenure  *tenure
	store   *records.Store // fenced by the lease of the unit
	watcher *watcher.Watcher
	monitor *status.Monitor
}

// byChain reports whether each chain has a lease of its own. A database file has one process, and a
// signer in this process counts its limits for all chains.
func byChain(cfg config.Config) bool {
	_, file := database.Path(cfg.Database.URL)
	return !file && cfg.Wallet.Remote()
}

// CheckChains checks which chains a process is to work on; none stands for all.
func CheckChains(cfg config.Config, roles Roles, only []chain.ID) error {
	if len(only) == 0 {
		return nil
	}
	for _, id := range only {
		if !slices.Contains(cfg.ChainIDs(), id) {
			return fmt.Errorf("--chains %s: the configuration has the chains %v", id, cfg.ChainIDs())
		}
	}
	switch {
	case !roles.Bridge:
		return errors.New("--chains is for the roles follow and pay")
	case !byChain(cfg):
		return errors.New("--chains needs wallet.signer, and a database for several processes: set database.url to a PostgreSQL server")
	}
	return nil
}

// unitsOf returns the units that this process may take, the leading one first.
func (d *Daemon) unitsOf(cfg config.Config) []unit {
	if !byChain(cfg) {
		return []unit{{role: status.Role, whole: true}}
	}
	list := []unit{{role: status.Role}}
	for _, id := range slices.Sorted(maps.Keys(d.Chains)) {
		if only := d.deps.OnlyChains; len(only) == 0 || slices.Contains(only, id) {
			list = append(list, unit{role: status.ChainRole(id), chain: id})
		}
	}
	return list
}

// chainsOf are the chains of a part.
func (d *Daemon) chainsOf(p *part) (ids []chain.ID) {
	for _, id := range slices.Sorted(maps.Keys(d.Chains)) {
		if p.owns(id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// takeUnits takes the leases of all units until ctx ends, and starts the work under each at once.
func (d *Daemon) takeUnits(ctx context.Context, start func(*part)) error {
	for {
		switch err := d.takeFree(ctx, start); {
		case ctx.Err() != nil:
			return nil
		case err != nil && (d.again || d.standby):
			return fmt.Errorf("%w: %w", errNotLed, err)
		case err != nil:
			return err
		case len(d.parts) == len(d.units):
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(leasePoll):
		}
	}
}

// takeFree asks once for each lease that this process may take and does not have.
func (d *Daemon) takeFree(ctx context.Context, start func(*part)) error {
	if err := d.checkVersions(ctx); err != nil {
		return err
	}
	for _, u := range d.units {
		if slices.ContainsFunc(d.parts, func(p *part) bool { return p.unit == u }) || time.Now().Before(d.notBefore) {
			continue
		}
		if may, err := d.mayTake(ctx, u); err != nil || !may {
			if err != nil {
				d.log.WithError(err).Debug("reading which process works on which chain")
			}
			continue
		}
		t, leased, err := d.claim.ask(ctx, u)
		if leased && u.leads() {
			d.standBy(ctx)
		}
		if err != nil {
			return fmt.Errorf("taking the lease: %w", err)
		}
		if t == nil {
			continue
		}
		p, err := d.lead(ctx, u, t)
		if err != nil && !u.leads() && (errors.Is(err, remote.ErrAway) || database.Away(err)) {
			d.log.WithField("chain", u.chain).WithError(err).Warn("the work on the chain cannot begin; it is tried again")
			d.notBefore = time.Now().Add(freeFor)
			continue
		}
		if err != nil {
			return err
		}
		start(p)
	}
	return nil
}

// checkVersions ends the work on chains while another process of an earlier version leads: that one
// works on all chains.
func (d *Daemon) checkVersions(ctx context.Context) error {
	if d.Tenure != nil || len(d.parts) == 0 {
		return nil
	}
	held, err := d.heldLeases(ctx)
	if err != nil {
		d.log.WithError(err).Debug("reading which process leads")
	}
	if holder := held[status.Role]; holder != "" && !strings.Contains(holder, chainsMark) {
		return fmt.Errorf("%w: a process of an earlier version leads: %s", records.ErrFenced, holder)
	}
	return nil
}

// heldLeases returns the holders of the leases that are held now, by role.
func (d *Daemon) heldLeases(ctx context.Context) (map[string]string, error) {
	held := map[string]string{}
	err := d.store.View(ctx, func(tx *records.Tx) error {
		all, err := records.Leases(tx)
		for _, l := range all {
			if l.Held {
				held[l.Role] = l.Holder
			}
		}
		return err
	})
	return held, err
}

// mayTake reports whether this process may ask for a lease now. The leading process takes every
// free lease. Another one takes a chain that stays free, if its configuration fits the leader's.
func (d *Daemon) mayTake(ctx context.Context, u unit) (bool, error) {
	if u.leads() || d.Tenure != nil {
		return true, nil
	}
	if free, err := d.staysFree(ctx, u); err != nil || !free || !d.standby {
		return false, err
	}
	err := d.requireStored(ctx, d.Config)
	return err == nil, err
}

// staysFree reports whether the lease of a chain is free although another process leads. An older
// version that leads has one lease for all chains.
func (d *Daemon) staysFree(ctx context.Context, u unit) (bool, error) {
	held, err := d.heldLeases(ctx)
	switch {
	case err != nil || held[u.role] != "" || !strings.Contains(held[status.Role], chainsMark):
		delete(d.free, u.role)
		return false, err
	case d.free[u.role].IsZero():
		d.free[u.role] = time.Now()
	}
	return time.Since(d.free[u.role]) >= freeFor, nil
}

// run does the work of a part until ctx ends or its lease is lost.
func (d *Daemon) run(ctx context.Context, p *part) error {
	log := d.log.WithField("epoch", p.tenure.lease.Epoch)
	if p.leads() {
		leads := "this daemon leads: it follows the chains and pays"
		if d.again {
			leads = "the lease is taken again: all state is reloaded"
		}
		log.Info(leads)
		d.deps.Operators.setLeader(d)
		defer d.deps.Operators.setStandby(d.store)
	} else {
		log.WithField("chain", p.chain).Info("this process follows the chain and pays on it")
	}
	defer d.deps.Operators.setWorks(d.chainsOf(p))()
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error { return p.tenure.renew(gctx) })
	g.Go(func() error { return p.watcher.Run(gctx) })
	g.Go(func() error { return p.monitor.Run(gctx) })
	if p.leads() {
		g.Go(func() error { return d.deps.Operators.Metrics.Follow(gctx, d.figures()) })
		g.Go(func() error { return d.notifier.Run(gctx) })
		g.Go(func() error { return d.followConfig(gctx) })
		g.Go(func() error { return d.followChecks(gctx) })
		g.Go(func() error { return d.followHot(gctx) })
		g.Go(func() error { return logWaiting(gctx, d.log, d.awaits()) })
	}
	return p.tenure.explain(g.Wait())
}

// endTenures gives all leases back.
func (d *Daemon) endTenures() {
	for _, p := range d.parts {
		p.tenure.End()
	}
}
