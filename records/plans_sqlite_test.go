package records_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	_ "github.com/mattn/go-sqlite3"
	"github.com/stretchr/testify/require"

	"gatewayd/internal/testing/recordstest"
)

// SQLite's description of a step: table, alias, index, if any, and the compared columns.
var (
	scanStep   = regexp.MustCompile(`^(SCAN|SEARCH) (\w+)(?: EXISTS)?(?: USING (?:AUTOMATIC )?(?:PARTIAL )?(?:COVERING )?(?:INDEX (\w+)|INTEGER PRIMARY KEY))?(?: \((.*)\))?(?: LEFT-JOIN)?$`)
	equalTo    = regexp.MustCompile(`(\w+)=\?`)
	namedTable = regexp.MustCompile(`(?i)(?:FROM|JOIN|UPDATE|INTO) (\w+)(?: (?:AS )?(\w+))?`)
)

func pastSQLite(t *testing.T) *sqlx.DB {
	path := filepath.Join(t.TempDir(), "records.db")
	past(t, "sqlite:"+path)
	db, err := sqlx.Open("sqlite3", path)
	require.NoError(t, err)
	db.SetMaxOpenConns(1) // it learns of new statistics by making them
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

// planSQLite plans the statements.
func planSQLite(t *testing.T, db *sqlx.DB, list []recordstest.Statement) (out []visit) {
	p := &sqlitePlanner{t: t, db: db, tables: map[string]bool{}, indexes: sqliteIndexes(t, db), counts: map[string]int{}}
	var tables []string
	require.NoError(t, db.Select(&tables, `SELECT name FROM sqlite_master WHERE type = 'table'`))
	for _, name := range tables {
		p.tables[name] = true
	}
	for _, s := range list {
		for _, step := range p.plan(s.Text) {
			if rows := p.rows(s.Text, step); rows > fewRows {
				out = append(out, visit{s.By, s.Text, step, rows})
			}
		}
	}
	return out
}

type sqlitePlanner struct {
	t       *testing.T
	db      *sqlx.DB
	tables  map[string]bool
	indexes map[string]index
	counts  map[string]int
}

func (p *sqlitePlanner) plan(text string) (steps []string) {
	p.t.Helper()
	var plan []struct {
		ID, Parent, NotUsed int
		Detail              string
	}
	if strings.Contains(text, "amount_sum") { // our connections have it
		text = strings.ReplaceAll(text, "amount_sum", "max")
	}
	require.NoError(p.t, p.db.Select(&plan, "EXPLAIN QUERY PLAN "+text, make([]any, strings.Count(text, "?"))...), text)
	for _, step := range plan {
		steps = append(steps, step.Detail)
	}
	return steps
}

// rows returns the maximum number of rows that a step visits.
func (p *sqlitePlanner) rows(text, step string) int {
	p.t.Helper()
	m := scanStep.FindStringSubmatch(step)
	if m == nil {
		require.False(p.t, strings.HasPrefix(step, "SCAN ") && step != "SCAN CONSTANT ROW" && !strings.HasPrefix(step, "SCAN (") && !strings.HasSuffix(step, "-ROW VALUES CLAUSE") &&
			!strings.Contains(step, "VIRTUAL"), step)
		require.False(p.t, strings.HasPrefix(step, "SEARCH (") || strings.HasPrefix(step, "SEARCH ") && !strings.Contains(step, "VIRTUAL"), step)
		return 0
	}
	kind, name, by, asked := m[1], m[2], m[3], m[4]
	if !strings.Contains(text, " WHERE ") && strings.Contains(text, " LIMIT ") { // the end of a table
		return 1
	}
	x, ok := p.indexes[by]
	if !ok {
		x = index{table: tableOf(text, name)}
	}
	if !p.tables[x.table] { // a result of another step
		return 1
	}
	var columns []compared
	for _, c := range equalTo.FindAllStringSubmatch(asked, -1) {
		if c[1] == "rowid" {
			return 1
		}
		columns = append(columns, compared{c[1], spelled(text, c[1])})
	}
	if kind == "SEARCH" && asked == "" { // the end of an index
		return 1
	}
	return x.most(p.t, p.count, columns)
}

func (p *sqlitePlanner) count(query string) (n int) {
	p.t.Helper()
	if n, ok := p.counts[query]; ok {
		return n
	}
	require.NoError(p.t, p.db.Get(&n, query))
	p.counts[query] = n
	return n
}

// spelled are the values of a column that a statement spells out.
func spelled(text, column string) string {
	m := regexp.MustCompile(`\b` + column + ` (?:= ('\w*'|\d+)|IN \(('\w*'(?:, ?'\w*')*)\))`).FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	return m[1] + m[2]
}

// tableOf returns the table of an alias; empty for a result of its own.
func tableOf(text, name string) string {
	if strings.Contains(text, ") "+name+" ") {
		return ""
	}
	for _, m := range namedTable.FindAllStringSubmatch(text, -1) {
		if m[2] == name || m[1] == name {
			return m[1]
		}
	}
	return ""
}

var partial = regexp.MustCompile(`(?i)\) WHERE (.*)$`)

func sqliteIndexes(t *testing.T, db *sqlx.DB) map[string]index {
	var rows []struct{ Name, Table, SQL string }
	require.NoError(t, db.Select(&rows, `SELECT name, tbl_name AS "table", COALESCE(sql, '') AS sql FROM sqlite_master WHERE type = 'index'`))
	out := map[string]index{}
	for _, r := range rows {
		x := index{table: r.Table}
		if m := partial.FindStringSubmatch(spaces.ReplaceAllString(r.SQL, " ")); m != nil {
			x.where = m[1]
		}
		out[r.Name] = x
	}
	return out
}
