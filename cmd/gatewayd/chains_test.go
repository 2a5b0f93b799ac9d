package main

import (
	"database/sql"
	"encoding/json"
	"net/http"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/recordstest"
	"gatewayd/status"
)

// holds reports whether a process has a lease.
func (p *pair) holds(t *testing.T, db *sql.DB, n int, role string) (held bool, epoch uint64) {
	t.Helper()
	err := db.QueryRow("SELECT EXISTS (SELECT 1 FROM leases WHERE role = $1 AND expires_at > EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AND holder LIKE '%/' || $2 || '/%')",
		role, strconv.Itoa(p.pids[n])).Scan(&held)
	require.NoError(t, err)
	if held {
		require.NoError(t, db.QueryRow("SELECT epoch FROM leases WHERE role = $1", role).Scan(&epoch))
	}
	return held, epoch
}

func (p *pair) waitForLease(t *testing.T, db *sql.DB, n int, role string) (epoch uint64) {
	t.Helper()
	waitFor(t, "process "+strconv.Itoa(n)+" to have "+role, func() bool {
		held, of := p.holds(t, db, n, role)
		epoch = of
		return held
	})
	return epoch
}

// TestChainsOnTwoProcesses: users bridge while one process works on the source chain and another
// one on the exchange chain. The first is killed: the other one takes over its chain, and continues on
// its own under the same lease. It freezes until it has lost all: the first one, started again, has
// its own chain, and no process the other. When the frozen process resumes, it takes that chain
// again. Everything is paid exactly once.
func TestChainsOnTwoProcesses(t *testing.T) {
	t.Parallel()
	p := newPairOn(t, recordstest.Postgres(t).Database(t))
	for i := range p.configs {
		p.configs[i].Operators.Listen = freeAddress(t)
		writeReplica(t, p.configs[i])
	}
	n := p.configs[0].Networks[0]
	source, exchange := status.ChainRole(n.Source), status.ChainRole(n.Exchange)
	db, err := sql.Open("pgx", p.configs[0].Database.URL)
	require.NoError(t, err)
	defer db.Close()

	first := p.start(t, 0, "--chains", string(n.Source))
	p.waitForLeader(t, 0)
	p.waitForLease(t, db, 0, source)
	second := p.start(t, 1)
	begun := p.waitForLease(t, db, 1, exchange)
	require.Equal(t, "leader", p.roleOf(t, 0))
	waitFor(t, "the second process to tell its chain", func() bool { return p.roleOf(t, 1) == "worker" })
	require.Equal(t, []chain.ID{n.Source}, p.chainsOf(t, 0))
	require.Equal(t, []chain.ID{n.Exchange}, p.chainsOf(t, 1))
	v, clients, stop := p.startUsers(t, 3)
	for _, act := range acts {
		first.waitForLog(t, act, 2)
		second.waitForLog(t, act, 2)
	}
	require.NotContains(t, first.readLog(t), `chain=`+string(n.Exchange)+` `, "it does nothing on the other chain")

	p.waitForPayments(t)
	require.NoError(t, first.cmd.Process.Kill())
	require.Error(t, first.cmd.Wait())
	p.waitForLeader(t, 1)
	p.waitForLease(t, db, 1, source)
	held, epoch := p.holds(t, db, 1, exchange)
	require.True(t, held)
	require.Equal(t, begun, epoch, "its own chain has not changed hands")
	second.waitForLog(t, payout, 1)

	first = p.start(t, 0, "--chains", string(n.Source))
	first.waitForLog(t, standBy, 1)
	p.waitForPayments(t)
	second.freeze(t)
	p.waitForLeader(t, 0)
	p.waitForLease(t, db, 0, source)
	p.waitForDown(t, 0, n.Exchange)
	require.NoError(t, second.cmd.Process.Signal(syscall.SIGCONT))
	require.Greater(t, p.waitForLease(t, db, 1, exchange), epoch)
	first.waitForLog(t, payout, 1) // of a withdrawal that the other process has seen
	stop()
	checkBooks(t, v, clients)
	require.NoError(t, second.cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, second.cmd.Wait())
	require.NoError(t, first.cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, first.cmd.Wait())
}

// chainsOf asks the operators' listener of a process on which chains it works.
func (p *pair) chainsOf(t *testing.T, n int) []chain.ID {
	t.Helper()
	var r struct{ Chains []chain.ID }
	p.ask(t, n, "/ready", &r)
	return r.Chains
}

func (p *pair) ask(t *testing.T, n int, path string, into any) {
	t.Helper()
	answer, err := http.Get("http://" + p.configs[n].Operators.Listen + path)
	require.NoError(t, err)
	defer answer.Body.Close()
	require.NoError(t, json.NewDecoder(answer.Body).Decode(into))
}

// waitForDown waits until a process reports that no process works on a chain.
func (p *pair) waitForDown(t *testing.T, n int, id chain.ID) {
	t.Helper()
	waitFor(t, "no process on "+string(id), func() bool {
		var h status.Health
		p.ask(t, n, "/health", &h)
		for _, r := range h.Reasons {
			if r.Kind == status.DaemonDown && r.Chain == id {
				return true
			}
		}
		return false
	})
}
