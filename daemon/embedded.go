package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"

	"github.com/sirupsen/logrus"
	"golang.org/x/sync/errgroup"

	"gatewayd/config"
	"gatewayd/vite/node"
	"gatewayd/vite/rpc"
)

// Embedded is an exchange chain in this process, reached like any other over its JSON-RPC.
type Embedded struct {
	Node *node.Node
	RPC  *rpc.Server
}

// openEmbedded opens the chain with the genesis file of the configuration.
func openEmbedded(cfg config.Embedded, log *logrus.Logger) (*Embedded, error) {
	genesis, err := node.ReadGenesis(cfg.Genesis)
	if err != nil {
		return nil, err
	}
	e, err := StartEmbedded(node.Config{Dir: cfg.Dir, Genesis: genesis, Log: log}, cfg)
	if errors.Is(err, node.ErrOtherGenesis) {
		return nil, fmt.Errorf("embedded.genesis %s does not match the chain in embedded.dir %s: %w. Use that chain's own genesis file, or another directory", cfg.Genesis, cfg.Dir, err)
	}
	return e, err
}

// NewEmbedded lets the system choose the ports.
func NewEmbedded(cfg node.Config) (*Embedded, error) {
	return StartEmbedded(cfg, config.Embedded{Listen: AnyPort})
}

const AnyPort = "127.0.0.1:0"

// StartEmbedded opens a chain and binds the section's JSON-RPC addresses.
func StartEmbedded(cfg node.Config, section config.Embedded) (*Embedded, error) {
	if err := section.Check(); err != nil {
		return nil, err
	}
	n, err := node.New(cfg)
	if err != nil {
		return nil, err
	}
	hosts := []string{"localhost"}
	if section.Public { // by whatever name
		hosts = []string{"*"}
	}
	s, err := rpc.New(n, rpc.Config{
		HTTP: section.Listen, WS: cmp.Or(section.WS, AnyPort), VirtualHosts: hosts, Workers: 1, Public: section.Public,
	})
	if err == nil {
		err = s.Listen()
	}
	if err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return &Embedded{Node: n, RPC: s}, nil
}

// URL returns the address of the chain's JSON-RPC.
func (e *Embedded) URL() string { return "http://" + e.RPC.HTTPAddr() }

// WSURL is the same over WebSocket.
func (e *Embedded) WSURL() string { return "ws://" + e.RPC.WSAddr() }

// Inside adapts a configuration to this chain's process: connections to the chain's port are made
// inside the process, over the same JSON-RPC. So outsiders who fill the port do not delay the
// daemon.
func (e *Embedded) Inside(cfg config.Config) config.Config {
	cfg = cfg.RememberFile().Redial(e.isOwn, e.WSURL(), e.Dial)
	cfg.Exchange = e.insideExchange(cfg.Exchange)
	return cfg
}

// insideExchange is Inside for an exchange configuration, whose index subscribes to new blocks over
// the WebSocket.
func (e *Embedded) insideExchange(cfg *config.Exchange) *config.Exchange {
	if cfg == nil || !e.isOwn(cfg.Node) {
		return cfg
	}
	followed := *cfg
	followed.Node, followed.Dial = e.WSURL(), e.Dial
	return &followed
}

// isOwn is true for a URL of one of the chain's own listeners.
func (e *Embedded) isOwn(target string) bool {
	u, err := url.Parse(target)
	if err != nil || u.Host == "" {
		return false
	}
	for _, own := range []string{e.RPC.HTTPAddr(), e.RPC.WSAddr()} {
		host, port, err := net.SplitHostPort(own)
		if err != nil || u.Port() != port {
			continue
		}
		ip := net.ParseIP(host)
		local := ip.IsUnspecified() && config.OnThisMachine(u.Host) || ip.IsLoopback() && u.Hostname() == "localhost"
		if local || u.Hostname() == host {
			return true
		}
	}
	return false
}

// Dial connects from inside the process to this chain, and to any other address over the network.
func (e *Embedded) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	if address == e.RPC.WSAddr() {
		return e.RPC.Dial(ctx, network, address)
	}
	return new(net.Dialer).DialContext(ctx, network, address)
}

// Run makes blocks and answers until ctx ends; then it closes the chain, whose last state may fail
// to be written.
func (e *Embedded) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return e.Node.Run(ctx) })
	g.Go(func() error { return e.RPC.Run(ctx) })
	return errors.Join(g.Wait(), e.Node.Close())
}

// Close ends a chain that has not run. After Run it does nothing.
func (e *Embedded) Close() { _ = e.Node.Close() }
