package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/config"
	"gatewayd/dev"
	"gatewayd/operator"
	"gatewayd/records"
	"gatewayd/signer/approval"
	"gatewayd/signer/checks"
	"gatewayd/signer/limits"
	"gatewayd/status"
)

// custodyEnv is a gateway whose signer limits payments, wants approvals and has a list.
type custodyEnv struct {
	*faultyEnv
	key, stranger string // files of an approver's key, and of another one
	list          string
	signer        checks.Config
}

// warned is a condition of the signer's checks: it stops no channel.
func warned(kind status.Kind) cell {
	return cell{kind: kind, deposit: records.ChannelOpen, withdraw: records.ChannelOpen}
}

func newCustodyEnv(t *testing.T) *custodyEnv {
	t.Helper()
	dir := t.TempDir()
	w := &custodyEnv{key: filepath.Join(dir, "ann.key"), stranger: filepath.Join(dir, "eve.key"), list: filepath.Join(dir, "sanctions")}
	public := strings.TrimSpace(mustRun(t, "approver", "new", w.key))
	mustRun(t, "approver", "new", w.stranger)
	require.NoError(t, os.WriteFile(w.list, []byte("# nobody yet\n"), 0o600))
	w.faultyEnv = newFaultyEnv(t, func(l *faultyEnv, c *config.Config) {
		l.alerts = newReceiver(t)
		c.Alerts = l.alerts.config()
		usdt := c.Networks[0].Tokens[1]
		whole := func(n uint64) chain.Amount { return units(dev.Token{Decimals: usdt.Decimals}, n) }
		require.Equal(t, uint8(6), usdt.Decimals)
		w.signer = checks.Config{
			Limits: limits.Config{Tokens: []limits.Token{{Network: c.Networks[0].Name, Token: usdt.Token, PerDay: whole(3_000)}}},
			Approvals: approval.Config{
				Approvers: []approval.Approver{{Name: "ann", Key: public}},
				Tokens:    []approval.Token{{Network: c.Networks[0].Name, Token: usdt.Token, ApproveAbove: whole(2_000)}},
			},
			BlockList: checks.BlockListConfig{Files: []checks.BlockList{{Name: "sanctions", File: w.list}}},
		}
		c.Signer.Config = w.signer
	})
	return w
}

// mustRun runs a command that needs no configuration.
func mustRun(t *testing.T, args ...string) string {
	t.Helper()
	var out strings.Builder
	w := testStreams(t)
	w.stdout = &out
	require.NoError(t, run(t.Context(), args, w))
	return out.String()
}

// waitForHeld waits until the payment of what was sent is held for a reason, and answers its
// record.
func (w *custodyEnv) waitForHeld(t *testing.T, sent string, reason records.Reason) (record string) {
	t.Helper()
	waitFor(t, "a payment held for "+string(reason), func() bool {
		for _, row := range w.listRecords(t, "--needs-operator") {
			if row.InTx != sent {
				continue
			}
			record = recordName(row)
			return slices.ContainsFunc(w.recordDetail(t, sent).Payments, func(p operator.PaymentRow) bool { return p.State == string(records.HeldPayment) && p.Reason == reason })
		}
		return false
	})
	return record
}

