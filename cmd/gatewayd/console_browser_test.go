package main

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/dev"
	"gatewayd/records"
)

// consoleLogin creates a user, by command, and returns their credentials.
func (r *rig) consoleLogin(t *testing.T, name string, role records.UserRole) map[string]string {
	t.Helper()
	made := r.mustCommand(t, "console", "add", name, "--role", string(role))
	given := func(what string) string { return regexp.MustCompile(what + ` +(\S+)`).FindStringSubmatch(made)[1] }
	return map[string]string{"password": given("password"), "secret": given("second factor")}
}

// TestConsoleInBrowser signs in, visits every page, credits a held deposit, refunds another one,
// and stops and opens a channel.
func TestConsoleInBrowser(t *testing.T) {
	t.Parallel()
	r := newOrderRig(t, func(o *dev.Options) { o.Limits = true })
	done := r.dai.pay(t, r.dai.Token.Asset, r.shared.DepositAddress, r.amount, r.shared.Label)
	r.dai.mustAwait(t, "/deposit-records", done, "TOT_CONFIRMED")
	credit, refund := r.newHeldRecord(t, r.shared.DepositAddress, "NOBODY99"), r.newHeldRecord(t, r.shared.DepositAddress, "")
	require.NoError(t, r.OpenConsole(t.Context()))
	drive(t, "testdata/console_browser.mjs", map[string]any{
		"demo": r.Info.Console, "operators": r.Info.Operators, "config": r.Info.Config, "wallet": r.wallet(r.dai), "sender": refund.From,
		"credit": credit.ID, "hash": credit.InTx, "refund": refund.ID, "done": r.recordDetail(t, done).Record.ID,
		"users": map[string]any{
			"anna": r.consoleLogin(t, "anna", records.Operator), "karl": r.consoleLogin(t, "karl", records.Operator), "vera": r.consoleLogin(t, "vera", records.Viewer),
		},
	})
	require.Equal(t, "operator:anna", actorOf(r.recordDetail(t, recordName(credit)), "ordered"))
	require.Equal(t, "operator:anna", actorOf(r.recordDetail(t, recordName(refund)), "ordered"))
	r.waitUntilSettled(t)
}
