package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRemovedKeys: a file with a key that this version no longer has is as good as without it, and
// the key is named. The same key elsewhere is a fault.
func TestRemovedKeys(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../config.example.yaml")
	require.NoError(t, err)
	require.NotContains(t, string(text), "fetch_ahead")
	load := func(text string) (Config, error) {
		path := filepath.Join(t.TempDir(), "config.yaml")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return Load(path)
	}
	without, err := load(string(text))
	require.NoError(t, err)
	require.Empty(t, without.Removed)
	with, err := load(strings.Replace(string(text), "  poll: 1s", "  fetch_ahead: 8 # blocks\n  poll: 1s", 1))
	require.NoError(t, err)
	require.Equal(t, []string{"watcher.fetch_ahead"}, with.Removed)
	found, err := Changes(without, with)
	require.NoError(t, err)
	require.Empty(t, found)

	start, end := strings.Index(string(text), "\nwatcher:\n"), strings.Index(string(text), "\nstatus:\n")
	require.Less(t, start, end)
	for _, section := range []string{"\nwatcher:\n  fetch_ahead: 8\n", "\nwatcher: {fetch_ahead: 8}\n"} {
		alone, err := load(string(text[:start]) + section + string(text[end:]))
		require.NoError(t, err, section)
		require.Equal(t, []string{"watcher.fetch_ahead"}, alone.Removed)
	}
	_, err = load(strings.Replace(string(text), "\nwatcher:\n", "\nfetch_ahead: 8\nwatcher:\n", 1))
	require.ErrorContains(t, err, `unknown field "fetch_ahead"`)
	_, err = load(strings.Replace(string(text), "  poll: 1s", "  fetch_ahead: 8\n  fetch_behind: 8\n  poll: 1s", 1))
	require.ErrorContains(t, err, `unknown field "fetch_behind"`)
	require.ErrorContains(t, err, "fetch_ahead: 8\n", "the excerpt shows the file as it is")
}
