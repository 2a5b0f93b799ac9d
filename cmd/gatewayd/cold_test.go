package main

import (
	"encoding/json"
	"math/big"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/chain/ethereum"
	"gatewayd/config"
	"gatewayd/dev"
	"gatewayd/operator"
	"gatewayd/records"
	"gatewayd/status"
	"gatewayd/wallet"
)

// coldEnv is a gateway with a separate signer whose USDT and coin have cold addresses.
type coldEnv struct {
	*faultyEnv
	usdt dev.Token
	cold map[string]string // by symbol
}

func newColdEnv(t *testing.T) *coldEnv {
	t.Helper()
	payee, err := dev.NewPayee()
	require.NoError(t, err)
	w := &coldEnv{cold: map[string]string{"USDT": dev.FaucetAddress(), "ETH": payee.Hex()}}
	w.faultyEnv = newFaultyEnv(t, func(l *faultyEnv, c *config.Config) {
		l.alerts = newReceiver(t)
		c.Alerts = l.alerts.config()
		c.Networks[0].Funders = nil
		c.Networks[0].Tokens[0].Cold, c.Networks[0].Tokens[1].Cold = w.cold["ETH"], w.cold["USDT"]
		c.Watcher.Sweep, c.Watcher.Level = "@every 1s", time.Second
		splitSigner(t, c).start(t)
	})
	w.usdt = w.token(t, "USDT")
	return w
}

func (w *coldEnv) balanceOf(t *testing.T, account string) chain.Amount {
	t.Helper()
	have, err := w.user.Eth.Balance(t.Context(), w.usdt.Asset, common.HexToAddress(account))
	require.NoError(t, err)
	return chain.MustAmount(have.String())
}

// plus is an amount and so many thousandths of a USDT.
func (w *coldEnv) plus(t *testing.T, a chain.Amount, n uint64) chain.Amount {
	t.Helper()
	sum, err := a.Add(units(w.usdt, n))
	require.NoError(t, err)
	return sum
}

// setBounds sets the hot_min and hot_max of USDT.
func (w *coldEnv) setBounds(t *testing.T, least, most chain.Amount) {
	t.Helper()
	w.writeConfig(t, w.info.Config, func(c *config.Config) { c.Networks[0].Tokens[1].HotMin, c.Networks[0].Tokens[1].HotMax = least, most })
	w.mustCommand(t, "reload")
}

func (w *coldEnv) moves(t *testing.T) (rows []operator.Row) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(w.mustCommand(t, "account", "moves", "--json")), &rows))
	return rows
}

// waitForMove waits until there are so many moves and the newest is paid.
func (w *coldEnv) waitForMove(t *testing.T, count int) operator.Row {
	t.Helper()
	var rows []operator.Row
	waitFor(t, "a move that is paid", func() bool {
		rows = w.moves(t)
		return len(rows) >= count && rows[0].State == string(records.Paid)
	})
	require.Len(t, rows, count)
	return rows[0]
}

