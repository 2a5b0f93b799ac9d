package operator

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/watcher/reconcile"
)

// TestCoverageStates: each configured token has a row, and a sheet counts only while its chains are
// followed and comparisons are on time.
func TestCoverageStates(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	networks := []records.Network{{Name: "net", Source: "eth", Exchange: "vite", Tokens: []records.Token{{TokenID: "tti_a"}, {TokenID: "tti_b"}, {TokenID: "tti_c"}}}}
	sheet := func(token, held string, age time.Duration, pause uint64) reconcile.Coverage {
		return reconcile.Coverage{Network: "net", Token: token, Held: chain.MustAmount(held), Owed: chain.MustAmount("5"), At: now.Add(-age), Pause: pause}
	}
	for name, c := range map[string]struct {
		eth  string
		age  time.Duration
		want []string
	}{
		"followed":      {"following", time.Minute, []string{"covered", "missing", "uncompared"}},
		"halted":        {"halted", time.Minute, []string{"halted", "halted", "uncompared"}},
		"not followed":  {"unknown", time.Minute, []string{"unfollowed", "unfollowed", "uncompared"}},
		"old":           {"following", 2 * time.Minute, []string{"covered", "old", "uncompared"}},
		"old with rest": {"following", 5 * time.Minute, []string{"old", "old", "uncompared"}},
	} {
		t.Run(name, func(t *testing.T) {
			sheets := []reconcile.Coverage{sheet("tti_a", "5", c.age, 60), sheet("tti_b", "4", c.age, 0)}
			o := Overview{At: now, Chains: []Chain{{ID: "eth", State: c.eth}, {ID: "vite", State: "following"}}, Coverage: coverageOf(networks, sheets)}
			o.judgeCoverage(networks, 30*time.Second)
			var got []string
			for _, row := range o.Coverage {
				got = append(got, row.State)
			}
			require.Equal(t, c.want, got)
		})
	}
}
