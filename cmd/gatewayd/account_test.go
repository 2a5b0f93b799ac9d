package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/dev/demo"
	"gatewayd/operator"
	"gatewayd/records"
)

// runCommand runs a command on the daemon's configuration.
func (v *daemonProcess) runCommand(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	args = append(args, "-c", filepath.Join(v.dir, "config.yaml"))
	if v.program != "" {
		cmd := exec.CommandContext(t.Context(), v.program, args...)
		cmd.Stdout, cmd.Stderr = &out, t.Output()
		err := cmd.Run()
		return out.String(), err
	}
	w := testStreams(t)
	w.stdout = &out
	err := run(t.Context(), args, w)
	return out.String(), err
}

// bridgeEveryToken deposits and withdraws each token once.
func (v *daemonProcess) bridgeEveryToken(t *testing.T) {
	t.Helper()
	waitForInfo(t, v.dir)
	require.NoError(t, demo.Run(t.Context(), filepath.Join(v.dir, "dev.json"), io.Discard))
}

// readDatabase reads the files of the records while no process uses them.
func (v *daemonProcess) readDatabase(t *testing.T) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for _, name := range []string{"gatewayd.db", "gatewayd.db-wal"} {
		data, err := os.ReadFile(filepath.Join(v.dir, name))
		if !os.IsNotExist(err) {
			require.NoError(t, err)
			files[name] = data
		}
	}
	return files
}

func (v *daemonProcess) writeDatabase(t *testing.T, files map[string][]byte) {
	t.Helper()
	for _, name := range []string{"gatewayd.db", "gatewayd.db-wal", "gatewayd.db-shm"} {
		if err := os.Remove(filepath.Join(v.dir, name)); !os.IsNotExist(err) {
			require.NoError(t, err)
		}
	}
	for name, data := range files {
		require.NoError(t, os.WriteFile(filepath.Join(v.dir, name), data, 0o600))
	}
}

func (v *daemonProcess) stoppedAccounts(t *testing.T) (stopped []operator.AccountRow) {
	t.Helper()
	out, err := v.runCommand(t, "account", "list", "--json")
	require.NoError(t, err)
	var rows []operator.AccountRow
	require.NoError(t, json.Unmarshal([]byte(out), &rows), out)
	for _, a := range rows {
		if a.State == string(records.AccountHalted) || a.State == string(records.AccountRecovering) {
			stopped = append(stopped, a)
		}
	}
	return stopped
}

// TestRecoveryByCommands restores a backup under a daemon that has paid since, and follows
// docs/operations/recovery.md with the program's own commands.
func TestRecoveryByCommands(t *testing.T) {
	t.Parallel()
	v := newDaemonProcess(t, "--period", "200ms")
	v.bridgeEveryToken(t)
	v.kill(t)
	backup := v.readDatabase(t)
	v.start(t)
	v.bridgeEveryToken(t)
	v.kill(t)
	v.writeDatabase(t, backup)
	v.start(t)
	waitFor(t, "the daemon stops, and calls itself unwell", func() bool { return len(v.stoppedAccounts(t)) >= 2 })

	for _, a := range v.stoppedAccounts(t) {
		out, err := v.runCommand(t, "account", "show", a.Chain, a.Address, "--json")
		require.NoError(t, err)
		var s operator.AccountDetail
		require.NoError(t, json.Unmarshal([]byte(out), &s), out)
		for i, f := range s.UnknownTxs {
			if i == 0 && len(f.Pays) > 0 {
				_, err = v.runCommand(t, "account", "resume", a.Chain, a.Address, "--accept", f.Hash, "--why", "a test")
				require.ErrorContains(t, err, "settle it")
				_, err = v.runCommand(t, "records", "settle", strconv.FormatUint(f.Pays[0], 10), f.Hash)
				require.NoError(t, err)
			}
		}
	}
	resumeAll := func() bool {
		stopped := v.stoppedAccounts(t)
		for _, a := range stopped {
			_, err := v.runCommand(t, "account", "settle", a.Chain, a.Address)
			require.NoError(t, err)
		}
		for _, a := range stopped {
			_, err := v.runCommand(t, "account", "resume", a.Chain, a.Address) // refused as long as something moves
			t.Logf("%s: %v", a.Address, err)
		}
		return len(stopped) == 0
	}
	waitFor(t, "every account goes on", resumeAll)
	v.bridgeEveryToken(t)
	waitFor(t, "the books agree", func() bool { // a deposit address stops only when it is swept next
		resumed := resumeAll()
		out, err := v.runCommand(t, "audit")
		return resumed && err == nil && bytes.Contains([]byte(out), []byte(" 0 differences"))
	})
	require.Empty(t, v.stoppedAccounts(t))
	_, err := v.runCommand(t, "account", "stop", "eth", v.payingAddress(t, "hot"), "--why", "a test")
	require.NoError(t, err)
	require.Len(t, v.stoppedAccounts(t), 1)
	waitFor(t, "resumed after a stop", func() bool {
		_, err := v.runCommand(t, "account", "resume", "eth", v.payingAddress(t, "hot"))
		return err == nil
	})
	_, err = v.runCommand(t, "chain", "resume", "eth")
	require.ErrorContains(t, err, "not halted")
}

// TestLostRecordsByCommands: an empty database with the sign-guard of a gateway that has paid. Its
// payments are in blocks before the records' beginning, so no command resumes it; the backup does.
func TestLostRecordsByCommands(t *testing.T) {
	t.Parallel()
	v := newDaemonProcess(t, "--period", "200ms")
	v.bridgeEveryToken(t)
	v.kill(t)
	backup := v.readDatabase(t)
	v.writeDatabase(t, nil)
	v.start(t)
	waitFor(t, "there is a database again", func() bool {
		_, err := v.runCommand(t, "account", "list")
		return err == nil
	})
	waitFor(t, "the daemon stops", func() bool { return len(v.stoppedAccounts(t)) >= 2 })
	const backedUp = "put a backup of them back"
	waitFor(t, "what is missing is named", func() bool {
		stopped := v.stoppedAccounts(t)
		for _, a := range stopped {
			_, err := v.runCommand(t, "account", "settle", a.Chain, a.Address)
			if err == nil || !strings.Contains(err.Error(), backedUp) {
				t.Logf("%s: %v", a.Address, err) // something of it moves, or the daemon has not read that far
				return false
			}
		}
		return true
	})
	for _, a := range v.stoppedAccounts(t) {
		out, err := v.runCommand(t, "account", "show", a.Chain, a.Address)
		require.NoError(t, err)
		require.Contains(t, out, backedUp)
		_, err = v.runCommand(t, "account", "resume", a.Chain, a.Address)
		require.Error(t, err)
	}
	require.GreaterOrEqual(t, len(v.stoppedAccounts(t)), 2)
	v.kill(t)
	v.writeDatabase(t, backup)
	v.start(t)
	v.bridgeEveryToken(t)
	require.Empty(t, v.stoppedAccounts(t))
}

// payingAddress is the source chain's address of a kind of account.
func (v *daemonProcess) payingAddress(t *testing.T, kind string) string {
	t.Helper()
	out, err := v.runCommand(t, "account", "list", "--json")
	require.NoError(t, err)
	var rows []operator.AccountRow
	require.NoError(t, json.Unmarshal([]byte(out), &rows), out)
	for _, a := range rows {
		if a.Kind == kind {
			return a.Address
		}
	}
	require.Fail(t, "no such account", kind)
	return ""
}
