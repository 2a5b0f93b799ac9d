package index

import (
	"context"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/vite/client"
	"gatewayd/vite/dex"
	"gatewayd/vite/rpc"
)

const fewBlocks = 300

// TestAbsence: over a WebSocket of a node with the limits of a real one's public port, an index
// catches up from the genesis, and again after an absence of the same length. GATEWAYD_ABSENCE is
// the number of snapshot blocks, of which every second one has an order: a day has 86,400; default
// 300.
func TestAbsence(t *testing.T) {
	blocks := fewBlocks
	if text := os.Getenv("GATEWAYD_ABSENCE"); text != "" {
		var err error
		blocks, err = strconv.Atoi(text)
		require.NoError(t, err)
	}
	r := newRig(t)
	public := r.public()
	r.trade(blocks)
	url := sqliteURL(t)
	for range 2 {
		x := r.openOn(url, public)
		begin := time.Now()
		r.catchUp(x)
		r.catchUp(x) // what came while it was far behind
		t.Logf("%d snapshot blocks caught up in %s", r.head(), time.Since(begin).Round(time.Millisecond))
		if blocks <= fewBlocks { // after more, an index that was there before still has blocks to undo that a new one never had
			r.same(x)
		}
		r.matchesNode(x)
		require.NoError(t, x.Close())
		r.trade(blocks)
	}
	x := r.openOn(url, public)
	run(t, x)
	require.Eventually(t, func() bool { return x.Ready() == nil }, 10*time.Minute, 10*time.Millisecond, "by itself, too")
}

// public is a client over a WebSocket of a node that serves what a public port does.
func (r *rig) public() *client.Client {
	r.t.Helper()
	server, err := rpc.New(r.chain, rpc.Config{WS: "127.0.0.1:0", Public: true, Now: r.now})
	require.NoError(r.t, err)
	require.NoError(r.t, server.Listen())
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1) // Run's one result
	go func() { ended <- server.Run(ctx) }()
	r.t.Cleanup(func() { cancel(); require.NoError(r.t, <-ended) })
	c, err := client.Dial(r.t.Context(), "ws://"+server.WSAddr(), client.Options{})
	require.NoError(r.t, err)
	r.t.Cleanup(c.Close)
	require.ErrorIs(r.t, c.Call(r.t.Context(), nil, "dex_getTime"), client.ErrMethod, "the port is a public one")
	return c
}

// trade makes snapshot blocks, and an order in every second one: of three, two fill each other and
// one is cancelled.
func (r *rig) trade(blocks int) {
	r.t.Helper()
	for i := range blocks {
		switch i % 6 {
		case 0:
			r.order(r.alice, dex.Sell, "10", coins(20))
		case 2:
			r.order(r.bob, dex.Buy, "10", coins(20))
		case 4:
			r.cancel(r.alice, r.order(r.alice, dex.Sell, "12", coins(20)))
		}
		r.snapshot()
	}
}
