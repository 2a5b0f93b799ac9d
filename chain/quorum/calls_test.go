package quorum_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCallsUseOneSetOfNodes: while the nodes of a chain are exchanged, a call must not count the
// answers of one set by the majority of another. Each exported method that asks nodes takes the
// current set first.
func TestCallsUseOneSetOfNodes(t *testing.T) {
	for _, dir := range []string{"../ethereum", "../vite"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		require.NoError(t, err)
		found := 0
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			require.NoError(t, err)
			for _, d := range f.Decls {
				method, ok := d.(*ast.FuncDecl)
				if !ok || method.Recv == nil || !method.Name.IsExported() || !asksNodes(method) {
					continue
				}
				if star, pointer := method.Recv.List[0].Type.(*ast.StarExpr); !pointer || fmt.Sprint(star.X) != "Chain" {
					continue
				}
				found++
				require.True(t, beginsWithCurrent(method), "%s: %s must begin with c = c.current()", dir, method.Name.Name)
			}
		}
		require.Greater(t, found, 10, dir)
	}
}

// asksNodes reports whether a method has a named context, with which nodes are asked.
func asksNodes(method *ast.FuncDecl) bool {
	list := method.Type.Params.List
	if len(list) == 0 || len(list[0].Names) == 0 {
		return false
	}
	of, ok := list[0].Type.(*ast.SelectorExpr)
	return ok && of.Sel.Name == "Context"
}

func beginsWithCurrent(method *ast.FuncDecl) bool {
	set, ok := method.Body.List[0].(*ast.AssignStmt)
	if !ok {
		return false
	}
	call, ok := set.Rhs[0].(*ast.CallExpr)
	if !ok {
		return false
	}
	of, ok := call.Fun.(*ast.SelectorExpr)
	return ok && of.Sel.Name == "current"
}
