package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sirupsen/logrus"
	"golang.org/x/crypto/blake2b"
	"golang.org/x/sync/errgroup"

	"gatewayd/chain/ethereum"
	"gatewayd/chain/vite/client"
	"gatewayd/chain/vite/core"
	"gatewayd/exchangeapi"
	"gatewayd/exchangeapi/index"
	"gatewayd/exchangeapi/ws"
	"gatewayd/secretfile"
	"gatewayd/wallet"
	"gatewayd/web"
)

// ExchangeConfig is the section exchange of the configuration: the exchange's public API. Without the section there is none.
type ExchangeConfig struct {
	exchangeapi.Config `yaml:",inline"`
	// Node is the URL of the exchange chain's node, best over WebSocket, which tells of new blocks by itself; without it the first node of the
	// first chain in the list vite.
	Node    string       `yaml:"node"`
	Index   index.Config `yaml:"index"` // its database is exchange.db in the data directory unless it says otherwise
	Sockets ws.Config    `yaml:"sockets"`
	Keys    string       `yaml:"keys"` // URL of the database of API keys; without it apikeys.db in the data directory
	// The secrets of API keys are encrypted with 32 bytes in hexadecimal, from an environment variable or a file. The file is made if it is
	// missing; without a name it is apikeys.secret in the data directory. Keep a copy apart: without it every account needs a new key.
	SecretFile string `yaml:"secret_file"`
	SecretEnv  string `yaml:"secret_env"`
	// KeyPage serves the page of API keys at /keys; left out, it is served.
	KeyPage *bool `yaml:"key_page"`
	// Test is a test network under the path /test.
	Test *ExchangeTestConfig `yaml:"test"`

	// What the rest of the configuration says: the source chains, on which price feeds are read, and the tokens that the gateway bridges.
	sources []ethereum.Config
	bridged map[string][]exchangeapi.Bridged
	dial    func(ctx context.Context, network, address string) (net.Conn, error) // to a node in this process; nil for one elsewhere
	nodes   []string                                                             // of the chain in the list vite
}

// ExchangeTestConfig is the exchange of a test network.
type ExchangeTestConfig struct {
	Node  string       `yaml:"node"`
	Index index.Config `yaml:"index"`
}

// Names of the networks that API keys are issued for.
const (
	mainExchange = "main"
	testExchange = "test"
)

// withDefaults fills what follows from the data directory and the chain's nodes.
func (c ExchangeConfig) withDefaults(data string, nodes []string) ExchangeConfig {
	c.nodes = nodes
	if c.Node == "" && len(nodes) > 0 {
		c.Node = nodes[0]
	}
	c.Index.URL = cmp.Or(c.Index.URL, "sqlite:"+filepath.Join(data, "exchange.db"))
	c.Keys = cmp.Or(c.Keys, "sqlite:"+filepath.Join(data, "apikeys.db"))
	c.SecretFile = cmp.Or(c.SecretFile, filepath.Join(data, "apikeys.secret"))
	if c.Test != nil {
		test := *c.Test
		test.Index.URL = cmp.Or(test.Index.URL, "sqlite:"+filepath.Join(data, "exchange-test.db"))
		c.Test = &test
	}
	return c
}

// Check tells every rule that the section breaks, once the defaults are in.
func (c ExchangeConfig) Check() error {
	faults := []error{c.Config.Check(), c.Index.Check(), c.Sockets.Check()}
	for _, f := range c.Rates.Feeds {
		if _, known := sourceOf(c.sources, f.Chain); !known {
			faults = append(faults, fmt.Errorf("rates.feeds: chain %q is not in the list ethereum", f.Chain))
		}
	}
	if c.MaxConnections > 0 && c.MaxConnections <= c.Sockets.Connections {
		faults = append(faults, fmt.Errorf("max_connections %d: sockets.connections %d leave no room for requests", c.MaxConnections, c.Sockets.Connections))
	}
	if c.Node == "" {
		faults = append(faults, errors.New("node is wanted: there is no chain in the list vite"))
	}
	if c.Test != nil {
		faults = append(faults, c.Test.Index.Check())
		if c.Test.Node == "" {
			faults = append(faults, errors.New("test.node is wanted"))
		}
	}
	return errors.Join(faults...)
}

