package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"

	"golang.org/x/sync/errgroup"

	"gatewayd/chain/vite/node"
	"gatewayd/chain/vite/rpc"
)

// embedded is an exchange chain in this process, reached like any other over its JSON-RPC.
type embedded struct {
	node *node.Node
	rpc  *rpc.Server
}

// openEmbedded opens the chain with the genesis file of the configuration.
func openEmbedded(cfg EmbeddedConfig) (*embedded, error) {
	genesis, err := readGenesis(cfg.Genesis)
	if err != nil {
		return nil, err
	}
	return startEmbedded(node.Config{Dir: cfg.Dir, Genesis: genesis}, cfg)
}

// newEmbedded lets the system choose the ports.
func newEmbedded(cfg node.Config) (*embedded, error) {
	return startEmbedded(cfg, EmbeddedConfig{Listen: anyPort})
}

const anyPort = "127.0.0.1:0"

// Check refuses listeners that strangers can reach, unless the section says that they may: the development methods are for this machine only.
func (c EmbeddedConfig) Check() error {
	for name, address := range map[string]string{"listen": c.Listen, "ws": c.WS} {
		if address != "" && !c.Public && !onThisMachine(address) {
			return fmt.Errorf("%s %s: other machines could reach it; with `public: true` (chain run --public) it may be, and answers only what a real node's public port does",
				name, address)
		}
	}
	return nil
}

// onThisMachine tells whether only this machine reaches a listener at an address.
func onThisMachine(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && (host == "localhost" || net.ParseIP(host).IsLoopback())
}

// startEmbedded opens a chain and binds what the section says of its JSON-RPC.
func startEmbedded(cfg node.Config, section EmbeddedConfig) (*embedded, error) {
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
		HTTP: section.Listen, WS: cmp.Or(section.WS, anyPort), VirtualHosts: hosts, Workers: 1, Public: section.Public,
	})
	if err == nil {
		err = s.Listen()
	}
	if err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return &embedded{node: n, rpc: s}, nil
}

// URL is where the chain's JSON-RPC answers.
func (e *embedded) URL() string { return "http://" + e.rpc.HTTPAddr() }

// WSURL is the same over WebSocket.
func (e *embedded) WSURL() string { return "ws://" + e.rpc.WSAddr() }

// inside is a configuration as it should be in this chain's process: what would ask the chain at its port asks it from inside the process, over the same
// JSON-RPC. So strangers who fill the port hold up nobody here.
func (e *embedded) inside(cfg Config) Config {
	read := cfg
	cfg.read = &read
	cfg.Vite = slices.Clone(cfg.Vite)
	for i, v := range cfg.Vite {
		nodes := slices.Clone(v.Nodes)
		for j, target := range nodes {
			if e.is(target) {
				nodes[j], cfg.Vite[i].Dial = e.WSURL(), e.dial
			}
		}
		cfg.Vite[i].Nodes = nodes
	}
	cfg.Exchange = e.serving(cfg.Exchange)
	return cfg
}

// serving is the same for an exchange configuration, whose index hears of new blocks over the WebSocket.
func (e *embedded) serving(cfg *ExchangeConfig) *ExchangeConfig {
	if cfg == nil || !e.is(cfg.Node) {
		return cfg
	}
	followed := *cfg
	followed.Node, followed.dial = e.WSURL(), e.dial
	return &followed
}

// is tells whether a URL names one of the chain's own listeners.
func (e *embedded) is(target string) bool {
	u, err := url.Parse(target)
	if err != nil || u.Host == "" {
		return false
	}
	for _, own := range []string{e.rpc.HTTPAddr(), e.rpc.WSAddr()} {
		host, port, err := net.SplitHostPort(own)
		if err != nil || u.Port() != port {
			continue
		}
		ip := net.ParseIP(host)
		local := ip.IsUnspecified() && onThisMachine(u.Host) || ip.IsLoopback() && u.Hostname() == "localhost"
		if local || u.Hostname() == host {
			return true
		}
	}
	return false
}

// dial connects from inside the process to this chain, and to any other address over the network.
func (e *embedded) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if address == e.rpc.WSAddr() {
		return e.rpc.Dial(ctx, network, address)
	}
	return new(net.Dialer).DialContext(ctx, network, address)
}

// Run makes blocks and answers until ctx ends; then it closes the chain, whose last state may fail to be written.
func (e *embedded) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return e.node.Run(ctx) })
	g.Go(func() error { return e.rpc.Run(ctx) })
	return errors.Join(g.Wait(), e.node.Close())
}

// Close ends a chain that has not run. After Run it does nothing.
func (e *embedded) Close() { _ = e.node.Close() }