// TestPaymentsAreHeldForPeople creates each cause and checks every surface: approvals, rejections,
// limits, lists. People's decisions are executed.
func TestPaymentsAreHeldForPeople(t *testing.T) {
	t.Parallel()
	w := newCustodyEnv(t)
	net := func(sent string) chain.Amount { return chain.MustAmount(w.recordDetail(t, sent).Record.Net) }

	t.Run("approvals", func(t *testing.T) {
		c := warned(status.ApprovalsWanted)
		c.after = len(w.alerts.events(0))
		to, sent := w.user.withdrawToPayee(t, units(w.user.Token, 2_500))
		record := w.waitForHeld(t, sent, records.HeldApproval)
		w.checkWarning(t, c)
		out, ok := w.runCommand(t, "approve", record, "--key", w.stranger, "--yes")
		require.False(t, ok)
		require.Contains(t, out, "is not in signer.approvals.approvers")
		out, ok = w.runCommand(t, "approve", record, "--key", w.key)
		require.False(t, ok, "nobody typed yes")
		require.Contains(t, out, to)
		require.Contains(t, out, "approval cancelled")
		out = w.mustCommand(t, "records", "approve", record, "--key", w.key, "--yes")
		require.Contains(t, out, "Payment ")
		require.Contains(t, out, to)
		w.user.mustAwait(t, "/withdraw-records", sent, "OPPOSITE_CONFIRMED")
		w.user.requirePaid(t, to, net(sent))
		_, ok = w.runCommand(t, "approve", record, "--key", w.key, "--yes")
		require.False(t, ok, "nothing waits")
		w.waitUntilOver(t, c)
	})
	t.Run("rejections", func(t *testing.T) {
		c := warned(status.LimitReached)
		c.after = len(w.alerts.events(0))
		before := w.user.spendable(t)
		_, sent := w.user.withdrawToPayee(t, units(w.user.Token, 2_600))
		record := w.waitForHeld(t, sent, records.HeldLimit) // over the limit first, whatever else it wants
		w.waitForAlerts(t, c, "condition.began")
		w.mustCommand(t, "records", "reject", record, "--why", "a test")
		waitFor(t, "the refund", func() bool { return w.user.mustAwait(t, "/withdraw-records", sent, "FAILED").RefundState == "REFUNDED" })
		require.Equal(t, before, w.user.spendable(t), "nothing is kept")
		_, ok := w.runCommand(t, "records", "reject", record, "--why", "twice")
		require.False(t, ok)
		w.waitUntilOver(t, c)
	})
	t.Run("limits", func(t *testing.T) {
		c := warned(status.LimitReached)
		c.after = len(w.alerts.events(0))
		to, sent := w.user.withdrawToPayee(t, units(w.user.Token, 1_000))
		w.waitForHeld(t, sent, records.HeldLimit)
		w.checkWarning(t, c)
		var report checks.Report
		require.NoError(t, json.Unmarshal([]byte(w.mustCommand(t, "limits", "--json")), &report))
		require.Equal(t, []string{"day", "day"}, []string{report.Lines[0].Window, report.Lines[1].Window})
		require.Contains(t, w.mustCommand(t, "limits"), "3 USDT-000")
		require.InDelta(t, 0.83, series(t, w.info.Operators)["gatewayd_limit_used_ratio{chain=eth,network=eth,token="+w.token(t, "USDT").Token+",window=day}"], 0.01)
		require.Contains(t, w.mustCommand(t, "status", "--json"), `"limits"`)
		w.signer.Limits.Tokens[0].PerDay = units(w.user.Token, 9_000)
		w.writeConfig(t, w.info.Config, func(c *config.Config) { c.Signer.Config = w.signer })
		w.mustCommand(t, "reload")
		w.user.mustAwait(t, "/withdraw-records", sent, "OPPOSITE_CONFIRMED")
		w.user.requirePaid(t, to, net(sent))
		w.waitUntilOver(t, c)
	})
	t.Run("lists", func(t *testing.T) {
		c := warned(status.PaymentsListed)
		c.after = len(w.alerts.events(0))
		fresh, err := dev.NewPayee()
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(w.list, []byte(strings.ToLower(fresh.Hex())+"\n"), 0o600))
		hash, err := w.user.Withdraw(t.Context(), fresh.Hex(), units(w.user.Token, 1_000))
		require.NoError(t, err)
		w.waitForHeld(t, hash.String(), records.HeldListed)
		w.checkWarning(t, c)
		require.Contains(t, w.mustCommand(t, "records", "show", hash.String()), "is on the list sanctions")
		require.NoError(t, os.WriteFile(w.list, []byte("# nobody any more\n"), 0o600))
		w.mustCommand(t, "reload")
		w.user.mustAwait(t, "/withdraw-records", hash.String(), "OPPOSITE_CONFIRMED")
		w.waitUntilOver(t, c)
	})
	t.Run("a list that is gone", func(t *testing.T) {
		c := warned(status.ChecksFail)
		c.after = len(w.alerts.events(0))
		require.NoError(t, os.Rename(w.list, w.list+".away"))
		w.checkWarning(t, c)
		require.Contains(t, w.mustCommand(t, "limits"), "list sanctions")
		require.NoError(t, os.Rename(w.list+".away", w.list))
		w.waitUntilOver(t, c)
	})
}

// TestHotMoneyIsBounded: the hot account has too little of a token, and too much of one without a
// cold address. A transfer from the cold address is funding.
func TestHotMoneyIsBounded(t *testing.T) {
	t.Parallel()
	w := newFaultyEnv(t, func(l *faultyEnv, c *config.Config) {
		l.alerts = newReceiver(t)
		c.Alerts = l.alerts.config()
		c.Networks[0].Funders = nil
		c.Networks[0].Tokens[1].Cold = dev.FaucetAddress() // without which its transfers were strangers' deposits
	})
	usdt := w.token(t, "USDT")
	has, err := w.user.Eth.Balance(t.Context(), usdt.Asset, common.HexToAddress(w.hot(t)))
	require.NoError(t, err)
	hot := chain.MustAmount(has.String())
	bound := func(least, most chain.Amount) {
		w.writeConfig(t, w.info.Config, func(c *config.Config) { c.Networks[0].Tokens[1].HotMin, c.Networks[0].Tokens[1].HotMax = least, most })
		w.mustCommand(t, "reload")
	}
	more, err := hot.Add(units(usdt, 5_000))
	require.NoError(t, err)
	c := warned(status.HotBelow)
	c.chain, c.after = "eth", len(w.alerts.events(0))
	bound(more, multiple(more, 2))
	w.checkWarning(t, c)
	out, _ := w.runCommand(t, "doctor")
	require.Contains(t, findLine(out, "status hot_below"), "send at least 5 USDT to "+w.hot(t))
	_, err = w.user.Faucet.Pay(t.Context(), usdt.Asset, common.HexToAddress(w.hot(t)), units(usdt, 5_000).Uint256().ToBig(), nil)
	require.NoError(t, err)
	w.waitUntilOver(t, c)
	waitFor(t, "funding", func() bool { return len(w.listRecords(t, "--direction", "funding")) > 0 })
	require.Empty(t, w.listRecords(t, "--needs-operator"))

	c = warned(status.HotAbove)
	c.chain, c.after = "eth", len(w.alerts.events(0))
	w.writeConfig(t, w.info.Config, func(c *config.Config) { c.Networks[0].Tokens[1].Cold, c.Networks[0].Tokens[1].HotMax = "", hot })
	w.mustCommand(t, "reload")
	w.checkWarning(t, c)
	bound(chain.Amount{}, chain.Amount{})
	w.waitUntilOver(t, c)
}
