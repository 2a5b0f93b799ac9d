package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestSummaryOfRealRuns lets go test run small modules and reads its stream.
func TestSummaryOfRealRuns(t *testing.T) {
	const head = "package p\nimport (\"testing\"; \"os\")\nvar _ = os.Exit\n"
	cases := []struct {
		name, code string
		ends       string
		shows      []string
		well       bool
	}{
		{"pass", head + `func TestA(t *testing.T) { t.Run("x", func(*testing.T) {}) }`, "2 passed, 0 failed", []string{"ok      p"}, true},
		{"fail", head + `func TestA(t *testing.T) { t.Error("because") }; func TestB(*testing.T) {}`, "1 passed, 1 failed", []string{"because", "failed: p TestA"}, false},
		{"skip", head + `func TestA(t *testing.T) { t.Skip("not today") }; func TestB(*testing.T) {}`, "1 passed, 0 failed", []string{"skipped: p TestA"}, true},
		{"panic", head + `func TestA(t *testing.T) { panic("boom") }`, "0 passed, 1 failed", []string{"boom"}, false},
		{"exit", head + `func TestA(t *testing.T) { os.Exit(3) }`, "0 passed, 1 failed", []string{"failed: p TestA"}, false},
		{"does not build", head + `func TestA(t *testing.T) { undefined() }`, "0 passed, 1 failed", []string{"undefined: undefined"}, false},
		{"main fails", head + `func TestA(t *testing.T) {}; func TestMain(m *testing.M) { m.Run(); os.Exit(1) }`, "1 passed, 1 failed", []string{"failed: p"}, false},
		{"no tests", "package p", "0 passed, 0 failed", nil, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module p\ngo 1.26\n"), 0o600))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "p_test.go"), []byte(c.code), 0o600))
			command := exec.Command("go", "test", "-json", "./...")
			command.Dir = dir
			stream, _ := command.Output() // its exit code is what the summary has to tell

			var out bytes.Buffer
			s := newSummary(&out, 0, 0)
			require.NoError(t, follow(bytes.NewReader(stream), s, time.Hour))
			require.Equal(t, c.well, s.finish(), out.String())
			for _, text := range c.shows {
				require.Contains(t, out.String(), text)
			}
			lines := strings.Split(strings.TrimSpace(out.String()), "\n")
			require.Equal(t, c.ends, lines[len(lines)-1])
		})
	}
}

func TestChecksMadeBeforeCount(t *testing.T) {
	var out bytes.Buffer
	s := newSummary(&out, 3, 1)
	require.False(t, s.finish())
	require.Equal(t, "3 passed, 1 failed\n", out.String())
}

func TestWordsOfGoItselfAreShown(t *testing.T) {
	var out bytes.Buffer
	s := newSummary(&out, 0, 0)
	require.True(t, s.line([]byte("go: updates to go.mod needed\n")))
	require.Equal(t, "go: updates to go.mod needed\n", out.String())
}

// endless is a stream that stays silent after its first line until it is closed.
type endless struct {
	first *strings.Reader
	stop  chan struct{}
}

func (e endless) Read(p []byte) (int, error) {
	if e.first.Len() > 0 {
		return e.first.Read(p)
	}
	<-e.stop
	return e.first.Read(p)
}

func TestSilenceIsExplained(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		s := newSummary(&out, 1, 0)
		stream := endless{strings.NewReader(`{"Action":"start","Package":"p"}` + "\n" + `{"Action":"run","Package":"p","Test":"TestWaits"}` + "\n" +
			`{"Action":"pause","Package":"p","Test":"TestWaits"}` + "\n" + `{"Action":"run","Package":"p","Test":"TestLong"}` + "\n"), make(chan struct{})}
		time.AfterFunc(65*time.Second, func() { close(stream.stop) })
		require.NoError(t, follow(stream, s, 30*time.Second))
		require.Equal(t, "...     p  TestLong for 30s\n...     p  TestLong for 1m0s\n", out.String())
	})
}
