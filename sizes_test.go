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

// What a reader can take in: lines of a package, files of a folder, lines of a file in the middle of all. Generated code counts for none.
const (
	maxPackageLines = 5000
	maxFolderFiles  = 30
	minMedianLines  = 120
)

var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

// TestSizesStayReadable holds what is not a test to these bounds. Suites, which import testing, are tests.
func TestSizesStayReadable(t *testing.T) {
	var all []int
	for _, from := range list(t) {
		if slices.Contains(from.Imports, "testing") {
			continue
		}
		lines := linesOf(t, from)
		if len(lines) > maxFolderFiles {
			t.Errorf("%s has %d Go files outside tests, more than %d: join some, or move an idea to a package of its own", from.name(), len(lines), maxFolderFiles)
		}
		if sum := sumOf(lines); sum > maxPackageLines {
			t.Errorf("%s has %d lines outside tests, more than %d: move an idea to a package of its own", from.name(), sum, maxPackageLines)
		}
		all = append(all, lines...)
	}
	slices.Sort(all)
	if median := all[len(all)/2]; median < minMedianLines {
		t.Errorf("the file in the middle has %d lines, less than %d: a story is spread over too many files", median, minMedianLines)
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

func sumOf(lines []int) (sum int) {
	for _, n := range lines {
		sum += n
	}
	return sum
}
