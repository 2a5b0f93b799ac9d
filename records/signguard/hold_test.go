package signguard_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"gatewayd/internal/testing/recordstest"
	"gatewayd/records/signguard"
)

// TestOneHolds: a second signer waits until the first one gives the sign-guard back, and takes it
// then with all that the first has signed.
func TestOneHolds(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		first, err := open().Hold(t.Context(), func(why string) { t.Error("the first waits: " + why) })
		require.NoError(t, err)
		leaveAndSign(t, first.Guard, "a", 7, 1)

		waiting, taken := make(chan string, 1), make(chan *signguard.Held, 1) // room for the one answer of each
		second := open()
		go func() {
			h, err := second.Hold(t.Context(), func(why string) { waiting <- why })
			if err != nil {
				t.Error(err)
			}
			taken <- h
		}()
		require.Regexp(t, `^\S+/\d+ holds it$`, <-waiting)
		first.Release()
		h := <-taken
		t.Cleanup(h.Release)
		require.ErrorIs(t, h.Allow(t.Context(), "eth", signature(7, "pay eve 5", 2)), signguard.ErrRefused)
		leaveAndSign(t, h.Guard, "b", 8, 3)
	})
}

// leaveAndSign has a payment authorized and signed.
func leaveAndSign(t *testing.T, g *signguard.Guard, cause string, number, payment uint64) {
	t.Helper()
	states, err := g.Authorize(t.Context(), []signguard.Authorization{leave(cause, "pay bob 5", payment)})
	require.NoError(t, err)
	require.Equal(t, []signguard.State{signguard.Living}, states)
	require.NoError(t, g.Allow(t.Context(), "eth", signature(number, "pay bob 5", payment)))
}

// TestOpeningWaitsForACommit: a standby that starts waits for a commit of the serving signer. In a
// deadlock the server would end one of them.
func TestOpeningWaitsForACommit(t *testing.T) {
	url := emptyDatabase(t)
	openServer(t, url)
	db, err := sqlx.Open("pgx", url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	commit, err := db.BeginTxx(t.Context(), nil)
	require.NoError(t, err)
	defer commit.Rollback()
	lock := func(table string) {
		_, err := commit.Exec("LOCK TABLE " + table + " IN ROW EXCLUSIVE MODE")
		require.NoError(t, err, table)
	}
	lock("identity")
	lock("fees")

	opened := make(chan error, 1) // room for the one answer
	go func() {
		g, err := signguard.OpenServer(t.Context(), url)
		if err == nil {
			err = g.Close()
		}
		opened <- err
	}()
	waits := func() (n int) {
		require.NoError(t, db.Get(&n, `SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`))
		return n
	}
	require.Eventually(t, func() bool { return waits() == 1 }, time.Minute, 10*time.Millisecond)
	lock("guard")
	require.NoError(t, commit.Commit())
	require.NoError(t, <-opened)
}

// mayWait is for who follows another: a server gives the lock of an ended session back when it
// comes to it.
func mayWait(string) {}

// TestWhoLostItSignsNothing: a signer whose lock is gone, because it froze for too long, commits
// nothing once another one has the sign-guard: neither a signature, nor the same again, nor an
// authorization, nor an outcome.
func TestWhoLostItSignsNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		first, err := open().Hold(t.Context(), mayWait)
		require.NoError(t, err)
		leaveAndSign(t, first.Guard, "a", 7, 1)
		first.Release() // the lock alone: it continues as if it held it
		second, err := open().Hold(t.Context(), mayWait)
		require.NoError(t, err)
		t.Cleanup(second.Release)
		before, err := second.Identity(t.Context())
		require.NoError(t, err)

		for name, act := range map[string]func() error{
			"again": func() error { return first.Allow(t.Context(), "eth", signature(7, "pay bob 5", 1)) },
			"authorize": func() error {
				_, err := first.Authorize(t.Context(), []signguard.Authorization{leave("b", "x", 2)})
				return err
			},
			"free":    func() error { return first.Free(t.Context(), 1) },
			"release": func() error { return first.Guard.Release(t.Context(), "eth", "0xhot", 9) },
			"decide": func() error {
				return first.Decide(t.Context(), []signguard.Outcome{{Chain: "eth", Account: "0xhot", Number: 7}})
			},
			"give": func() error { return first.GiveIndex(t.Context(), "eth", 3) },
			"bind": func() error {
				return first.GiveLabel(t.Context(), signguard.Binding{Network: "main", Chain: "eth", Label: "L", User: "eve"})
			},
		} {
			require.ErrorIs(t, act(), signguard.ErrLost, name)
		}
		after, err := second.Identity(t.Context())
		require.NoError(t, err)
		require.Equal(t, before, after)
		states, err := second.States(t.Context(), []signguard.Authorization{leave("b", "x", 2)})
		require.NoError(t, err)
		require.Equal(t, []signguard.State{signguard.Unknown}, states)
		leaveAndSign(t, second.Guard, "c", 8, 4)
	})
}

