package blocklist_test

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

	"gatewayd/signer/blocklist"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

func open(t *testing.T, c blocklist.Config) *blocklist.Lists {
	t.Helper()
	require.NoError(t, c.Check())
	l, err := blocklist.New(c, time.Now)
	require.NoError(t, err)
	return l
}

// listed is the list that an address is on, or why nobody knows.
func listed(t *testing.T, l *blocklist.Lists, address string) string {
	t.Helper()
	name, err := l.Listed(t.Context(), blocklist.Question{Address: address, Chain: "eth", Direction: "out", Amount: "5"})
	if err != nil {
		return "nobody knows: " + err.Error()
	}
	return name
}

func TestListsAreReadAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sanctions.txt")
	write(t, path, "# a list\n0xAbC1  # of somebody\n\nvite_Ab\n")
	l := open(t, blocklist.Config{Files: []blocklist.List{{Name: "sanctions", File: path}}})
	require.Equal(t, "sanctions", listed(t, l, "0xabc1"), "addresses of EVM chains in whatever case")
	require.Equal(t, "sanctions", listed(t, l, "vite_Ab"))
	require.Empty(t, listed(t, l, "vite_ab"))
	require.Empty(t, listed(t, l, ""))
	require.NoError(t, l.Fault())

	write(t, path, "0xdef2\n")
	l.Refresh()
	require.Equal(t, "sanctions", listed(t, l, "0xDEF2"))
	require.Empty(t, listed(t, l, "0xabc1"))

	for want, broken := range map[string]string{"line 2: one address is wanted": "0x1\n0x2 0x3\n", "line 1: ": strings.Repeat("x", 5000)} {
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
	l := open(t, blocklist.Config{Files: []blocklist.List{{Name: "sanctions", File: path}}})
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
	var q blocklist.Question
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
	c := blocklist.Config{Screen: blocklist.Hook{URL: server.URL, Timeout: 5 * time.Second, TokenFile: token, Keep: time.Minute}}
	require.NoError(t, c.Check())
	l, err := blocklist.New(c, func() time.Time { return now })
	require.NoError(t, err)

	require.Empty(t, listed(t, l, "0x1"))
	require.Equal(t, blocklist.Question{Address: "0x1", Chain: "eth", Direction: "out", Amount: "5"}, s.last.Load())
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
	l := open(t, blocklist.Config{Screen: blocklist.Hook{URL: server.URL, Timeout: 20 * time.Millisecond, TokenFile: token}})
	require.Equal(t, "nobody knows: screening: the service does not answer", listed(t, l, "0x1"))
}

func TestConfigurationsOfLists(t *testing.T) {
	for want, c := range map[string]blocklist.Config{
		"files: \"\"":                     {Files: []blocklist.List{{File: "f"}}},
		"files: \"a\": name and file":     {Files: []blocklist.List{{Name: "a", File: "f"}, {Name: "a", File: "g"}}},
		"files: \"b\": name and file are": {Files: []blocklist.List{{Name: "b"}}},
		"files: 32 are the most":          {Files: make([]blocklist.List, 33)},
		"screen: url":                     {Screen: blocklist.Hook{URL: "ftp://x"}},
		"screen: timeout":                 {Screen: blocklist.Hook{URL: "http://x", Timeout: time.Hour}},
		"screen: keep":                    {Screen: blocklist.Hook{URL: "http://x", Keep: 2 * time.Hour}},
	} {
		require.ErrorContains(t, c.Check(), want)
	}
	require.False(t, blocklist.Config{}.Wanted())
	_, err := blocklist.New(blocklist.Config{Screen: blocklist.Hook{URL: "http://x", TokenFile: filepath.Join(t.TempDir(), "none")}}, time.Now)
	require.ErrorContains(t, err, "screening: ")
}
