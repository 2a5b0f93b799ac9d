package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/ethereum/go-ethereum/common"
	"github.com/stretchr/testify/require"

	"gatewayd/chain/ethereum"
	"gatewayd/config"
	"gatewayd/dev"
	"gatewayd/dev/ethnode"
	"gatewayd/internal/testing/faults"
	"gatewayd/notify"
	"gatewayd/operator"
	"gatewayd/operator/console"
	"gatewayd/records"
	"gatewayd/signer/approval"
	"gatewayd/status"
	"gatewayd/wallet"
)

// cell is the required content of pages, commands, metrics and alerts under a condition;
// docs/operations/alerts.md has the same as two tables.
type cell struct {
	kind              status.Kind
	chain             string
	deposit, withdraw string // of USDT, in meta-info
	names             string // in channel list, doctor, audit, and alerts
	stopsAccount      bool   // account list and records list --needs-operator name it
	after             int    // number of events announced before its cause
	besides           string // direction that something else stops too
	degraded          bool   // payments of other tokens are possible
}

// checkSurfaces checks all of them.
func (w *faultyEnv) checkSurfaces(t *testing.T, c cell) {
	t.Helper()
	w.waitForCondition(t, c.kind)
	requireDocumented(t, c)
	w.checkPages(t, c)
	w.checkWallets(t, c)
	w.checkCommands(t, c)
	w.waitForMetrics(t, c, true)
	w.waitForConsole(t, c, true)
	w.waitForAlerts(t, c, "condition.began")
}

// waitForConsole waits for the condition on the console's first page, as a user with the role of a
// viewer.
func (w *faultyEnv) waitForConsole(t *testing.T, c cell, stops bool) {
	t.Helper()
	if w.viewer == nil {
		w.signIn(t)
	}
	waitFor(t, string(c.kind)+" on the console", func() bool {
		answer, err := w.viewer.Get(w.info.Operators + "/console/api/overview")
		require.NoError(t, err)
		defer answer.Body.Close()
		var page struct{ Conditions []status.Condition }
		require.NoError(t, json.NewDecoder(answer.Body).Decode(&page))
		return slices.ContainsFunc(page.Conditions, func(x status.Condition) bool { return x.Kind == c.kind && x.Stops == stops && x.Detail != "" })
	})
}

// signIn makes a console user and signs in.
func (w *faultyEnv) signIn(t *testing.T) {
	t.Helper()
	made := w.mustCommand(t, "console", "add", "viewer", "--role", "viewer")
	given := func(what string) string { return regexp.MustCompile(what + ` +(\S+)`).FindStringSubmatch(made)[1] }
	code, err := console.CodeAt(given("second factor"), time.Now())
	require.NoError(t, err)
	text, err := json.Marshal(map[string]string{"name": "viewer", "password": given("password"), "code": code})
	require.NoError(t, err)
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	w.viewer = &http.Client{Jar: jar}
	answer, err := w.viewer.Post(w.info.Operators+"/console/api/sign-in", "application/json", bytes.NewReader(text))
	require.NoError(t, err)
	defer answer.Body.Close()
	require.Equal(t, http.StatusOK, answer.StatusCode)
}

// checkWallets checks the gateway API's answers about USDT.
func (w *faultyEnv) checkWallets(t *testing.T, c cell) {
	t.Helper()
	usdt := w.token(t, "USDT")
	query := "?tokenId=" + usdt.Token + "&walletAddress=" + w.user.Vite.Address().String()
	var meta struct{ DepositState, WithdrawState string }
	require.Equal(t, 0, getEnvelope(t, w.gateway+"/meta-info"+query, &meta))
	require.Equal(t, []string{c.deposit, c.withdraw}, []string{meta.DepositState, meta.WithdrawState}, "meta-info")
	var info struct{ NoticeMsg string }
	require.Equal(t, 0, getEnvelope(t, w.gateway+"/deposit-info"+query, &info))
	require.Equal(t, c.deposit == records.ChannelMaintain, info.NoticeMsg != "", "deposit-info")
	require.Equal(t, map[string]int{records.ChannelOpen: 0, records.ChannelMaintain: 2}[c.withdraw], getEnvelope(t, w.gateway+"/withdraw-info"+query, nil), "withdraw-info")
}

