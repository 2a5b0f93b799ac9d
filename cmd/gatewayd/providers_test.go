package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/stretchr/testify/require"

	"gatewayd/chain/ethereum/contracts"
	"gatewayd/config"
	"gatewayd/dev/demo"
	"gatewayd/internal/testing/ethtest"
	"gatewayd/internal/testing/faults"
	"gatewayd/status"
)

// providerHabit is a habit of providers and what must happen while it lasts.
type providerHabit struct {
	name  string
	habit func(name string) faults.Habit
	// names are conditions of which the surfaces must show one while it lasts.
	names []status.Kind
	// total: no payment is possible while it lasts; payments must continue automatically
	// afterwards.
	total bool
	// otherHead: the endpoint stands before a node with another branch for a while.
	otherHead bool
	// quiet: no surface warns.
	quiet bool
	// blockTime is the time between blocks; 0: a second.
	blockTime time.Duration
}

// providerHabits are those of docs/operations/alerts/nodes.md#habits-of-providers.
func providerHabits() []providerHabit {
	const trace = "debug_traceBlockByHash"
	lost := []status.Kind{status.TracingLost}
	return []providerHabit{
		{name: "traces end", names: lost, habit: func(n string) faults.Habit { return faults.WithoutMethods(n, trace) }},
		{name: "traces are denied", names: lost, habit: func(n string) faults.Habit { return faults.DeniedMethods(n, trace) }},
		{name: "traces hang", names: lost, habit: func(n string) faults.Habit { return faults.HangingMethods(n, trace) }},
		{name: "old traces are pruned", habit: func(n string) faults.Habit { return faults.PrunedTraces(n, 1) }},
		{name: "30 % HTML with status 502", habit: func(n string) faults.Habit { return faults.Pages(n, 0.3, http.StatusBadGateway) }},
		{name: "20 % HTML with status 200", habit: func(n string) faults.Habit { return faults.Pages(n, 0.2, http.StatusOK) }},
		{name: "20 % header not found", quiet: true, habit: func(n string) faults.Habit { return faults.HeaderNotFound(n, 0.2) }},
		{name: "null for an announced block", quiet: true, habit: func(n string) faults.Habit { return faults.NullAnnounced(n, 1500*time.Millisecond) }},
		{name: "batches are an error", quiet: true, habit: func(n string) faults.Habit { return faults.Batches(n, 1, 0) }},
		{name: "batches are forbidden", quiet: true, habit: func(n string) faults.Habit { return faults.Batches(n, 1, http.StatusForbidden) }},
		{name: "batches are too many requests", habit: func(n string) faults.Habit { return faults.Batches(n, 1, http.StatusTooManyRequests) }},
		{name: "batches of ten calls", quiet: true, habit: func(n string) faults.Habit { return faults.Batches(n, 10, 0) }},
		{name: "no receipts of blocks, fee history or tip", quiet: true, habit: func(n string) faults.Habit {
			return faults.WithoutMethods(n, "eth_getBlockReceipts", "eth_feeHistory", "eth_maxPriorityFeePerGas")
		}},
		{name: "no logs", quiet: true, habit: func(n string) faults.Habit { return faults.WithoutMethods(n, "eth_getLogs", "eth_newFilter") }},
		{name: "another head for a while", otherHead: true, habit: func(string) faults.Habit { return faults.Habit{} }},
		{name: "no tags of finality", total: true, names: []status.Kind{status.NodesDown, status.NodesDisagree}, habit: faults.WithoutTags},
		{name: "old state is pruned", habit: func(n string) faults.Habit { return faults.PrunedState(n, 2) }},
		{name: "a pool of machines, some behind", habit: func(n string) faults.Habit { return faults.Pool(n, 2) }},
		// The last ones of their groups: the adapter takes a while to ask faster again.
		{name: "429 above ten calls a second", blockTime: 4 * time.Second, habit: func(n string) faults.Habit { return faults.RateLimited(n, 10, "5") }},
		{name: "a free tier of 25 calls a second", blockTime: 2 * time.Second, habit: func(n string) faults.Habit { return faults.RateLimited(n, 25, "") }},
	}
}

// TestProviderHabits runs the daemon and a separate signer on one node and on three with each habit
// of providers. Deposits and withdrawals in progress complete while the habit lasts, or after it
// where nothing could be read.
func TestProviderHabits(t *testing.T) {
	t.Parallel()
	for name, count := range map[string]int{"one node": 1, "three nodes": 3} {
		for i := range habitGroups {
			group := chosenHabits(i)
			if len(group) == 0 {
				continue
			}
			t.Run(fmt.Sprint(name, "/", i+1), func(t *testing.T) {
				t.Parallel()
				w := newProviderEnv(t, count, false)
				for _, h := range group {
					t.Run(h.name, func(t *testing.T) { w.tryHabit(t, h) })
				}
				w.leaveHabits(t)
			})
		}
	}
}

// habitGroups is the number of daemons that share the habits: most of a habit's time is waiting for blocks.
const habitGroups = 4

// chosenHabits are those of a group that GATEWAYD_HABIT, a part of their names, asks for.
func chosenHabits(group int) (chosen []providerHabit) {
	for i, h := range providerHabits() {
		if i%habitGroups == group && strings.Contains(h.name, os.Getenv("GATEWAYD_HABIT")) {
			chosen = append(chosen, h)
		}
	}
	return chosen
}

