package checks_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/signer/checks"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

func open(t *testing.T, c checks.BlockListConfig) *checks.BlockLists {
	t.Helper()
	require.NoError(t, c.Check())
	l, err := checks.NewBlockLists(c, time.Now)
	require.NoError(t, err)
	return l
}

// listed is the list that an address is on, or why nobody knows.
func listed(t *testing.T, l *checks.BlockLists, address string) string {
	t.Helper()
	name, err := l.Listed(t.Context(), checks.BlockQuestion{Address: address, Chain: "eth", Direction: "out", Amount: "5"})
	if err != nil {
		return "nobody knows: " + err.Error()
	}
	return name
}

func TestListsAreReadAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sanctions.txt")
	write(t, path, "# a list\n0xAbC1  # of somebody\n\nvite_Ab\n")
	l := open(t, checks.BlockListConfig{Files: []checks.BlockList{{Name: "sanctions", File: path}}})
	require.Equal(t, "sanctions", listed(t, l, "0xabc1"), "addresses of EVM chains in whatever case")
	require.Equal(t, "sanctions", listed(t, l, "vite_Ab"))
	require.Empty(t, listed(t, l, "vite_ab"))
	require.Empty(t, listed(t, l, ""))
	require.NoError(t, l.Fault())

	write(t, path, "0xdef2\n")
	l.Refresh()
	require.Equal(t, "sanctions", listed(t, l, "0xDEF2"))
	require.Empty(t, listed(t, l, "0xabc1"))

	for want, broken := range map[string]string{"line 2: must be one address": "0x1\n0x2 0x3\n", "line 1: ": strings.Repeat("x", 5000)} {
		write(t, path, broken)
		l.Refresh()
		require.ErrorContains(t, l.Fault(), want)
		require.Equal(t, "sanctions", listed(t, l, "0xdef2"), "the list before stays")
	}
	require.NoError(t, os.Remove(path))
	l.Refresh()
	require.ErrorContains(t, l.Fault(), "list sanctions: ")
	require.Equal(t, "sanctions", listed(t, l, "0xdef2"))
	write(t, path, "")
	l.Refresh()
	require.NoError(t, l.Fault())
	require.Empty(t, listed(t, l, "0xdef2"))
}

// TestAListThatWasNeverReadStopsAll: an empty list and one that is not there are not the same.
func TestAListThatWasNeverReadStopsAll(t *testing.T) {
	path := filepath.Join(t.TempDir(), "missing.txt")
	l := open(t, checks.BlockListConfig{Files: []checks.BlockList{{Name: "sanctions", File: path}}})
	require.Contains(t, listed(t, l, "0x1"), "nobody knows: list sanctions: ")
	write(t, path, "")
	l.Refresh()
	require.Empty(t, listed(t, l, "0x1"))
}

// service answers as it is told, and counts.
type service struct {
	answer atomic.Value // of string; "hang" answers nothing
	asked  atomic.Int64
	last   atomic.Value // of blocklist.Question
	done   chan struct{}
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var q checks.BlockQuestion
	if json.NewDecoder(r.Body).Decode(&q) != nil || r.Header.Get("Authorization") != "Bearer secret" || r.Method != http.MethodPost {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	s.asked.Add(1)
	s.last.Store(q)
	switch text := s.answer.Load().(string); text {
	case "hang":
		select {
		case <-r.Context().Done():
		case <-s.done:
		}
	case "redirect":
		http.Redirect(w, r, "/", http.StatusTemporaryRedirect)
	default:
		fmt.Fprint(w, text)
	}
}

func TestScreening(t *testing.T) {
	s := &service{done: make(chan struct{})}
	s.answer.Store(`{"allow": true}`)
	server := httptest.NewServer(s)
	defer server.Close()
	defer close(s.done)
	token := filepath.Join(t.TempDir(), "token")
	write(t, token, "secret\n")
	now := time.Now()
	c := checks.BlockListConfig{Screen: checks.BlockHook{URL: server.URL, Timeout: 5 * time.Second, TokenFile: token, Keep: time.Minute}}
	require.NoError(t, c.Check())
	l, err := checks.NewBlockLists(c, func() time.Time { return now })
	require.NoError(t, err)

	require.Empty(t, listed(t, l, "0x1"))
	require.Equal(t, checks.BlockQuestion{Address: "0x1", Chain: "eth", Direction: "out", Amount: "5"}, s.last.Load())
	s.answer.Store(`{"allow": false, "list": "a list"}`)
	require.Empty(t, listed(t, l, "0x1"), "kept")
	require.Equal(t, int64(1), s.asked.Load())
	require.Equal(t, "a list", listed(t, l, "0x2"))
	now = now.Add(time.Minute)
	require.Equal(t, "a list", listed(t, l, "0x1"), "kept for a while")
	s.answer.Store(`{"allow": false}`)
	require.Equal(t, "the screening service's", listed(t, l, "0x3"))

	for i, answer := range []string{"", "{}", `{"allow": "yes"}`, `{"allow": null}`, "[]", strings.Repeat("x", 5000), "redirect"} {
		s.answer.Store(answer)
		require.Contains(t, listed(t, l, fmt.Sprint("0xf", i)), "nobody knows: screening: ", answer)
		require.Error(t, l.Fault())
	}
	s.answer.Store(`{"allow": true}`)
	require.Empty(t, listed(t, l, "0xf0"), "no fault is kept")
	require.NoError(t, l.Fault())
	server.Close()
	require.Equal(t, "nobody knows: screening: the service does not answer", listed(t, l, "0x9"))
}

// TestServicesThatHangPassNobody.
func TestServicesThatHangPassNobody(t *testing.T) {
	s := &service{done: make(chan struct{})}
	s.answer.Store("hang")
	server := httptest.NewServer(s)
	defer server.Close()
	defer close(s.done)
	token := filepath.Join(t.TempDir(), "token")
	write(t, token, "secret")
	l := open(t, checks.BlockListConfig{Screen: checks.BlockHook{URL: server.URL, Timeout: 20 * time.Millisecond, TokenFile: token}})
	require.Equal(t, "nobody knows: screening: the service does not answer", listed(t, l, "0x1"))
}

func TestConfigurationsOfLists(t *testing.T) {
	for want, c := range map[string]checks.BlockListConfig{
		"files: \"\"":                     {Files: []checks.BlockList{{File: "f"}}},
		"files: \"a\": name and file":     {Files: []checks.BlockList{{Name: "a", File: "f"}, {Name: "a", File: "g"}}},
		"files: \"b\": name and file are": {Files: []checks.BlockList{{Name: "b"}}},
		"files: at most 32 are allowed":   {Files: make([]checks.BlockList, 33)},
		"screen: url":                     {Screen: checks.BlockHook{URL: "ftp://x"}},
		"screen: timeout":                 {Screen: checks.BlockHook{URL: "http://x", Timeout: time.Hour}},
		"screen: keep":                    {Screen: checks.BlockHook{URL: "http://x", Keep: 2 * time.Hour}},
	} {
		require.ErrorContains(t, c.Check(), want)
	}
	require.False(t, checks.BlockListConfig{}.Wanted())
	_, err := checks.NewBlockLists(checks.BlockListConfig{Screen: checks.BlockHook{URL: "http://x", TokenFile: filepath.Join(t.TempDir(), "none")}}, time.Now)
	require.ErrorContains(t, err, "screening: ")
}
