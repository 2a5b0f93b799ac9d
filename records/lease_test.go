package records_test

import (
	"bufio"
	"database/sql"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/internal/testing/recordstest"
	"gatewayd/records"
)

// TestHoldOutlivesNobody kills a process that holds a role for an hour: the next one has it at
// once, and not a moment before.
func TestHoldOutlivesNobody(t *testing.T) {
	url := "sqlite:" + filepath.Join(t.TempDir(), "records.db")
	cmd := exec.Command(os.Args[0], "-test.run=^TestHoldUntilKilled$")
	cmd.Env = append(os.Environ(), "RECORDS_HOLD="+url)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	defer cmd.Process.Kill()
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "holding\n", line)

	s, err := records.Open(t.Context(), records.Config{URL: url})
	require.NoError(t, err)
	defer s.Close()
	_, err = s.Hold(t.Context(), "daemon", "second", time.Hour)
	require.ErrorIs(t, err, records.ErrLeased, "the first one lives")
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())
	_, err = s.Lease(t.Context(), "daemon", "second", time.Hour)
	require.ErrorIs(t, err, records.ErrLeased, "its row is not over for an hour")
	l, err := s.Hold(t.Context(), "daemon", "second", time.Hour)
	require.NoError(t, err)
	require.EqualValues(t, 2, l.Epoch)
	_, err = s.Hold(t.Context(), "daemon", "second", time.Hour)
	require.ErrorIs(t, err, records.ErrLeased, "held once")
	require.NoError(t, s.Fenced(l).Update(t.Context(), func(*records.Tx) error { return nil }))
	require.NoError(t, l.Release(t.Context()))
	_, err = s.Hold(t.Context(), "daemon", "third", time.Hour)
	require.NoError(t, err)
}

// TestHoldUntilKilled is the process that TestHoldOutlivesNobody kills; run directly it does
// nothing.
func TestHoldUntilKilled(t *testing.T) {
	url := os.Getenv("RECORDS_HOLD")
	if url == "" {
		return
	}
	s, err := records.Open(t.Context(), records.Config{URL: url})
	require.NoError(t, err)
	_, err = s.Hold(t.Context(), "daemon", "first", time.Hour)
	require.NoError(t, err)
	_, err = os.Stdout.WriteString("holding\n")
	require.NoError(t, err)
	select {}
}

// TestHoldOutlivesItsTime: who holds the lock file needs no renewal in time; a change of hands ends
// it as ever.
func TestHoldOutlivesItsTime(t *testing.T) {
	s, err := records.Open(t.Context(), records.Config{URL: "sqlite:" + filepath.Join(t.TempDir(), "records.db")})
	require.NoError(t, err)
	defer s.Close()
	nothing := func(*records.Tx) error { return nil }
	l, err := s.Hold(t.Context(), "daemon", "first", -time.Hour)
	require.NoError(t, err)
	require.NoError(t, s.Fenced(l).Update(t.Context(), nothing))
	require.NoError(t, l.Renew(t.Context()))
	other, err := s.Lease(t.Context(), "daemon", "second", time.Hour) // which checks the time alone
	require.NoError(t, err)
	require.ErrorIs(t, s.Fenced(l).Update(t.Context(), nothing), records.ErrFenced)
	require.ErrorIs(t, l.Renew(t.Context()), records.ErrFenced)
	require.NoError(t, other.Release(t.Context()))

	require.ErrorIs(t, l.Release(t.Context()), records.ErrFenced)
	l, err = s.Hold(t.Context(), "daemon", "first", time.Hour)
	require.NoError(t, err)
	require.NoError(t, l.Release(t.Context()))
	require.ErrorIs(t, s.Fenced(l).Update(t.Context(), nothing), records.ErrFenced, "given back")
}