// requireDocumented requires the condition's lines in docs/operations/alerts.md; those of one kind
// may be about different accounts.
func requireDocumented(t *testing.T, c cell) {
	t.Helper()
	deposit, withdraw := documentedStates(t, c.kind)
	if c.besides == string(records.Deposit) {
		c.deposit = records.ChannelOpen // for all that this kind does
	}
	if !slices.Contains(deposit, "that channel") {
		require.Contains(t, deposit, c.deposit, "the table has of %s and deposits", c.kind)
		require.Contains(t, withdraw, c.withdraw, "the table has of %s and withdrawals", c.kind)
	}
}

// checkPages checks /health and /ready of both listeners.
func (w *faultyEnv) checkPages(t *testing.T, c cell) {
	t.Helper()
	of := func(r reason) bool { return r.Kind == string(c.kind) && (c.chain == "" || r.Chain == c.chain) }
	for _, url := range []string{w.health, w.info.Operators + "/health"} {
		a := askHealth(t, url)
		require.Equal(t, map[bool]int{true: http.StatusOK, false: http.StatusServiceUnavailable}[a.Status == "degraded"], a.code, url)
		require.Equal(t, c.degraded, a.Status == "degraded", "%s: %+v", url, a)
		require.True(t, slices.ContainsFunc(a.Reasons, of), "%s: %+v", url, a)
	}
	require.Contains(t, w.requireServing(t), c.kind, "/ready")
	out, ok := w.runCommand(t, "health")
	require.Equal(t, c.degraded, ok, "gatewayd health")
	require.Contains(t, out, string(c.kind), "gatewayd health")
}

// requireServing requires that /ready of both listeners is well whatever stops money, and returns
// the conditions that the operators' has.
func (w *faultyEnv) requireServing(t *testing.T) []status.Kind {
	t.Helper()
	code, body := fetch(t, dev.RootOf(w.gateway)+"/ready")
	require.Equal(t, http.StatusOK, code, body)
	require.JSONEq(t, `{"ready":true}`, body)
	var ready struct {
		Ready bool
		Role  string
		Stops []status.Kind
	}
	code, body = fetch(t, w.info.Operators+"/ready")
	require.Equal(t, http.StatusOK, code, body)
	require.NoError(t, json.Unmarshal([]byte(body), &ready))
	require.True(t, ready.Ready)
	require.Equal(t, "leader", ready.Role)
	return ready.Stops
}

// waitForMetrics waits until a scrape has the condition with its effect on the channels, or no
// longer has it.
func (w *faultyEnv) waitForMetrics(t *testing.T, c cell, stops bool) {
	t.Helper()
	waitFor(t, string(c.kind)+" in /metrics", func() bool {
		got := series(t, w.info.Operators)
		for direction, state := range map[string]string{"deposit": c.deposit, "withdrawal": c.withdraw} {
			if got[fmt.Sprintf("gatewayd_channel_state{direction=%s,network=eth,state=%s,token=%s}", direction, state, w.token(t, "USDT").Token)] != 1 {
				return false
			}
		}
		return hasCondition(got, c, stops)
	})
}

// hasCondition is true when a scrape has a condition.
func hasCondition(got map[string]float64, c cell, stops bool) bool {
	for name, n := range got {
		if n > 0 && strings.HasPrefix(name, "gatewayd_condition{") && strings.Contains(name, "kind="+string(c.kind)+",") &&
			strings.Contains(name, fmt.Sprintf("stops=%t", stops)) && (c.chain == "" || strings.Contains(name, "chain="+c.chain+",")) {
			return true
		}
	}
	return false
}

// waitForAlerts waits until the receiver and the log have that the condition began, or is over.
func (w *faultyEnv) waitForAlerts(t *testing.T, c cell, what string) {
	t.Helper()
	if w.alerts == nil {
		return
	}
	w.waitForReceiver(t, c, what)
	w.waitForLog(t, c, what)
}

