package main

import (
	"database/sql"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/ethereum/go-ethereum/common"
	"github.com/stretchr/testify/require"

	"gatewayd/chain/ethereum"
	"gatewayd/chain/ethereum/devnode"
	"gatewayd/devnet/faultynode"
	"gatewayd/operator/status"
	"gatewayd/records/control"
	"gatewayd/wallet"
)

// cell is what a condition makes the surfaces say: docs/operations.md has the same as a table.
type cell struct {
	kind              status.Kind
	chain             string
	deposit, withdraw string // of USDT, in meta-info
	names             string // in channel list, doctor and audit
	stopsAccount      bool   // account list and records list --needs-operator name it
}

// surfaces looks at every one of them.
func (w *limpWorld) surfaces(t *testing.T, c cell) {
	t.Helper()
	w.stopped(t, c.kind)
	usdt := w.token(t, "USDT")
	query := "?tokenId=" + usdt.Token + "&walletAddress=" + w.user.Vite.Address().String()
	var meta struct{ DepositState, WithdrawState string }
	require.Equal(t, 0, ask(t, w.gateway+"/meta-info"+query, &meta))
	require.Equal(t, []string{c.deposit, c.withdraw}, []string{meta.DepositState, meta.WithdrawState}, "meta-info")
	var info struct{ NoticeMsg string }
	require.Equal(t, 0, ask(t, w.gateway+"/deposit-info"+query, &info))
	require.Equal(t, c.deposit == control.ChannelMaintain, info.NoticeMsg != "", "deposit-info")
	require.Equal(t, map[string]int{control.ChannelOpen: 0, control.ChannelMaintain: 2}[c.withdraw], ask(t, w.gateway+"/withdraw-info"+query, nil), "withdraw-info")
	w.operators(t, c)
}

// operators looks at the commands, which work beside the daemon and without it.
func (w *limpWorld) operators(t *testing.T, c cell) {
	t.Helper()
	out, _ := w.operator(t, "channel", "list")
	for direction, state := range map[string]string{"deposit": c.deposit, "withdrawal": c.withdraw} {
		row := line(out, "USDT-000", direction)
		require.Contains(t, row, state, "channel list:\n%s", out)
		require.Equal(t, state == control.ChannelMaintain, strings.Contains(row, c.names), "channel list says why:\n%s", out)
		require.Contains(t, row, "OPEN", "the operator's state stays as it is")
	}
	out, ok := w.operator(t, "doctor")
	require.False(t, ok, "doctor:\n%s", out)
	require.Contains(t, line(out, "FIX  status "+string(c.kind)), c.names, "doctor:\n%s", out)
	out, ok = w.operator(t, "status")
	require.False(t, ok, "status:\n%s", out)
	require.Contains(t, out, "MONEY DOES NOT MOVE")
	require.Contains(t, out, "STOP "+string(c.kind)+": ", "status:\n%s", out)
	for _, l := range strings.Split(out, "\n") {
		require.LessOrEqual(t, utf8.RuneCountInString(l), columns, l)
	}
	out, ok = w.operator(t, "audit")
	require.False(t, ok, "audit:\n%s", out)
	if c.names != "" && c.kind != status.NodesDown { // without a node it says that
		require.Contains(t, out, c.names, "audit:\n%s", out)
	}
	for _, command := range [][]string{{"account", "list"}, {"records", "list", "--needs-operator"}, {"records", "list", "--needs-operator", "--json"}} {
		out, _ = w.operator(t, command...)
		require.Equal(t, c.stopsAccount, strings.Contains(out, "halted") && strings.Contains(out, w.hot(t)) || strings.Contains(out, "recovering"), "%s:\n%s", command, out)
	}
}

func (w *limpWorld) hot(t *testing.T) string {
	t.Helper()
	hot, err := w.keys.Address(wallet.SourcePaths(ethereum.CoinType).Hot(0))
	require.NoError(t, err)
	return hot
}

