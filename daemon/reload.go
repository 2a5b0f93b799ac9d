package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/sirupsen/logrus"

	"gatewayd/chain"
	"gatewayd/config"
	"gatewayd/internal/database"
	"gatewayd/records"
	"gatewayd/status"
)

// followConfig reads the configuration again when an operator orders it or a SIGHUP asks for it,
// until ctx ends.
func (d *Daemon) followConfig(ctx context.Context) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	asked := false // by a signal that is not answered yet
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-d.deps.Hangups:
			asked = true
		case <-tick.C:
		}
		err := d.serveReload(ctx, asked)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, records.ErrFenced):
			return err
		case err != nil:
			d.log.WithError(err).Debug("finding orders to reload the configuration")
		default:
			asked = false
		}
	}
}

// serveReload reads the configuration if there is an order, or if it was asked for, and records the
// result.
func (d *Daemon) serveReload(ctx context.Context, asked bool) error {
	var order records.Reload
	found := false
	err := d.Store.View(ctx, func(tx *records.Tx) (err error) {
		order, found, err = records.OpenReload(tx)
		return err
	})
	if err != nil || !found && !asked {
		return err
	}
	next, report, err := d.readConfig()
	var networks []records.Network
	if err == nil {
		err = d.takeSuccessors(next)
	}
	if err == nil {
		networks, err = d.storeNetworks(ctx, d.Config.Taking(next))
	}
	switch {
	case errors.Is(err, records.ErrFenced) || ctx.Err() != nil:
		return err
	case err != nil:
		report.Refused = err.Error()
	default:
		d.apply(next, networks)
	}
	d.logReload(report)
	return d.recordReload(ctx, order, found, next, report)
}

// readConfig reads the complete file and checks it as a start does. Nothing changes yet.
func (d *Daemon) readConfig() (next config.Config, report config.Reload, err error) {
	report = config.Reload{File: d.Config.Path, Taken: []config.Change{}, Restart: []string{}}
	if d.Config.Path == "" {
		return next, report, errors.New("this daemon has no configuration file")
	}
	if report.File, err = filepath.Abs(d.Config.Path); err != nil {
		return next, report, err
	}
	if next, err = config.Load(d.Config.Path); err != nil {
		return next, report, err
	}
	was := d.Config.AsRead()
	taken := was.Taking(next)
	if err := taken.Check(); err != nil {
		return next, report, fmt.Errorf("this needs a restart: %w", err)
	}
	if report.Taken, err = config.Changes(was, taken); err != nil {
		return next, report, err
	}
	waits, err := config.Changes(taken, next)
	for _, w := range waits {
		report.Restart = append(report.Restart, w.Key)
	}
	return next, report.Bounded(), err
}

// apply puts another configuration and its networks into effect. Chains learn of new tokens first
// and users last: a user's transfer of a new token, sent once it is announced, is read.
func (d *Daemon) apply(next config.Config, networks []records.Network) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.Config = d.Config.Taking(next)
	d.deps.Operators.setConfig(d.Config)
	for _, k := range d.Config.Chains() {
		can := chain.CapabilitiesOf(d.Chains[k.ID])
		if can.Tokens != nil {
			can.Tokens.AddTokens(k.Tokens...)
		}
		if can.MaxFee != nil {
			d.logFault(can.MaxFee.SetMaxFee(k.MaxFee), "the chain keeps its ceiling of fees")
		}
		if can.NodeList != nil {
			d.logFault(can.NodeList.SetNodes(k.Nodes), "the chain keeps its nodes")
		}
	}
	d.applyLimits()
	if d.checks != nil {
		d.logFault(d.checks.Reconfigure(context.Background(), d.Config.Signer.Config, d.Config.CheckedAssets()), "the signer keeps its checks")
	}
	d.Networks = networks
	for _, p := range d.parts { // a standby has none
		p.watcher.Reconfigure(networks)
		p.monitor.Reconfigure(networks)
	}
	d.logFault(d.Gateway.Reconfigure(d.Config.Gateway, networks), "the gateway's pages keep their configuration")
	if level, err := logrus.ParseLevel(d.Config.Log.LevelOrInfo()); err == nil {
		d.log.SetLevel(level)
	}
}

// applyLimits gives the exchange API of this process the configuration's limits.
func (d *Daemon) applyLimits() {
	if d.limits != nil && d.Config.Exchange != nil {
		d.logFault(d.limits.set(d.Config.Exchange.Config), "the exchange API keeps its limits")
	}
}

// logFault logs a fault that Config.Check excludes.
func (d *Daemon) logFault(fault error, what string) {
	if fault != nil {
		d.log.WithError(fault).Error(what)
	}
}

// logReload logs the result of a reading.
func (d *Daemon) logReload(r config.Reload) {
	log := d.log.WithField("file", r.File)
	d.deps.Operators.Metrics.Reloaded(r.Refused == "")
	if r.Refused != "" {
		log.Error("the configuration was reloaded and refused; the previous one stays: " + r.Refused)
		return
	}
	for _, c := range r.Taken {
		log.WithFields(logrus.Fields{"key": c.Key, "was": c.Was, "now": c.Now}).Info("configuration changed")
	}
	for _, key := range r.Restart {
		log.WithField("key", key).Warn("configuration changed, needs a restart")
	}
	log.WithFields(logrus.Fields{"changed": len(r.Taken), "restart": len(r.Restart)}).Info("configuration reloaded")
}

