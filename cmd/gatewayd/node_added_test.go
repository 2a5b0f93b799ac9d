package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ethereum/go-ethereum/ethclient"
	"github.com/stretchr/testify/require"

	"gatewayd/config"
	"gatewayd/dev"
	"gatewayd/internal/testing/faults"
)

// laggingNode makes a node lag behind another one, as one that is not synchronised yet: its newest
// block is older, and of all that came since it knows nothing.
type laggingNode struct {
	ctx    context.Context
	client *ethclient.Client // of the other one
	blocks atomic.Uint64     // how far behind
}

// lie answers as of the newest block of the laggard.
func (l *laggingNode) lie(method string, params []any, result json.RawMessage) any {
	at, err := l.client.BlockNumber(l.ctx)
	if err != nil {
		return nil
	}
	at -= min(at, l.blocks.Load())
	if method == "eth_blockNumber" {
		return fmt.Sprintf("0x%x", at)
	}
	if i := slices.Index(params, any("latest")); i >= 0 {
		then := slices.Clone(params)
		then[i] = fmt.Sprintf("0x%x", at)
		var older json.RawMessage
		if l.client.Client().CallContext(l.ctx, &older, method, then...) != nil {
			return nil
		}
		return older
	}
	var of struct{ Number, BlockNumber string }
	var height uint64
	if json.Unmarshal(result, &of) == nil {
		_, _ = fmt.Sscanf(of.Number+of.BlockNumber, "0x%x", &height) // 0: of no block
	}
	if height > at {
		return nil
	}
	return result
}

// TestNodeAddedLater adds two nodes of other machines to a running gateway's configuration, one of
// which is not synchronised yet, and reloads. Payments flow while one node lags, once it has caught
// up, and when the first node is gone. The process is the same from the beginning to the end.
func TestNodeAddedLater(t *testing.T) {
	t.Parallel()
	w := newFaultyEnv(t, func(*faultyEnv, *config.Config) {})
	var err error
	w.user.Eth, err = dev.NewEthUser(t.Context(), w.source.URL(), w.user.Eth.Key) // a user's node is not one of the gateway's
	require.NoError(t, err)
	l := &laggingNode{ctx: t.Context(), client: w.source.Client()}
	l.blocks.Store(15)
	late, third := openFaultyNode(t, w.source.URL()), openFaultyNode(t, w.source.URL())
	late.Fail(faults.Fault{Lie: l.lie})
	w.cfg.Ethereum = slices.Clone(w.cfg.Ethereum)
	w.writeConfig(t, w.info.Config, func(c *config.Config) { c.Ethereum[0].Nodes = []string{w.node.URL, late.URL, third.URL} })
	process := w.daemon.Process.Pid
	out := w.mustCommand(t, "reload")
	require.Contains(t, out, "ethereum.eth.nodes")
	require.NotContains(t, out, "Needs a restart")

	waitFor(t, "a node that lags", func() bool { return w.nodeLag(t, late) >= 10 })
	require.Equal(t, 200, w.readHealth(t).code)
	w.bridgeOnce(t, 1)
	l.blocks.Store(0)
	waitFor(t, "a node that lags no more", func() bool { n := w.nodeLag(t, late); return n >= 0 && n <= 2 })
	w.node.Fail(faults.Fault{Dead: true})
	waitFor(t, "a first node that is gone", func() bool { return len(w.readHealth(t).Warnings) > 0 })
	require.Equal(t, 200, w.readHealth(t).code)
	w.bridgeOnce(t, 2)

	// The node that is gone is replaced by another one, and removed.
	w.writeConfig(t, w.info.Config, func(c *config.Config) { c.Ethereum[0].Nodes = []string{third.URL} })
	w.mustCommand(t, "reload")
	late.Fail(faults.Fault{Dead: true})
	waitFor(t, "only the node that is left", func() bool { return w.nodeLag(t, late) < 0 && w.nodeLag(t, third) >= 0 })
	w.bridgeOnce(t, 3)
	require.Contains(t, w.mustCommand(t, "audit"), " 0 differences")
	require.Equal(t, process, w.daemon.Process.Pid)
}

// nodeLag returns a node's distance in blocks from the highest one in a scrape.
func (w *faultyEnv) nodeLag(t *testing.T, n *faults.Node) float64 {
	t.Helper()
	for series, value := range series(t, w.info.Operators) {
		if strings.Contains(series, "gatewayd_node_lag_blocks{chain=eth") && strings.Contains(series, strings.TrimPrefix(n.URL, "http://")) {
			return value
		}
	}
	return -1 // none yet
}

// bridgeOnce has the user deposit and withdraw, each to the unit.
func (w *faultyEnv) bridgeOnce(t *testing.T, n uint64) {
	t.Helper()
	before := w.user.spendable(t)
	amount := units(w.user.Token, 5_000*n)
	w.user.mustDeposit(t, amount)
	must, err := before.Add(amount)
	require.NoError(t, err)
	require.NoError(t, w.user.Collect(t.Context(), must))
	require.Equal(t, must.String(), w.user.spendable(t).String())
	to, sent := w.user.withdrawToPayee(t, amount)
	w.user.mustAwait(t, "/withdraw-records", sent, "OPPOSITE_CONFIRMED")
	w.user.requirePaid(t, to, amount)
}
