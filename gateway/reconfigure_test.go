package gateway

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"gatewayd/chain"
	"gatewayd/httpserver"
	"gatewayd/internal/testing/recordstest"
	"gatewayd/records"
)

// TestReconfigure exchanges tokens and limits under requests: each is answered by the configuration
// of before or by the one after.
func TestReconfigure(t *testing.T) {
	r := setup(t, func(c *Config, _ *Parts) { c.TrustProxy, c.NewBindingsPerHour = []string{"127.0.0.0/8"}, 1 })
	before := []records.Network{networkOf(recordstest.Network, recordstest.Source), networkOf("bsc", "bsc")}
	after := []records.Network{networkOf(recordstest.Network, recordstest.Source), networkOf("bsc", "bsc")}
	after[0].Tokens = after[0].Tokens[:1]
	after[0].Tokens[0].Policy.MinDeposit = chain.NewAmount(77)
	cfg := r.server.cfg

	newcomer := func(wallet string) int {
		return r.get(at(eth, "/deposit-info", "tokenId", token, "walletAddress", wallet), "X-Forwarded-For", "192.0.2.1").SubCode
	}
	require.Zero(t, newcomer("vite_1"))
	require.Equal(t, int(tooManyBindings), newcomer("vite_2"))

	var g errgroup.Group
	done := make(chan struct{})
	g.Go(func() error {
		defer close(done)
		for range 100 {
			if err := r.server.Reconfigure(cfg, after); err != nil {
				return err
			}
			if err := r.server.Reconfigure(cfg, before); err != nil {
				return err
			}
		}
		return r.server.Reconfigure(cfg, after)
	})
	asked := 0
	for running := true; running; asked++ {
		select {
		case <-done:
			running = false
		default:
		}
		require.Contains(t, []int{0, int(tokenUnknown)}, r.get(at(eth, "/meta-info", "tokenId", labelled)).SubCode)
		require.Zero(t, r.get("/health").SubCode)
	}
	require.NoError(t, g.Wait())
	require.Equal(t, int(tokenUnknown), r.get(at(eth, "/meta-info", "tokenId", labelled)).SubCode)
	require.Zero(t, r.get(at(bsc, "/meta-info", "tokenId", labelled)).SubCode, "another network's")
	require.Equal(t, "77", r.get(at(eth, "/deposit-info", "tokenId", token, "walletAddress", "vite_1")).data(t)["minimumDepositAmount"])
	require.Equal(t, int(tooManyBindings), newcomer("vite_2"), "the same bound goes on counting")

	cfg.NewBindingsPerHour = 2
	require.NoError(t, r.server.Reconfigure(cfg, after))
	require.Zero(t, newcomer("vite_2"), "another begins anew")

	require.ErrorContains(t, r.server.Reconfigure(Config{Config: httpserver.Config{RatePerSecond: -1}}, after), "rate_per_second")
	require.ErrorContains(t, r.server.Reconfigure(cfg, after[:1]), "1 networks for 2 routes")
	require.ErrorContains(t, r.server.Reconfigure(cfg, []records.Network{after[1], after[0]}), "network bsc in the place of eth")
	nameless := networkOf("bsc", "bsc")
	nameless.Tokens[1].LabelName = ""
	require.ErrorContains(t, r.server.Reconfigure(cfg, []records.Network{after[0], nameless}), "label name")
}
