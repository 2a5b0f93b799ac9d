package signguard_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records/signguard"
)

// historyOfPlans is the number of earlier signed payments: enough for a planner to care.
const historyOfPlans = 2000

// TestStatementPlans: nothing that is asked of the sign-guard for a payment costs more with every
// payment that was ever signed: each table is searched by causes, numbers or payments, or at the
// end of an index.
func TestStatementPlans(t *testing.T) {
	t.Run("file", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "guard.db")
		db, run := observed(t, openGuard(t, path), path)
		for _, statistics := range []string{"SELECT 1", "ANALYZE"} {
			_, err := db.Exec(statistics)
			require.NoError(t, err)
			for _, text := range run {
				requireFewSQLite(t, db, text)
			}
		}
	})
	t.Run("server", func(t *testing.T) {
		url := emptyDatabase(t)
		db, run := observed(t, openServer(t, url), url)
		db.SetMaxOpenConns(1)
		for _, s := range []string{"ANALYZE", "SET plan_cache_mode = force_generic_plan", "SET enable_seqscan = off"} {
			_, err := db.Exec(s)
			require.NoError(t, err)
		}
		for _, text := range run {
			requireFewPostgres(t, db, text)
		}
	})
}

// TestFewStatements: a group of payments is authorized and signed for in far fewer statements than
// it has payments. On a server each is a round trip.
func TestFewStatements(t *testing.T) {
	const group = 256
	path := filepath.Join(t.TempDir(), "guard.db")
	g, run := openGuard(t, path), 0
	g.Observe(t, path, func(string) { run++ })
	pay(t, g, 1, group, "eth", 0)
	require.LessOrEqual(t, run, group/4)
	t.Logf("%d statements for %d payments", run, group)
}

// pay has payments authorized and signed at numbers like theirs.
func pay(t *testing.T, g *signguard.Guard, from, count uint64, on chain.ID, branch uint64) {
	t.Helper()
	var leaves []signguard.Authorization
	var signatures []signguard.Signature
	var fees []signguard.Fee
	for id := from; id < from+count; id++ {
		a, s := leave(fmt.Sprint("cause ", id), "credit|bob", id), signature(id, "credit|bob", id)
		a.Chain, a.Payee, s.Slot.Branch, s.Evidence = on, fmt.Sprint("payee ", id), branch, id%2 == 0 || branch > 0
		a.Arrival = &chain.Arrival{Chain: "eth", Address: fmt.Sprint("address ", id), Amount: chain.NewAmount(id), Height: id, Proof: chain.ByBlock}
		s.Hash, s.Slot.Prev = fmt.Sprint("hash ", id), fmt.Sprint("hash ", id-1)
		leaves, signatures, fees = append(leaves, a), append(signatures, s), append(fees, signguard.Fee{Slot: s.Slot})
	}
	_, err := g.States(t.Context(), leaves)
	require.NoError(t, err)
	states, err := g.Authorize(t.Context(), leaves)
	require.NoError(t, err)
	require.NotContains(t, states, signguard.Waits)
	require.NoError(t, g.NoteFees(t.Context(), on, time.Unix(1, 0), fees))
	require.NoError(t, g.Allow(t.Context(), on, signatures...))
}

