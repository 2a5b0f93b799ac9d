package records_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/recordstest"
	"gatewayd/records"
)

const (
	pastPayments = 5_000
	// fewRows bounds the rows that a step of a statement may visit, in tables of pastPayments rows
	// and more. A user has forty payments.
	fewRows = 100
)

// visit is a step of a plan that may visit more than a few rows.
type visit struct {
	by, text, step string
	rows           int
}

// TestStatementPlans: no statement of this package, and of its readers, costs more with every past
// payment. Every statement of the conformance suite is planned on a database with many past
// payments. Each step of the plan must need few rows for all arguments.
func TestStatementPlans(t *testing.T) {
	needed, all := map[int]bool{}, true
	check := func(name string, plan func(t *testing.T) []visit) {
		all = t.Run(name, func(t *testing.T) {
			for _, v := range plan(t) {
				if i := slices.IndexFunc(knownScans, func(e knownScan) bool { return e.covers(v) }); i >= 0 {
					needed[i] = true
				} else {
					t.Errorf("%s visits %d rows: %s\n%s", v.by, v.rows, v.step, v.text)
				}
			}
		}) && all
	}
	sqlite := statements(t, "TestSQLite")
	requireWhole(t, sqlite)
	db := pastSQLite(t)
	check("SQLite", func(t *testing.T) []visit { return planSQLite(t, db, sqlite) })
	_, err := db.Exec("ANALYZE")
	require.NoError(t, err)
	check("SQLite with statistics", func(t *testing.T) []visit { return planSQLite(t, db, sqlite) })
	check("PostgreSQL", func(t *testing.T) []visit { return planPostgres(t, statements(t, "TestPostgres")) })
	for i, e := range knownScans {
		if all && !needed[i] {
			t.Errorf("%s %q need not be excused any more: %s", e.by, e.with, e.why)
		}
	}
}

// statements runs the conformance suite on an engine in a separate process and returns its
// statements, each text once by each method.
func statements(t *testing.T, suite string) (list []recordstest.Statement) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "statements.json")
	t.Setenv(recordstest.StatementsFile, path)
	run := map[string]func(*testing.T){"TestSQLite": TestSQLite, "TestPostgres": TestPostgres}[suite]
	if !t.Run(suite, run) {
		t.FailNow()
	}
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	known := map[recordstest.Statement]bool{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var s recordstest.Statement
		require.NoError(t, json.Unmarshal(lines.Bytes(), &s))
		s.Text = placeholderList.ReplaceAllString(spaces.ReplaceAllString(s.Text, " "), " IN ($1)")
		if !known[s] {
			known[s] = true
			list = append(list, s)
		}
	}
	require.NotEmpty(t, list)
	return list
}

var (
	spaces          = regexp.MustCompile(`\s+`)
	placeholderList = regexp.MustCompile(` IN \((\?|\$\d+)(, (\?|\$\d+))+\)`) // a list is one place, however long
	named           = regexp.MustCompile(`:[a-z_]+`)                          // the driver's statements have a placeholder in its place
	literal         = regexp.MustCompile("`((?:SELECT|INSERT|UPDATE|DELETE)[^`]*)`")
)

// requireWhole: every statement that their sources spell out is among those that were run.
func requireWhole(t *testing.T, run []recordstest.Statement) {
	t.Helper()
	var files []string
	for _, folder := range []string{".", "sqlstore", "books", "../view"} {
		found, err := filepath.Glob(filepath.Join(folder, "*.go"))
		require.NoError(t, err)
		require.NotEmpty(t, found, folder)
		files = append(files, found...)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, m := range literal.FindAllStringSubmatch(string(source), -1) {
			text := placeholderList.ReplaceAllString(spaces.ReplaceAllString(named.ReplaceAllString(m[1], "?"), " "), " IN (?)")
			was := slices.ContainsFunc(run, func(s recordstest.Statement) bool { return strings.Contains(s.Text, strings.TrimSpace(text)) })
			if !was {
				t.Errorf("%s: the suite does not run %s", file, text)
			}
		}
	}
}

// past fills a database with payments of the suite's own names.
func past(t *testing.T, url string) {
	t.Helper()
	n := records.Network{
		Name: recordstest.Network, Source: recordstest.Source, Exchange: recordstest.Exchange, Hot: recordstest.Hot, Shared: recordstest.Shared,
		Gas: recordstest.GasTank, Gateway: recordstest.Gateway, Tokens: []records.Token{{TokenID: recordstest.Token, Asset: chain.Native}},
	}
	_, err := recordstest.Fill(t.Context(), url, recordstest.Plan{Network: n, Payments: pastPayments, At: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)})
	require.NoError(t, err)
}

// index is the target of a step's search.
type index struct {
	table, where string // where: of a partial index
}

// compared is a column that a step asks for one value of: any, or one of those that the statement
// spells out.
type compared struct{ column, values string }

// openStates are values that rows have only until they are done with: there are few such rows,
// whatever the history.
var openStates = []string{"'seen'", "'held'", "'queued'", "'bound'", "'open'", "'forked'", "'halted'", "'recovering'", "0"}

// open reports whether the values are spelled out and all of them are of rows that are not done
// with.
func (c compared) open() bool {
	values := strings.Split(strings.ReplaceAll(c.values, " ", ""), ",")
	return c.values != "" && !slices.ContainsFunc(values, func(v string) bool { return !slices.Contains(openStates, v) })
}

// most returns the maximum number of rows of an index that a step visits, for any arguments.
func (x index) most(t *testing.T, count func(query string) int, columns []compared) int {
	t.Helper()
	var where, groups []string
	if x.where != "" {
		where = append(where, x.where)
	}
	for _, c := range columns {
		if c.open() {
			where = append(where, c.column+" IN ("+c.values+")")
			continue
		}
		where, groups = append(where, c.column+" IS NOT NULL"), append(groups, c.column)
	}
	query := "SELECT COUNT(*) AS n FROM " + x.table
	if len(where) > 0 {
		query += " WHERE " + strings.Join(where, " AND ")
	}
	if len(groups) == 0 {
		return count(query)
	}
	return count("SELECT COALESCE(MAX(n), 0) FROM (" + query + " GROUP BY " + strings.Join(groups, ", ") + ") g")
}
