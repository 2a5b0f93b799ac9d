package main

import (
	"cmp"
	"context"
	"errors"

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

// newEmbedded lets the system choose the port of the WebSocket.
func newEmbedded(cfg node.Config, listen string) (*embedded, error) {
	return startEmbedded(cfg, EmbeddedConfig{Listen: listen})
}

const anyPort = "127.0.0.1:0"

// startEmbedded opens a chain and binds what the section says of its JSON-RPC.
func startEmbedded(cfg node.Config, section EmbeddedConfig) (*embedded, error) {
	n, err := node.New(cfg)
	if err != nil {
		return nil, err
	}
	s, err := rpc.New(n, rpc.Config{
		HTTP: section.Listen, WS: cmp.Or(section.WS, anyPort), VirtualHosts: []string{"localhost"}, Workers: 1, Public: section.Public,
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

// serving is an exchange configuration as it should be beside this chain: an index that would follow it over HTTP follows it over WebSocket,
// which tells of new blocks by itself, and from inside the process.
func (e *embedded) serving(cfg *ExchangeConfig) *ExchangeConfig {
	if cfg == nil || cfg.Node != e.URL() {
		return cfg
	}
	followed := *cfg
	followed.Node, followed.dial = e.WSURL(), e.rpc.Dial
	return &followed
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
