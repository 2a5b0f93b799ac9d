package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

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
	text, err := os.ReadFile(cfg.Genesis)
	if err != nil {
		return nil, fmt.Errorf("reading the genesis: %w", err)
	}
	var file genesisFile
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("genesis %s: %w", cfg.Genesis, err)
	}
	genesis, err := file.genesis()
	if err != nil {
		return nil, fmt.Errorf("genesis %s: %w", cfg.Genesis, err)
	}
	return startEmbedded(node.Config{Dir: cfg.Dir, Genesis: genesis}, cfg.Listen, cmp.Or(cfg.WS, anyPort))
}

// newEmbedded lets the system choose the port of the WebSocket.
func newEmbedded(cfg node.Config, listen string) (*embedded, error) {
	return startEmbedded(cfg, listen, anyPort)
}

const anyPort = "127.0.0.1:0"

func startEmbedded(cfg node.Config, listen, ws string) (*embedded, error) {
	n, err := node.New(cfg)
	if err != nil {
		return nil, err
	}
	s, err := rpc.New(n, rpc.Config{HTTP: listen, WS: ws, VirtualHosts: []string{"localhost"}, Workers: 1})
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
