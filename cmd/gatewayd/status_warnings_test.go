package main

import (
	"database/sql"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/config"
	"gatewayd/dev"
	"gatewayd/internal/testing/faults"
	"gatewayd/internal/testing/recordstest"
	"gatewayd/notify"
	"gatewayd/records"
	"gatewayd/status"
)

// rawTransaction is a request to send one.
var rawTransaction = regexp.MustCompile(`"eth_sendRawTransaction"`)

// TestWarningsOnEverySurface makes what stops nothing yet, on three source nodes and with two
// receivers of alerts.
func TestWarningsOnEverySurface(t *testing.T) {
	t.Parallel()
	var nodes []*faults.Node
	back := newReceiver(t)
	w := newFaultyEnv(t, func(w *faultyEnv, c *config.Config) {
		nodes = []*faults.Node{w.node, openFaultyNode(t, w.source.URL()), openFaultyNode(t, w.source.URL())}
		c.Ethereum[0].MaxUnmined = 1
		c.Ethereum[0].Nodes = append(c.Ethereum[0].Nodes, nodes[1].URL, nodes[2].URL)
		w.alerts = newReceiver(t)
		c.Alerts = w.alerts.config()
		c.Alerts.Webhooks = append(c.Alerts.Webhooks, notify.Webhook{Name: "back", URL: back.server.URL, SecretFile: back.secret})
	})
	fail := func(f faults.Fault, which ...*faults.Node) {
		for _, n := range which {
			n.Fail(f)
		}
	}
	for _, c := range []struct {
		name          string
		kind          status.Kind
		cause, remedy func()
	}{
		{"one of three nodes is dead", status.NodeFaulty, func() { fail(faults.Fault{Dead: true}, nodes[2]) }, func() { fail(faults.Fault{}, nodes[2]) }},
		{"no node traces any more", status.TracingLost, func() { w.loseTraces(t, nodes) }, func() {
			fail(faults.Fault{}, nodes...)
			w.user.mustDeposit(t, units(w.user.Token, 10_000)) // a block of a contract, though any block would do
		}},
		{"deposits that are not swept", status.FundsUnswept, func() { w.oweWhatIsUnswept(t) }, func() { w.topUp(t) }},
		{"a payout that no node passes on", status.PaymentsLate, func() {
			w.waitUntilPaid(t)
			fail(faults.Fault{Refuses: rawTransaction.Match}, nodes...)
			w.user.withdrawToPayee(t, units(w.user.Token, 10_000))
			w.user.withdrawToPayee(t, units(w.user.Token, 10_000))
			w.makeWaiting(t, time.Hour)
		}, func() { fail(faults.Fault{}, nodes...) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			cell := cell{kind: c.kind, chain: "eth", deposit: records.ChannelOpen, withdraw: records.ChannelOpen, after: len(w.alerts.events(0))}
			c.cause()
			w.checkWarning(t, cell)
			c.remedy()
			w.waitUntilOver(t, cell)
		})
	}
	t.Run("a liar, and a receiver that is away", func(t *testing.T) { w.longWarnings(t, nodes[2], back) })
}

// longWarnings makes what shows after a minute only: a node that was wrong is right again, and a
// receiver takes nothing.
func (w *faultyEnv) longWarnings(t *testing.T, liar *faults.Node, back *receiver) {
	open := cell{deposit: records.ChannelOpen, withdraw: records.ChannelOpen, after: len(w.alerts.events(0))}
	of := func(k status.Kind, chain string) cell {
		c := open
		c.kind, c.chain = k, chain
		return c
	}
	back.setAway(true)
	liar.Fail(faults.Fault{Lie: nonceTooHigh})
	w.user.withdrawToPayee(t, units(w.user.Token, 10_000)) // for which the nonce is asked for
	w.checkWarning(t, of(status.NodeFaulty, "eth"))
	liar.Fail(faults.Fault{})
	w.checkWarning(t, of(status.NodeMended, "eth"))
	w.checkWarning(t, of(status.NotTold, ""))
	back.setAway(false)
	w.waitForAlerts(t, of(status.NotTold, ""), "condition.over")
	require.True(t, slices.ContainsFunc(back.events(0), func(e notify.Event) bool {
		return e.Type == "condition.began" && e.Condition.Kind == string(status.NodeFaulty) && strings.Contains(e.Condition.Detail, "wrong answers")
	}), "what waited is sent then")

	// A repaired node is reported for ten minutes; a restarted daemon has no record of it.
	w.kill(t)
	w.start(t)
	w.waitUntilHidden(t, of(status.NodeMended, "eth"))
	w.waitForReceiver(t, of(status.NodeMended, "eth"), "condition.over")
}

// loseTraces has nodes deny traces, and the chain a contract's transaction that they traced before.
func (w *faultyEnv) loseTraces(t *testing.T, nodes []*faults.Node) {
	t.Helper()
	w.user.mustDeposit(t, units(w.user.Token, 10_000))
	denied := faults.DeniedMethods("no traces", "debug_traceBlockByHash")
	for _, n := range nodes {
		n.Fail(faults.Fault{Habit: &denied})
	}
	w.user.mustDeposit(t, units(w.user.Token, 10_000))
}

