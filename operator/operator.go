// Package operator contains an operator's actions next to a running daemon: listing and repairing
// records, channels and accounts, transfers between accounts of ours, a reload, reading blocks
// again, the overview, the audit of the books and the first configuration. Its functions return
// reports; their callers print them. doctor is a separate package, status judges what blocks
// payments.
package operator

import (
	"context"
	"errors"
	"fmt"
	"os/user"
	"slices"
	"strings"

	"gatewayd/chain"
	"gatewayd/config"
	"gatewayd/records"
)

// Session is the environment of an operator's command next to a running daemon: the same database,
// no lease, no keys.
type Session struct {
	Config config.Config
	Store  *records.Store
}

// Open reads the configuration and opens its database.
func Open(ctx context.Context, path string) (*Session, error) {
	cfg, err := config.Load(path)
	if err != nil {
		return nil, err
	}
	store, err := records.OpenExisting(ctx, cfg.Database)
	if errors.Is(err, records.ErrNotFound) {
		return nil, plainly(err, "there is no database yet: `gatewayd run -c %s` creates it. Is %s the daemon's configuration?", path, path)
	}
	if err != nil {
		return nil, fmt.Errorf("opening the database: %w", err)
	}
	return &Session{Config: cfg, Store: store}, nil
}

// Change runs an operator's order in one transaction under the operator's name.
func (d *Session) Change(ctx context.Context, fn func(*records.Tx) error) error {
	return d.Store.Update(AsOperator(ctx), fn)
}

// Bridge returns what orders and repairs work with, by the configuration of the session.
func (d *Session) Bridge(ctx context.Context) (*Bridge, error) {
	chains, err := d.Chains(ctx)
	if err != nil {
		return nil, err
	}
	networks, err := d.Networks(ctx)
	if err != nil {
		return nil, err
	}
	return &Bridge{Chains: chains, Networks: func() []records.Network { return networks }}, nil
}

// AccountKeys is the name of the report of the accounts' extended public keys, by chain.
const AccountKeys = "account keys"

// Opener returns what opens adapters with our accounts in the records.
func (d *Session) Opener(ctx context.Context) (func(config.Chain) (config.Adapter, error), error) {
	keys, watch := map[chain.ID]config.AccountKey{}, records.NewWatch(d.Store)
	err := d.Store.View(ctx, func(tx *records.Tx) error {
		_, _, err := records.ReadReport(tx, AccountKeys, &keys)
		return err
	})
	return func(c config.Chain) (config.Adapter, error) {
		if key, known := keys[c.ID]; known { // else no daemon has worked on it yet
			var err error
			if c, err = c.WithKeys(key); err != nil {
				return nil, err
			}
		}
		return c.Open(watch, nil)
	}, err
}

// Chains are the configured chains. They read blocks and sign nothing.
func (d *Session) Chains(ctx context.Context) (map[chain.ID]chain.Chain, error) {
	open, err := d.Opener(ctx)
	if err != nil {
		return nil, err
	}
	chains := map[chain.ID]chain.Chain{}
	for _, c := range d.Config.Chains() {
		adapter, err := open(c)
		if err != nil {
			return nil, err
		}
		chains[c.ID] = adapter
	}
	return chains, nil
}

// Networks takes our accounts from the database, where the daemon has put them: an operator's
// command has no keys.
func (d *Session) Networks(ctx context.Context) (list []records.Network, err error) {
	err = d.Store.View(ctx, func(tx *records.Tx) error {
		list, err = Networks(tx, d.Config)
		return err
	})
	return list, err
}

// Networks are the networks of a configuration with the accounts that the records have.
func Networks(tx *records.Tx, cfg config.Config) (list []records.Network, err error) {
	for _, n := range cfg.Networks {
		network := cfg.NetworkRecord(n)
		known, err := knownAccounts(tx, n)
		if err != nil {
			return nil, err
		}
		for _, a := range cfg.OwnAccounts(n) {
			if of, ok := known[keyOf(a.Account)]; ok {
				network = config.WithAccount(network, config.OwnAccount{Account: of, Retired: a.Retired})
			}
		}
		list = append(list, network)
	}
	return list, nil
}

// ChainOf is a configured chain by its name.
func ChainOf(c config.Config, name string) (chain.ID, error) {
	ids := c.ChainIDs()
	if !slices.Contains(ids, chain.ID(name)) {
		names := make([]string, len(ids))
		for i, id := range ids {
			names[i] = string(id)
		}
		return "", Usagef("there is no chain %q: must be one of %s", name, strings.Join(names, ", "))
	}
	return chain.ID(name), nil
}

// SpelledAddress is an address as the records have it; a text that is none stays as it is.
func SpelledAddress(text string) string {
	if address, err := config.CanonicalAddress(text); err == nil {
		return address
	}
	return text
}

// OwnAccount is one of our accounts by the name of its chain and its address.
func (d *Session) OwnAccount(ctx context.Context, name, address string) (chain.ID, error) {
	id, err := ChainOf(d.Config, name)
	if err != nil {
		return "", err
	}
	err = d.Store.View(ctx, func(tx *records.Tx) error {
		_, err := tx.Accounts().Get(id, address)
		return err
	})
	if errors.Is(err, records.ErrNotFound) {
		return "", plainly(err, "%s is not one of our accounts on %s: `gatewayd account list` shows them", address, id)
	}
	return id, err
}

// accountKey identifies an account whose address is unknown.
type accountKey struct {
	chain chain.ID
	path  string
}

func keyOf(a records.Account) accountKey { return accountKey{a.Chain, a.KeyPath} }

// knownAccounts are the accounts that the database has of a network, deposit addresses left out.
func knownAccounts(tx *records.Tx, n config.Network) (map[accountKey]records.Account, error) {
	known := map[accountKey]records.Account{}
	for _, id := range []chain.ID{n.Source, n.Exchange} {
		accounts, err := tx.Accounts().List(id, records.KindHot, records.KindGas, records.KindGateway)
		if err != nil {
			return nil, err
		}
		for _, a := range accounts {
			if a.Network == n.Name {
				known[keyOf(a)] = a
			}
		}
	}
	return known, nil
}

// AsOperator names the operator in the history.
func AsOperator(ctx context.Context) context.Context {
	name := "operator"
	if u, err := user.Current(); err == nil {
		name += ":" + u.Username
	}
	return records.WithActor(ctx, name)
}
