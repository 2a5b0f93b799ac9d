package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/chain/ethereum"
	"gatewayd/config"
	"gatewayd/daemon"
	"gatewayd/dev"
	"gatewayd/internal/testing/faults"
	"gatewayd/records"
	"gatewayd/status"
	"gatewayd/wallet"
)

// surfaceChecks are the methods that check every surface.
var surfaceChecks = []string{"checkSurfaces", "checkWarning", "checkWithoutStore", "checkCommands"}

// TestEveryConditionIsMade: each kind of condition has its lines in docs/operations/alerts.md, and
// a test that creates it and checks every surface.
func TestEveryConditionIsMade(t *testing.T) {
	kinds := kindNames(t)
	require.Len(t, status.Kinds(), len(kinds), "Kinds has all of them")
	made := map[string]bool{}
	tests, err := filepath.Glob("*_test.go")
	require.NoError(t, err)
	for _, name := range tests {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				looked, named := checkedKinds(f)
				for kind := range named {
					made[kind] = made[kind] || looked
				}
			}
		}
	}
	text, err := os.ReadFile("../../docs/operations/alerts.md")
	require.NoError(t, err)
	for name, kind := range kinds {
		require.True(t, made[name], "no test makes %s and looks at every surface", name)
		require.Contains(t, string(text), "`"+kind+"`", "the tables have no line of %s", name)
		require.Contains(t, status.Kinds(), status.Kind(kind))
	}
}

// checkedKinds are the names of package status in a function, and whether it checks every surface.
func checkedKinds(f *ast.FuncDecl) (looked bool, named map[string]bool) {
	named = map[string]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			looked = looked || slices.Contains(surfaceChecks, s.Sel.Name)
			if x, ok := s.X.(*ast.Ident); ok && x.Name == "status" {
				named[s.Sel.Name] = true
			}
		}
		return true
	})
	return looked, named
}

// kindNames are the constants of type status.Kind, with their values.
func kindNames(t *testing.T) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../../status/kinds.go", nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	kinds := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok || len(v.Values) != 1 {
			return true
		}
		if of, ok := v.Type.(*ast.Ident); ok && of.Name == "Kind" {
			kinds[v.Names[0].Name] = strings.Trim(v.Values[0].(*ast.BasicLit).Value, `"`)
		}
		return true
	})
	return kinds
}

// TestStoppedGasAccountOnEverySurface sends with the gas account's key: no user's payment waits for
// it, and every surface shows it.
func TestStoppedGasAccountOnEverySurface(t *testing.T) {
	t.Parallel()
	w := newFaultyEnv(t, func(w *faultyEnv, c *config.Config) {
		w.alerts = newReceiver(t)
		c.Alerts = w.alerts.config()
		c.Watcher.Sweep = dev.EveryMinute
	})
	path := wallet.SourcePaths(ethereum.CoinType).Gas()
	gas, err := w.keys.Address(path)
	require.NoError(t, err)
	deposit := units(w.user.Token, 50_000)
	_, err = w.user.Faucet.Pay(t.Context(), w.user.Token.Asset, w.user.Eth.Address(), deposit.Uint256().ToBig(), nil)
	require.NoError(t, err)
	w.user.mustDeposit(t, deposit)
	waitFor(t, "a sweep, for which the gas account pays", func() bool {
		return !strings.Contains(findLine(w.mustCommand(t, "account", "list"), gas), string(records.AccountNew))
	})
	c := cell{kind: status.AccountIdle, chain: "eth", deposit: records.ChannelOpen, withdraw: records.ChannelOpen, names: gas, stopsAccount: true, after: len(w.alerts.events(0))}
	hash := w.sendWith(t, path, ether(1))
	w.checkWarning(t, c)
	w.mustCommand(t, "account", "resume", "eth", gas, "--accept", hash, "--why", "a test")
	w.waitUntilOver(t, c)
}

