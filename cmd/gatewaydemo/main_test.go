package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"gatewayd/dev"
	"gatewayd/dev/demo"
)

// TestMain makes the test binary also the program, as `gatewaydemo` in PATH.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"gatewaydemo": main})
}

// TestScripts runs the commands of testdata/script without a gateway.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{Dir: "testdata/script", RequireExplicitExec: true, RequireUniqueNames: true})
}

// buildPrograms builds gatewayd and gatewaydemo into one directory, as `make demo-custody` does.
func buildPrograms(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", dir, "gatewayd/cmd/gatewayd", "gatewayd/cmd/gatewaydemo").CombinedOutput()
	require.NoError(t, err, "%s", out)
	return dir
}

// gateway is a running `gatewayd dev`.
type gateway struct{ program, dir string }

func (g gateway) info() string { return filepath.Join(g.dir, "dev.json") }

// startGateway runs `gatewayd dev` with blocks every second until the test ends.
func startGateway(t *testing.T) gateway {
	t.Helper()
	g := gateway{filepath.Join(buildPrograms(t), "gatewayd"), t.TempDir()}
	p := exec.Command(g.program, "dev", "--market=false", "--dir", g.dir, "--period", "1s", "--snapshot-interval", "1s",
		"--listen", "127.0.0.1:0", "--exchange-listen", "127.0.0.1:0", "--api", "127.0.0.1:0", "--operators", "127.0.0.1:0")
	p.Env = append(os.Environ(), "TMPDIR="+t.TempDir()) // directory of its description: another environment may run
	p.Stderr = t.Output()
	require.NoError(t, p.Start())
	t.Cleanup(func() {
		require.NoError(t, p.Process.Signal(syscall.SIGINT))
		require.NoError(t, p.Wait())
	})
	return g
}

// run runs gatewaydemo on the gateway and returns its output.
func (g gateway) run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	return output(t, t.Context(), append(args, "--info", g.info())...)
}

func output(t *testing.T, ctx context.Context, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := run(ctx, args, streams{stdout: &out, stderr: t.Output(), getenv: func(string) string { return "" }})
	return out.String(), err
}

// TestDemo runs a newcomer's first commands on a running gateway, and the first one on each kind of
// node. Then the books of the gateway agree with the chains.
func TestDemo(t *testing.T) {
	t.Parallel()
	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		g := startGateway(t)
		out, err := g.run(t)
		require.NoError(t, err, out)
		require.Contains(t, out, "All records are final.")
		out, err = g.run(t, "exchange", "--json")
		require.NoError(t, err, out)
		require.Equal(t, "done", lastEvent(t, out).Event)
		g.burst(t, 7)
		g.requireAudited(t)
	})
	for _, kind := range []string{"anvil", "geth", "btcd", "litecoin"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			out, err := output(t, ctx, "--source", kind)
			require.NoError(t, err, out)
			require.Contains(t, out, "All records are final.")
		})
	}
}

func lastEvent(t *testing.T, out string) (last demo.Event) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(out), "\n")
	require.NoError(t, json.Unmarshal([]byte(lines[len(lines)-1]), &last), out)
	return last
}

// burst lets a few users deposit and withdraw, and reads the JSON result. On a busy machine payouts
// may be later than promised; the command reports that.
func (g gateway) burst(t *testing.T, count int) {
	t.Helper()
	out, late := g.run(t, "burst", "--json", "--count", strconv.Itoa(count), "--timeout", "5m")
	if late != nil {
		require.ErrorIs(t, late, demo.ErrPromise, out)
	}
	last := lastEvent(t, out)
	require.Equal(t, "result", last.Event)
	var result demo.Result
	require.NoError(t, json.Unmarshal(last.Data, &result))
	require.Equal(t, count, result.Count)
}

// requireAudited waits until the gateway's books and the chains have no differences.
func (g gateway) requireAudited(t *testing.T) {
	t.Helper()
	var out []byte
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.NoError(t, dev.Poll(ctx, func() (bool, error) {
		out, _ = exec.CommandContext(ctx, g.program, "audit", "-c", filepath.Join(g.dir, "config.yaml")).CombinedOutput()
		return strings.Contains(string(out), " 0 differences"), nil
	}), "%s", out)
}

// A custody demo without gatewayd next to it names the command that builds it.
func TestDemoCustodyNeedsGatewayd(t *testing.T) {
	t.Parallel()
	err := run(t.Context(), []string{"custody"}, streams{stdout: io.Discard, stderr: t.Output(), getenv: os.Getenv})
	require.ErrorContains(t, err, "build it with `go build -o ")
}
