package database_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/internal/database"
)

const fileOptions = "?_journal_mode=WAL&_busy_timeout=5000&_txlock=immediate"

// holdOpen names the file that a child of TestInUse keeps open.
const holdOpen = "DATABASE_TEST_HOLD_OPEN"

func TestMain(m *testing.M) {
	path := os.Getenv(holdOpen)
	if path == "" {
		os.Exit(m.Run())
	}
	db, err := database.Open(context.Background(), "sqlite:"+path, database.SQLite{Writes: fileOptions}, database.Postgres{})
	if err == nil {
		_, err = db.Writes.Exec("CREATE TABLE IF NOT EXISTS t (n INT)")
	}
	if err != nil {
		os.Exit(1)
	}
	_, _ = os.Stdout.WriteString("open\n")
	_, _ = os.Stdin.Read(make([]byte, 1))
	_ = db.Close()
}

// A copy is of one moment: of rows that are always written two at a time it has an even number,
// however many are added meanwhile, and it ends although the writes never do.
func TestCopyBesideAWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "source.db")
	db, err := database.Open(t.Context(), "sqlite:"+path, database.SQLite{Writes: fileOptions}, database.Postgres{})
	require.NoError(t, err)
	defer db.Close()
	_, err = db.Writes.Exec("CREATE TABLE t (n INT, pad BLOB)")
	require.NoError(t, err)
	_, err = db.Writes.Exec("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) INSERT INTO t SELECT i, randomblob(600) FROM n")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1) // room for the one answer
	go func() {
		for ctx.Err() == nil {
			if _, err := db.Writes.Exec("INSERT INTO t VALUES (1, randomblob(600)), (2, randomblob(600))"); err != nil {
				ended <- err
				return
			}
		}
		ended <- nil
	}()
	last := 0
	for range 3 {
		to := filepath.Join(t.TempDir(), "copy.db")
		require.NoError(t, database.CopySQLite(t.Context(), path, to))
		_, err := database.CheckCopy(t.Context(), to, database.Schema{})
		require.NoError(t, err)
		opened, err := database.OpenCopy(to)
		require.NoError(t, err)
		var rows int
		require.NoError(t, opened.QueryRow("SELECT COUNT(*) FROM t").Scan(&rows))
		require.NoError(t, opened.Close())
		require.Zero(t, rows%2)
		require.GreaterOrEqual(t, rows, max(last, 20_000))
		last = rows
		require.Error(t, database.CopySQLite(t.Context(), path, to), "it overwrites nothing")
	}
	stop()
	require.NoError(t, <-ended)
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, database.CopySQLite(canceled, path, filepath.Join(t.TempDir(), "copy.db")), context.Canceled)
	require.ErrorIs(t, database.CopySQLite(t.Context(), path+"x", path+"y"), os.ErrNotExist)
}

// A file is in use as long as another process has it open, also when that does nothing with it.
func TestInUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "held.db")
	used, err := database.InUse(path)
	require.NoError(t, err)
	require.False(t, used)
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), holdOpen+"="+path)
	in, err := child.StdinPipe()
	require.NoError(t, err)
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	_, err = out.Read(make([]byte, 5))
	require.NoError(t, err)
	used, err = database.InUse(path)
	require.NoError(t, err)
	require.True(t, used)
	require.NoError(t, in.Close())
	require.NoError(t, child.Wait())
	used, err = database.InUse(path)
	require.NoError(t, err)
	require.False(t, used)
}