func (w *faultyEnv) waitForReceiver(t *testing.T, c cell, what string) {
	t.Helper()
	w.alerts.await(t, what+" "+string(c.kind), c.after, func(e notify.Event) bool {
		is := e.Type == what || (what == "condition.began" && e.Type == "condition.changed") // of an alert of several tokens
		return is && e.Condition.Kind == string(c.kind) && (c.chain == "" || string(e.Condition.Chain) == c.chain) && e.Condition.Detail != ""
	})
}

func (w *faultyEnv) waitForLog(t *testing.T, c cell, what string) {
	t.Helper()
	waitFor(t, what+" in the log", func() bool {
		for l := range strings.Lines(w.log.String()) {
			if strings.Contains(l, "condition="+string(c.kind)) && strings.Contains(l, "msg=over") == (what == "condition.over") {
				return true
			}
		}
		return false
	})
}

// waitUntilOver waits until nothing shows a condition any more.
func (w *faultyEnv) waitUntilOver(t *testing.T, c cell) {
	t.Helper()
	w.waitUntilHidden(t, c)
	w.waitForAlerts(t, c, "condition.over")
}

// waitUntilHidden waits until no page, command or scrape shows a condition.
func (w *faultyEnv) waitUntilHidden(t *testing.T, c cell) {
	t.Helper()
	w.waitUntilWell(t)
	waitFor(t, "channels that open by themselves", func() bool { return !strings.Contains(w.mustCommand(t, "channel", "list"), records.ChannelMaintain) })
	waitFor(t, "a scrape without it", func() bool {
		got := series(t, w.info.Operators)
		return !hasCondition(got, c, true) && !hasCondition(got, c, false)
	})
	waitFor(t, "a daemon that is well, ready and leads", func() bool {
		_, ready := fetch(t, w.info.Operators+"/ready")
		leads := strings.HasPrefix(ready, `{"ready":true,"role":"leader","reasons":[],"chains":["`) && strings.HasSuffix(strings.TrimSpace(ready), `"stops":[]}`)
		return leads && askHealth(t, w.info.Operators+"/health").Status == "ok"
	})
}

// checkWarning checks what pages, commands, metrics and alerts show of a condition that stops
// nothing.
func (w *faultyEnv) checkWarning(t *testing.T, c cell) {
	t.Helper()
	requireWarningDocumented(t, c.kind)
	for _, url := range []string{w.health, w.info.Operators + "/health"} {
		waitFor(t, string(c.kind)+" in "+url, func() bool {
			a := askHealth(t, url)
			return a.Status == "ok" && slices.ContainsFunc(a.Warnings, func(r reason) bool { return r.Kind == string(c.kind) })
		})
	}
	waitFor(t, "/ready without stops", func() bool { return len(w.requireServing(t)) == 0 })
	w.waitForMetrics(t, c, false)
	w.checkWallets(t, c)
	told := c.kind != status.ChannelClosed // that the operator knows
	mark := map[bool]string{true: "WARN", false: "cures"}[c.kind == status.NodeMended]
	out, _ := w.runCommand(t, "doctor")
	require.Equal(t, told, strings.Contains(out, mark+" status "+string(c.kind)), "doctor:\n%s", out)
	waitFor(t, "a status with the warning alone", func() bool {
		out, ok := w.runCommand(t, "status")
		return ok && strings.Contains(out, "note "+string(c.kind)+": ")
	})
	waitFor(t, "gatewayd health", func() bool { out, ok := w.runCommand(t, "health"); return ok && strings.Contains(out, "well") })
	out, ok := w.commandShows(t, "audit", func(out string) bool { return !strings.Contains(out, "too few nodes of the chain answer") })
	require.Equal(t, !c.stopsAccount, ok, "audit:\n%s", out)
	if c.stopsAccount {
		require.Contains(t, out, c.names)
		require.Contains(t, findLine(w.mustCommand(t, "account", "list"), c.names), "halted")
		require.Contains(t, w.mustCommand(t, "records", "list", "--needs-operator"), "halted")
	}
	w.waitForConsole(t, c, false)
	out = w.mustCommand(t, "channel", "list")
	for direction, state := range map[string]string{"deposit": c.deposit, "withdrawal": c.withdraw} {
		require.Equal(t, state == records.ChannelMaintain, strings.Contains(findLine(out, "USDT-000", direction), records.ChannelMaintain), "channel list:\n%s", out)
	}
	if told {
		w.waitForAlerts(t, c, "condition.began")
	}
}

