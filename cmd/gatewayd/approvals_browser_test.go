package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/config"
	"gatewayd/dev"
	"gatewayd/records"
	"gatewayd/signer/approval"
	"gatewayd/signer/limits"
)

// TestApprovalsInBrowser: two approvers register passkeys on the console, the signer gets them, and
// both have to approve a payout with them before it is paid. An operator holds another payout for a
// while, and then rejects it.
func TestApprovalsInBrowser(t *testing.T) {
	t.Parallel()
	w := &custodyEnv{faultyEnv: prepareFaultyEnv(t, startRichExchange, nil)}
	require.NoError(t, dev.FundSource(t.Context(), w.info, w.keys, nil))
	w.start(t)
	w.addUser(t)
	given := map[string]any{
		"operators": strings.Replace(w.info.Operators, "127.0.0.1", "localhost", 1),
		"users":     map[string]any{"ben": w.consoleLogin(t, "ben", records.Approver), "cyd": w.consoleLogin(t, "cyd", records.Approver)},
	}
	var made map[string]struct {
		Line string
		Keys json.RawMessage
	}
	require.NoError(t, json.Unmarshal(drive(t, "testdata/approvals_browser.mjs", given), &made))

	w.kill(t)
	keys, usdt := map[string]any{}, w.cfg.Networks[0].Tokens[1]
	w.writeConfig(t, w.info.Config, func(c *config.Config) {
		c.Signer.Approvals = approval.Config{Needed: 2, URL: given["operators"].(string), Tokens: []approval.Token{{
			Network: c.Networks[0].Name, Token: usdt.Token, ApproveAbove: units(dev.Token{Decimals: usdt.Decimals}, 2_000),
		}}}
		prices := filepath.Join(t.TempDir(), "prices")
		var list strings.Builder
		for _, one := range c.Networks[0].Tokens {
			fmt.Fprintf(&list, "%s 1.02 %s\n", one.Token, time.Now().UTC().Format(time.RFC3339))
		}
		require.NoError(t, os.WriteFile(prices, []byte(list.String()), 0o600))
		c.Signer.Limits = limits.Config{GatewayDay: "250000", Prices: prices}
		for name, one := range made {
			var line []approval.Approver
			require.NoError(t, yaml.Unmarshal([]byte(one.Line), &line))
			c.Signer.Approvals.Approvers, keys[name] = append(c.Signer.Approvals.Approvers, line...), one.Keys
		}
	})
	w.start(t)

	to, sent := w.user.withdrawToPayee(t, units(w.user.Token, 2_500))
	never, back := w.user.withdrawToPayee(t, units(w.user.Token, 2_600))
	given["operator"] = w.consoleLogin(t, "dora", records.Operator)
	given["keys"], given["approve"], given["reject"] = keys, w.waitForHeld(t, sent, records.HeldApproval), w.waitForHeld(t, back, records.HeldApproval)
	drive(t, "testdata/approvals_browser.mjs", given)
	w.user.mustAwait(t, "/withdraw-records", sent, "OPPOSITE_CONFIRMED")
	w.user.requirePaid(t, to, chain.MustAmount(w.recordDetail(t, sent).Record.Net))
	waitFor(t, "the refund", func() bool { return w.recordDetail(t, back).Record.RefundTx != "" })
	require.NotEmpty(t, never)
	var ordered []string
	for _, e := range w.recordDetail(t, back).History {
		if strings.HasSuffix(e.What, "ordered") {
			ordered = append(ordered, e.Actor+" "+e.Detail)
		}
	}
	require.Equal(t, []string{"operator:dora hold: who is this?", "operator:dora retry: the user has called", "operator:cyd refund: nobody knows this receiver"}, ordered)
}
