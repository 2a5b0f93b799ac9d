package daemon

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sirupsen/logrus"
	"golang.org/x/sync/errgroup"

	"gatewayd/config"
	"gatewayd/exchangeapi"
	"gatewayd/exchangeapi/apikey"
	"gatewayd/exchangeapi/index"
	"gatewayd/exchangeapi/ws"
	"gatewayd/internal/secretfile"
	"gatewayd/metrics"
	"gatewayd/signer"
	"gatewayd/vite/client"
	"gatewayd/vite/core"
)

// ExchangeSecret reads the key that secrets are encrypted with, or makes it.
func ExchangeSecret(c config.Exchange, getenv func(string) string) ([]byte, error) {
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
	secret := make([]byte, apikey.SecretSize)
	if _, err := rand.Read(secret); err != nil {
		return nil, fmt.Errorf("creating a secret: %w", err)
	}
	if err := writeNew(c.SecretFile, hex.EncodeToString(secret)+"\n"); err != nil {
		return nil, fmt.Errorf("writing the secret: %w", err)
	}
	return secret, nil
}

func parseSecret(from, text string) ([]byte, error) {
	secret, err := hex.DecodeString(strings.TrimSpace(text))
	if err != nil || len(secret) != apikey.SecretSize {
		return nil, fmt.Errorf("secret from %s: must have %d hexadecimal digits", from, 2*apikey.SecretSize)
	}
	return secret, nil
}

// writeNew writes a file for its owner only, all of it on disk; one that is there already is an
// error.
func writeNew(path, text string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Sync(), f.Close())
}

// Agents signs for delegation addresses.
type Agents interface {
	Agent(ctx context.Context, network string, owner core.Address) (core.Address, error)
	SignAgent(ctx context.Context, network string, owner core.Address, block []byte) (public, signature []byte, err error)
}

// Delegation are the delegation addresses of one network of the exchange API. The signer has their
// keys, and signs orders and receives with them.
type Delegation struct {
	Signer  Agents
	Network string
}

// DelegationOf is that of keys in this process.
func DelegationOf(keys Keys, network string) Delegation {
	return Delegation{signer.New(signer.Parts{Keys: SigningKeys(keys, config.Config{})}), network}
}

// Agent is the account's delegation address.
func (d Delegation) Agent(ctx context.Context, owner core.Address) (core.Address, error) {
	return d.Signer.Agent(ctx, d.Network, owner)
}

// SignAgent signs a block with the delegation address's key.
func (d Delegation) SignAgent(ctx context.Context, owner core.Address, b *core.AccountBlock) (public, signature []byte, err error) {
	unsigned := *b
	unsigned.PublicKey, unsigned.Signature = make([]byte, core.PublicKeySize), make([]byte, core.SignatureSize)
	text, err := core.EncodeBlock(&unsigned)
	if err != nil {
		return nil, nil, err
	}
	return d.Signer.SignAgent(ctx, d.Network, owner, text)
}

// delegation is that of the signer in another process, or of this one's keys.
func (w Dependencies) delegation(network string) Delegation {
	if w.Signer != nil {
		return Delegation{w.Signer, network}
	}
	return DelegationOf(w.Keys, network)
}

// pushAccounts lets the pushes know the API keys.
type pushAccounts struct{ apikey.Accounts }

// SignIn returns whose key has signed.
func (a pushAccounts) SignIn(ctx context.Context, key, timestamp, signature string) (string, error) {
	owner, err := a.Accounts.SignIn(ctx, key, timestamp, signature)
	for _, refused := range []error{apikey.ErrUnknown, apikey.ErrTimestamp, apikey.ErrSignature, apikey.ErrRepeated} {
		if errors.Is(err, refused) {
			return "", ws.ErrSignIn
		}
	}
	return owner.String(), err
}

// Exchange is the wired exchange API. Close closes whatever OpenExchange has opened.
type Exchange struct {
	Server  *exchangeapi.Server
	keys    *apikey.Store
	parts   []func(context.Context) error // Run of indexes and hubs
	waits   []awaitedService              // the nodes
	closers []func() error
	log     *logrus.Logger
	metrics *metrics.Metrics
	retries bool // to listen, with an address that another process has
}

// OpenExchange wires the exchange API of a configuration with its defaults. It starts nothing.
func OpenExchange(ctx context.Context, cfg config.Exchange, w Dependencies) (*Exchange, error) {
	w = w.withDefaults()
	e := &Exchange{log: w.Log, metrics: w.Operators.Metrics}
	if err := e.open(ctx, cfg, w); err != nil {
		e.Close()
		return nil, fmt.Errorf("exchange API: %w", err)
	}
	return e, nil
}