// TestProviderOnGeth has transfers under way on geth without its debug API, while contracts pay a
// user's address. The signer proves what they paid, and nothing waits for a person.
func TestProviderOnGeth(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	node, err := ethtest.Start(ctx, ethtest.Config{Kind: ethtest.Geth, Period: time.Second, Public: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, node.Close()) })
	require.ErrorContains(t, node.Client().Client().CallContext(ctx, nil, "debug_traceBlockByNumber", "latest"), "debug_traceBlockByNumber does not exist")
	w := newProviderEnvOn(t, node, 1, false, func(c *config.Config) { c.Watcher.BalanceAudit = 2 * time.Second })
	u, err := newTestUser(t.Context(), w.info, w.token(t, "ETH"), 1, t.Output())
	require.NoError(t, err)
	t.Cleanup(u.Close)
	to := depositAddress(t, u)

	list := w.send(t, providerTransfers(t))
	u.forward(t, u.forwarder(t), to, tenths(1))
	u.call(t, u.forwarder(t), tenths(2), contracts.NewForwarder().PackForwardByDestruction(common.HexToAddress(to)))
	w.await(t, list)
	ctx, cancel = context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	require.NoError(t, u.Collect(ctx, demo.AmountOf(tenths(3))))
	out, err := w.command(t, "records", "list", "--needs-operator", "--json")
	require.NoError(t, err)
	require.NotContains(t, out, `"id"`)
	w.auditClean(t)
}

// TestProviderHabitsOverWebSocket is the same for what a connection makes different.
func TestProviderHabitsOverWebSocket(t *testing.T) {
	t.Parallel()
	w := newProviderEnv(t, 1, true)
	for _, h := range providerHabits() {
		if h.name == "traces end" || h.name == "batches are an error" {
			h.quiet = false // the first batch is known to be refused when its time is over
			t.Run(h.name, func(t *testing.T) { w.tryHabit(t, h) })
		}
	}
	w.tryHabit(t, providerHabit{name: "connections are closed", quiet: true, habit: func(n string) faults.Habit {
		return faults.ClosedSockets(n, 3*time.Second)
	}})
	w.leaveHabits(t)
}

// tryHabit has transfers under way while a habit begins.
func (w *providerEnv) tryHabit(t *testing.T, h providerHabit) {
	w.have(func() faults.Habit { return faults.Habit{} })
	blockTime := max(h.blockTime, time.Second)
	require.NoError(t, w.behind.SetPeriod(blockTime))
	if h.quiet {
		w.waitUntilWell(t)
	}
	list, from := w.send(t, providerTransfers(t)), len(w.log.String())
	seen := w.watchWarnings(t)
	w.have(func() faults.Habit { return h.habit(h.name) })
	if h.otherHead {
		w.switchHeads(t)
	}
	if h.names != nil {
		waitFor(t, fmt.Sprint("one of ", h.names), func() bool {
			a := w.readHealth(t)
			return slices.ContainsFunc(append(a.Reasons, a.Warnings...), func(r reason) bool { return slices.Contains(h.names, status.Kind(r.Kind)) })
		})
	}
	if h.total {
		w.have(func() faults.Habit { return faults.Habit{} })
	}
	w.await(t, list)
	kinds := seen.end()
	if h.quiet {
		require.Empty(t, kinds)
		require.NotContains(t, w.log.String()[from:], "level=warning")
	}
}

// leaveHabits requires that nothing is left of all habits once they are over.
func (w *providerEnv) leaveHabits(t *testing.T) {
	t.Helper()
	w.have(func() faults.Habit { return faults.Habit{} })
	require.NoError(t, w.behind.SetPeriod(time.Second))
	waitFor(t, "no condition that stops or warns, but of nodes that were wrong", func() bool {
		a := w.readHealth(t)
		return a.Status == "ok" && !slices.ContainsFunc(a.Warnings, func(r reason) bool { return r.Kind != string(status.NodeMended) })
	})
	w.auditClean(t)
}

// auditClean requires that books and chains agree, once the nodes answer.
func (w *providerEnv) auditClean(t *testing.T) {
	t.Helper()
	var out string
	waitFor(t, "an audit", func() bool {
		var err error
		if out, err = w.command(t, "audit"); err != nil {
			t.Log(out, err)
		}
		return err == nil
	})
	require.Contains(t, out, " 0 differences")
}

// TestAbsenceOnAPruningNode: the daemon was away for 3,900 blocks, and the only node has traces of
// the newest ones alone. It reports from its first check on that it is behind, catches up by
// itself, and what users sent meanwhile arrives.
func TestAbsenceOnAPruningNode(t *testing.T) {
	t.Parallel()
	w := newProviderEnv(t, 1, false)
	w.await(t, w.send(t, 1))
	token, call := w.depositCall(t, w.user.Times(2))
	w.kill(t)
	var sent []string
	for range 13 {
		hash, err := w.user.Eth.Submit(t.Context(), token, nil, call)
		require.NoError(t, err)
		sent = append(sent, hash.Hex())
		require.NoError(t, w.behind.Mine(300))
	}
	w.nodes[0].Fail(faults.Fault{Refuses: wholeBlock.Match})
	w.startDaemon(t)
	w.waitForCondition(t, status.FollowerBehind)
	w.have(func() faults.Habit { return faults.PrunedTraces("pruned", 3) })
	for _, hash := range sent {
		w.user.mustAwait(t, "/deposit-records", hash, "TOT_CONFIRMED")
	}
	w.leaveHabits(t)
}
