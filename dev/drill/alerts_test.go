package drill

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/status"
)

// The drill accepts an alert that begins once and ends once, and no other.
func TestReadAlerts(t *testing.T) {
	const begun, other, over = `{"level":"warning","alert":"began","msg":"too few","condition":"nodes_unreachable","chain":"eth","since":"2026-11-22T12:00:00Z"}` + "\n",
		`{"level":"warning","alert":"began","msg":"too few","condition":"nodes_unreachable","chain":"vite","since":"2026-11-22T12:00:00Z"}` + "\n",
		`{"level":"info","alert":"over","msg":"over","condition":"nodes_unreachable","chain":"eth","since":"2026-11-22T12:00:00Z","lasted":"9s"}` + "\n"
	const stopped, grows, moves = `{"alert":"began","level":"warning","condition":"channel_stopped","network":"eth","direction":"withdrawal","since":"2026-11-22T12:00:00Z","tokens":"eth A withdrawal"}` + "\n",
		`{"alert":"changed","level":"warning","condition":"channel_stopped","network":"eth","since":"2026-11-22T12:00:00Z","tokens":"eth A deposit, eth A withdrawal"}` + "\n",
		`{"alert":"over","level":"info","condition":"channel_stopped","network":"eth","since":"2026-11-22T12:00:00Z","tokens":"eth A deposit, eth A withdrawal","lasted":"9s"}` + "\n"
	for name, c := range map[string]struct {
		log         string
		kind        status.Kind
		begun, over bool
		wrong       string
	}{
		"nothing yet":      {"", status.NodesDown, false, true, ""},
		"begun":            {`{"level":"warning","msg":"retrying"}` + "\n" + begun, status.NodesDown, true, false, ""},
		"over":             {begun + over, status.NodesDown, true, true, ""},
		"two of them":      {begun + other + over, status.NodesDown, true, false, ""},
		"told again":       {begun + begun, status.NodesDown, false, false, "told twice"},
		"begun again":      {begun + over + begun, status.NodesDown, true, false, ""},
		"again and again":  {begun + over + begun + over + begun, status.StoreDown, false, true, "again and again"},
		"over twice":       {begun + over + over, status.NodesDown, false, false, "told twice"},
		"another's, again": {begun + over + begun, status.StoreDown, false, true, ""},
		"of more tokens":   {stopped + grows + moves, status.ChannelStopped, true, true, ""},
		"of what":          {`{"level":"warning","condition":"nodes_unreachable","since":"2026-11-22T12:00:00Z"}`, status.NodesDown, false, false, "not of what"},
		"since when":       {`{"level":"warning","condition":"nodes_unreachable","chain":"eth"}`, status.NodesDown, false, false, "since when"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := readAlerts(c.log, c.kind)
			if c.wrong != "" {
				require.ErrorContains(t, err, c.wrong)
				return
			}
			require.NoError(t, err)
			require.Equal(t, []bool{c.begun, c.over}, []bool{got.begun, got.over})
		})
	}
}
