package main

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// checker finds out whether a changed file still goes with its package, by what the go command has
// built of all others.
type checker struct {
	fset    *token.FileSet
	exports map[string]string // import path -> file of its types
	imports types.Importer
}

func newChecker(t *testing.T, packages map[string]bool) *checker {
	t.Helper()
	args := []string{"list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}"}
	for p := range packages {
		args = append(args, p)
	}
	cmd := exec.Command("go", args...)
	cmd.Stderr = t.Output()
	out, err := cmd.Output()
	require.NoError(t, err)
	c := &checker{fset: token.NewFileSet(), exports: map[string]string{}}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), "\t")
		c.exports[path] = file
	}
	c.imports = importer.ForCompiler(c.fset, "gc", func(path string) (io.ReadCloser, error) {
		if c.exports[path] == "" {
			return nil, fmt.Errorf("%s: not built", path)
		}
		return os.Open(c.exports[path])
	})
	return c
}

// check is the first error of the package with the file changed.
func (c *checker) check(t *testing.T, file, changed string) error {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(filepath.Dir(file), "*.go"))
	require.NoError(t, err)
	var files []*ast.File
	for _, name := range names {
		here, err := build.Default.MatchFile(filepath.Dir(name), filepath.Base(name))
		if err != nil {
			return err
		}
		if strings.HasSuffix(name, "_test.go") || !here { // of another system
			continue
		}
		var source any
		if name == file {
			source = changed
		}
		f, err := parser.ParseFile(c.fset, name, source, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files = append(files, f)
	}
	conf := types.Config{Importer: c.imports}
	_, err = conf.Check("gatewayd/"+filepath.ToSlash(filepath.Dir(file)), c.fset, files, nil)
	return err
}

// TestMutantsBuild: a mutant that does not compile proves nothing.
func TestMutantsBuild(t *testing.T) {
	t.Chdir("../..")
	packages := map[string]bool{}
	for _, m := range table() {
		if strings.HasSuffix(m.file, ".go") {
			packages["./"+filepath.Dir(m.file)] = true
		}
	}
	c := newChecker(t, packages)
	for _, m := range table() {
		if !strings.HasSuffix(m.file, ".go") {
			continue
		}
		text, err := os.ReadFile(m.file)
		require.NoError(t, err)
		changed, err := m.apply(string(text))
		require.NoError(t, err)
		if err := c.check(t, m.file, changed); err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
	}
}
