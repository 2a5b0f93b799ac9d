package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/config"
	"gatewayd/dev/ethnode"
	"gatewayd/internal/testing/faults"
	"gatewayd/records"
	"gatewayd/status"
)

// forkDepth is the length of the other branches: far more blocks than are searched for one that the
// nodes share.
const forkDepth = 300

// TestDisagreementOnEverySurface lets two of three source nodes follow chains of their own that
// share only the first block: each of the three has another branch. Users continue to send
// meanwhile, and the first node's unfinal blocks change. When all are on that chain again, the
// daemon continues automatically: nothing has stopped permanently, and the transfers are credited
// and paid once.
func TestDisagreementOnEverySurface(t *testing.T) {
	t.Parallel()
	var others []*faults.Node
	w := newFaultyEnv(t, func(w *faultyEnv, c *config.Config) {
		others = []*faults.Node{openFaultyNode(t, w.source.URL()), openFaultyNode(t, w.source.URL())}
		c.Ethereum[0].Nodes = append(c.Ethereum[0].Nodes, others[0].URL, others[1].URL)
		w.alerts = newReceiver(t)
		c.Alerts = w.alerts.config()
		c.Status.Every = 2 * time.Second // a check asks for the head at several heights, on a machine that may be busy
	})
	deposit, withdrawal := units(w.user.Token, 5_000), units(w.user.Token, 4_000)
	c := cell{kind: status.NodesDisagree, chain: "eth", deposit: records.ChannelMaintain, withdraw: records.ChannelMaintain, names: "disagree, for", after: len(w.alerts.events(0))}
	for _, n := range others {
		strange, err := ethnode.Start(ethnode.Config{ChainID: w.source.ChainID()})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, strange.Close()) })
		_, err = strange.Mine(forkDepth)
		require.NoError(t, err)
		require.NoError(t, n.GoTo(strange.URL()))
	}
	w.checkSurfaces(t, c)
	in, err := w.user.Deposit(t.Context(), deposit)
	require.NoError(t, err)
	out := w.withdrawUnasked(t, withdrawal)
	w.kill(t)
	w.startDaemon(t)
	_, err = w.source.Reorg(2, ethnode.Keep)
	require.NoError(t, err)

	waitFor(t, "a new process that waits for the nodes", func() bool { return strings.Contains(w.log.String(), "waiting for the nodes of chain eth") })
	for _, n := range others {
		require.NoError(t, n.GoTo(w.source.URL()))
	}
	w.waitUntilAgreed(t, c)
	w.user.mustAwait(t, "/deposit-records", in, "TOT_CONFIRMED")
	w.user.mustAwait(t, "/withdraw-records", out, "OPPOSITE_CONFIRMED")
	require.Contains(t, w.mustCommand(t, "audit"), " 0 differences")
	require.Empty(t, w.listRecords(t, "--needs-operator"))
}

// waitUntilAgreed waits until no surface shows the disagreement. Wrong single nodes are reported
// for ten minutes longer, as a warning: those that a temporary majority contradicted, while the
// nodes changed one after the other.
func (w *faultyEnv) waitUntilAgreed(t *testing.T, c cell) {
	t.Helper()
	waitFor(t, "a daemon that lets money move", func() bool { return w.readHealth(t).Status == "ok" })
	waitFor(t, "channels that open by themselves", func() bool { return !strings.Contains(w.mustCommand(t, "channel", "list"), records.ChannelMaintain) })
	waitFor(t, "a scrape without it", func() bool { return !hasCondition(series(t, w.info.Operators), c, true) })
	require.Empty(t, w.requireServing(t), "/ready")
	require.Contains(t, w.mustCommand(t, "health"), "well")
	out, ok := w.runCommand(t, "status")
	require.True(t, ok, "status:\n%s", out)
	require.NotContains(t, out, string(c.kind))
	out, _ = w.runCommand(t, "doctor")
	require.NotContains(t, out, string(c.kind))
	c.deposit, c.withdraw = records.ChannelOpen, records.ChannelOpen
	w.checkWallets(t, c)
	w.waitForReceiver(t, c, "condition.over")
}
