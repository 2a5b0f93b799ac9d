package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"gatewayd/config"
	"gatewayd/daemon"
	"gatewayd/dev"
	"gatewayd/exchangeapi/apikey"
	"gatewayd/operator"
	"gatewayd/signer/remote"
	"gatewayd/vite/core"
	"gatewayd/wallet"
)

// keyCommands is one run of an apikey command.
type keyCommands struct {
	w       streams
	path    *string
	network string
	json    bool
}

// apikeyCommand manages API keys next to a running daemon.
func apikeyCommand(w streams) *cobra.Command {
	d := &keyCommands{w: w}
	c := &cobra.Command{Use: "apikey", Short: "Issue, list, limit and revoke API keys of the exchange"}
	d.path = configFlag(c)
	c.PersistentFlags().StringVar(&d.network, "network", config.MainExchange, "network of the key: main or test")
	c.PersistentFlags().BoolVar(&d.json, "json", false, "print JSON")
	c.AddCommand(d.issueCommand(), d.listCommand(), d.limitCommand(), d.revokeCommand())
	return c
}

// open returns the configuration and its keys; close them.
func (d *keyCommands) open(ctx context.Context) (config.Config, *apikey.Store, error) {
	cfg, err := config.Load(*d.path)
	if err != nil {
		return config.Config{}, nil, err
	}
	if cfg.Exchange == nil {
		return config.Config{}, nil, errors.New("the configuration has no section exchange")
	}
	keys, err := daemon.OpenKeys(ctx, *cfg.Exchange, d.w.getenv)
	return cfg, keys, err
}

// agents are the delegation addresses of the signer, or of the keys where there is none.
func (d *keyCommands) agents(cfg config.Config) (agents daemon.Delegation, done func(), err error) {
	if cfg.Wallet.Remote() {
		client, err := remote.Dial(cfg.Wallet.Target())
		return daemon.Delegation{Signer: client, Network: d.network}, func() { _ = client.Close() }, err
	}
	keys, err := d.wallet(cfg)
	if err != nil {
		return agents, nil, err
	}
	return daemon.DelegationOf(keys, d.network), func() {}, nil
}

// wallet unlocks the keys. A development environment has no store of them, but a description next
// to its configuration.
func (d *keyCommands) wallet(cfg config.Config) (*wallet.Keys, error) {
	if cfg.Wallet.Store == "" {
		if info, err := dev.ReadInfo(filepath.Join(cfg.Data, "dev.json")); err == nil {
			return wallet.FromMnemonic(info.Mnemonic)
		}
	}
	return unlock(cfg.Wallet, d.w)
}

// shownKey is a key as it is printed. Secret is there only for a key that was made just now.
type shownKey struct {
	Key     string    `json:"apiKey"`
	Secret  string    `json:"apiSecret,omitempty"`
	Network string    `json:"network"`
	Owner   string    `json:"address"`
	Agent   string    `json:"agentAddress"`
	Limit   int       `json:"limit"` // 0: the configuration's
	Created time.Time `json:"created"`
	Revoked time.Time `json:"revoked,omitzero"`
}

func newShownKey(k apikey.Key) shownKey {
	return shownKey{
		Key: k.Key, Network: k.Network, Owner: k.Owner.String(), Agent: k.Agent.String(), Limit: k.Limit, Created: k.Created, Revoked: k.Revoked,
	}
}

