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

// TestLastTable: no row of docs/mutation.md reports a bad result of an existing mutant.
func TestLastTable(t *testing.T) {
	text, err := os.ReadFile("../../docs/mutation.md")
	require.NoError(t, err)
	_, old := split(string(text))
	rows := parseRows(old)
	require.Greater(t, len(rows), 120)
	for _, m := range table() {
		if row, ok := rows[m.name]; ok {
			require.Equal(t, m.survives != "", outcomeOf(row) == survived, row)
			require.NotContains(t, []outcome{stale, broken, idle}, outcomeOf(row), row)
		}
	}
}