// TestCatchingUpOnEverySurface starts a daemon that has missed many blocks, on a node that gives
// them slowly.
func TestCatchingUpOnEverySurface(t *testing.T) {
	t.Parallel()
	w := newFaultyEnv(t, func(w *faultyEnv, c *config.Config) {
		w.alerts = newReceiver(t)
		c.Alerts = w.alerts.config()
		c.Status.Every = 5 * time.Second // three checks must see it move
	})
	c := cell{kind: status.FollowerBehind, chain: "eth", deposit: records.ChannelMaintain, withdraw: records.ChannelMaintain, names: "behind: the records are at", after: len(w.alerts.events(0))}
	w.kill(t)
	_, err := w.source.Mine(5_000)
	require.NoError(t, err)
	w.node.Fail(faults.Fault{Refuses: func(asked []byte) bool {
		if wholeBlock.Match(asked) {
			<-time.After(time.Second) // a slow node, which answers ranges of blocks
		}
		return false
	}})
	w.startDaemon(t)
	w.checkSurfaces(t, c)
	w.node.Fail(faults.Fault{})
	w.waitUntilOver(t, c)
}

// TestFeesOnEverySurface lets payouts cost more than they may, first all of them, then those of
// small withdrawals: with a fee in percent a large one may cost more.
func TestFeesOnEverySurface(t *testing.T) {
	t.Parallel()
	const usual, dear, dearer = 3, 3_000_000, 1_000_000_000_000 // tokens that a coin costs; the chain's fees are far below a thousandth of one
	fee := func(c *config.Config, price int64) {
		c.Networks[0].Tokens[1].Fee = records.Fee{Kind: "percent", PPM: 100_000, Rate: decimal.NewFromInt(price), Ceiling: 5}
	}
	w := newFaultyEnv(t, func(w *faultyEnv, c *config.Config) {
		w.alerts = newReceiver(t)
		c.Alerts = w.alerts.config()
		c.Ethereum[0].MaxUnmined = 1
		fee(c, usual)
	})
	reload := func(price int64) {
		w.writeConfig(t, w.info.Config, func(c *config.Config) { fee(c, price) })
		w.mustCommand(t, "reload")
	}
	small, large := units(w.user.Token, 2_000), units(w.user.Token, 990_000)
	reload(dearer)
	all := cell{kind: status.FeesTooHigh, chain: "eth", deposit: records.ChannelOpen, withdraw: records.ChannelMaintain, names: "above the limits of payouts", after: len(w.alerts.events(0)), degraded: true}
	to, sent := w.user.withdrawToPayee(t, small)
	w.checkSurfaces(t, all)

	w.node.Fail(faults.Fault{Refuses: rawTransaction.Match}) // then one large payout waits for its block, and the next one for that
	some := cell{kind: status.FeesHigh, chain: "eth", deposit: records.ChannelOpen, withdraw: records.ChannelOpen, after: len(w.alerts.events(0))}
	first := w.withdrawUnasked(t, large)
	reload(dear)
	waitFor(t, "a large payout that may cost more", func() bool {
		return w.hasTransfer(t, first) && findPayment(w.recordDetail(t, first), chain.Credit).State == string(records.Bound)
	})
	second := w.withdrawUnasked(t, large)
	w.checkWarning(t, some)
	reload(usual)
	w.node.Fail(faults.Fault{})
	for _, hash := range []string{sent, first, second} {
		w.user.mustAwait(t, "/withdraw-records", hash, "OPPOSITE_CONFIRMED")
	}
	w.user.requirePaid(t, to, small)
	w.waitUntilOver(t, some)
}

// withdrawUnasked sends a withdrawal without a request for withdraw-info: the channel may be
// closed.
func (w *faultyEnv) withdrawUnasked(t *testing.T, gross chain.Amount) (hash string) {
	t.Helper()
	home, err := daemon.ExchangeAddress(w.keys, wallet.GatewayPath(0))
	require.NoError(t, err)
	to, err := dev.NewPayee()
	require.NoError(t, err)
	data, err := w.user.Token.Withdrawal(to.Hex(), "")
	require.NoError(t, err)
	sent, err := w.user.SendToGateway(t.Context(), home.String(), gross, data)
	require.NoError(t, err)
	return sent.String()
}

// hasTransfer is true when the records have a transfer with a hash.
func (w *faultyEnv) hasTransfer(t *testing.T, hash string) bool {
	t.Helper()
	return len(w.listRecords(t, "--hash", hash)) > 0
}
