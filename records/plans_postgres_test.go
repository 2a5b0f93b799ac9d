package records_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"gatewayd/internal/testing/recordstest"
)

// planNode is a step of PostgreSQL's plan.
type planNode struct {
	Type     string     `json:"Node Type"`
	Relation string     `json:"Relation Name"`
	Index    string     `json:"Index Name"`
	Cond     string     `json:"Index Cond"`
	Filter   string     `json:"Filter"`
	Plans    []planNode `json:"Plans"`
}

// planPostgres plans the statements for any parameters, as a pooled connection does after a few
// calls.
func planPostgres(t *testing.T, list []recordstest.Statement) (out []visit) {
	url := recordstest.Postgres(t).Database(t)
	past(t, url)
	db, err := sqlx.Open("pgx", url)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	db.SetMaxOpenConns(1)
	// The tables of this database are small enough for sequential scans; those of a gateway are
	// not.
	for _, s := range []string{"ANALYZE", "SET plan_cache_mode = force_generic_plan", "SET enable_seqscan = off"} {
		_, err = db.Exec(s)
		require.NoError(t, err)
	}
	p := &postgresPlanner{t: t, db: db, indexes: postgresIndexes(t, db), counts: map[string]int{}}
	for _, s := range list {
		p.walk(p.plan(s.Text), false, func(n planNode, rows int) {
			out = append(out, visit{s.By, s.Text, fmt.Sprintf("%s %s %s %s %s", n.Type, n.Relation, n.Index, n.Cond, n.Filter), rows})
		})
	}
	return out
}

type postgresPlanner struct {
	t       *testing.T
	db      *sqlx.DB
	indexes map[string]index
	counts  map[string]int
}

var placeholder = regexp.MustCompile(`\$(\d+)`)

func (p *postgresPlanner) plan(text string) planNode {
	p.t.Helper()
	// A place may have lost its neighbours where a list of them was cut.
	next := 0
	text = placeholder.ReplaceAllStringFunc(text, func(string) string { next++; return fmt.Sprintf("$%d", next) })
	conn, err := p.db.Connx(p.t.Context())
	require.NoError(p.t, err)
	defer conn.Close()
	_, err = conn.ExecContext(p.t.Context(), "PREPARE planned AS "+text)
	require.NoError(p.t, err, text)
	defer conn.ExecContext(context.WithoutCancel(p.t.Context()), "DEALLOCATE planned")
	arguments := ""
	if next > 0 {
		arguments = "(" + strings.TrimSuffix(strings.Repeat("NULL, ", next), ", ") + ")"
	}
	var answer []byte
	require.NoError(p.t, conn.GetContext(p.t.Context(), &answer, "EXPLAIN (FORMAT JSON) EXECUTE planned"+arguments), text)
	var plans []struct{ Plan planNode }
	require.NoError(p.t, json.Unmarshal(answer, &plans))
	return plans[0].Plan
}

// walk calls tell for each step that visits more than a few rows. A step below a limit, without a
// sort or a filter between, ends with it.
func (p *postgresPlanner) walk(n planNode, limited bool, tell func(planNode, int)) {
	if rows := p.rows(n, limited); rows > fewRows {
		tell(n, rows)
	}
	for i, below := range n.Plans {
		p.walk(below, n.Type == "Limit" || limited && i == 0 && (n.Type == "Nested Loop" || n.Type == "Result" || n.Type == "LockRows"), tell)
	}
}

var equalIn = regexp.MustCompile(`\((\w+) = (?:('\w*'|\d+)|ANY \('\{([\w,]*)\}')?`)

func (p *postgresPlanner) rows(n planNode, limited bool) int {
	p.t.Helper()
	if limited && n.Filter == "" {
		return 0
	}
	switch {
	case n.Index != "":
		var columns []compared
		for _, m := range equalIn.FindAllStringSubmatch(n.Cond, -1) {
			if m[3] != "" {
				m[2] = "'" + strings.ReplaceAll(m[3], ",", "','") + "'"
			}
			columns = append(columns, compared{m[1], m[2]})
		}
		return p.indexes[n.Index].most(p.t, p.count, columns)
	case n.Type == "Seq Scan":
		return index{table: n.Relation}.most(p.t, p.count, nil)
	}
	return 0
}

func (p *postgresPlanner) count(query string) (n int) {
	p.t.Helper()
	if n, ok := p.counts[query]; ok {
		return n
	}
	require.NoError(p.t, p.db.Get(&n, query))
	p.counts[query] = n
	return n
}

func postgresIndexes(t *testing.T, db *sqlx.DB) map[string]index {
	var rows []struct{ Name, Table, Predicate string }
	require.NoError(t, db.Select(&rows, `SELECT c.relname AS name, r.relname AS table, COALESCE(pg_get_expr(i.indpred, i.indrelid), '') AS predicate
		FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_class r ON r.oid = i.indrelid JOIN pg_namespace n ON n.oid = r.relnamespace
		WHERE n.nspname = 'public'`))
	out := map[string]index{}
	for _, r := range rows {
		out[r.Name] = index{r.Table, r.Predicate}
	}
	return out
}
