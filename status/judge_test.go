package status

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records"
)

var begin = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// moment is the monitor's view of a chain at a time after the beginning.
type moment struct {
	at      time.Duration
	head    uint64        // 0: the nodes give no usable answer
	age     time.Duration // of the head's block
	final   uint64
	cursor  uint64
	settled uint64 // the cursor's own final height
	nodes   []chain.NodeState
	limited bool // the nodes refuse requests as too frequent
	want    Kind // that stops; empty: nothing does
}

func (m moment) sight() observation {
	s := observation{id: "eth", nodes: m.nodes}
	if m.limited {
		s.err = fmt.Errorf("reading the head: %w", chain.ErrLimited)
		return s
	}
	if m.head == 0 {
		s.err = errors.New("reading the head: no")
		return s
	}
	s.head = chain.Head{Latest: chain.Point{Height: m.head, Hash: "h"}, Final: chain.Point{Height: m.final, Hash: "f"}, Time: begin.Add(m.at - m.age)}
	return s
}

func (m moment) stored() records.Cursor {
	return records.Cursor{Chain: "eth", Point: chain.Point{Height: m.cursor}, Final: chain.Point{Height: m.settled}}
}

// play runs a monitor of one chain through moments ten seconds apart or at their own times.
func play(t *testing.T, w *watched, moments []moment) {
	t.Helper()
	w.id, w.every, w.faults = "eth", 10*s, map[string]fault{}
	for _, m := range moments {
		var got Kind
		for _, c := range w.judge(begin.Add(m.at), m.sight(), m.stored()) {
			if c.Stops {
				require.Empty(t, got, "one reason at a time")
				got = Kind(c.Kind)
			}
		}
		require.Equal(t, m.want, got, "after %s", m.at)
	}
}

const s = time.Second

// steady makes moments every ten seconds in which the head is a function of the time, followed at
// once.
func steady(from, to time.Duration, head func(time.Duration) uint64, want func(time.Duration) Kind) (list []moment) {
	for at := from; at <= to; at += 10 * s {
		h := head(at)
		list = append(list, moment{at: at, head: h, cursor: h, want: want(at)})
	}
	return list
}

func nothing(time.Duration) Kind { return "" }

