// Package drill breaks a gateway in all known ways, checks every surface, repairs it by command and
// counts the money.
package drill

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/dev"
	"gatewayd/dev/demo"
	"gatewayd/internal/testing/faults"
)

// Patience: how long one thing may take that takes seconds, and how long all drills of a group.
const (
	drillPatience = 4 * time.Minute
	groupPatience = 30 * time.Minute
)

// TestDrill runs all drills, each group with its own gateway at the same time: they mostly wait for
// blocks. Drills that this system does not permit are skipped.
func TestDrill(t *testing.T) {
	binary := gatewayd(t)
	for _, name := range []string{nodesGroup, moneyGroup, storeGroup} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mounts := os.Getenv(insideMounts) != ""
			switch {
			case mounts && name != moneyGroup:
				t.Skip("another process does it")
			case name == moneyGroup && !mounts && drilledInMounts(t, binary):
				return
			}
			g := &group{name: name, options: options{binary: binary, mount: mounts}}
			if name == storeGroup {
				g.options.postgres = os.Getenv("GATEWAYD_TEST_POSTGRES")
			}
			g.run(t)
		})
	}
}

// binaryVariable names the program that is drilled; without it the drill builds it.
const binaryVariable = "GATEWAYD_DRILLED"

func gatewayd(t *testing.T) string {
	t.Helper()
	if built := os.Getenv(binaryVariable); built != "" {
		return built
	}
	path := filepath.Join(t.TempDir(), "gatewayd")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", path, "gatewayd/cmd/gatewayd").CombinedOutput()
	require.NoError(t, err, "%s", out)
	return path
}

// insideMounts marks the child of TestDrill that may mount a small disk.
const insideMounts = "GATEWAYD_DRILL_MOUNTS"

// drilledInMounts runs the same drills in a child process that may mount, and reports whether the
// system permits that.
func drilledInMounts(t *testing.T, binary string) bool {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0], os.Args[1:]...)
	child.Env = append(os.Environ(), insideMounts+"=1", binaryVariable+"="+binary)
	child.SysProcAttr = faults.OwnMounts(0)
	out, err := child.CombinedOutput()
	if faults.MountsRefused(err) {
		return false
	}
	t.Logf("%s", out)
	require.NoError(t, err)
	return true
}

// group are drills of one gateway, which starts with the first that is asked for.
type group struct {
	name    string
	options options
	env     *drillEnv
}

func (g *group) run(t *testing.T) {
	ctx, stop := context.WithTimeout(context.Background(), groupPatience) // its programs outlive the drill that started them
	t.Cleanup(stop)
	for _, each := range Drills() {
		if each.group != g.name {
			continue
		}
		passed := t.Run(each.Name, func(inner *testing.T) {
			if g.env == nil {
				g.env = newDrillEnv(t.TempDir(), g.options)
				t.Cleanup(func() { require.NoError(t, g.env.close()) })
				g.env.log = demo.NewLog(inner.Output(), false)
				require.NoError(inner, g.env.open(ctx), "The daemon said:\n%s", lazyLog{g.env, 0})
			}
			g.env.log = demo.NewLog(inner.Output(), false)
			if each.without != nil && each.without(g.env) != "" {
				inner.Skip(each.without(g.env))
			}
			g.env.log.Note("%s", each.Title)
			require.NoError(inner, g.env.run(ctx, each), "The daemon said:\n%s", lazyLog{g.env, g.env.logFrom})
		})
		require.True(t, passed, "what follows wants a gateway that is well")
	}
	if g.env != nil {
		g.env.log = demo.NewLog(t.Output(), false)
		require.NoError(t, g.env.checkBooks(ctx))
	}
}

// lazyLog is the daemon's log from a byte on, read when a test has failed.
type lazyLog struct {
	env  *drillEnv
	from int
}

func (l lazyLog) String() string { return l.env.readLog(l.from) }

// run is one drill from cause to proof that money moves again.
func (w *drillEnv) run(ctx context.Context, each drill) error {
	// On a busy machine a node may have been late a moment ago: the same alert must begin again.
	err := dev.Within(ctx, groupPatience, "an alert that stood before", func() (bool, error) { return !stands(w.readLog(0), each.Alert), nil })
	if err != nil {
		return err
	}
	begin := time.Now()
	w.logFrom, w.token = len(w.readLog(0)), w.info.Tokens[each.token].Token
	if err := each.cause(w, ctx); err != nil {
		return fmt.Errorf("causing it: %w", err)
	}
	if err := w.waitForSurfaces(ctx, each.shows); err != nil {
		return err
	}
	if each.mend != nil {
		if _, err := w.waitForAlerts(ctx, each, func(b alertBook) bool { return b.begun }); err != nil {
			return err
		}
		if err := each.mend(w, ctx); err != nil {
			return fmt.Errorf("repairing: %w", err)
		}
	}
	if err := w.waitForSurfaces(ctx, well()); err != nil {
		return fmt.Errorf("after the repair: %w", err)
	}
	if err := w.bridge(ctx); err != nil {
		return fmt.Errorf("after the repair: %w", err)
	}
	told, err := w.waitForAlerts(ctx, each, func(b alertBook) bool { return b.begun && (each.stays || b.over) })
	if err != nil {
		return err
	}
	w.log.Note("%-30s %s", "log", told.text)
	w.log.Note("money moves  (%s)", time.Since(begin).Round(time.Second))
	return nil
}
