package main

import (
	"context"
	"database/sql"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// An older gatewayd, and where TestUpgrade is to keep the data directory that it makes with it.
const (
	olderProgram = "GATEWAYD_OLDER"
	keepOlder    = "GATEWAYD_OLDER_KEEP"
)

// TestUpgrade opens a data directory of an older gatewayd with this one. Until the daemon is
// started its commands refuse the database and change nothing. Then it finishes the older one's
// open payments, serves the same users, and every user has the correct balance to the unit. The
// directory is testdata/older.tar.gz, made by gatewayd 0.2.0 (schema 68); with GATEWAYD_OLDER, the
// path of an older program, that program makes it.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	var v *daemonProcess
	var env archivedEnv
	if program := os.Getenv(olderProgram); program != "" {
		dir := t.TempDir()
		env = makeOlderEnv(t, program, dir)
		v = &daemonProcess{dir: dir, args: []string{"run", "-c", filepath.Join(dir, "config.yaml")}}
	} else {
		v, env = unpackEnv(t)
	}
	source := startSource(t, v.dir)
	v.replaceInConfig(t, map[string]string{env.Source: source.URL()})
	older := v.schemaVersion(t)
	v.requireOlderRefused(t)
	v.start(t)
	t.Cleanup(func() { v.kill(t) })
	clients := v.restoreUsers(t, env.Users)
	deadline, cancel := context.WithTimeout(t.Context(), 6*time.Minute)
	defer cancel()
	require.NoError(t, bridgeMore(deadline, clients))
	checkBooks(t, v, clients)
	require.Greater(t, v.schemaVersion(t), older)
}

// requireOlderRefused runs commands before a daemon has migrated the database: each refuses.
func (v *daemonProcess) requireOlderRefused(t *testing.T) {
	t.Helper()
	schema := v.schemaVersion(t)
	for _, command := range [][]string{{"audit"}, {"records", "list"}, {"account", "list"}} {
		_, err := v.runCommand(t, command...)
		require.ErrorContains(t, err, "older", "%v", command)
	}
	require.Equal(t, schema, v.schemaVersion(t), "nothing was changed")
}

// schemaVersion is the number of the newest migration that the records have.
func (v *daemonProcess) schemaVersion(t *testing.T) (n int) {
	t.Helper()
	db, err := sql.Open("sqlite3", filepath.Join(v.dir, "gatewayd.db"))
	require.NoError(t, err)
	defer db.Close()
	require.NoError(t, db.QueryRow(`SELECT max(version_id) FROM goose_db_version`).Scan(&n))
	return n
}

// TestGoingBack upgrades a gateway of an older program under load, and goes back as
// docs/operations/upgrade.md describes: the older program refuses the newer database in one line,
// and continues from its own backup. In the end, by this program again, every user has the correct
// balance to the unit.
func TestGoingBack(t *testing.T) {
	older := os.Getenv(olderProgram)
	if older == "" {
		t.Skipf("%s names no older gatewayd; TestNewerDatabase has the refusal", olderProgram)
	}
	l, seed := prepareRestoreEnv(t), seedOf(t)
	l.daemonProcess.program = older
	l.start(t)
	clients, alive, stop := l.startUsers(t, seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	l.waitSeconds(alive, rng)
	backup := filepath.Join(t.TempDir(), "backup.tar")
	l.mustProgram(t, "backup", backup)
	l.kill(t)
	l.daemonProcess.program = ""
	l.start(t)
	waitForInfo(t, l.dir)
	l.waitSeconds(alive, rng)
	l.kill(t)

	l.daemonProcess.program = older
	for _, command := range [][]string{{"run"}, {"audit"}, {"account", "list"}} {
		out, err := l.program(t, command...)
		require.Error(t, err)
		requireNewer(t, out)
	}
	l.mustProgram(t, "restore", backup, "--replace")
	l.start(t)
	waitFor(t, "what was signed since is noticed", func() bool { return len(l.stoppedAccounts(t)) > 0 })
	l.resumeAccounts(t, func() bool { return true })
	l.waitSeconds(alive, rng)
	l.kill(t)
	l.daemonProcess.program = ""
	l.start(t)
	t.Cleanup(func() { l.kill(t) })
	stop()
	l.resumeAccounts(t, func() bool { return l.isIdle(t) })
	l.checkBooks(t, clients)
}

// requireNewer checks that a program refuses a database of a newer one, with the remedy, in its
// last line.
func requireNewer(t *testing.T, out string) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(out), "\n")
	require.Regexp(t, "by a newer gatewayd.*: use (that version, or an earlier backup|the gatewayd that made it, or a later one)", lines[len(lines)-1])
}

// TestNewerDatabase opens the database of a later program: every command ends with one line that
// reports it, and changes nothing.
func TestNewerDatabase(t *testing.T) {
	t.Parallel()
	v, _ := unpackEnv(t)
	db, err := sql.Open("sqlite3", filepath.Join(v.dir, "gatewayd.db"))
	require.NoError(t, err)
	_, err = db.Exec(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, 1)`)
	require.NoError(t, err)
	require.NoError(t, db.Close())
	for _, command := range [][]string{{"run"}, {"audit"}, {"records", "list"}, {"channel", "list"}, {"backup", filepath.Join(v.dir, "b.tar")}} {
		command = append(command, "-c", filepath.Join(v.dir, "config.yaml"))
		out, err := exec.CommandContext(t.Context(), "gatewayd", command...).CombinedOutput()
		require.Error(t, err, "%v", command)
		requireNewer(t, string(out))
	}
	require.Equal(t, 9999, v.schemaVersion(t))
}
