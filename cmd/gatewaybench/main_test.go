package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMain lets this test binary be the process of a part, as the program is outside tests.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "part" {
		if err := runTestPart(context.Background()); err != nil {
			panic(err)
		}
		return
	}
	os.Exit(m.Run())
}

// runTestPart runs a part of a tiny case, which the command does not know, or else the command.
func runTestPart(ctx context.Context) error {
	tiny := tinyCases()
	if !slices.ContainsFunc(tiny, func(c Case) bool { return c.Name == os.Args[2] }) {
		return run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	}
	r := &Run{Case: os.Args[2], Side: os.Args[3], Scale: 1, Dir: os.Args[7], Argument: os.Args[9], Stderr: os.Stderr}
	return RunPart(ctx, tiny, r, os.Stdout)
}

func output(t *testing.T, args ...string) (string, error) {
	var out bytes.Buffer
	err := run(t.Context(), args, &out, io.Discard)
	return out.String(), err
}

func TestList(t *testing.T) {
	all, err := output(t, "--list")
	require.NoError(t, err)
	names := map[string]bool{}
	for _, c := range cases() {
		require.Contains(t, all, c.Name)
		require.False(t, names[c.Name], "two cases have the name %s", c.Name)
		names[c.Name] = true
		require.NotEmpty(t, c.About)
		require.NotEmpty(t, c.Goals)
	}
}

// TestCases does every part of every case once, tiny, so that none is dead: what a goal is about
// must be reported, and what must be the same must be.
func TestCases(t *testing.T) {
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
		t.Setenv("TMPDIR", "/dev/shm") // what is measured here means nothing, so nothing need wait for a disk
	}
	for _, c := range cases() {
		t.Run(c.Name, func(t *testing.T) {
			out, err := output(t, "--only", c.Name, "--rounds", "1", "--scale", "0.001", "--json")
			require.NoError(t, err, out)
			var results []struct {
				Case, Error, Skipped string
				Verdicts             []any
			}
			require.NoError(t, json.Unmarshal([]byte(out), &results))
			for _, r := range results {
				require.Empty(t, r.Error)
				if r.Skipped == "" {
					require.NotEmpty(t, r.Verdicts, r.Case)
				}
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"argument":    {[]string{"everything"}, `unknown command "everything"`},
		"case":        {[]string{"--only", "nothing"}, "has a name that begins with nothing"},
		"rounds":      {[]string{"--rounds", "0"}, "rounds: 0"},
		"scale":       {[]string{"--scale", "-1"}, "scale: -1"},
		"part's args": {[]string{"part", "dev"}, "accepts 2 arg(s)"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := output(t, c.args...)
			require.ErrorContains(t, err, c.want)
		})
	}
}