// secret reads the key that secrets are encrypted with, or makes it.
func (c ExchangeConfig) secret(getenv func(string) string) ([]byte, error) {
	if c.SecretEnv != "" {
		return parseSecret(c.SecretEnv, getenv(c.SecretEnv))
	}
	text, err := secretfile.Read(c.SecretFile)
	if !errors.Is(err, os.ErrNotExist) {
		if err != nil {
			return nil, fmt.Errorf("exchange.secret_file: %w", err)
		}
		return parseSecret(c.SecretFile, string(text))
	}
	secret := make([]byte, exchangeapi.SecretSize)
	if _, err := rand.Read(secret); err != nil {
		return nil, fmt.Errorf("making a secret: %w", err)
	}
	if err := writeNew(c.SecretFile, hex.EncodeToString(secret)+"\n"); err != nil {
		return nil, fmt.Errorf("writing the secret: %w", err)
	}
	return secret, nil
}

func parseSecret(from, text string) ([]byte, error) {
	secret, err := hex.DecodeString(strings.TrimSpace(text))
	if err != nil || len(secret) != exchangeapi.SecretSize {
		return nil, fmt.Errorf("secret from %s: %d hexadecimal digits are wanted", from, 2*exchangeapi.SecretSize)
	}
	return secret, nil
}

// writeNew writes a file for its owner only, all of it on disk; one that is there already is an error.
func writeNew(path, text string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Sync(), f.Close())
}

// delegation are the delegation addresses of one network. An account's follows from the wallet and the account alone, so no list of them can be
// lost, and each network has its own.
type delegation struct {
	keys    *wallet.Keys
	network string
}

// delegationLevels is how many levels of 31 bits tell accounts apart: together more than an address has entropy against collisions.
const delegationLevels = 5

// path is where the account's delegation address is derived.
func (d delegation) path(owner core.Address) string {
	sum := blake2b.Sum256([]byte("delegation " + d.network + " " + owner.String()))
	path := "m/44'/666666'"
	for i := range delegationLevels {
		path += fmt.Sprintf("/%d'", binary.BigEndian.Uint32(sum[4*i:])&(1<<31-1))
	}
	return path
}

// Agent is the account's delegation address.
func (d delegation) Agent(owner core.Address) (core.Address, error) {
	return exchangeAddress(d.keys, d.path(owner))
}

// SignAgent signs with the delegation address's key.
func (d delegation) SignAgent(ctx context.Context, owner core.Address, digest []byte) (public, signature []byte, err error) {
	return d.keys.Sign(ctx, d.path(owner), digest)
}

// exchange is the wired exchange API. Every open in openExchange has its close in Close.
type exchange struct {
	server  *exchangeapi.Server
	parts   []func(context.Context) error // Run of indexes and hubs
	waits   []dependency                  // the nodes
	closers []func() error
	log     *logrus.Logger
}

// openExchange wires the exchange API of a configuration with its defaults. It starts nothing.
func openExchange(ctx context.Context, cfg ExchangeConfig, keys *wallet.Keys, w world, log *logrus.Logger) (*exchange, error) {
	e := &exchange{log: log}
	if err := e.open(ctx, cfg, keys, w, log); err != nil {
		e.Close()
		return nil, fmt.Errorf("exchange API: %w", err)
	}
	return e, nil
}

// open leaves what it has opened to Close when it fails.
func (e *exchange) open(ctx context.Context, cfg ExchangeConfig, keys *wallet.Keys, w world, log *logrus.Logger) error {
	store, err := cfg.openKeys(ctx, w)
	if err != nil {
		return err
	}
	e.closers = append(e.closers, store.Close)
	feeds, err := openFeeds(cfg.sources, cfg.Rates.Feeds)
	if err != nil {
		return err
	}
	e.closers = append(e.closers, func() error { feeds.close(); return nil })
	parts := exchangeapi.Parts{Keys: store, Feeds: feeds, Log: log}
	if cfg.KeyPage == nil || *cfg.KeyPage {
		parts.Pages = web.Keys()
	}
	add := func(name, base, node string, o client.Options, x index.Config) error {
		network, err := e.network(ctx, node, o, x, cfg.Sockets, log.WithField("exchange", name))
		network.Name, network.BasePath, network.Agents = name, base, delegation{keys, name}
		parts.Networks = append(parts.Networks, network)
		return err
	}
	if err := add(mainExchange, "", cfg.Node, client.Options{Dial: cfg.dial, HTTP: overHTTP(cfg.Node, cfg.nodes)}, cfg.Index); err != nil {
		return err
	}
	if cfg.Gateway.URL != "" {
		parts.Networks[0].Bridged = cfg.bridged
	}
	if cfg.Test != nil {
		if err := add(testExchange, "/test", cfg.Test.Node, client.Options{}, cfg.Test.Index); err != nil {
			return err
		}
	}
	e.server, err = exchangeapi.New(cfg.Config, parts)
	return err
}