// TestColdMoney: swept deposits bring the hot account above hot_max, the excess goes to the cold
// address and is counted there, operators move more, and a return transfer tops the hot account up.
// A manual transfer there stops the account until one command resumes it.
func TestColdMoney(t *testing.T) {
	t.Parallel()
	w := newColdEnv(t)
	hot := w.hot(t)
	first := w.balanceOf(t, hot)
	w.setBounds(t, first, w.plus(t, first, 20_000))
	w.user.mustDeposit(t, units(w.usdt, 50_000))
	m := w.waitForMove(t, 1)
	require.Equal(t, []string{"cold", hot, w.cold["USDT"], ""}, []string{m.Purpose, m.From, m.To, m.Actor})
	require.Equal(t, units(w.usdt, 40_000), m.Amount, "down to the middle")
	require.Equal(t, w.plus(t, first, 10_000), w.balanceOf(t, hot))
	w.requireCovered(t)

	for _, refused := range []struct{ want, amount, token, to, why string }{
		{"must be `cold`", "1", "USDT", goodPayee, "a test"},
		{"at most", "100000000", "USDT", "cold", "a test"},
		{"has no token", "1", "DOGE", "cold", "a test"},
		{"above zero, with at most", "1.0000001", "USDT", "cold", "a test"},
		{"above zero, with at most", "0", "USDT", "cold", "a test"},
		{"--why is required", "1", "USDT", "cold", ""},
	} {
		out, ok := w.runCommand(t, "account", "move", "eth", hot, refused.amount, refused.token, "--to", refused.to, "--why", refused.why)
		require.False(t, ok, out)
		require.Contains(t, out, refused.want)
	}
	out := w.mustCommand(t, "account", "move", "eth", hot, "4", "USDT", "--to", "cold", "--why", "a quiet week")
	require.Contains(t, out, ": 4 USDT from "+hot)
	m = w.waitForMove(t, 2)
	require.Equal(t, units(w.usdt, 4_000), m.Amount)
	require.Equal(t, "a quiet week", m.Why)
	require.Contains(t, m.Actor, "operator")

	c := warned(status.HotBelow)
	c.chain, c.after = "eth", len(w.alerts.events(0))
	w.setBounds(t, w.plus(t, first, 8_000), w.plus(t, first, 80_000))
	w.checkWarning(t, c)
	_, err := w.user.Faucet.Pay(t.Context(), w.usdt.Asset, common.HexToAddress(hot), units(w.usdt, 2_000).Uint256().ToBig(), nil)
	require.NoError(t, err)
	w.waitUntilOver(t, c)
	require.Empty(t, w.listRecords(t, "--needs-operator"))
	w.requireCovered(t)
	w.sendByHand(t, hot)
}

// requireCovered requires that every page and command counts cold money towards what is owed.
func (w *coldEnv) requireCovered(t *testing.T) {
	t.Helper()
	waitFor(t, "a balance sheet with the cold address", func() bool {
		s, ok := w.auditRow(t, "USDT")
		return ok && s.Cold == w.balanceOf(t, w.cold["USDT"])
	})
	s, _ := w.auditRow(t, "USDT")
	without, err := s.Held.Sub(s.Cold)
	require.NoError(t, err)
	require.True(t, s.Hot.Less(without) || s.Hot == without)
	require.Regexp(t, `cold address +\d`, w.mustCommand(t, "audit"))
	require.Regexp(t, `eth +eth +cold .* USDT`, w.mustCommand(t, "balances"))
	require.Contains(t, w.mustCommand(t, "status", "--json"), `"cold": "`+s.Cold.String()+`"`)
}

// sendByHand sends coin to its cold address with the hot account's key, without the daemon.
func (w *coldEnv) sendByHand(t *testing.T, hot string) {
	t.Helper()
	hash, err := dev.SendByHand(t.Context(), w.user.Eth.Client, w.keys, wallet.SourcePaths(ethereum.CoinType).Hot(0), common.HexToAddress(w.cold["ETH"]), big.NewInt(1_000_000))
	require.NoError(t, err)
	require.NoError(t, w.user.Eth.Mined(t.Context(), hash))
	w.waitForCondition(t, status.AccountStopped)
	require.Contains(t, w.mustCommand(t, "account", "show", "eth", hot), "went to the cold address: resume settles it")
	out, ok := w.runCommand(t, "account", "move", "eth", hot, "1", "USDT", "--to", "cold", "--why", "a test")
	require.False(t, ok)
	require.Contains(t, out, "gatewayd account show")
	waitFor(t, "an account that goes on", func() bool {
		_, ok = w.runCommand(t, "account", "resume", "eth", hot)
		return ok
	})
	w.waitUntilWell(t)
	m := w.waitForMove(t, 3)
	require.Equal(t, hash.Hex(), m.Tx)
	require.Contains(t, m.Why, "by hand")
	waitFor(t, "an audit that is content", func() bool { _, ok := w.auditRow(t, "ETH"); return ok })
}