// observed signs many payments and answers what was run for the last ones, and for what else is
// asked for payments.
func observed(t *testing.T, g *signguard.Guard, name string) (db *sqlx.DB, run []string) {
	t.Helper()
	pay(t, g, 1, historyOfPlans, "eth", 0)
	pay(t, g, historyOfPlans+1, historyOfPlans, "vite", 1)
	db = g.Observe(t, name, func(text string) {
		if !slices.Contains(run, text) {
			run = append(run, text)
		}
	})
	pay(t, g, 2*historyOfPlans+1, 200, "vite", 1)
	pay(t, g, 4*historyOfPlans, 1, "eth", 0)
	for _, paid := range []bool{true, false} {
		_, err := g.SignedAt(t.Context(), "eth", "0xhot", 4*historyOfPlans)
		require.NoError(t, err)
		require.NoError(t, g.Decide(t.Context(), []signguard.Outcome{{Chain: "eth", Account: "0xhot", Number: 4 * historyOfPlans, Paid: paid}}))
	}
	_, err := g.Undecided(t.Context(), 7)
	require.NoError(t, err)
	_, err = g.PaidTo(t.Context(), "eth", "payee 7")
	require.NoError(t, err)
	_, _, _, err = g.Next(t.Context(), "eth", "0xhot")
	require.NoError(t, err)
	require.NoError(t, g.Free(t.Context(), 7))
	_, err = g.ShownByBalance(t.Context(), "eth", "address 7")
	require.NoError(t, err)
	_, err = g.CoinAt(t.Context(), "eth", "address 7", "cause 8", 9)
	require.NoError(t, err)
	require.NoError(t, g.NoteSpent(t.Context(), []signguard.Spending{{Chain: "eth", Address: "address 7"}}))
	_, err = g.Fees(t.Context(), "eth", []chain.Slot{{Account: "0xhot", Nonce: 7}, {Account: "0xhot", Nonce: 8}})
	require.NoError(t, err)
	return db, run
}

var (
	// few matches columns that identify a row, or few rows.
	few = regexp.MustCompile(`\b(cause|number|payment_id|payee|only|address)\b`)
	// line is the end of an account's line, of which one row is read.
	line         = regexp.MustCompile(`^SEARCH (m|guard) USING COVERING INDEX sqlite_autoindex_guard_1 \(chain=\? AND account=\?\)$`)
	placeholders = regexp.MustCompile(`\$(\d+)`)
)

func requireFewSQLite(t *testing.T, db *sqlx.DB, text string) {
	t.Helper()
	var steps []struct {
		ID, Parent, NotUsed int
		Detail              string
	}
	require.NoError(t, db.Select(&steps, "EXPLAIN QUERY PLAN "+text, make([]any, strings.Count(text, "?"))...), text)
	for _, s := range steps {
		require.NotContains(t, s.Detail, "TEMP B-TREE", text)
		scans, searches := strings.HasPrefix(s.Detail, "SCAN "), strings.HasPrefix(s.Detail, "SEARCH ")
		if scans && !strings.HasSuffix(s.Detail, "-ROW VALUES CLAUSE") && s.Detail != "SCAN identity" || searches && !few.MatchString(after(s.Detail, " (")) {
			require.Regexp(t, line, s.Detail, text)
			require.True(t, strings.HasPrefix(s.Detail, "SEARCH m ") || strings.HasSuffix(text, "DESC LIMIT 1"), text)
		}
	}
}

func after(s, sep string) string {
	_, s, _ = strings.Cut(s, sep)
	return s
}

func requireFewPostgres(t *testing.T, db *sqlx.DB, text string) {
	t.Helper()
	_, err := db.Exec("PREPARE planned AS " + text)
	require.NoError(t, err, text)
	defer db.Exec("DEALLOCATE planned")
	arguments := ""
	if n := len(placeholders.FindAllString(text, -1)); n > 0 {
		arguments = "(" + strings.TrimSuffix(strings.Repeat("NULL, ", n), ", ") + ")"
	}
	var steps []string
	require.NoError(t, db.Select(&steps, "EXPLAIN EXECUTE planned"+arguments), text)
	for i, s := range steps {
		require.False(t, strings.Contains(s, "Seq Scan") && !strings.Contains(s, "on identity"), "%s\n%s", text, strings.Join(steps, "\n"))
		if strings.Contains(s, "Scan using") || strings.Contains(s, "Bitmap Index Scan") {
			require.Contains(t, steps[i+1], "Index Cond", "%s\n%s", text, strings.Join(steps, "\n"))
			if !strings.Contains(text, "DESC LIMIT 1") {
				require.Regexp(t, `\((cause|number|payment_id|payee|only|address|lineage IS NOT NULL)\b`, strings.ReplaceAll(steps[i+1], `"`, ""), "%s\n%s", text, strings.Join(steps, "\n"))
			}
		}
	}
}
