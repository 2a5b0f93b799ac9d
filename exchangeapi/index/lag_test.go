package index

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/require"

	"gatewayd/vite/client"
	"gatewayd/vite/core"
	"gatewayd/vite/dex"
	"gatewayd/vite/rpc"
)

// publicPort is the chain as a real node shows it: over a WebSocket that takes messages of one
// frame, without private methods.
func (r *rig) publicPort() *client.Client {
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
	return c
}

// TestCatchUpOverWebSocket: what users sent is asked for in batches of 14 KB, from the first block
// and after an absence.
func TestCatchUpOverWebSocket(t *testing.T) {
	r := newRig(t)
	busy := func() {
		for i := range 130 { // each is a question: the contract's block does not show what was asked
			r.deposit(r.alice, core.VITE, vite(1))
			if i%10 == 0 {
				r.snapshot()
				r.order(r.bob, dex.Buy, "1", coins(1000))
			}
		}
	}
	busy()
	url := sqliteURL(t)
	x := r.openOn(url, r.publicPort())
	r.catchUp(x)
	r.same(x)
	require.NoError(t, x.Close())
	busy()
	x = r.openOn(url, r.publicPort())
	r.catchUp(x)
	r.same(x)
}

// warnings returns the log's warnings with their lag.
func (r *rig) warnings() (list []logrus.Fields) {
	for _, e := range r.logged.AllEntries() {
		if e.Level == logrus.WarnLevel {
			list = append(list, e.Data)
		}
	}
	r.logged.Reset()
	return list
}

// An index that is behind reports it at once, again while it lasts, and with the lag.
func TestLag(t *testing.T) {
	r := newRig(t)
	node := &flaky{Client: r.client}
	x := r.openOn(sqliteURL(t), node)
	require.Equal(t, Lag{}, x.Lag(), "just opened")
	r.clock.Add(5)
	require.Equal(t, Lag{For: 5 * time.Second}, x.Lag())
	x.follower.poll(t.Context(), 1)
	require.Equal(t, Lag{}, x.Lag())

	node.down.Store(true)
	x.follower.poll(t.Context(), 1)
	require.Len(t, r.warnings(), 1)
	for range 30 {
		r.clock.Add(1)
		x.follower.poll(t.Context(), 1)
	}
	require.Empty(t, r.warnings())
	require.Equal(t, Lag{For: 30 * time.Second}, x.Lag())
	r.clock.Add(30)
	x.follower.poll(t.Context(), 1)
	again := r.warnings()
	require.Len(t, again, 1)
	require.Equal(t, time.Minute, again[0]["for"])
	node.down.Store(false)
	r.snapshot()
	x.follower.poll(t.Context(), 1)
	require.Equal(t, Lag{}, x.Lag())
	require.Empty(t, r.warnings())
}

// A long catch-up is reported too, with the missing blocks.
func TestProgress(t *testing.T) {
	r := newRig(t)
	x := r.open(sqliteURL(t))
	x.follower.span = 5
	r.log.SetLevel(logrus.InfoLevel)
	r.catchUp(x)
	var missing uint64
	for _, e := range r.logged.AllEntries() {
		if e.Message == "the exchange index catches up with the chain" {
			missing = e.Data["missing"].(uint64)
		}
	}
	top, err := r.client.LatestAccountBlock(t.Context(), core.DexFundContract)
	require.NoError(t, err)
	require.GreaterOrEqual(t, missing, top.Height, "all of dexFund, and what there is of dexTrade")
}

// watched is a node that calls back whenever blocks are read.
type watched struct {
	*client.Client
	read func()
}

func (w *watched) Call(ctx context.Context, result any, method string, params ...any) error {
	if w.read != nil {
		w.read()
	}
	return w.Client.Call(ctx, result, method, params...)
}

// An index that was up to date and meets more than one batch is behind until it has stored all of
// it.
func TestBehindAgain(t *testing.T) {
	r := newRig(t)
	r.span = 5
	node := &watched{Client: r.client}
	x := r.openOn(sqliteURL(t), node)
	x.follower.poll(t.Context(), 1)
	require.NoError(t, x.Ready())
	var missing []uint64
	node.read = func() {
		if x.Ready() != nil {
			missing = append(missing, x.Lag().Missing)
		}
	}
	r.order(r.alice, dex.Sell, "10", coins(20))
	x.follower.poll(t.Context(), 1)
	require.Empty(t, missing, "one batch is no delay")
	for range 30 {
		r.order(r.alice, dex.Sell, "10", coins(20))
	}
	x.follower.poll(t.Context(), 1)
	require.NotEmpty(t, missing)
	require.Greater(t, slices.Max(missing), r.span)
	require.NoError(t, x.Ready())
	require.Equal(t, Lag{}, x.Lag())
}

// A node that answers but whose chain does not advance is reported, with the age of its newest
// block, until a new block arrives.
func TestStandstill(t *testing.T) {
	r := newRig(t)
	r.order(r.alice, dex.Sell, "10", coins(20))
	r.snapshot()
	x := r.open(sqliteURL(t))
	x.follower.poll(t.Context(), 1)
	require.NoError(t, x.Ready())
	r.clock.Add(60)
	x.follower.poll(t.Context(), 1)
	require.NoError(t, x.Ready())
	r.clock.Add(1)
	for range 3 {
		x.follower.poll(t.Context(), 1)
		require.ErrorContains(t, x.Ready(), "is stalled")
		require.Equal(t, Lag{For: 61 * time.Second}, x.Lag())
	}
	require.Len(t, r.warnings(), 1)
	r.snapshot()
	r.clock.Add(9)
	x.follower.poll(t.Context(), 1)
	require.NoError(t, x.Ready())
	require.Equal(t, Lag{}, x.Lag())
}

// TestStartOnAnOldChain: a chain that was not extended while its only node was stopped has an old
// head at the start. That is a warning after a minute.
func TestStartOnAnOldChain(t *testing.T) {
	r := newRig(t)
	r.clock.Add(30 * 24 * 3600)
	x := r.open(sqliteURL(t))
	x.follower.poll(t.Context(), 1)
	require.Error(t, x.Ready(), "what it has is old")
	require.Empty(t, r.warnings())
	r.clock.Add(61)
	x.follower.poll(t.Context(), 1)
	require.Len(t, r.warnings(), 1)
}