// oweWhatIsUnswept has users withdraw more than the hot account holds, and no more than what lies
// on their addresses adds to that.
func (w *faultyEnv) oweWhatIsUnswept(t *testing.T) {
	t.Helper()
	deposit := units(w.user.Token, 3_000_000)
	_, err := w.user.Faucet.Pay(t.Context(), w.user.Token.Asset, w.user.Eth.Address(), deposit.Uint256().ToBig(), nil)
	require.NoError(t, err)
	w.user.mustDeposit(t, deposit)
	for range 11 {
		w.user.withdrawToPayee(t, units(w.user.Token, 999_000))
	}
}

// makeWaiting backdates what waits behind an unmined payment.
func (w *faultyEnv) makeWaiting(t *testing.T, d time.Duration) {
	t.Helper()
	db, err := sql.Open("sqlite3", strings.TrimPrefix(w.cfg.Database.URL, "sqlite:")+"?_busy_timeout=60000")
	require.NoError(t, err)
	defer db.Close()
	waitFor(t, "a payment that waits", func() bool {
		res, err := db.Exec(`UPDATE payments SET changed_at = changed_at - ? WHERE state = 'queued' AND EXISTS (SELECT 1 FROM slots s
			WHERE s.chain = payments.chain AND s.account = payments.account AND s.state = 'open' AND s.mined_in = '')`, d.Milliseconds())
		require.NoError(t, err)
		n, err := res.RowsAffected()
		require.NoError(t, err)
		return n > 0
	})
}

// waitUntilPaid waits until no payment is on its way.
func (w *faultyEnv) waitUntilPaid(t *testing.T) {
	t.Helper()
	db, err := sql.Open("sqlite3", strings.TrimPrefix(w.cfg.Database.URL, "sqlite:")+"?_busy_timeout=60000")
	require.NoError(t, err)
	defer db.Close()
	waitFor(t, "no payment on its way", func() bool {
		var open int
		require.NoError(t, db.QueryRow(`SELECT count(*) FROM payments WHERE state IN ('queued', 'bound')`).Scan(&open))
		return open == 0
	})
}

// TestStoreDownOnEverySurface takes PostgreSQL away for less than a lease lasts, and gives it back.
func TestStoreDownOnEverySurface(t *testing.T) {
	t.Parallel()
	server := recordstest.OwnPostgres(t, "")
	w := newFaultyEnv(t, func(w *faultyEnv, c *config.Config) {
		c.Database.URL = server.Database(t)
		w.alerts = newReceiver(t)
		c.Alerts = w.alerts.config()
	})
	c := cell{kind: status.StoreDown, deposit: records.ChannelMaintain, withdraw: records.ChannelMaintain}
	requireDocumented(t, c)
	server.Stop(syscall.SIGQUIT) // as in a crash
	w.checkWithoutStore(t, c)
	require.NoError(t, server.Start())
	w.waitUntilHidden(t, c)
	w.waitForLog(t, c, "condition.over")
	w.user.withdrawToPayee(t, units(w.user.Token, 10_000))
}

// checkWithoutStore checks every surface while the database is away.
func (w *faultyEnv) checkWithoutStore(t *testing.T, c cell) {
	t.Helper()
	w.waitForCondition(t, c.kind)
	for _, url := range []string{w.health, w.info.Operators + "/health"} {
		a := askHealth(t, url)
		require.Equal(t, 503, a.code, url)
		require.Equal(t, "down", a.Status, url)
		require.Equal(t, []reason{{Kind: string(c.kind)}}, a.Reasons, url)
	}
	for _, url := range []string{dev.RootOf(w.gateway), w.info.Operators} {
		code, body := fetch(t, url+"/ready")
		require.Equal(t, 503, code, url)
		require.Contains(t, body, `"ready":false`, url)
	}
	query := "?tokenId=" + w.user.Token.Token + "&walletAddress=" + w.user.Vite.Address().String()
	var meta struct{ DepositState, WithdrawState string }
	require.Equal(t, 0, getEnvelope(t, w.gateway+"/meta-info"+query, &meta))
	require.Equal(t, []string{c.deposit, c.withdraw}, []string{meta.DepositState, meta.WithdrawState}, "meta-info")
	require.Equal(t, 2, getEnvelope(t, w.gateway+"/deposit-info"+query, nil), "deposit-info")
	require.Equal(t, 2, getEnvelope(t, w.gateway+"/withdraw-info"+query, nil), "withdraw-info")
	out, ok := w.runCommand(t, "doctor")
	require.False(t, ok)
	require.Contains(t, out, "cures database: PostgreSQL does not answer at the address of `database.url`")
	for _, command := range [][]string{{"channel", "list"}, {"status"}, {"audit"}, {"account", "list"}, {"records", "list"}} {
		out, ok := w.runCommand(t, command...)
		require.False(t, ok, "%v:\n%s", command, out)
		require.Contains(t, out, "does not answer", "%v", command)
	}
	out, ok = w.runCommand(t, "health")
	require.False(t, ok)
	require.Contains(t, out, string(c.kind))
	waitFor(t, "the condition in a scrape", func() bool { return hasCondition(series(t, w.info.Operators), c, true) })
	w.waitForLog(t, c, "condition.began")
}
