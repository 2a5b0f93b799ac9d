package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestTableIsMerged: a partial run changes its own rows only, and the count is that of the complete
// table.
func TestTableIsMerged(t *testing.T) {
	list := table()
	first, second := list[0], list[1]
	file := filepath.Join(t.TempDir(), "mutation.md")
	require.NoError(t, os.WriteFile(file, []byte("# Title\n\nText.\n\nold count\n\n"+tableHead+
		"| gone | f | r | TestOld | 1 |\n"+"| "+second.name+" | f | r | hangs | 300 |\n"+"| "+first.name+" | f | r | TestOld | 1 |\n"), 0o600))
	first.rule = "`a,\n  b | c`"
	require.NoError(t, writeTable(file, []result{{mutant: first, outcome: killed, red: "TestX/y", took: 2 * time.Second}}))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	lines := strings.Split(string(text), "\n")
	require.Equal(t, []string{"# Title", "", "Text.", ""}, lines[:4])
	require.Regexp(t, `^\d+ mutants: 1 killed, 1 hang, 0 survive, \d+ not run\.$`, lines[4])
	require.Equal(t, []string{
		"| " + first.name + " | " + first.file + " | `a, b \\| c` | TestX/y | 2 |", "| " + second.name + " | f | r | hangs | 300 |", "",
	}, lines[8:])
}

// A run without an earlier report creates the file and its folder, and the next run keeps its rows.
func TestTableIsCreated(t *testing.T) {
	list := table()
	file := filepath.Join(t.TempDir(), "build", "mutation.txt")
	for _, m := range list[:2] {
		require.NoError(t, writeTable(file, []result{{mutant: m, outcome: killed, red: "TestX"}}))
	}
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Regexp(t, `^\d+ mutants: 2 killed, 0 hang, 0 survive, \d+ not run\.\n`, string(text))
	_, rows := split(string(text))
	require.Len(t, parseRows(rows), 2)
}
