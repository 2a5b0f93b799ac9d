package main

import (
	"database/sql"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/daemon"
	"gatewayd/internal/testing/recordstest"
)

// TestRoles: one process only follows and pays, and another one only serves wallets and traders.
// Users bridge through the second, also new ones. It never leads. The processes and the signer have
// the roles of ops/postgres on PostgreSQL.
func TestRoles(t *testing.T) {
	t.Parallel()
	admin := recordstest.OwnPostgres(t, "").Empty(t)
	runSQL(t, admin, "roles.sql")
	runSQL(t, admin, "guard.sql")
	records, exchange := roleURL(t, admin, "gatewayd_daemon", "gatewayd"), roleURL(t, admin, "gatewayd_exchange", "exchange")
	p := newPairApart(t, records)
	p.configs[0].Signer.Guard = roleURL(t, admin, "gatewayd_signer", "guard")
	p.startSigner(t)
	p.serveExchange(t, exchange, exchange)
	p.configs[1].Database.URL = roleURL(t, admin, "gatewayd_api", "gatewayd")
	for i := range p.configs {
		p.configs[i].Operators.Listen = freeAddress(t)
		writeReplica(t, p.configs[i])
	}
	works := p.start(t, 0, "--roles", "follow,pay")
	works.waitForLog(t, "this daemon leads", 1)
	runSQL(t, records, "grants.sql")
	serves := p.start(t, 1, "--roles", "api,exchange")
	p.showUsers(t, 1)
	v, clients, stop := p.startUsers(t, 2)
	works.waitForLog(t, payout, 1)
	stop()
	checkBooks(t, v, clients)
	requireFewRights(t, p.configs[1].Database.URL, roleURL(t, admin, "gatewayd_exchange", "gatewayd"))

	_, err := http.Get(p.urls(0)[0] + "/ready")
	require.ErrorContains(t, err, "connection refused", "the first process has no gateway")
	require.Equal(t, "leader", p.roleOf(t, 0))
	state, err := daemon.AskConfigured(t.Context(), p.configs[0])
	require.NoError(t, err)
	require.Equal(t, daemon.Well, state)
	require.NoError(t, works.cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, works.cmd.Wait())
	p.waitForReady(t, 1, true)
	require.Equal(t, "api", p.roleOf(t, 1))
	require.NotContains(t, serves.readLog(t), "this daemon leads")
	require.NoError(t, serves.cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, serves.cmd.Wait())
}

// requireFewRights: the roles of serving processes cannot change payments, channels or leases.
func requireFewRights(t *testing.T, api, exchange string) {
	t.Helper()
	for _, statement := range []string{
		"UPDATE payments SET state = 'held'", "UPDATE transfers SET owner = ''", "UPDATE channels SET operator = 'CLOSED'", "DELETE FROM bindings",
		"INSERT INTO leases (role, holder, epoch, expires_at) VALUES ('daemon', 'x', 9, 9)", "UPDATE accounts SET state = 'ok'", "CREATE TABLE other (n INT)",
	} {
		require.ErrorContains(t, tryOn(t, api, statement), "permission denied", statement)
	}
	for _, statement := range []string{ // of the limits that all processes share
		"INSERT INTO client_limits (client, full_at) VALUES ('x', 1) ON CONFLICT (client) DO UPDATE SET full_at = 2", "DELETE FROM client_limits WHERE client = 'x'",
	} {
		require.NoError(t, tryOn(t, api, statement))
	}
	require.ErrorContains(t, tryOn(t, exchange, "SELECT 1"), "permission denied for database")
}

// tryOn runs a statement and rolls it back.
func tryOn(t *testing.T, url, statement string) error {
	t.Helper()
	db, err := sql.Open("pgx", url)
	require.NoError(t, err)
	defer db.Close()
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // it changes nothing
	_, err = tx.Exec(statement)
	return err
}

// runSQL runs the statements of a file of ops/postgres.
func runSQL(t *testing.T, url, file string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../ops/postgres", file))
	require.NoError(t, err)
	for statement := range strings.SplitSeq(strings.TrimSpace(string(text)), ";\n") {
		recordstest.Do(t, url, statement)
	}
}

// roleURL is the URL of a role and a database on the server of another URL.
func roleURL(t *testing.T, of, role, database string) string {
	t.Helper()
	u, err := url.Parse(of)
	require.NoError(t, err)
	u.User, u.Path = url.User(role), "/"+database
	return u.String()
}

// roleOf asks the operators' listener of a process.
func (p *pair) roleOf(t *testing.T, n int) string {
	t.Helper()
	answer, err := http.Get("http://" + p.configs[n].Operators.Listen + "/ready")
	require.NoError(t, err)
	defer answer.Body.Close()
	var r struct{ Role string }
	require.NoError(t, json.NewDecoder(answer.Body).Decode(&r))
	return r.Role
}