// TestTakeOverFromAFrozenHolder: a process freezes in a writing transaction on a server, with other
// writers behind it, and its lease expires. The next holder neither waits for them nor lets them
// write.
func TestTakeOverFromAFrozenHolder(t *testing.T) {
	url := recordstest.Postgres(t).Empty(t)
	open := func() *records.Store {
		s, err := records.Open(t.Context(), records.Config{URL: url})
		require.NoError(t, err)
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	frozen, next := open(), open()
	old, err := frozen.Lease(t.Context(), "daemon", "host/1/"+frozen.Instance(), time.Second)
	require.NoError(t, err)
	_, err = next.Lease(t.Context(), "daemon", "host/2/"+next.Instance(), time.Minute)
	require.ErrorIs(t, err, records.ErrLeased)
	inside, thaw, ended := make(chan struct{}), make(chan struct{}), make(chan error, 4)
	go func() {
		ended <- frozen.Fenced(old).Update(t.Context(), func(tx *records.Tx) error {
			close(inside)
			<-thaw
			return tx.Log(records.Event{Subject: "test", Event: "late"})
		})
	}()
	<-inside
	for range 3 {
		go func() {
			ended <- frozen.Fenced(old).Update(t.Context(), func(tx *records.Tx) error {
				<-thaw
				return tx.Log(records.Event{Subject: "test", Event: "late"})
			})
		}()
	}
	var l *records.Lease
	require.Eventually(t, func() bool {
		l, err = next.Lease(t.Context(), "daemon", "host/2/"+next.Instance(), time.Minute)
		return err == nil
	}, time.Minute, 50*time.Millisecond, "the transaction of the frozen process lasts ten seconds on the server")
	recordstest.Do(t, url, `DO $$ BEGIN ASSERT (SELECT count(*) FROM pg_stat_activity WHERE application_name = 'gatewayd/`+frozen.Instance()+`') = 0; END $$`)
	require.NoError(t, next.Fenced(l).Update(t.Context(), func(tx *records.Tx) error { return tx.Log(records.Event{Subject: "test", Event: "next"}) }))
	close(thaw)
	for range 4 {
		require.Error(t, <-ended)
	}
	require.NoError(t, l.Renew(t.Context()))
}

// TestNoWriterOutlivesItsLease: on a server no process takes a released lease while a transaction
// works under it.
func TestNoWriterOutlivesItsLease(t *testing.T) {
	url := recordstest.Postgres(t).Empty(t)
	s, err := records.Open(t.Context(), records.Config{URL: url})
	require.NoError(t, err)
	defer s.Close()
	l, err := s.Lease(t.Context(), "daemon", "first", time.Minute)
	require.NoError(t, err)
	observer, err := sql.Open("pgx", url)
	require.NoError(t, err)
	defer observer.Close()
	inside, taken := make(chan struct{}), make(chan error, 1)
	go func() {
		<-inside
		_, err := s.Lease(t.Context(), "daemon", "second", time.Minute)
		taken <- err
	}()
	err = s.Fenced(l).Update(t.Context(), func(tx *records.Tx) error {
		if err := l.Release(t.Context()); err != nil {
			return err
		}
		close(inside)
		require.Eventually(t, func() bool { // the next holder waits for the row of the lease
			var waiting int
			err := observer.QueryRow(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%FROM leases%'`).Scan(&waiting)
			return err == nil && waiting > 0 || len(taken) > 0
		}, time.Minute, 10*time.Millisecond)
		require.Empty(t, taken, "it is taken while this works under it")
		return tx.Log(records.Event{Subject: "test", Event: "under the lease"})
	})
	require.NoError(t, err)
	require.NoError(t, <-taken)
}

// TestLeasesOfChainsAreApart: a holder of two leases on a server loses one of them to another
// process. It writes nothing under that one, and still writes under the other.
func TestLeasesOfChainsAreApart(t *testing.T) {
	url := recordstest.Postgres(t).Empty(t)
	open := func() *records.Store {
		s, err := records.Open(t.Context(), records.Config{URL: url})
		require.NoError(t, err)
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	first, second := open(), open()
	holder := "host/1/chains/" + first.Instance()
	eth, err := first.Lease(t.Context(), "chain:eth", holder, -time.Second) // it has ended
	require.NoError(t, err)
	vite, err := first.Lease(t.Context(), "chain:vite", holder, time.Hour)
	require.NoError(t, err)
	_, err = second.Lease(t.Context(), "chain:vite", "host/2/chains/"+second.Instance(), time.Hour)
	require.ErrorIs(t, err, records.ErrLeased)
	taken, err := second.Lease(t.Context(), "chain:eth", "host/2/chains/"+second.Instance(), time.Hour)
	require.NoError(t, err)

	write := func(tx *records.Tx) error { return tx.Log(records.Event{Subject: "test", Event: "written"}) }
	again := func(do func() bool) { // the sessions of the first process have ended, and begin again
		require.Eventually(t, do, time.Minute, 10*time.Millisecond)
	}
	again(func() bool { return first.Fenced(vite).Update(t.Context(), write) == nil })
	again(func() bool { return vite.Renew(t.Context()) == nil })
	require.ErrorIs(t, first.Fenced(eth).Update(t.Context(), write), records.ErrFenced)
	require.ErrorIs(t, eth.Renew(t.Context()), records.ErrFenced)
	require.NoError(t, second.Fenced(taken).Update(t.Context(), write))
	var leases []records.LeaseState
	require.NoError(t, second.View(t.Context(), func(tx *records.Tx) error {
		leases, err = records.Leases(tx)
		return err
	}))
	require.Equal(t, []records.LeaseState{
		{Role: "chain:eth", Holder: "host/2/chains/" + second.Instance(), Epoch: 2, Held: true}, {Role: "chain:vite", Holder: holder, Epoch: 1, Held: true},
	}, leases)
	require.NoError(t, vite.Release(t.Context()))
	require.NoError(t, second.View(t.Context(), func(tx *records.Tx) error {
		leases, err = records.Leases(tx)
		return err
	}))
	require.False(t, leases[1].Held)
}
