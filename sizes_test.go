package gatewayd_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// minMedianLines is the smallest acceptable median of lines per file. Generated code is not
// counted.
const minMedianLines = 120

var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

// TestSizesStayReadable checks the median file length. Test files, and suites that import testing,
// are not counted.
func TestSizesStayReadable(t *testing.T) {
	var all []int
	for _, from := range list(t) {
		if !slices.Contains(from.Imports, "testing") {
			all = append(all, linesOf(t, from)...)
		}
	}
	slices.Sort(all)
	if median := all[len(all)/2]; median < minMedianLines {
		t.Errorf("the median file has %d lines, less than %d: join files that tell one story", median, minMedianLines)
	}
}

// linesOf counts the lines of each file of a package that is neither a test nor generated.
func linesOf(t *testing.T, from source) []int {
	files, err := filepath.Glob(filepath.Join(from.Dir, "*.go"))
	require.NoError(t, err)
	var lines []int
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		if test, _ := filepath.Match("*_test.go", filepath.Base(file)); !test && !generated.Match(text) {
			lines = append(lines, bytes.Count(text, []byte("\n")))
		}
	}
	return lines
}