// recordReload stores the report for the order, or that a reading took place without one. A refusal
// is a condition until a reading succeeds.
func (d *Daemon) recordReload(ctx context.Context, order records.Reload, ordered bool, next config.Config, r config.Reload) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	order.State, order.Report = records.ReloadDone, string(text)
	var wrong []records.Condition
	if r.Refused != "" {
		order.State = records.ReloadRefused
		wrong = []records.Condition{{Kind: string(status.ConfigRefused), Detail: "the daemon keeps its configuration, because the file is invalid: " + r.Refused}}
	} else if order.Fingerprint, err = next.Fingerprint(); err != nil {
		return err
	}
	return d.Store.Update(ctx, func(tx *records.Tx) error {
		if err := records.NoteConditions(tx, "config", wrong); err != nil {
			return err
		}
		if ordered {
			return records.EndReload(tx, order)
		}
		return records.NoteReload(tx, order)
	})
}

// standBy serves users beside the leader, and keeps the configuration as new as the leader's: it
// reads the file again when the leader has done so, or after a SIGHUP. A database file has one
// process only, so nothing is served without the lease.
func (d *Daemon) standBy(ctx context.Context) {
	if _, file := database.Path(d.Config.Database.URL); file {
		return
	}
	if !d.standby {
		if err := d.requireStored(ctx, d.Config); err != nil {
			if d.refused != err.Error() {
				d.log.WithError(err).Warn("this process does not serve users yet")
				d.refused = err.Error()
			}
			return
		}
		d.decide(true)
	}
	d.followLeader(ctx)
}

// followLeader reads the file again if the leader has done so since the last call, or after a
// SIGHUP.
func (d *Daemon) followLeader(ctx context.Context) {
	var leaders records.Reload
	err := d.store.View(ctx, func(tx *records.Tx) (err error) {
		leaders, _, err = records.Configured(tx)
		return err
	})
	asked := false
	select {
	case <-d.deps.Hangups:
		asked = true
	default:
	}
	if err != nil || d.Config.Path == "" {
		return
	}
	first := d.leading == "" // the file was read a moment ago
	if !asked && (first || leaders.Fingerprint == d.leading) {
		d.leading = leaders.Fingerprint
		return
	}
	next, report, err := d.readConfig()
	var networks []records.Network
	if err == nil {
		err = d.requireStored(ctx, d.Config.Taking(next))
	}
	if err == nil {
		networks, _, err = d.withAccounts(ctx, d.Config.Taking(next))
	}
	if err != nil {
		report.Refused = err.Error()
		if d.refused == report.Refused && !asked { // tried again at each call
			return
		}
		d.refused = report.Refused
	} else {
		d.leading, d.refused = leaders.Fingerprint, ""
		d.apply(next, networks)
	}
	d.logReload(report)
}

// requireStored is an error unless the leader watches all accounts and tokens of a configuration,
// and this process has the leader's sign-guard: users would send to what no one reads.
func (d *Daemon) requireStored(ctx context.Context, cfg config.Config) error {
	now, err := d.signer.Identity(ctx)
	if err != nil {
		return err
	}
	if err := d.checkGuard(ctx, d.store, now); err != nil {
		return err
	}
	networks, lists, err := d.withAccounts(ctx, cfg)
	if err != nil {
		return err
	}
	return d.store.View(ctx, func(tx *records.Tx) error {
		for i, n := range networks {
			for _, a := range lists[i] {
				if _, err := tx.Accounts().Get(a.Account.Chain, a.Account.Account); err != nil {
					return fmt.Errorf("the leader's configuration lacks account %s of network %s: %w", a.Account.Account, n.Name, err)
				}
			}
			served, err := tx.Transfers().Serves(n)
			if err != nil {
				return err
			}
			if !served {
				return fmt.Errorf("the leader's configuration lacks a token of network %s: reload the leader", n.Name)
			}
		}
		return nil
	})
}

// refresh reads the file again under the lease: a standby of several days would otherwise lead with
// an old configuration.
func (d *Daemon) refresh(ctx context.Context) error {
	if d.Config.Path == "" {
		return nil
	}
	next, report, err := d.readConfig()
	if err == nil {
		err = d.takeSuccessors(next)
	}
	if err != nil {
		report.Refused = err.Error()
		d.logReload(report)
	} else {
		d.deps.Operators.Metrics.Reloaded(true)
		d.Config = d.Config.Taking(next)
	}
	return d.recordStart(ctx, next, report)
}

// recordStart records with which configuration the daemon starts, unless that is recorded already.
func (d *Daemon) recordStart(ctx context.Context, next config.Config, r config.Reload) error {
	print, err := next.Fingerprint()
	if err != nil {
		return err
	}
	var before records.Reload
	var was config.Reload
	err = d.Store.View(ctx, func(tx *records.Tx) (err error) {
		before, _, err = records.Configured(tx)
		return err
	})
	if err != nil {
		return err
	}
	if r.Refused == "" && before.Fingerprint == print && json.Unmarshal([]byte(before.Report), &was) == nil && len(was.Restart) == len(r.Restart) {
		return d.Store.Update(ctx, func(tx *records.Tx) error { return records.NoteConditions(tx, "config", nil) })
	}
	return d.recordReload(ctx, records.Reload{}, false, next, r)
}
