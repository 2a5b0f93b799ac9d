package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/bench"
)

func benchmark(t *testing.T, args ...string) (string, error) {
	var out bytes.Buffer
	err := run(t.Context(), append([]string{"bench"}, args...), world{stdin: strings.NewReader(""), stdout: &out, stderr: &out, getenv: os.Getenv})
	return out.String(), err
}

func TestBenchList(t *testing.T) {
	t.Parallel()
	all, err := benchmark(t, "--list")
	require.NoError(t, err)
	for _, c := range bench.Cases() {
		require.Contains(t, all, c.Name)
	}
	some, err := benchmark(t, "bridge", "--list")
	require.NoError(t, err)
	for _, line := range strings.Split(strings.TrimSpace(some), "\n") {
		require.True(t, strings.HasPrefix(line, bench.Bridge), line)
	}
}

// A part is asked for on the command line and answers with one line.
func TestBenchPart(t *testing.T) {
	t.Parallel()
	out, err := benchmark(t, "part", "signature", "ours", "--scale", "0.001", "--dir", t.TempDir())
	require.NoError(t, err)
	f, err := bench.ReadOutcome([]byte(out))
	require.NoError(t, err)
	require.Equal(t, 10, f.Units)
	require.Positive(t, f.Wall)
}

func TestBenchRefusals(t *testing.T) {
	t.Parallel()
	bad := filepath.Join(t.TempDir(), "stream")
	require.NoError(t, os.WriteFile(bad, bytes.Repeat([]byte{9}, 24), 0o600))
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"group":       {[]string{"everything"}, `invalid argument "everything"`},
		"case":        {[]string{"--only", "nothing"}, "has a name that begins with nothing"},
		"rounds":      {[]string{"--rounds", "0"}, "rounds: 0"},
		"scale":       {[]string{"--scale", "1,-1"}, "scale: -1"},
		"stream":      {[]string{"--stream", bad}, "record 0: invalid record: kind 9"},
		"no stream":   {[]string{"--stream", bad + "2"}, "no such file"},
		"part's args": {[]string{"part", "signature"}, "accepts 2 arg(s)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := benchmark(t, c.args...)
			require.ErrorContains(t, err, c.want)
		})
	}
}