// TestEndedSessionIsNoticed: the holder of a sign-guard on a server is notified when the server has
// ended its session.
func TestEndedSessionIsNoticed(t *testing.T) {
	url := emptyDatabase(t)
	h, err := openServer(t, url).Hold(t.Context(), func(string) {})
	require.NoError(t, err)
	defer h.Release()
	kept := make(chan error, 1) // room for the one answer
	go func() { kept <- h.Keep(t.Context()) }()
	recordstest.Do(t, url, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE '%who holds%'`)
	require.ErrorIs(t, <-kept, signguard.ErrLost)
	next, err := openServer(t, url).Hold(t.Context(), mayWait)
	require.NoError(t, err)
	defer next.Release()
	require.ErrorIs(t, h.GiveIndex(t.Context(), "eth", 1), signguard.ErrLost)

	ended, end := context.WithCancel(t.Context())
	end()
	require.NoError(t, next.Keep(ended), "an end is no loss")
}

// TestCopies: a copy contains all data of the original, whichever engine each is on, and never
// overwrites a sign-guard with data.
func TestCopies(t *testing.T) {
	dir := t.TempDir()
	server := openServer(t, emptyDatabase(t))
	first := openGuard(t, filepath.Join(dir, "first.db"))
	leaves, signatures := []signguard.Authorization{}, []signguard.Signature{}
	for i := range uint64(1200) {
		leaves, signatures = append(leaves, leave(fmt.Sprint("cause ", i), "pay bob 5", i+1)), append(signatures, signature(i, "pay bob 5", i+1))
	}
	_, err := first.Authorize(t.Context(), leaves)
	require.NoError(t, err)
	require.NoError(t, first.Allow(t.Context(), "eth", signatures...))
	require.NoError(t, first.GiveAddress(t.Context(), signguard.Binding{Network: "main", Chain: "eth", Index: 3, Address: "0xa", User: "alice"}))
	require.NoError(t, first.CopyTo(t.Context(), server))
	back := openGuard(t, filepath.Join(dir, "back.db"))
	require.NoError(t, server.CopyTo(t.Context(), back))
	for _, g := range []*signguard.Guard{server, back} {
		was, err := first.Identity(t.Context())
		require.NoError(t, err)
		is, err := g.Identity(t.Context())
		require.NoError(t, err)
		require.Equal(t, was, is)
		require.ErrorIs(t, first.CopyTo(t.Context(), g), signguard.ErrInUse)
	}
	lacks, err := back.Lacks(t.Context(), filepath.Join(dir, "first.db"))
	require.NoError(t, err)
	require.Empty(t, lacks)
	require.ErrorIs(t, server.Allow(t.Context(), "eth", signature(1199, "pay eve 5", 9999)), signguard.ErrRefused)
	_, known, err := back.OfAddress(t.Context(), "eth", "0xa")
	require.NoError(t, err)
	require.True(t, known)
}

// TestServersOfOthers: the records' database, and what is no server, is refused.
func TestServersOfOthers(t *testing.T) {
	_, err := signguard.OpenServer(t.Context(), recordstest.Postgres(t).Database(t))
	require.ErrorContains(t, err, "needs its own")
	_, err = signguard.OpenServer(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "guard.db"))
	require.ErrorContains(t, err, "postgres://")
}

// TestServerCommitsAreDurable: each commit is on the server's disk, and on its synchronous
// standby's, before a key is used.
func TestServerCommitsAreDurable(t *testing.T) {
	require.Equal(t, "on", openServer(t, emptyDatabase(t)).Setting(t, "synchronous_commit"))
}

// TestCopyTakesItsTime: no limit of a server ends the copy of what was signed in years.
func TestCopyTakesItsTime(t *testing.T) {
	url := emptyDatabase(t)
	server := openServer(t, url)
	recordstest.Do(t, url, `CREATE FUNCTION refuse_limits() RETURNS trigger AS $$ BEGIN
		IF current_setting('statement_timeout') || current_setting('idle_in_transaction_session_timeout') <> '00' THEN RAISE EXCEPTION 'a limit'; END IF;
		RETURN NEW; END $$ LANGUAGE plpgsql`)
	recordstest.Do(t, url, `CREATE TRIGGER no_limits BEFORE INSERT ON guard FOR EACH ROW EXECUTE FUNCTION refuse_limits()`)
	first := openGuard(t, filepath.Join(t.TempDir(), "guard.db"))
	leaveAndSign(t, first, "a", 7, 1)
	require.NoError(t, first.CopyTo(t.Context(), server))
}
