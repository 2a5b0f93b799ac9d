package records_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

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
