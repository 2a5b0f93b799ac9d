package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/sirupsen/logrus"
	"github.com/spf13/cobra"

	"gatewayd/chain"
	"gatewayd/chain/ethereum"
	"gatewayd/chain/vite"
	"gatewayd/records"
	"gatewayd/watcher"
)

// desk is what an operator's command works with beside a running daemon: the same database, no lease, no keys.
type desk struct {
	cfg   Config
	store *records.Store
}

// configFlag adds -c with the default of a working directory.
func configFlag(c *cobra.Command) *string {
	return c.PersistentFlags().StringP("config", "c", "config.yaml", "configuration file of the daemon")
}

// openDesk reads the configuration and opens its database.
func openDesk(ctx context.Context, path string) (*desk, error) {
	cfg, err := LoadConfig(path)
	if err != nil {
		return nil, err
	}
	store, err := records.OpenExisting(ctx, cfg.Database)
	if errors.Is(err, records.ErrNotFound) {
		return nil, plainly(err, "there is no database yet where the configuration has it: `gatewayd run -c %s` makes it. Is %s the daemon's configuration?", path, path)
	}
	if err != nil {
		return nil, fmt.Errorf("opening the database: %w", err)
	}
	return &desk{cfg: cfg, store: store}, nil
}

// change runs an operator's order in one transaction under the operator's name.
func (d *desk) change(ctx context.Context, fn func(*records.Tx) error) error {
	return d.store.Update(asOperator(ctx), fn)
}

// rules are the watcher's decisions without its loops: retry and refund use the very code the daemon does.
func (d *desk) rules(ctx context.Context) (*watcher.Watcher, error) {
	chains, watch := map[chain.ID]chain.Chain{}, records.NewWatch(d.store)
	for _, c := range d.cfg.Ethereum {
		adapter, err := ethereum.New(d.cfg.withTokens(c), nil, watch)
		if err != nil {
			return nil, err
		}
		chains[c.ID] = adapter
	}
	for _, c := range d.cfg.Vite {
		adapter, err := vite.New(c, nil, watch)
		if err != nil {
			return nil, err
		}
		chains[c.ID] = adapter
	}
	networks, err := d.networks(ctx)
	if err != nil {
		return nil, err
	}
	quiet := logrus.New() // what changes stands in the history
	quiet.SetOutput(io.Discard)
	return watcher.New(watcher.Config{}, watcher.Parts{Store: d.store, Chains: chains, Networks: networks, Log: quiet})
}

// networks takes our accounts from the database, where the daemon has put them: an operator's command has no keys.
func (d *desk) networks(ctx context.Context) (list []records.Network, err error) {
	err = d.store.View(ctx, func(tx *records.Tx) error {
		for _, n := range d.cfg.Networks {
			network := n.network()
			known, err := knownAccounts(tx, n)
			if err != nil {
				return err
			}
			for _, a := range d.cfg.ownAccounts(n) {
				if a, ok := known[keyOf(a)]; ok {
					network = withAccount(network, a)
				}
			}
			list = append(list, network)
		}
		return nil
	})
	return list, err
}

// chain is a configured chain by its name.
func (c Config) chain(name string) (chain.ID, error) {
	ids := c.chainIDs()
	if !slices.Contains(ids, chain.ID(name)) {
		return "", usagef("there is no chain %q: one of %v is wanted", name, ids)
	}
	return chain.ID(name), nil
}

// account is one of our accounts by the name of its chain and its address.
func (d *desk) account(ctx context.Context, name, address string) (chain.ID, error) {
	id, err := d.cfg.chain(name)
	if err != nil {
		return "", err
	}
	err = d.store.View(ctx, func(tx *records.Tx) error {
		_, err := tx.Account(id, address)
		return err
	})
	if errors.Is(err, records.ErrNotFound) {
		return "", plainly(err, "%s is no account of ours on %s: `gatewayd account list` shows them", address, id)
	}
	return id, err
}
