package gatewayd_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Bounds on what a reader has to hold in mind. They are above the present values; a change that
// needs a larger one has a better place.
const (
	maxPackages    = 80
	maxImportChain = 15
	maxMethods     = 60  // of a type
	minLines       = 150 // of a package
	minMedianLines = 120 // of the files
	maxPositional  = 7   // positional placeholders of a statement; more have names
)

// smallPackages are packages below minLines, each with its reason.
var smallPackages = map[string]string{
	"":                         "tests of the whole module",
	"chain/ethereum/contracts": "generated",
	"dev/drill":                "a test",
	"internal/budget":          "benchmarks of packages that share nothing else",
	"internal/testing/specs":   "descriptions of two APIs that share nothing else",
	"internal/secretfile":      "one rule about files with secrets, for packages that share nothing else",
}

// wideTypes have more methods than maxMethods, each with its reason.
var wideTypes = map[string]string{
	"chain/ethereum.Chain":             "implements the port and the optional abilities of an EVM chain",
	"chain/bitcoin.Chain":              "the same of a ledger of coins",
	"vite/ledger.State":                "each method changes the state through its journal",
	"internal/testing/chaintest.Chain": "the port in memory, with the faults of a chain",
}

var sqlText = regexp.MustCompile(`\b(SELECT|INSERT|UPDATE|DELETE|VALUES|WHERE)\b`)

var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

func TestPackagesAreFew(t *testing.T) {
	all := list(t)
	require.LessOrEqual(t, len(all), maxPackages)
	for _, from := range all {
		sum := 0
		for _, lines := range linesOf(t, from) {
			sum += lines
		}
		_, known := smallPackages[from.name()]
		if small := sum < minLines; small != known {
			t.Errorf("package %q has %d lines: smallPackages must name it only if it has less than %d", from.name(), sum, minLines)
		}
	}
}

func TestImportChainIsShort(t *testing.T) {
	imports := map[string][]string{}
	for _, from := range list(t) {
		imports[from.name()] = ours(from.Imports)
	}
	longest := map[string][]string{}
	var chain func(name string) []string
	chain = func(name string) []string {
		if known, ok := longest[name]; ok {
			return known
		}
		var below []string
		for _, next := range imports[name] {
			if c := chain(next); len(c) > len(below) {
				below = c
			}
		}
		longest[name] = append([]string{name}, below...)
		return longest[name]
	}
	for name := range imports {
		require.LessOrEqual(t, len(chain(name)), maxImportChain, "%s", strings.Join(chain(name), " -> "))
	}
}

func TestTypesHaveFewMethods(t *testing.T) {
	for _, from := range list(t) {
		for name, count := range methodsOf(t, from) {
			if _, known := wideTypes[name]; (count > maxMethods) != known {
				t.Errorf("%s has %d methods: wideTypes must name it only if it has more than %d", name, count, maxMethods)
			}
		}
	}
}

// methodsOf counts the methods of each type of a package, tests and generated code left out.
func methodsOf(t *testing.T, from source) map[string]int {
	count := map[string]int{}
	for _, file := range filesOf(t, from) {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil {
				receiver := f.Recv.List[0].Type
				if pointer, ok := receiver.(*ast.StarExpr); ok {
					receiver = pointer.X
				}
				if generic, ok := receiver.(*ast.IndexExpr); ok {
					receiver = generic.X
				}
				if id, ok := receiver.(*ast.Ident); ok {
					count[from.name()+"."+id.Name]++
				}
			}
		}
	}
	return count
}

// TestFilesAreNotTiny checks the median file length. Suites that import testing are not counted.
func TestFilesAreNotTiny(t *testing.T) {
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

// TestStatementsNameTheirParameters counts the placeholders of each SQL text.
func TestStatementsNameTheirParameters(t *testing.T) {
	for _, from := range list(t) {
		for _, file := range filesOf(t, from) {
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			ast.Inspect(parsed, func(n ast.Node) bool {
				text, ok := n.(*ast.BasicLit)
				if ok && text.Kind == token.STRING && sqlText.MatchString(text.Value) && strings.Count(text.Value, "?") > maxPositional {
					t.Errorf("%s: more than %d placeholders without a name: %s", file, maxPositional, text.Value)
				}
				return true
			})
		}
	}
}

// filesOf lists the files of a package that are neither tests nor generated.
func filesOf(t *testing.T, from source) (list []string) {
	files, err := filepath.Glob(filepath.Join(from.Dir, "*.go"))
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		if !strings.HasSuffix(file, "_test.go") && !generated.Match(text) {
			list = append(list, file)
		}
	}
	return list
}

// linesOf counts the lines of each file of a package that is neither a test nor generated.
func linesOf(t *testing.T, from source) (lines []int) {
	for _, file := range filesOf(t, from) {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		lines = append(lines, bytes.Count(text, []byte("\n")))
	}
	return lines
}
