package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/sirupsen/logrus"

	"gatewayd/chain/ethereum"
	"gatewayd/operator/status"
	"gatewayd/records"
)

// reloadReport is what came of reading the configuration, for whoever ordered it.
type reloadReport struct {
	File    string         `json:"file"`
	Taken   []configChange `json:"taken"`
	Restart []string       `json:"restart"` // keys that have changed and that only a start takes over
	Refused string         `json:"refused,omitempty"`
	More    int            `json:"more,omitempty"` // keys left out
}

// maxReported bounds the keys that a report names.
const maxReported = 200

// followConfig reads the configuration again when an operator orders it or a SIGHUP asks for it, until ctx ends.
func (d *daemon) followConfig(ctx context.Context) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	asked := false // by a signal that is not answered yet
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-d.hangups:
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
			d.log.WithError(err).Debug("looking for orders to read the configuration again")
		default:
			asked = false
		}
	}
}

// serveReload reads the configuration if there is an order, or if it was asked for, and notes what came of it.
func (d *daemon) serveReload(ctx context.Context, asked bool) error {
	var order records.Reload
	found := false
	err := d.store.View(ctx, func(tx *records.Tx) (err error) {
		order, found, err = tx.OpenReload()
		return err
	})
	if err != nil || !found && !asked {
		return err
	}
	next, report, err := d.reread()
	if err != nil {
		report.Refused = err.Error()
	} else {
		d.take(next)
	}
	d.tell(report)
	return d.noteReload(ctx, order, found, next, report)
}

// reread reads the whole file and checks it as a start does. Nothing changes yet.
func (d *daemon) reread() (next Config, report reloadReport, err error) {
	report = reloadReport{File: d.cfg.path, Taken: []configChange{}, Restart: []string{}}
	if d.cfg.path == "" {
		return next, report, errors.New("this daemon has no configuration file")
	}
	if report.File, err = filepath.Abs(d.cfg.path); err != nil {
		return next, report, err
	}
	if next, err = LoadConfig(d.cfg.path); err != nil {
		return next, report, err
	}
	was := d.cfg.asRead()
	taken := was.taking(next)
	if err := taken.Check(); err != nil {
		return next, report, fmt.Errorf("without a restart this cannot be: %w", err)
	}
	if report.Taken, err = changesBetween(was, taken); err != nil {
		return next, report, err
	}
	waits, err := changesBetween(taken, next)
	for _, w := range waits {
		report.Restart = append(report.Restart, w.Key)
	}
	return next, report.bounded(), err
}

// asRead is the configuration as its file said it, with what was taken since.
func (c Config) asRead() Config {
	if c.read != nil {
		return *c.read
	}
	return c
}

func (r reloadReport) bounded() reloadReport {
	taken, restart := min(len(r.Taken), maxReported), min(len(r.Restart), maxReported)
	r.More = len(r.Taken) - taken + len(r.Restart) - restart
	r.Taken, r.Restart = append([]configChange{}, r.Taken[:taken]...), append([]string{}, r.Restart[:restart]...)
	return r
}

// take works by another configuration from now on. Chains learn of new tokens first and users last: what a user sends of a new token, when he
// is told of it, is read.
func (d *daemon) take(next Config) {
	d.cfg = d.cfg.taking(next)
	for _, e := range d.cfg.Ethereum {
		if c, ok := d.chains[e.ID].(*ethereum.Chain); ok {
			c.AddTokens(d.cfg.withTokens(e).Tokens...)
		}
	}
	networks := make([]records.Network, len(d.networks))
	for i, n := range d.cfg.Networks {
		networks[i] = n.network().WithAccountsOf(d.networks[i])
	}
	d.networks = networks
	d.watcher.Reconfigure(networks)
	d.monitor.Reconfigure(networks)
	if err := d.gateway.Reconfigure(d.cfg.Gateway, networks); err != nil { // Config.Check has seen to that
		d.log.WithError(err).Error("the gateway's pages keep their configuration")
	}
	if level, err := logrus.ParseLevel(d.cfg.Log.level()); err == nil {
		d.log.SetLevel(level)
	}
}

// tell writes what came of a reading into the log.
func (d *daemon) tell(r reloadReport) {
	log := d.log.WithField("file", r.File)
	if r.Refused != "" {
		log.Error("the configuration was read again and refused as a whole, the one before stays: " + r.Refused)
		return
	}
	for _, c := range r.Taken {
		log.WithFields(logrus.Fields{"key": c.Key, "was": c.Was, "now": c.Now}).Info("configuration changed")
	}
	for _, key := range r.Restart {
		log.WithField("key", key).Warn("configuration changed, which takes a restart")
	}
	log.WithFields(logrus.Fields{"changed": len(r.Taken), "restart": len(r.Restart)}).Info("the configuration was read again")
}

// noteReload answers who ordered the reading, or notes that it took place. A refusal is a condition until a reading succeeds.
func (d *daemon) noteReload(ctx context.Context, order records.Reload, ordered bool, next Config, r reloadReport) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	order.State, order.Report = records.ReloadDone, string(text)
	var wrong []records.Condition
	if r.Refused != "" {
		order.State = records.ReloadRefused
		wrong = []records.Condition{{Kind: string(status.ConfigRefused), Detail: "the daemon keeps its configuration, because the file is wrong: " + r.Refused}}
	} else if order.Fingerprint, err = next.fingerprint(); err != nil {
		return err
	}
	return d.store.Update(ctx, func(tx *records.Tx) error {
		if err := tx.NoteConditions("config", wrong); err != nil {
			return err
		}
		if ordered {
			return tx.EndReload(order)
		}
		return tx.NoteReload(order)
	})
}

// refresh reads the file once more under the lease: who has stood by for days would else lead with a configuration of days ago.
func (d *daemon) refresh(ctx context.Context) error {
	if d.cfg.path == "" {
		return nil
	}
	next, report, err := d.reread()
	if err != nil {
		report.Refused = err.Error()
		d.tell(report)
	} else {
		d.cfg = d.cfg.taking(next)
	}
	return d.noteStart(ctx, next, report)
}

// noteStart notes by which configuration the daemon begins, unless that is known.
func (d *daemon) noteStart(ctx context.Context, next Config, r reloadReport) error {
	print, err := next.fingerprint()
	if err != nil {
		return err
	}
	var before records.Reload
	var was reloadReport
	err = d.store.View(ctx, func(tx *records.Tx) (err error) {
		before, _, err = tx.Configured()
		return err
	})
	if err != nil {
		return err
	}
	if r.Refused == "" && before.Fingerprint == print && json.Unmarshal([]byte(before.Report), &was) == nil && len(was.Restart) == len(r.Restart) {
		return d.store.Update(ctx, func(tx *records.Tx) error { return tx.NoteConditions("config", nil) })
	}
	return d.noteReload(ctx, records.Reload{}, false, next, r)
}
