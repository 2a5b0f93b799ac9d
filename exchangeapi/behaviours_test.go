package exchangeapi

import (
	"bufio"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEveryBehaviourHasATest: testdata/behaviours.txt names tests that exist, and leaves none of
// the sixty cases out. A test whose name has a number is in the list under it.
func TestEveryBehaviourHasATest(t *testing.T) {
	f, err := os.Open("testdata/behaviours.txt")
	require.NoError(t, err)
	defer f.Close()
	tests := map[string]map[string]bool{} // by folder
	covered, listed := map[int]bool{}, map[string]bool{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		var number int
		var folder, name string
		_, err := fmt.Sscan(lines.Text(), &number, &folder, &name)
		require.NoError(t, err, lines.Text())
		if tests[folder] == nil {
			tests[folder] = testsOf(t, filepath.Join("..", folder))
		}
		require.True(t, tests[folder][name], "%s has no test %s", folder, name)
		covered[number], listed[name] = true, true
		if rest, ok := strings.CutPrefix(name, "TestBehaviour"); ok {
			require.True(t, strings.HasPrefix(rest, fmt.Sprintf("%02d", number)), lines.Text())
		}
	}
	for number := 1; number <= 60; number++ {
		require.True(t, covered[number], "case %d has no test", number)
	}
	require.Len(t, covered, 60)
	for folder, names := range tests {
		for name := range names {
			require.True(t, listed[name] || !strings.HasPrefix(name, "TestBehaviour"), "%s %s is not in the list", folder, name)
		}
	}
}

// testsOf are the tests of a folder.
func testsOf(t *testing.T, folder string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	require.NoError(t, err)
	names := map[string]bool{}
	for _, file := range files {
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range tree.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") {
				names[f.Name.Name] = true
			}
		}
	}
	return names
}

// TestEverySampleHasATest: nothing in the sample files is of a kind that the tests of samples do
// not walk. Who adds a sample, adds its check here.
func TestEverySampleHasATest(t *testing.T) {
	text, err := fs.ReadFile(os.DirFS("testdata"), "rest_samples.json")
	require.NoError(t, err)
	var file map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(text, &file))
	for name := range file {
		require.Contains(t, []string{"envelope", "endpoints", "errors"}, name)
	}
	var endpoints []map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(file["endpoints"], &endpoints))
	routed := map[string]bool{}
	for path := range (&network{}).public() {
		routed["GET "+path] = true
	}
	for at := range (&network{}).private() {
		routed[at] = true
	}
	for _, e := range endpoints {
		for name := range e {
			require.Contains(t, []string{"method", "path", "params", "response", "more_samples", "notes", "source"}, name)
		}
		var method, path string
		require.NoError(t, json.Unmarshal(e["method"], &method))
		require.NoError(t, json.Unmarshal(e["path"], &path))
		require.True(t, routed[method+" "+strings.TrimPrefix(path, prefix)], "%s %s is not served", method, path)
	}
}
