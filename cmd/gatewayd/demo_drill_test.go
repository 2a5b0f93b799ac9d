package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/devnet/drill"
	"gatewayd/devnet/faultynode"
	"gatewayd/operator/status"
)

// TestDrill does all drills, as `make drill` does. What this system does not allow is left out, and said to be.
func TestDrill(t *testing.T) {
	t.Parallel()
	c := exec.CommandContext(t.Context(), "gatewayd", "demo", "drill", "--binary", lookUp(t, "gatewayd"), "--postgres", os.Getenv("GATEWAYD_TEST_POSTGRES"))
	c.Dir = "../.." // where anvil is
	out, err := c.CombinedOutput()
	if strings.Contains(string(out), "starting anvil: it is not installed") {
		t.Skip("anvil is not installed: scripts/npm-install.sh does that")
	}
	require.NoError(t, err, "%s", out)
	for _, d := range drill.Drills() {
		t.Run(d.Name, func(t *testing.T) {
			_, told, found := strings.Cut(string(out), ". "+d.Title+"\n")
			require.True(t, found)
			told, _, _ = strings.Cut(told, "\n\n")
			t.Log(told)
			if _, why, skipped := strings.Cut(told, "left out: "); skipped {
				t.Skip(why)
			}
			require.Contains(t, told, "money moves")
			require.Contains(t, told, string(d.Alert))
		})
	}
	require.Equal(t, 3, strings.Count(string(out), " checks, 0 differences"))
}

func lookUp(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	require.NoError(t, err)
	return path
}

func TestDrillRefusesWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "gatewayd", "demo", "drill", "--only", "flood").CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "--only flood: there is no such drill")
	require.Contains(t, string(out), "deep-reorg")
}

// A node lies in answers to single requests and to batches, and refusals stay what they are.
func TestFaultyNodeLies(t *testing.T) {
	tell := func(method string, _ []any, result json.RawMessage) any {
		if method == "b" {
			return "0x9"
		}
		return result
	}
	batch, err := faultynode.Bend([]byte(`[{"id":1,"method":"a"},{"id":2,"method":"b"}]`), []byte(`[{"id":2,"result":"0x2"},{"id":1,"result":"0x1"}]`), tell)
	require.NoError(t, err)
	require.JSONEq(t, `[{"id":2,"result":"0x9"},{"id":1,"result":"0x1"}]`, string(batch))
	one, err := faultynode.Bend([]byte(`{"id":7,"method":"b"}`), []byte(`{"id":7,"error":{"code":-1}}`), tell)
	require.NoError(t, err)
	require.JSONEq(t, `{"id":7,"error":{"code":-1}}`, string(one))
}

// The drill takes an alert that is told once when it begins and once when it is over, and no other.
func TestDrillReadsAlerts(t *testing.T) {
	const begun, other, over = `{"level":"warning","msg":"too few","condition":"nodes_unreachable","chain":"eth","since":"2026-11-22T12:00:00Z"}` + "\n",
		`{"level":"warning","msg":"too few","condition":"nodes_unreachable","chain":"vite","since":"2026-11-22T12:00:00Z"}` + "\n",
		`{"level":"info","msg":"over","condition":"nodes_unreachable","chain":"eth","since":"2026-11-22T12:00:00Z","lasted":"9s"}` + "\n"
	for name, c := range map[string]struct {
		log         string
		kind        status.Kind
		begun, over bool
		wrong       string
	}{
		"nothing yet":      {"", status.NodesDown, false, true, ""},
		"begun":            {`{"level":"warning","msg":"trying again"}` + "\n" + begun, status.NodesDown, true, false, ""},
		"over":             {begun + over, status.NodesDown, true, true, ""},
		"two of them":      {begun + other + over, status.NodesDown, true, false, ""},
		"told again":       {begun + begun, status.NodesDown, false, false, "told twice"},
		"begun again":      {begun + over + begun, status.NodesDown, true, false, ""},
		"again and again":  {begun + over + begun + over + begun, status.StoreDown, false, true, "again and again"},
		"over twice":       {begun + over + over, status.NodesDown, false, false, "told twice"},
		"another's, again": {begun + over + begun, status.StoreDown, false, true, ""},
		"of what":          {`{"level":"warning","condition":"nodes_unreachable","since":"2026-11-22T12:00:00Z"}`, status.NodesDown, false, false, "not of what"},
		"since when":       {`{"level":"warning","condition":"nodes_unreachable","chain":"eth"}`, status.NodesDown, false, false, "since when"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := drill.ReadAlerts(c.log, c.kind)
			if c.wrong != "" {
				require.ErrorContains(t, err, c.wrong)
				return
			}
			require.NoError(t, err)
			require.Equal(t, []bool{c.begun, c.over}, []bool{got.Begun, got.Over})
		})
	}
}
