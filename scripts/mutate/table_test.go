package main

import (
	"go/format"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTable checks the table: each mutant still applies to its file and is changed Go or SQL, each
// name occurs once, and the named tests exist. `make mutate` shows that the tests fail.
func TestTable(t *testing.T) {
	t.Chdir("../..")
	names, list := map[string]bool{}, table()
	require.Greater(t, len(list), 120)
	for _, m := range list {
		require.False(t, names[m.name], "%s: twice", m.name)
		names[m.name] = true
		text, err := os.ReadFile(m.file)
		require.NoError(t, err, m.name)
		changed, err := m.apply(string(text))
		if !assert.NoError(t, err) { // all stale mutants in one run
			continue
		}
		require.NotEqual(t, string(text), changed, m.name)
		if strings.HasSuffix(m.file, ".go") {
			_, err = format.Source([]byte(changed))
			require.NoError(t, err, m.name)
		}
		m.suite.requireTests(t)
	}
}

// TestSchemaFromAFolder: the programs that try mutants of the schema can still be made.
func TestSchemaFromAFolder(t *testing.T) {
	t.Chdir("../..")
	text, err := os.ReadFile(fromFolder[0].file)
	require.NoError(t, err)
	changed := string(text)
	for _, m := range fromFolder {
		changed, err = m.apply(changed)
		require.NoError(t, err)
	}
	require.NotContains(t, changed, "embed")
}

// requireTests requires that each test that a suite names exists.
func (s suite) requireTests(t *testing.T) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(s.pkg, "*_test.go"))
	require.NoError(t, err)
	var all strings.Builder
	for _, f := range files {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		all.Write(text)
	}
	named := regexp.MustCompile(`Test\w+`).FindAllString(s.tests, -1)
	require.NotEmpty(t, named, s.tests)
	for _, n := range named {
		require.True(t, strings.Contains(all.String(), "func "+n), "%s: no %s", s.pkg, n)
	}
}

func TestJudge(t *testing.T) {
	for out, want := range map[string]outcome{
		"--- FAIL: TestX (0.1s)\n    --- FAIL: TestX/y (0.1s)\nFAIL": killed,
		"panic: test timed out after 5m0s":                           hangs,
		"ok  \tgatewayd/records\t0.1s [no tests to run]":             idle,
	} {
		require.Equal(t, want, judge(out, os.ErrInvalid).outcome, out)
	}
	require.Equal(t, survived, judge("ok", nil).outcome)
	require.Equal(t, "TestX/y", judge("--- FAIL: TestX (0.1s)\n    --- FAIL: TestX/y (0.1s)\nFAIL", os.ErrInvalid).red)
}

func TestApply(t *testing.T) {
	m := mutant{name: "x", old: "b", new: "c"}
	text, err := m.apply("abd")
	require.NoError(t, err)
	require.Equal(t, "acd", text)
	for _, stale := range []string{"ad", "abb"} {
		_, err = m.apply(stale)
		require.ErrorIs(t, err, errStale)
	}
}
