package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/config"
	"gatewayd/internal/testing/faults"
	"gatewayd/records"
	"gatewayd/status"
)

// TestRefusedPaymentOnEverySurface: the only node refuses a payout with an unknown text. Every
// surface shows it within a minute, and it disappears when the node accepts the payout.
func TestRefusedPaymentOnEverySurface(t *testing.T) {
	t.Parallel()
	w := newFaultyEnv(t, func(w *faultyEnv, c *config.Config) {
		w.alerts = newReceiver(t)
		c.Alerts = w.alerts.config()
	})
	const words = "tx fee (1.50 ether) exceeds the configured cap (1.00 ether)"
	w.node.Fail(faults.Fault{Refusal: faults.Refusal{Method: "eth_sendRawTransaction", Text: words}})
	c := cell{kind: status.PaymentRefused, chain: "eth", deposit: records.ChannelOpen, withdraw: records.ChannelMaintain, names: words, after: len(w.alerts.events(0))}
	to, sent := w.user.withdrawToPayee(t, units(w.user.Token, 10_000))
	w.checkSurfaces(t, c)
	out, _ := w.runCommand(t, "channel", "list")
	require.Contains(t, out, w.hot(t), "it names the account")
	w.node.Fail(faults.Fault{})
	w.user.mustAwait(t, "/withdraw-records", sent, "OPPOSITE_CONFIRMED")
	w.user.requirePaid(t, to, units(w.user.Token, 10_000))
	w.waitUntilOver(t, c)
}
