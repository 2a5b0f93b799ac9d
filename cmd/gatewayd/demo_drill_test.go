package main

import (
	"encoding/json"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDrill runs two of the drills as an operator does. All of them are `make drill`.
func TestDrill(t *testing.T) {
	t.Parallel()
	c := exec.CommandContext(t.Context(), "gatewayd", "demo", "drill", "--binary", lookUp(t, "gatewayd"), "--only", "dead-node,halted-account")
	c.Dir = "../.." // where anvil is
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s", out)
	for _, said := range []string{"money moves", "account_stopped", "halted", "goes on", "must have", "0 differences"} {
		require.Contains(t, string(out), said)
	}
}

func TestDrillRefusesWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "gatewayd", "demo", "drill", "--only", "flood").CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "--only flood: there is no such drill")
	require.Contains(t, string(out), "deep-reorg")
}

func lookUp(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	require.NoError(t, err)
	return path
}

// A gate lies in answers to single requests and to batches, about the methods that it is told to, and only there.
func TestGateLies(t *testing.T) {
	lie := func(method string, _ json.RawMessage) (json.RawMessage, bool) {
		return json.RawMessage(`"0x9"`), method == "b"
	}
	batch, err := changeResults([]byte(`[{"id":1,"method":"a"},{"id":2,"method":"b"}]`), []byte(`[{"id":2,"result":"0x2"},{"id":1,"result":"0x1"}]`), lie)
	require.NoError(t, err)
	require.JSONEq(t, `[{"id":2,"result":"0x9"},{"id":1,"result":"0x1"}]`, string(batch))
	one, err := changeResults([]byte(`{"id":7,"method":"b"}`), []byte(`{"id":7,"error":{"code":-1}}`), lie)
	require.NoError(t, err)
	require.JSONEq(t, `{"id":7,"error":{"code":-1}}`, string(one), "a refusal stays one")
}
