package main

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/chain/ethereum/contracts"
	"gatewayd/config"
	"gatewayd/dev"
	"gatewayd/dev/demo"
	"gatewayd/operator"
	"gatewayd/records"
)

// rebasing puts a token whose balances change without a word in USDT's place.
func rebasing(t *testing.T, token *common.Address) func(*faultyEnv, *config.Config) {
	return func(w *faultyEnv, c *config.Config) {
		c.Watcher.Solvency = time.Second
		rebasing := contracts.NewRebasingToken()
		code := append(common.FromHex(contracts.RebasingTokenMetaData.Bin), rebasing.PackConstructor("Tether USD", "USDT", 6)...)
		var err error
		*token, err = w.source.Deploy(code)
		require.NoError(t, err)
		_, err = w.source.SendCall(*token, new(big.Int), rebasing.PackMint(common.HexToAddress(dev.FaucetAddress()), big.NewInt(1e15)))
		require.NoError(t, err)
		_, err = w.source.Mine(1)
		require.NoError(t, err)
		c.Networks[0].Tokens[1].Asset = chain.Asset(token.Hex())
	}
}

// auditRow is a token's row in the balance sheet of `audit --json`, and whether the audit finds no
// fault. On a busy machine a node may not answer in time: then there is none, and who waits for one
// asks again.
func (w *faultyEnv) auditRow(t *testing.T, symbol string) (row operator.SheetRow, ok bool) {
	t.Helper()
	out, err := w.command(t, "audit", "--json")
	var report operator.Report
	if json.Unmarshal([]byte(out), &report) != nil {
		t.Logf("the audit ended early: %v", err)
		return row, false
	}
	for _, s := range report.Sheets {
		if strings.HasPrefix(s.Symbol, symbol) {
			return s, err == nil
		}
	}
	t.Logf("no sheet of %s: %s", symbol, out)
	return row, false
}

// TestTokenThatRebases: what leaves our accounts without a transaction of ours closes the token's
// channels and is named to the unit, wherever it lay. The books take it over on an operator's word;
// then what is owed must still be covered.
func TestTokenThatRebases(t *testing.T) {
	t.Parallel()
	var token common.Address
	w := newFaultyEnv(t, rebasing(t, &token))
	rebase := func(account string, percent int64) {
		_, err := w.source.SendCall(token, new(big.Int), contracts.NewRebasingToken().PackRebase(common.HexToAddress(account), big.NewInt(percent)))
		require.NoError(t, err)
	}
	waitFor(t, "the token's books", func() bool { s, _ := w.auditRow(t, "USDT"); return s.Expected != nil })
	w.user.mustDeposit(t, units(w.user.Token, 30_000))
	waitFor(t, "a sheet that fits", func() bool {
		s, ok := w.auditRow(t, "USDT")
		return ok && s.Circulating == units(w.user.Token, 30_000) && s.Deposits == s.Circulating && *s.Expected == s.Held
	})

	rebase(w.hot(t), 40) // of 10,000
	const missing = "6000 USDT less than the books show"
	closed := func(text string) func() bool {
		return func() bool { return strings.Contains(w.mustCommand(t, "channel", "list"), text) }
	}
	waitFor(t, "closed channels", closed(missing))
	s, ok := w.auditRow(t, "USDT")
	require.False(t, ok)
	require.Equal(t, []chain.Amount{units(w.user.Token, 6_000_000), {}}, []chain.Amount{s.Missing, s.Uncovered}, "what is owed is covered still")
	out, _ := w.runCommand(t, "audit")
	require.Contains(t, out, "our accounts hold 6000 USDT-000 less of "+token.Hex())
	require.Equal(t, 2, strings.Count(w.mustCommand(t, "channel", "list"), missing), "both directions")
	require.Contains(t, w.mustCommand(t, "audit", "--accept", "USDT-000", "--why", "a test"), "6000 USDT-000 lower now")
	w.waitUntilWell(t)

	rebase(w.hot(t), 0)
	rebase(depositAddress(t, w.user), 50)
	waitFor(t, "closed channels", closed("solvency: "))
	waitFor(t, "what is not covered", func() bool { s, ok := w.auditRow(t, "USDT"); return !ok && s.Uncovered == units(w.user.Token, 15_000) })
	w.mustCommand(t, "audit", "--accept", "USDT-000", "--why", "a test")
	waitFor(t, "what is owed", func() bool { s, _ := w.auditRow(t, "USDT"); return s.Missing.IsZero() && !s.Uncovered.IsZero() })
	require.Contains(t, w.mustCommand(t, "channel", "list"), records.ChannelMaintain)
	w.topUp(t)
	w.waitUntilWell(t)
	_, err := w.command(t, "audit", "--accept", "USDT-000", "--why", "again")
	require.ErrorContains(t, err, "the daemon has confirmed no shortage of USDT-000")
}

// TestCoinThatStrangersSent: the audit reports coin that left with the hot account's key, although
// the books of coin follow the chain.
func TestCoinThatStrangersSent(t *testing.T) {
	t.Parallel()
	w := newFaultyEnv(t, nil)
	payee, _ := w.user.withdrawToPayee(t, units(w.user.Token, 5000)) // the account's books begin with its first payment
	waitFor(t, "a payout", func() bool {
		have, err := w.user.Eth.Balance(t.Context(), w.user.Token.Asset, common.HexToAddress(payee))
		return err == nil && have.Sign() > 0
	})
	w.steal(t, ether(50))
	waitFor(t, "the theft in the balance sheet", func() bool { s, _ := w.auditRow(t, "ETH"); return s.Unexplained == demo.AmountOf(ether(50)) })
	waitFor(t, "an audit whose questions are all answered", func() bool {
		out, ok := w.runCommand(t, "audit")
		require.False(t, ok)
		return findLine(out, "was not signed by this daemon: it moved 50 ETH to "+goodPayee) != "" && findLine(out, "SENT BY STRANGERS", " 50") != ""
	})
}
