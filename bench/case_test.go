package bench

import (
	"context"
	"errors"
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMain lets this test binary be the process of a part, as the program is outside tests.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "bench" && os.Args[2] == "part" {
		if err := RunPart(context.Background(), append(Cases(), tinyCases()...), parsePart(os.Args[3:]), os.Stdout, os.Stderr); err != nil {
			panic(err)
		}
		return
	}
	os.Exit(m.Run())
}

// parsePart undoes PartConfig.arguments.
func parsePart(args []string) PartConfig {
	config := PartConfig{Case: args[0], Side: args[1]}
	into := map[string]*string{"--dir": &config.Dir, "--data": &config.Data, "--stream": &config.Stream, "--argument": &config.Argument, "--profile": &config.Profile}
	for i := 2; i < len(args); i += 2 {
		if args[i] == "--scale" {
			config.Scale = tiny
			continue
		}
		*into[args[i]] = args[i+1]
	}
	return config
}

// tiny is a scale at which every part takes next to no time.
const tiny = 0.001

// TestCases does every part of every case once, tiny, so that none is dead: what a goal is about must be reported, and what
// must be the same must be.
func TestCases(t *testing.T) {
	names := map[string]bool{}
	for _, c := range Cases() {
		t.Run(c.Name, func(t *testing.T) {
			require.False(t, names[c.Name], "two cases have one name")
			names[c.Name] = true
			require.NotEmpty(t, c.About)
			require.NotEmpty(t, c.Goals)
			require.Contains(t, []string{Exchange, Bridge}, c.Group)
			result := Result{Case: &c, Rounds: []Round{tinyRound(t, &c)}}
			require.NoError(t, result.Rounds[0].same(c.Same))
			require.NoError(t, result.judge())
			for _, v := range result.Verdict {
				if v.Of == CPU || v.Of == Wall { // memory of this process, which all cases share here, may shrink in a tiny run
					require.GreaterOrEqual(t, v.Ours, 0.0)
				}
				require.Equal(t, v.Absolute, v.Yardstick == 0)
			}
		})
	}
}

// tinyRound does all sides in this process.
func tinyRound(t *testing.T, c *Case) (round Round) {
	data := t.TempDir()
	do := func(side string) Figure {
		part, ok := c.part(side)
		require.True(t, ok)
		f, err := part(t.Context(), &Run{Case: c.Name, Scale: tiny, Dir: t.TempDir(), Data: data, Stderr: io.Discard})
		if errors.Is(err, ErrSkip) {
			t.Skip(err) // only what this machine cannot do
		}
		require.NoError(t, err)
		return f
	}
	if c.Prepare != nil {
		do(sidePrepare)
	}
	for _, side := range c.sides() {
		round.Sides = append(round.Sides, Side{Name: side, measured: measured{Figure: do(side)}})
	}
	return round
}