// TestConditionsOnEverySurface makes each condition for real and looks at every surface; then its cause goes, and everything is open again by itself.
func TestConditionsOnEverySurface(t *testing.T) {
	t.Parallel()
	w := newLimpWorld(t, nil)
	const open, maintain = control.ChannelOpen, control.ChannelMaintain
	both := func(k status.Kind, chain, names string) cell {
		return cell{kind: k, chain: chain, deposit: maintain, withdraw: maintain, names: names}
	}
	for _, c := range []struct {
		name          string
		cause, remedy func()
		cell          cell
	}{
		{"a dead node", func() { w.node.Fail(faultynode.Fault{Dead: true}) }, func() { w.node.Fail(faultynode.Fault{}) }, both(status.NodesDown, "eth", "nodes of chain eth")},
		{"a node that hangs", func() { w.node.Fail(faultynode.Fault{Hangs: true}) }, func() { w.node.Fail(faultynode.Fault{}) }, both(status.NodesDown, "eth", "nodes of chain eth")},
		{"a dead exchange node", func() { w.exchange.Fail(faultynode.Fault{Dead: true}) }, func() { w.exchange.Fail(faultynode.Fault{}) }, both(status.NodesDown, "vite", "nodes of chain vite")},
		{"a node that stands still", w.source.StopMining, w.source.StartMining, both(status.NodesStale, "eth", "is the newest for")},
		{"a follower that is stuck", func() { w.node.Fail(faultynode.Fault{Refuses: wholeBlock.Match}) }, func() { w.node.Fail(faultynode.Fault{}) }, both(status.FollowerStuck, "eth", "is not followed for")},
		{"a shortage", func() { w.owe(t) }, func() { w.topUp(t) }, both(status.ChannelStopped, "", "owe")},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.cause()
			w.surfaces(t, c.cell)
			c.remedy()
			w.well(t)
			require.Equal(t, 2, strings.Count(w.mustCommand(t, "channel", "list"), "USDT-000"))
			waitFor(t, "channels that open by themselves", func() bool { return !strings.Contains(w.mustCommand(t, "channel", "list"), maintain) })
		})
	}
	t.Run("coin sent with the hot account's key", func(t *testing.T) {
		w.steal(t, ether(50))
		waitFor(t, "the transaction to be final", func() bool { // before, the account is recovering: the ledger is ahead of the records
			out, _ := w.operator(t, "account", "list")
			return strings.Contains(out, "was not signed by this daemon")
		})
		w.surfaces(t, cell{kind: status.AccountStopped, chain: "eth", deposit: open, withdraw: maintain, names: "was not signed by this daemon", stopsAccount: true})
	})
	t.Run("a halted chain", func(t *testing.T) {
		_, err := w.source.Reorg(20, devnode.Lose)
		require.NoError(t, err)
		w.surfaces(t, cell{kind: status.ChainHalted, chain: "eth", deposit: maintain, withdraw: maintain, names: "chain eth is halted", stopsAccount: true})
	})
	t.Run("no daemon", func(t *testing.T) {
		w.kill(t)
		w.operatorsLater(t, time.Minute)
	})
}

// owe asks the gateway for more USDT than it has, until deposits have stopped too: more is owed than there is.
func (w *limpWorld) owe(t *testing.T) {
	t.Helper()
	for range 11 {
		w.user.payee(t, units(w.user.Token, 999_000))
	}
	waitFor(t, "deposits that have stopped", func() bool {
		out, _ := w.operator(t, "channel", "list")
		return strings.Contains(line(out, "USDT-000", "deposit"), "is missing")
	})
	waitFor(t, "withdrawals that have stopped", func() bool {
		out, _ := w.operator(t, "channel", "list")
		return strings.Contains(line(out, "USDT-000", "withdrawal"), control.ChannelMaintain)
	})
}

func (w *limpWorld) topUp(t *testing.T) {
	t.Helper()
	_, err := w.user.Faucet.Pay(t.Context(), w.user.Token.Asset, common.HexToAddress(w.hot(t)), units(w.user.Token, 2_000_000).Uint256().ToBig(), nil)
	require.NoError(t, err)
}

// operatorsLater lets the daemon's last sign of life be older, and looks at the commands that know of it.
func (w *limpWorld) operatorsLater(t *testing.T, d time.Duration) {
	t.Helper()
	db, err := sql.Open("sqlite3", strings.TrimPrefix(w.cfg.Database.URL, "sqlite:")+"?_busy_timeout=5000")
	require.NoError(t, err)
	defer db.Close()
	_, err = db.Exec(`UPDATE heartbeats SET at = at - ?`, d.Milliseconds())
	require.NoError(t, err)
	w.operators(t, cell{kind: status.DaemonDown, deposit: control.ChannelMaintain, withdraw: control.ChannelMaintain, names: "the daemon does not run", stopsAccount: true})
}