// openKeys opens the database of API keys.
func (c ExchangeConfig) openKeys(ctx context.Context, w world) (*exchangeapi.Keys, error) {
	secret, err := c.secret(w.getenv)
	if err != nil {
		return nil, err
	}
	return exchangeapi.OpenKeys(ctx, exchangeapi.KeysConfig{URL: c.Keys, Secret: secret})
}

// overHTTP is the node of a list that is reached over HTTP at the same host; "" for none.
func overHTTP(node string, nodes []string) string {
	at, err := url.Parse(node)
	if err != nil {
		return ""
	}
	for _, n := range nodes {
		u, err := url.Parse(n)
		if err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() == at.Hostname() {
			return n
		}
	}
	return ""
}

// network opens the index of one exchange and the hub that pushes its changes.
func (e *exchange) network(ctx context.Context, target string, o client.Options, cfg index.Config, sockets ws.Config, log *logrus.Entry) (exchangeapi.Network, error) {
	o.Log, o.Lazy = log, true
	node, err := client.Dial(ctx, target, o)
	if err != nil {
		return exchangeapi.Network{}, err
	}
	e.closers = append(e.closers, func() error { node.Close(); return nil })
	x, err := index.New(ctx, cfg, node, log)
	if err != nil {
		return exchangeapi.Network{}, err
	}
	e.closers = append(e.closers, x.Close)
	hub, err := ws.New(sockets, x)
	if err != nil {
		return exchangeapi.Network{}, err
	}
	e.parts = append(e.parts, x.Run, hub.Run)
	e.waits = append(e.waits, dependency{"the exchange API's node", func(ctx context.Context) error {
		if x.Reached() {
			return nil
		}
		return cmp.Or(x.Ready(), errNotReached)
	}})
	return exchangeapi.Network{Index: x, Node: node, Sockets: hub.Handler()}, nil
}

// Run follows the exchange and answers until ctx ends or a part fails.
func (e *exchange) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, run := range e.parts {
		g.Go(func() error { return run(ctx) })
	}
	g.Go(func() error { return e.server.Run(ctx) })
	g.Go(func() error { return tellWaiting(ctx, e.log, e.waits) })
	return g.Wait()
}

// errNotReached: the first look at the chain is not over.
var errNotReached = errors.New("it has not answered yet")

// Ready waits until the API listens and its nodes have been heard of.
func (e *exchange) Ready(ctx context.Context) error {
	if err := e.server.Ready(ctx); err != nil {
		return err
	}
	for _, d := range e.waits {
		for err := d.ask(ctx); err != nil; err = d.ask(ctx) {
			select {
			case <-ctx.Done():
				return fmt.Errorf("%s: %w", d.name, errors.Join(err, ctx.Err()))
			case <-time.After(readyPoll):
			}
		}
	}
	return nil
}

// readyPoll is how often Ready looks.
const readyPoll = 10 * time.Millisecond

// Close gives back what openExchange took, in reverse order; end Run first.
func (e *exchange) Close() {
	for _, c := range slices.Backward(e.closers) {
		if err := c(); err != nil {
			e.log.WithError(err).Warn("closing the exchange API")
		}
	}
	e.closers = nil
}

// serveExchange serves the exchange API until ctx ends; without a section in the configuration it does nothing.
func serveExchange(ctx context.Context, cfg *ExchangeConfig, keys *wallet.Keys, w world, log *logrus.Logger) error {
	if cfg == nil {
		return nil
	}
	e, err := openExchange(ctx, *cfg, keys, w, log)
	if err != nil {
		return err
	}
	defer e.Close()
	return e.Run(ctx)
}
