package view

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"gatewayd/records"
)

// TestPlans: a wallet's page is found in one index, and its rows without looking through others.
func TestPlans(t *testing.T) {
	path := filepath.Join(t.TempDir(), "records.db")
	s, err := records.Open(t.Context(), records.Config{URL: "sqlite:" + path})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	db, err := sqlx.Open("sqlite3", path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	for query, want := range map[string]string{
		pageMarks + pageWhere + pageMarksOrder: "SEARCH t USING COVERING INDEX transfers_of_owner (network=? AND token=? AND owner=? AND direction=?)",
		pageSelect + pageOfRows:                "SEARCH t USING INTEGER PRIMARY KEY (rowid=?)",
	} {
		var plan []struct {
			ID, Parent, NotUsed int
			Detail              string
		}
		require.NoError(t, db.Select(&plan, "EXPLAIN QUERY PLAN "+query, make([]any, strings.Count(query, "?"))...))
		var steps []string
		for _, step := range plan {
			steps = append(steps, step.Detail)
		}
		require.Equal(t, want, steps[0])
		require.NotContains(t, strings.Join(steps, ";")+";", "SCAN t", query)
		require.NotContains(t, steps, "USE TEMP B-TREE FOR ORDER BY", query)
	}
}