// open leaves its open parts to Close when it fails.
func (e *Exchange) open(ctx context.Context, cfg config.Exchange, w Dependencies) error {
	log := w.Log
	store, err := OpenKeys(ctx, cfg, w.Getenv)
	if err != nil {
		return err
	}
	e.keys = store
	e.metrics.Pools("keys", store)
	e.closers = append(e.closers, store.Close)
	feeds, err := OpenFeeds(cfg.Chains, cfg.Rates.Feeds)
	if err != nil {
		return err
	}
	e.closers = append(e.closers, func() error { feeds.Close(); return nil })
	parts := exchangeapi.Parts{Keys: store, Feeds: feeds, Log: log, Tell: e.metrics.Requests("exchange"), Pages: exchangePages(cfg, w.Demo != nil), Demo: w.Demo, Readiness: w.Operators.ready}
	add := func(name, base, node string, o client.Options, x index.Config) error {
		network, err := e.network(ctx, name, node, o, x, cfg.Sockets, log.WithField("exchange", name))
		network.Name, network.BasePath, network.Agents = name, base, w.delegation(name)
		parts.Networks = append(parts.Networks, network)
		return err
	}
	if err := add(config.MainExchange, "", cfg.Node, client.Options{Dial: cfg.Dial, HTTP: OverHTTP(cfg.Node, cfg.Nodes)}, cfg.Index); err != nil {
		return err
	}
	if cfg.Gateway.URL != "" {
		parts.Networks[0].Bridged = cfg.Bridged
	}
	if cfg.Test != nil {
		if err := add(config.TestExchange, "/test", cfg.Test.Node, client.Options{}, cfg.Test.Index); err != nil {
			return err
		}
	}
	e.Server, err = exchangeapi.New(cfg.Config, parts)
	return err
}

// OpenKeys opens the database of API keys.
func OpenKeys(ctx context.Context, c config.Exchange, getenv func(string) string) (*apikey.Store, error) {
	secret, err := ExchangeSecret(c, getenv)
	if err != nil {
		return nil, err
	}
	return apikey.Open(ctx, apikey.Config{URL: c.Keys, Secret: secret})
}

// OverHTTP is the node of a list that is reached over HTTP at the same host; "" for none.
func OverHTTP(node string, nodes []string) string {
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
func (e *Exchange) network(ctx context.Context, name, target string, o client.Options, cfg index.Config, sockets ws.Config, log *logrus.Entry) (exchangeapi.Network, error) {
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
	e.metrics.Pools("index_"+name, x)
	hub, err := ws.New(sockets, x, pushAccounts{apikey.Accounts{Store: e.keys, Network: name}}, log)
	if err != nil {
		return exchangeapi.Network{}, err
	}
	e.parts = append(e.parts, x.Run, hub.Run)
	e.metrics.Exchange(name, metrics.Exchange{Index: x, Sockets: hub})
	e.waits = append(e.waits, awaitedService{"the exchange API's node", func(ctx context.Context) error {
		if x.Reached() {
			return nil
		}
		return cmp.Or(x.Ready(), errNotReached)
	}})
	return exchangeapi.Network{Index: x, Node: node, Sockets: hub.Handler()}, nil
}

// Run follows the exchange and answers until ctx ends or a part fails.
func (e *Exchange) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, run := range e.parts {
		g.Go(func() error { return run(ctx) })
	}
	g.Go(func() error { return serveWhenFree(ctx, e.log, "exchange.listen", e.retries, e.Server.Run) })
	g.Go(func() error { return logWaiting(ctx, e.log, e.waits) })
	return g.Wait()
}

// errNotReached: the first check of the chain is not complete.
var errNotReached = errors.New("it has not answered yet")

// Ready waits until the API listens and its nodes have been heard of.
func (e *Exchange) Ready(ctx context.Context) error {
	if err := e.Server.Ready(ctx); err != nil {
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

// readyPoll is the interval of Ready's checks.
const readyPoll = 10 * time.Millisecond

// Close closes what OpenExchange has opened, in reverse order; end Run first.
func (e *Exchange) Close() {
	e.metrics.NoExchange()
	for _, c := range slices.Backward(e.closers) {
		if err := c(); err != nil {
			e.log.WithError(err).Warn("closing the exchange API")
		}
	}
	e.closers = nil
}

// serveExchange serves the exchange API until ctx ends; without a section in the configuration it
// does nothing. It needs no lease. retries is for a process that another one may precede.
func serveExchange(ctx context.Context, cfg *config.Exchange, limits *exchangeLimits, w Dependencies, retries bool) error {
	if cfg == nil {
		return nil
	}
	e, err := OpenExchange(ctx, *cfg, w)
	if err != nil {
		return err
	}
	defer e.Close()
	e.retries = retries
	w.Operators.setExchange(e.Server)
	defer w.Operators.setExchange(nil)
	if err := limits.serve(e.Server); err != nil {
		return err
	}
	return e.Run(ctx)
}

// exchangeLimits hands what the bridge's daemon has read again to the exchange API's server, which
// may come later. The zero value is ready.
type exchangeLimits struct {
	mu     sync.Mutex
	server *exchangeapi.Server
	latest *exchangeapi.Config
}

func (l *exchangeLimits) serve(s *exchangeapi.Server) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.server = s
	return l.apply()
}

func (l *exchangeLimits) set(c exchangeapi.Config) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.latest = &c
	return l.apply()
}

func (l *exchangeLimits) apply() error {
	if l.server == nil || l.latest == nil {
		return nil
	}
	return l.server.Reconfigure(*l.latest)
}

func ExchangeAddress(keys Keys, path string) (core.Address, error) {
	text, err := keys.Address(path)
	if err != nil {
		return core.Address{}, err
	}
	return core.ParseAddress(text)
}