func TestJudge(t *testing.T) {
	up, down := chain.NodeState{Name: "a:1", Up: true, AskedAt: begin}, chain.NodeState{Name: "b:1", Why: "refused", AskedAt: begin}
	for name, c := range map[string]struct {
		w       watched
		moments []moment
	}{
		"blocks come": {watched{interval: s}, steady(0, 300*s, func(at time.Duration) uint64 { return 10 + uint64(at/s) }, nothing)},
		"the head stands still": {watched{interval: s}, steady(0, 60*s, func(time.Duration) uint64 { return 10 }, func(at time.Duration) Kind {
			if at > 30*s {
				return NodesStale
			}
			return ""
		})},
		"a block a minute on a chain of twelve seconds": {watched{interval: 12 * s}, steady(0, 600*s, func(at time.Duration) uint64 { return 10 + uint64(at/time.Minute) }, nothing)},
		"blocks on demand, none for an hour, then one": {watched{interval: s, onDemand: true}, []moment{
			{at: 0, head: 10, cursor: 10, age: time.Hour}, {at: 3600 * s, head: 10, cursor: 10, age: 2 * time.Hour},
			{at: 3610 * s, head: 11, cursor: 10}, {at: 3620 * s, head: 11, cursor: 11},
		}},
		"a head of yesterday that moves": {watched{interval: s}, []moment{
			{at: 0, head: 10, cursor: 10, age: 24 * time.Hour}, {at: 10 * s, head: 500, cursor: 500, age: 23 * time.Hour},
			{at: 20 * s, head: 700, cursor: 700, age: 22 * time.Hour, want: NodesStale}, {at: 30 * s, head: 9000, cursor: 9000},
		}},
		"the first block of a new chain": {watched{}, []moment{{at: 0, head: 1, cursor: 1, age: 1e6 * time.Hour}, {at: 10 * s, head: 2, cursor: 2}}},
		"blocks ahead of the clock":      {watched{interval: s}, []moment{{at: 0, head: 10, cursor: 10, age: -time.Hour}, {at: 10 * s, head: 11, cursor: 11, age: -time.Hour}}},
		"one lost answer":                {watched{}, []moment{{at: 0, head: 10, cursor: 10}, {at: 10 * s, cursor: 10}, {at: 20 * s, head: 11, cursor: 11}, {at: 30 * s, cursor: 11}, {at: 40 * s, head: 12, cursor: 12}}},
		"nobody answers":                 {watched{}, []moment{{at: 0, nodes: []chain.NodeState{down}}, {at: 20 * s, nodes: []chain.NodeState{down}, want: NodesDown}, {at: 30 * s, head: 10, cursor: 10}}},
		"requests refused as too frequent": {watched{}, []moment{
			{at: 0, limited: true}, {at: 40 * s, limited: true}, {at: 50 * s, head: 10, cursor: 10}, {at: 60 * s, limited: true},
			{at: 100 * s, limited: true}, {at: 105 * s, limited: true, want: NodesDown}, {at: 110 * s, head: 11, cursor: 11},
		}},
		"they disagree": {watched{}, []moment{{at: 0, nodes: []chain.NodeState{up, up}}, {at: 20 * s, nodes: []chain.NodeState{up, up}, want: NodesDisagree}}},
		"the only node answers what cannot be used": {watched{}, []moment{{at: 0, nodes: []chain.NodeState{up}}, {at: 20 * s, nodes: []chain.NodeState{up}, want: NodesDown}}},
		"one of two is down":                        {watched{}, []moment{{at: 0, nodes: []chain.NodeState{up, down}}, {at: 20 * s, nodes: []chain.NodeState{up, down}, want: NodesDown}}},
		"the follower is stuck": {watched{interval: s}, []moment{
			{at: 0, head: 10, cursor: 10}, {at: 10 * s, head: 20, cursor: 12}, {at: 20 * s, head: 30, cursor: 12}, {at: 40 * s, head: 50, cursor: 12},
			{at: 50 * s, head: 60, cursor: 12, want: FollowerStuck}, {at: 60 * s, head: 70, cursor: 13, want: FollowerBehind}, {at: 70 * s, head: 80, cursor: 80},
		}},
		"a follower that moves, but is minutes behind": {watched{interval: 12 * s}, []moment{
			{at: 0, head: 130, cursor: 100}, {at: 10 * s, head: 131, cursor: 101}, {at: 20 * s, head: 132, cursor: 102, want: FollowerBehind},
			{at: 30 * s, head: 133, cursor: 120, want: FollowerBehind}, {at: 40 * s, head: 134, cursor: 132}, {at: 50 * s, head: 135, cursor: 130},
		}},
		"a follower that is behind for a moment": {watched{interval: s}, []moment{
			{at: 0, head: 100, cursor: 50}, {at: 10 * s, head: 110, cursor: 109}, {at: 20 * s, head: 150, cursor: 110}, {at: 30 * s, head: 160, cursor: 159},
		}},
		"thousands of blocks behind, at an unknown pace": {watched{}, []moment{
			{at: 0, head: 3900, cursor: 10}, {at: 20 * s, head: 3920, cursor: 11, want: FollowerBehind},
		}},
		"a fresh chain at its genesis":                              {watched{interval: s}, []moment{{at: 0, head: 1, cursor: 0}, {at: 10 * s, head: 11, cursor: 10}, {at: 20 * s, head: 21, cursor: 21}}},
		"a chain that the nodes have made long ago, at its genesis": {watched{}, []moment{{at: 0, head: 5, cursor: 5, age: 1e6 * time.Hour}}},
		"the follower decides nothing": {watched{interval: s}, []moment{
			{at: 0, head: 10, final: 5, cursor: 10, settled: 5}, {at: 10 * s, head: 20, final: 15, cursor: 20, settled: 5}, {at: 20 * s, head: 30, final: 25, cursor: 20, settled: 5},
			{at: 30 * s, head: 40, final: 35, cursor: 20, settled: 5}, {at: 40 * s, head: 50, final: 45, cursor: 20, settled: 5},
			{at: 60 * s, head: 70, final: 65, cursor: 20, settled: 5, want: FollowerStuck},
		}},
		"an hour without a block of coins": {watched{interval: 10 * time.Minute, mined: true}, steady(0, 199*time.Minute, func(time.Duration) uint64 { return 10 }, nothing)},
		"hours without a block of coins": {watched{interval: 10 * time.Minute, mined: true}, []moment{
			{at: 0, head: 10, cursor: 10}, {at: 201 * time.Minute, head: 10, cursor: 10, want: NodesStale},
		}},
		"two blocks of coins at once": {watched{interval: 11 * time.Minute, mined: true}, []moment{
			{at: 0, head: 10, cursor: 10}, {at: 10 * s, head: 12, cursor: 10}, {at: 20 * s, head: 12, cursor: 11}, {at: 30 * s, head: 12, cursor: 12},
			{at: 40 * s, head: 15, cursor: 12, want: FollowerBehind},
		}},
		"a day behind": {watched{interval: s}, []moment{
			{at: 0, head: 90_000, cursor: 3600, want: FollowerBehind}, {at: 10 * s, head: 90_010, cursor: 60_000, want: FollowerBehind}, {at: 20 * s, head: 90_020, cursor: 90_019},
		}},
	} {
		t.Run(name, func(t *testing.T) { play(t, &c.w, c.moments) })
	}
}