// documentedStates are the states of deposits and withdrawals that docs/operations/alerts.md gives
// for a kind, one of each per row.
func documentedStates(t *testing.T, k status.Kind) (deposit, withdraw []string) {
	t.Helper()
	text, err := os.ReadFile("../../docs/operations/alerts.md")
	require.NoError(t, err)
	require.Contains(t, string(text), "`"+string(k)+"`")
	for row := range strings.Lines(string(text)) {
		column := strings.Split(row, "|")
		if len(column) < 5 || !strings.HasPrefix(row, "| `"+string(k)+"`") {
			continue
		}
		if in := strings.TrimSpace(column[2]); slices.Contains([]string{records.ChannelOpen, records.ChannelMaintain, "that channel"}, in) {
			deposit, withdraw = append(deposit, in), append(withdraw, strings.TrimSpace(column[3]))
		}
	}
	return deposit, withdraw
}

// requireWarningDocumented requires the condition in docs/operations/alerts.md, but not among those
// that stop money.
func requireWarningDocumented(t *testing.T, k status.Kind) {
	t.Helper()
	stops, _ := documentedStates(t, k)
	require.Empty(t, stops)
}

// commandShows runs a command until its output is as wanted: on a busy machine nodes are briefly
// silent, and the output shows that instead.
func (w *faultyEnv) commandShows(t *testing.T, command string, shows func(out string) bool) (out string, ok bool) {
	t.Helper()
	defer func() {
		if t.Failed() {
			t.Log(out)
		}
	}()
	waitFor(t, command, func() bool { out, ok = w.runCommand(t, command); return shows(out) })
	return out, ok
}

// checkCommands checks the commands, which work with and without the daemon.
func (w *faultyEnv) checkCommands(t *testing.T, c cell) {
	t.Helper()
	out, _ := w.runCommand(t, "channel", "list")
	for direction, state := range map[string]string{"deposit": c.deposit, "withdrawal": c.withdraw} {
		row := findLine(out, "USDT-000", direction)
		require.Contains(t, row, state, "channel list:\n%s", out)
		require.Equal(t, state == records.ChannelMaintain && direction != c.besides, strings.Contains(row, c.names), "channel list says why:\n%s", out)
		require.Contains(t, row, "OPEN", "the operator's state stays as it is")
	}
	out, ok := w.commandShows(t, "doctor", func(out string) bool { return strings.Contains(findLine(out, "cures status "+string(c.kind)), c.names) })
	require.False(t, ok, "doctor:\n%s", out)
	out, ok = w.commandShows(t, "status", func(out string) bool { return strings.Contains(out, "STOP "+string(c.kind)+": ") })
	require.False(t, ok, "status:\n%s", out)
	require.Regexp(t, headlineOf(c), out)
	for _, l := range strings.Split(out, "\n") {
		require.LessOrEqual(t, utf8.RuneCountInString(l), columns, l)
	}
	out, ok = w.runCommand(t, "audit")
	if ok {
		require.Contains(t, out, " 0 differences", "audit:\n%s", out)
	}
	require.False(t, ok && c.stopsAccount, "audit:\n%s", out)
	if c.names != "" && c.kind != status.NodesDown && c.kind != status.NodesDisagree { // without an answer the output reports that
		require.Contains(t, out, c.names, "audit:\n%s", out)
	}
	for _, command := range [][]string{{"account", "list"}, {"records", "list", "--needs-operator"}, {"records", "list", "--needs-operator", "--json"}} {
		out, _ = w.runCommand(t, command...)
		require.Equal(t, c.stopsAccount, strings.Contains(out, "halted") && strings.Contains(out, w.hot(t)) || strings.Contains(out, "recovering"), "%s:\n%s", command, out)
	}
}

func (w *faultyEnv) hot(t *testing.T) string {
	t.Helper()
	hot, err := w.keys.Address(wallet.SourcePaths(ethereum.CoinType).Hot(0))
	require.NoError(t, err)
	return hot
}

