package database

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
)

func TestAway(t *testing.T) {
	for _, code := range []string{"57P01", "57P03", "53300", "25006", "08006"} {
		require.True(t, Away(fmt.Errorf("asking: %w", &pgconn.PgError{Code: code})), code)
	}
	for _, code := range []string{"28P01", "3D000", "42501", "42601", "23505"} {
		require.False(t, Away(&pgconn.PgError{Code: code}), code)
	}
	require.True(t, Away(context.DeadlineExceeded))
	require.True(t, Away(io.ErrUnexpectedEOF))
	require.True(t, Away(fmt.Errorf("taking the sign-guard: %w", pgconn.ErrConnClosed)))
	require.False(t, Away(context.Canceled))
	require.False(t, Away(errors.New("this database has the gateway's records")))
	require.False(t, Away(nil))
	_, err := Open(t.Context(), "postgres://nobody@127.0.0.1:1/none", SQLite{}, Postgres{Writers: 1})
	require.True(t, Away(err), "%v", err)
}

// TestLocksDiffer: no two of the advisory locks have one number.
func TestLocksDiffer(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "locks.go", nil, 0)
	require.NoError(t, err)
	seen := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok {
			number := v.Values[0].(*ast.BasicLit).Value
			require.NotContains(t, seen, number, v.Names[0].Name)
			seen[number] = v.Names[0].Name
		}
		return true
	})
	require.Len(t, seen, 6)
}
