package operator

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/status"
)

// TestDoubtedChains: a chain that no process follows has no known state. A halted one stays halted.
func TestDoubtedChains(t *testing.T) {
	since := time.Unix(1_700_000_000, 0)
	down := []status.Condition{{Kind: status.DaemonDown, Chain: "eth", Since: since}}
	for name, c := range map[string]struct{ before, after Chain }{
		"followed":      {Chain{ID: "eth", State: "following"}, Chain{ID: "eth", State: "unknown", Since: &since}},
		"halted":        {Chain{ID: "eth", State: "halted"}, Chain{ID: "eth", State: "halted"}},
		"another chain": {Chain{ID: "vite", State: "following"}, Chain{ID: "vite", State: "following"}},
	} {
		t.Run(name, func(t *testing.T) {
			c.before.doubt(down)
			require.Equal(t, c.after, c.before)
		})
	}
}
