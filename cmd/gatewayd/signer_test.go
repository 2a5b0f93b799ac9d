package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/config"
	"gatewayd/dev"
	"gatewayd/internal/testing/recordstest"
	"gatewayd/records"
	"gatewayd/records/signguard"
)

// newDaemonWithSigner is a daemon on chains that live on, and its signer, each a process.
func newDaemonWithSigner(t *testing.T) *daemonProcess {
	t.Helper()
	v := &daemonProcess{}
	w := prepareFaultyEnv(t, startRichExchange, func(_ *faultyEnv, c *config.Config) { v.signer = splitSigner(t, c) })
	require.NoError(t, dev.FundSource(t.Context(), w.info, w.keys, nil))
	v.dir, v.args = w.cfg.Data, []string{"run", "-c", w.info.Config}
	v.signer.start(t)
	v.start(t)
	t.Cleanup(func() { v.kill(t) })
	return v
}

// TestKilledSigner kills the daemon, its signer or both at random moments while users deposit and
// withdraw. In the end every user has the correct balance to the unit, on both chains, and the
// books agree.
func TestKilledSigner(t *testing.T) {
	t.Parallel()
	kills := 30
	if testing.Short() {
		kills = 5
	}
	killRunning(t, newDaemonWithSigner(t), seedOf(t), kills, 4)
}

// TestDaemonWithoutKeysIsSmall: who has no store to unlock needs no memory for it, and has neither
// a store nor a sign-guard.
func TestDaemonWithoutKeysIsSmall(t *testing.T) {
	t.Parallel()
	v := newDaemonWithSigner(t)
	waitForInfo(t, v.dir)
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", v.cmd.Process.Pid))
	if os.IsNotExist(err) {
		t.Skip("this system does not report")
	}
	require.NoError(t, err)
	found := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(text)
	require.Len(t, found, 2)
	peak, err := strconv.Atoi(string(found[1]))
	require.NoError(t, err)
	t.Logf("%d MB", peak>>10)
	require.Less(t, peak, 128<<10)
	require.NoFileExists(t, filepath.Join(v.dir, "guard.db"))
	require.FileExists(t, filepath.Join(v.signer.data, "guard.db"))
}

// TestOtherGuardsAreRefused: a second daemon with its own sign-guard does not start next to the
// first, nor does the first without its own. The lost file is replaced by order, which stops the
// paying accounts.
func TestOtherGuardsAreRefused(t *testing.T) {
	t.Parallel()
	p := newPairApart(t, recordstest.Postgres(t).Database(t))
	first := p.start(t, 0)
	p.waitForLeader(t, 0)
	serve := func() { (&daemonProcess{dir: p.dir}).bridgeEveryToken(t) }
	serve()
	refused := func(n int) {
		t.Helper()
		r := p.start(t, n)
		require.Error(t, r.cmd.Wait())
		require.Contains(t, r.readLog(t), "another sign-guard: these records belong to sign-guard")
		require.Contains(t, r.readLog(t), "wallet.signer")
	}
	refused(1)
	require.NoError(t, first.cmd.Process.Kill())
	_ = first.cmd.Wait() // it was killed
	refused(1)

	lost, err := filepath.Glob(filepath.Join(p.configs[0].Data, "guard.db*"))
	require.NoError(t, err)
	require.NotEmpty(t, lost)
	for _, path := range lost {
		require.NoError(t, os.Remove(path))
	}
	refused(0)
	v := &daemonProcess{dir: p.configs[0].Data}
	out, err := v.runCommand(t, "account", "adopt-guard", "--why", "the disk is gone")
	require.NoError(t, err)
	require.Contains(t, out, "stopped: ")
	_, err = v.runCommand(t, "account", "adopt-guard", "--why", "once more")
	require.ErrorContains(t, err, "already")
	p.start(t, 0)
	waitFor(t, "accounts that are stopped", func() bool {
		out, err := v.runCommand(t, "account", "list")
		return err == nil && strings.Contains(out, string(records.AccountHalted))
	})
}

// TestBindingsAreHandedOver: what a daemon has given out before there was a signer, the signer's
// owner takes over, and nothing that is not of its keys.
func TestBindingsAreHandedOver(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	eth, dai := r.newCustomer(t, "ETH"), r.newCustomer(t, "DAI")
	given := r.mustCommand(t, "account", "bindings")
	require.Contains(t, given, depositAddress(t, eth))
	require.Contains(t, given, dai.Vite.Address().String())

	stores, store, password := recovered(t)
	c := r.Daemon.Config
	c.Wallet = config.Wallet{Store: filepath.Join(stores, store), PasswordFile: password}
	s := splitSigner(t, &c)
	list := filepath.Join(t.TempDir(), "bindings.json")
	require.NoError(t, os.WriteFile(list, []byte(given), 0o600))
	imported := func(file string) (string, error) {
		out := testStreams(t)
		var text strings.Builder
		out.stdout = &text
		err := run(t.Context(), []string{"signer", "import-bindings", file, "-c", s.config}, out)
		return text.String(), err
	}
	text, err := imported(list)
	require.NoError(t, err)
	require.Equal(t, "2 new bindings, 0 known.\n", text)
	text, err = imported(list)
	require.NoError(t, err)
	require.Equal(t, "0 new bindings, 2 known.\n", text)
	guard, err := signguard.Open(filepath.Join(s.data, "guard.db"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, guard.Close()) })
	b, known, err := guard.OfAddress(t.Context(), "eth", depositAddress(t, eth))
	require.NoError(t, err)
	require.True(t, known)
	require.Equal(t, eth.Vite.Address().String(), b.User)

	for rule, altered := range map[string]string{
		"the signer's keys have another": strings.ReplaceAll(given, depositAddress(t, eth), goodPayee),
		"is another user's":              strings.ReplaceAll(given, eth.Vite.Address().String(), dai.Vite.Address().String()),
		"binding 1: ":                    "{\"user\":1}",
		"unknown field":                  "{\"secret\":\"x\"}",
	} {
		require.NoError(t, os.WriteFile(list, []byte(altered), 0o600))
		_, err := imported(list)
		require.ErrorContains(t, err, rule)
	}
}
