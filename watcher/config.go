package watcher

import (
	"fmt"
	"time"
)

// Config is the watcher's part of the configuration file. Zero values take the defaults.
type Config struct {
	Poll         time.Duration `yaml:"poll"`          // how often a chain's head is asked; default 1s
	ReplaceAfter uint64        `yaml:"replace_after"` // blocks that a payout may stay unmined before its fee is raised; default 3
	FetchAhead   int           `yaml:"-"`             // blocks read in parallel from a linked chain that answers no ranges; default 8
	Sweep        string        `yaml:"sweep"`         // cron schedule of sweeping deposit addresses, UTC; default every 10 minutes
	Reconcile    time.Duration `yaml:"reconcile"`     // how often books and balances are compared; default 15s
	// how often the accounts of a pool share what they hold, and what is above hot_max goes to the
	// cold address; default 15s
	Level        time.Duration `yaml:"level"`
	QuoteEvery   time.Duration `yaml:"quote_every"`   // how often network costs are quoted; default 60s
	BalanceAudit time.Duration `yaml:"balance_audit"` // how often the coin of all our accounts is compared with the books; default 1h
	// longest time between two comparisons of everything held of each token with the books and with
	// what is owed; default 24h. They are made at each reconciliation as long as they take less
	// than a 200th of the time
	Solvency time.Duration `yaml:"solvency"`
}

func (c Config) withDefaults() Config {
	setDefault(&c.Poll, DefaultPoll)
	setDefault(&c.ReplaceAfter, 3)
	setDefault(&c.FetchAhead, 8)
	setDefault(&c.Sweep, "*/10 * * * *")
	c.Reconcile = c.ReconcileEvery()
	setDefault(&c.Level, 15*time.Second)
	setDefault(&c.QuoteEvery, time.Minute)
	setDefault(&c.BalanceAudit, time.Hour)
	setDefault(&c.Solvency, 24*time.Hour)
	return c
}

// ReconcileEvery returns the time between two reconciliations.
func (c Config) ReconcileEvery() time.Duration {
	setDefault(&c.Reconcile, 15*time.Second)
	return c.Reconcile
}

// Check names the first setting that cannot be used.
func (c Config) Check() error {
	c = c.withDefaults()
	for _, d := range []struct {
		name  string
		value time.Duration
	}{{"poll", c.Poll}, {"reconcile", c.Reconcile}, {"level", c.Level}, {"quote_every", c.QuoteEvery}, {"balance_audit", c.BalanceAudit}, {"solvency", c.Solvency}} {
		if d.value < 0 {
			return fmt.Errorf("%s: must be above zero", d.name)
		}
	}
	_, err := parseSchedule(c.Sweep)
	return err
}
