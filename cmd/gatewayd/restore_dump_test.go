package main

import (
	"database/sql"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/config"
	"gatewayd/dev"
	"gatewayd/internal/testing/recordstest"
	"gatewayd/wallet"
)

// TestRestoredFromADump rehearses "PostgreSQL" of docs/operations/backup.md: the database is dumped
// by pg_dump while users bridge, lost some time later, and restored by pg_restore with a sign-guard
// that has signed since. In the end every user has the correct balance to the unit.
func TestRestoredFromADump(t *testing.T) {
	t.Parallel()
	server := recordstest.OwnPostgres(t, "")
	if _, err := exec.LookPath("pg_dump"); err != nil {
		t.Skip("no pg_dump")
	}
	database := server.Database(t)
	l := newRestoreEnv(t, func(c *config.Config) { c.Database.URL = database })
	seed := seedOf(t)
	clients, alive, stop := l.startUsers(t, seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	l.waitSeconds(alive, rng)
	dump, backup := filepath.Join(t.TempDir(), "records.dump"), filepath.Join(t.TempDir(), "backup.tar")
	postgres(t, "pg_dump", "--format=custom", "--file="+dump, database)
	l.mustProgram(t, "backup", "--postgres-apart", backup)
	l.waitSeconds(alive, rng)
	l.kill(t)
	recreateDatabase(t, database)
	postgres(t, "pg_restore", "--exit-on-error", "--dbname="+database, dump)
	var out string
	waitFor(t, "the end of the lease that was dumped with the rest", func() bool {
		var err error
		if out, err = l.program(t, "restore", backup); err != nil {
			require.Contains(t, out, "a daemon is running on it")
		}
		return err == nil
	})
	require.Contains(t, out, "kept, because it is as new or newer: "+filepath.Join(l.data, "guard.db"))
	l.start(t)
	waitFor(t, "what was signed since is noticed", func() bool { return len(l.stoppedAccounts(t)) > 0 })
	l.resumeAccounts(t, func() bool { return true })
	stop()
	l.resumeAccounts(t, func() bool { return l.isIdle(t) })
	l.checkBooks(t, clients)
}

// postgres runs one of its own tools.
func postgres(t *testing.T, name string, args ...string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
	require.NoError(t, err, "%s: %s", name, out)
}

// recreateDatabase drops a database and makes an empty one of its name.
func recreateDatabase(t *testing.T, database string) {
	t.Helper()
	at, err := url.Parse(database)
	require.NoError(t, err)
	name := strings.TrimPrefix(at.Path, "/")
	at.Path = "/postgres"
	db, err := sql.Open("pgx", at.String())
	require.NoError(t, err)
	defer db.Close()
	for _, statement := range []string{"DROP DATABASE " + name + " WITH (FORCE)", "CREATE DATABASE " + name + " TEMPLATE template0"} {
		_, err = db.ExecContext(t.Context(), statement)
		require.NoError(t, err)
	}
}

// TestEmbeddedChainRestored backs up a daemon that has the exchange chain in its own process, while
// users bridge. First the records are lost and the chain's log is not; then everything is, while
// the daemon still pays for what users have done. Nothing is lost of it either time.
func TestEmbeddedChainRestored(t *testing.T) {
	t.Parallel()
	dir, listen := t.TempDir(), freeAddress(t)
	keys, err := wallet.FromMnemonic(dev.Mnemonic)
	require.NoError(t, err)
	genesis, err := dev.Genesis(keys)
	require.NoError(t, err)
	e := config.Embedded{Dir: filepath.Join(dir, "exchange"), Listen: listen, Genesis: filepath.Join(dir, "genesis.json")}
	writeGenesis(t, e.Genesis, genesis)
	l := newRestoreEnv(t, func(c *config.Config) { c.Embedded, c.Vite[0].Nodes = &e, []string{"http://" + listen} })
	seed := seedOf(t)
	clients, alive, stop := l.startUsers(t, seed)
	rng := rand.New(rand.NewPCG(seed, 0))

	l.waitSeconds(alive, rng)
	backup := filepath.Join(t.TempDir(), "first.tar")
	l.mustProgram(t, "backup", backup)
	l.waitSeconds(alive, rng)
	l.kill(t)
	require.NoError(t, os.RemoveAll(filepath.Join(l.data, "records.db")))
	require.NoError(t, os.RemoveAll(filepath.Join(l.data, "records.db-wal")))
	require.NoError(t, os.RemoveAll(filepath.Join(l.data, "records.db-shm")))
	out := l.mustProgram(t, "restore", backup)
	require.Contains(t, out, "kept, because it is as new or newer: "+filepath.Join(e.Dir, "blocks.log"))
	l.start(t)
	waitFor(t, "what was signed since is noticed", func() bool { return len(l.stoppedAccounts(t)) > 0 })
	l.resumeAccounts(t, func() bool { return true })

	stop()
	backup = filepath.Join(t.TempDir(), "second.tar")
	l.mustProgram(t, "backup", backup)
	l.kill(t)
	require.NoError(t, os.RemoveAll(l.data))
	require.NoError(t, os.RemoveAll(dir))
	require.NoError(t, os.Mkdir(dir, 0o700))
	out = l.mustProgram(t, "restore", backup)
	require.Contains(t, out, "put back: "+filepath.Join(e.Dir, "blocks.log"))
	require.Contains(t, out, "put back: "+e.Genesis)
	l.start(t)
	l.resumeAccounts(t, func() bool { return l.isIdle(t) })
	l.checkBooks(t, clients)
}