func (d *keyCommands) issueCommand() *cobra.Command {
	return &cobra.Command{
		Use: "issue ADDRESS", Short: "Create a key for an account, and print its secret once", Args: cobra.ExactArgs(1),
		Example: "  gatewayd apikey issue vite_…\n  gatewayd apikey issue vite_… --network test --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			owner, err := core.ParseAddress(args[0])
			if err != nil {
				return operator.Usagef("ADDRESS %q: must be an address of the exchange chain, vite_ and 50 characters", args[0])
			}
			if d.network != config.MainExchange && d.network != config.TestExchange {
				return operator.Usagef("--network %q: must be main or test", d.network)
			}
			cfg, store, err := d.open(cmd.Context())
			if err != nil {
				return err
			}
			defer store.Close()
			agents, done, err := d.agents(cfg)
			if err != nil {
				return err
			}
			defer done()
			agent, err := agents.Agent(cmd.Context(), owner)
			if err != nil {
				return err
			}
			key, secret, err := store.Issue(cmd.Context(), d.network, owner, agent)
			if err != nil {
				return err
			}
			out := newShownKey(key)
			out.Secret = secret
			if d.json {
				return printJSON(d.w.stdout, out)
			}
			_, err = fmt.Fprintf(d.w.stdout, "API key: %s\nAPI secret, shown only now: %s\nDelegation address: %s\n"+
				"Send one transfer to the delegation address, stake for its quota, and grant it the trading pairs.\n", out.Key, secret, out.Agent)
			return err
		},
	}
}

func (d *keyCommands) listCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List all keys of all networks, including revoked ones", Args: cobra.NoArgs,
		Example: "  gatewayd apikey list\n  gatewayd apikey list --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, store, err := d.open(cmd.Context())
			if err != nil {
				return err
			}
			defer store.Close()
			list, err := store.List(cmd.Context())
			if err != nil {
				return err
			}
			out, rows := []shownKey{}, [][]string{}
			for _, k := range list {
				s := newShownKey(k)
				out = append(out, s)
				rows = append(rows, []string{s.Key, s.Network, s.Owner, s.Agent, strconv.Itoa(s.Limit), stamp(s.Created), stamp(k.Revoked)})
			}
			header := []column{{name: "api key"}, {name: "network"}, {name: "address", cells: hashes}, {name: "delegation address", cells: hashes}, {name: "limit", cells: numbers}, {name: "created"}, {name: "revoked"}}
			return d.w.list(format{json: d.json}, header, rows, out)
		},
	}
}

func (d *keyCommands) limitCommand() *cobra.Command {
	return &cobra.Command{
		Use: "limit KEY CALLS", Short: "Set the private calls of a key in a cycle; 0 uses the configured limit", Args: cobra.ExactArgs(2),
		Example: "  gatewayd apikey limit 0BFCB9BB156EE73E894AB73570A47ACF 600\n  gatewayd apikey limit 0BFCB9BB156EE73E894AB73570A47ACF 0",
		RunE: func(cmd *cobra.Command, args []string) error {
			calls, err := strconv.ParseUint(args[1], 10, 31)
			if err != nil {
				return operator.Usagef("CALLS %q: must be an integer", args[1])
			}
			done := fmt.Sprintf("%s has %d calls in a cycle, within a second.", args[0], calls)
			if calls == 0 {
				done = args[0] + " has the configured limit of calls in a cycle, within a second."
			}
			return d.change(cmd.Context(), func(k *apikey.Store) error { return k.SetLimit(cmd.Context(), args[0], int(calls)) }, done)
		},
	}
}

func (d *keyCommands) revokeCommand() *cobra.Command {
	return &cobra.Command{
		Use: "revoke KEY", Short: "Revoke a key permanently; the account may get another", Args: cobra.ExactArgs(1),
		Example: "  gatewayd apikey revoke 0BFCB9BB156EE73E894AB73570A47ACF\n  gatewayd apikey revoke 0BFCB9BB156EE73E894AB73570A47ACF --network test",
		RunE: func(cmd *cobra.Command, args []string) error {
			return d.change(cmd.Context(), func(k *apikey.Store) error { return k.Revoke(cmd.Context(), args[0]) }, args[0]+" is revoked. The exchange refuses it within a second.")
		},
	}
}

// change changes a key and prints a confirmation.
func (d *keyCommands) change(ctx context.Context, f func(*apikey.Store) error, done string) error {
	_, store, err := d.open(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	if err := f(store); err != nil || d.json {
		return err
	}
	_, err = fmt.Fprintln(d.w.stdout, done)
	return err
}