// TestNodeFaults: a node that lies is reported for a while after each lie, one that is skipped as
// long as it is.
func TestNodeFaults(t *testing.T) {
	w := &watched{id: "eth", every: 10 * s, faults: map[string]fault{}}
	good := chain.NodeState{Name: "a:1", Up: true, AskedAt: begin}
	kind := NodeFaulty
	told := func(at time.Duration, n chain.NodeState) (details []string) {
		for _, c := range w.judgeNodes(begin.Add(at), []chain.NodeState{n, {Name: "b:1", Up: true}}) {
			require.Equal(t, []any{string(kind), chain.ID("eth"), n.Name, false}, []any{c.Kind, c.Chain, c.Subject, c.Stops})
			details = append(details, c.Detail)
		}
		return details
	}
	lied := good
	lied.Faults, lied.LastFault = 2, "an old block"
	again := lied
	again.Faults = 3
	out := again
	out.LeftOut = true
	dead := again
	dead.Up, dead.Why = false, "connection refused"
	require.Empty(t, told(0, good))
	require.Equal(t, []string{"node a:1 of chain eth has given 2 wrong answers, the last: an old block"}, told(10*s, lied))
	require.Len(t, told(69*s, lied), 1)
	require.Equal(t, []string{"node a:1 of chain eth has given 2 wrong answers, the last: an old block"}, told(9*time.Minute, lied), "it was not asked since")
	lied.AskedAt = begin.Add(69 * s)
	kind = NodeMended
	require.Equal(t, []string{"node a:1 of chain eth is correct again: it gave 2 wrong answers until " + begin.Add(10*s).UTC().Format("15:04:05") +
		" UTC, the last: an old block"}, told(71*s, lied))
	kind = NodeFaulty
	require.Empty(t, told(11*time.Minute, lied))
	require.Len(t, told(12*time.Minute, again), 1)
	require.Equal(t, []string{"node a:1 of chain eth is excluded for now: 3 wrong answers, the last: an old block"}, told(time.Hour, out))
	require.Empty(t, told(2*time.Hour, dead), "one lost answer is no condition")
	require.Empty(t, told(2*time.Hour+10*s, again))
	require.Empty(t, told(2*time.Hour+20*s, dead), "another lost answer")
	require.Equal(t, []string{"node a:1 of chain eth does not answer: connection refused"}, told(2*time.Hour+35*s, dead))
	require.Empty(t, told(3*time.Hour, again))
}

// TestTracingLost: blocks that pass untraced for more than a moment are reported where some were
// traced before. With traces on the chain stops, which is reported at once.
func TestTracingLost(t *testing.T) {
	w := &watched{id: "eth", every: 10 * s}
	loss := chain.TracingLoss{Height: 17, Why: "no node can trace the block: node 1 (a:1): method not found"}
	noted := records.Tracing{Traced: true, LostAt: begin, Untraced: 1234}
	for name, c := range map[string]struct {
		after time.Duration
		loss  chain.TracingLoss
		noted records.Tracing
		want  string
	}{
		"nothing is lost":         {time.Minute, chain.TracingLoss{}, noted, ""},
		"for a moment":            {10 * s, loss, noted, ""},
		"no node ever traced":     {time.Minute, loss, records.Tracing{LostAt: begin, Untraced: 9}, ""},
		"for longer":              {15 * s, loss, noted, "blocks of chain eth have passed untraced since 12:00:00 UTC, 1234 so far: " + loss.Why + ". Balances show what contracts sent in them"},
		"where traces must be":    {0, chain.TracingLoss{Height: 17, Why: loss.Why, Required: true}, records.Tracing{}, "chain eth waits at block 17, because traces is on: " + loss.Why},
		"traced again since then": {time.Minute, loss, records.Tracing{Traced: true}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			found, is := w.tracing(begin.Add(c.after), c.loss, c.noted)
			require.Equal(t, c.want != "", is)
			require.Equal(t, c.want, found.Detail)
			require.Equal(t, c.loss.Required, found.Stops)
		})
	}
}
