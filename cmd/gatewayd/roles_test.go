package main

import (
	"encoding/json"
	"net/http"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/daemon"
	"gatewayd/internal/testing/recordstest"
)

// TestRoles: one process only follows and pays, and another one only serves wallets and traders.
// Users bridge through the second, also new ones. It never leads.
func TestRoles(t *testing.T) {
	t.Parallel()
	p := newServingPair(t, recordstest.Postgres(t))
	for i := range p.configs {
		p.configs[i].Operators.Listen = freeAddress(t)
		writeReplica(t, p.configs[i])
	}
	works := p.start(t, 0, "--roles", "follow,pay")
	serves := p.start(t, 1, "--roles", "api,exchange")
	p.showUsers(t, 1)
	v, clients, stop := p.startUsers(t, 2)
	works.waitForLog(t, payout, 1)
	stop()
	checkBooks(t, v, clients)

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