// TestConditionsOnEverySurface creates each condition and checks every surface; then its cause
// ends, and everything is open again automatically.
func TestConditionsOnEverySurface(t *testing.T) {
	t.Parallel()
	var signer *signerProcess
	key := filepath.Join(t.TempDir(), "ann.key")
	w := newFaultyEnv(t, func(w *faultyEnv, c *config.Config) {
		w.alerts = newReceiver(t)
		c.Alerts = w.alerts.config()
		c.Signer.Approvals.Approvers = []approval.Approver{{Name: "ann", Key: strings.TrimSpace(mustRun(t, "approver", "new", key))}}
		signer = splitSigner(t, c)
		signer.start(t)
	})
	const open, maintain = records.ChannelOpen, records.ChannelMaintain
	both := func(k status.Kind, chain, names string) cell {
		return cell{kind: k, chain: chain, deposit: maintain, withdraw: maintain, names: names}
	}
	oneToken := func(k status.Kind, names string) cell {
		return cell{kind: k, deposit: maintain, withdraw: maintain, names: names, degraded: true}
	}
	for _, c := range []struct {
		name          string
		cause, remedy func()
		cell          cell
	}{
		{"a dead node", func() { w.node.Fail(faults.Fault{Dead: true}) }, func() { w.node.Fail(faults.Fault{}) }, both(status.NodesDown, "eth", "nodes of chain eth")},
		{"a node that hangs", func() { w.node.Fail(faults.Fault{Hangs: true}) }, func() { w.node.Fail(faults.Fault{}) }, both(status.NodesDown, "eth", "nodes of chain eth")},
		{"a dead exchange node", func() { w.exchange.Fail(faults.Fault{Dead: true}) }, func() { w.exchange.Fail(faults.Fault{}) }, both(status.NodesDown, "vite", "nodes of chain vite")},
		{"a node that stands still", w.source.StopMining, w.source.StartMining, both(status.NodesStale, "eth", "has had no block after")},
		{"a follower that is stuck", func() { w.node.Fail(faults.Fault{Refuses: wholeBlock.Match}) }, func() { w.node.Fail(faults.Fault{}) }, both(status.FollowerStuck, "eth", "has not been followed for")},
		{"a signer that was killed", func() { signer.kill(t) }, func() { signer.start(t) }, both(status.SignerAway, "", "the signer does not answer")},
		{"a shortage", func() { w.owe(t) }, func() { w.topUp(t) }, oneToken(status.ChannelStopped, "owe")},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.cell.after = len(w.alerts.events(0))
			c.cause()
			w.checkSurfaces(t, c.cell)
			c.remedy()
			w.waitUntilOver(t, c.cell)
			require.Equal(t, 2, strings.Count(w.mustCommand(t, "channel", "list"), "USDT-000"))
		})
	}
	t.Run("a channel that an operator has closed", func(t *testing.T) {
		before := len(w.alerts.events(0))
		w.mustCommand(t, "channel", "set", "eth", "USDT-000", "withdrawal", maintain, "--why", "a test")
		w.checkWarning(t, cell{kind: status.ChannelClosed, deposit: open, withdraw: maintain})
		w.mustCommand(t, "channel", "set", "eth", "USDT-000", "withdrawal", open)
		w.waitUntilWell(t)
		for _, e := range w.alerts.events(before) {
			require.NotEqual(t, string(status.ChannelClosed), e.Condition.Kind, "the operator knows")
		}
	})
	t.Run("a configuration that is refused", func(t *testing.T) {
		c := cell{kind: status.ConfigRefused, deposit: open, withdraw: open, after: len(w.alerts.events(0))}
		w.writeConfig(t, w.info.Config, func(c *config.Config) { c.Networks[0].Tokens[1].Fee.Kind = "generous" })
		_, ok := w.runCommand(t, "reload") // the command itself refuses
		require.False(t, ok)
		require.NoError(t, w.daemon.Process.Signal(syscall.SIGHUP))
		waitFor(t, "the refusal", func() bool { return len(w.readHealth(t).Warnings) > 0 })
		w.writeConfig(t, w.info.Config, func(*config.Config) {})
		w.checkWarning(t, c)
		w.mustCommand(t, "reload")
		w.waitUntilOver(t, c)
	})
	t.Run("a payment that no transfer proves", func(t *testing.T) {
		c := cell{kind: status.PaymentsHeld, deposit: open, withdraw: open, after: len(w.alerts.events(0))}
		stray := w.user.pay(t, "native", w.hot(t), units(dev.Token{Decimals: 17}, 1), "")
		var held operator.RecordRow
		waitFor(t, "the stray to be held", func() bool { held = w.needingOperator(t)[stray]; return held.State == "held" })
		w.mustCommand(t, "records", "refund", recordName(held), "--to", goodPayee, "--why", "a test") // another than who sent it
		w.checkWarning(t, c)
		require.Contains(t, w.mustCommand(t, "approve", recordName(held), "--key", key, "--yes"), goodPayee)
		w.waitUntilOver(t, c)
	})
	t.Run("coin sent with the hot account's key", func(t *testing.T) {
		after := len(w.alerts.events(0))
		w.steal(t, ether(50))
		waitFor(t, "the transaction to be final", func() bool { // before, the account is recovering: the ledger is ahead of the records
			out, _ := w.runCommand(t, "account", "list")
			return strings.Contains(out, "was not signed by this daemon")
		})
		w.checkSurfaces(t, cell{kind: status.AccountStopped, chain: "eth", deposit: open, withdraw: maintain, names: "was not signed by this daemon", stopsAccount: true, after: after})
	})
	t.Run("a halted chain", func(t *testing.T) {
		after := len(w.alerts.events(0))
		_, err := w.source.Reorg(20, ethnode.Lose)
		require.NoError(t, err)
		w.checkSurfaces(t, cell{kind: status.ChainHalted, chain: "eth", deposit: maintain, withdraw: maintain, names: "chain eth is halted", stopsAccount: true, after: after})
	})
	t.Run("no daemon", func(t *testing.T) {
		w.kill(t)
		for _, url := range []string{w.health, w.info.Operators + "/health"} { // what Prometheus' rule GatewaydDown waits for
			require.Zero(t, askHealth(t, url).code)
		}
		require.Error(t, run(t.Context(), []string{"health", "-c", w.info.Config}, testStreams(t)))
		requireDocumented(t, cell{kind: status.DaemonDown, deposit: maintain, withdraw: maintain})
		w.commandShows(t, "status", func(out string) bool { return strings.HasPrefix(out, "Unknown: the daemon does not answer since ") })
		w.checkCommands(t, cell{kind: status.DaemonDown, deposit: maintain, withdraw: maintain, names: "the daemon does not answer", stopsAccount: true})
	})
}

// headlineOf returns the beginning of the status's first line under a condition.
func headlineOf(c cell) string {
	if c.degraded {
		return "^Payments of . of . tokens are blocked\\. All others are possible\\."
	}
	switch c.kind {
	case status.DaemonDown:
		return "^Unknown: the daemon does not answer since 20..-..-.. ..:..:.. UTC\\."
	case status.NodesDown, status.NodesDisagree:
		return "^Unknown: the nodes of chain"
	}
	return "^All (payments|withdrawals|deposits) are blocked\\."
}

// owe asks the gateway for more USDT than it has, until deposits have stopped too: more is owed
// than there is.
func (w *faultyEnv) owe(t *testing.T) {
	t.Helper()
	for range 11 {
		w.user.withdrawToPayee(t, units(w.user.Token, 999_000))
	}
	waitFor(t, "deposits that have stopped", func() bool {
		out, _ := w.runCommand(t, "channel", "list")
		return strings.Contains(findLine(out, "USDT-000", "deposit"), "is missing")
	})
	waitFor(t, "withdrawals that have stopped", func() bool {
		out, _ := w.runCommand(t, "channel", "list")
		return strings.Contains(findLine(out, "USDT-000", "withdrawal"), records.ChannelMaintain)
	})
}

func (w *faultyEnv) topUp(t *testing.T) {
	t.Helper()
	_, err := w.user.Faucet.Pay(t.Context(), w.user.Token.Asset, common.HexToAddress(w.hot(t)), units(w.user.Token, 2_000_000).Uint256().ToBig(), nil)
	require.NoError(t, err)
}
