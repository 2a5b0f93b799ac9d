package gateway

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/httpserver"
	"gatewayd/internal/testing/recordstest"
	"gatewayd/records"
	"gatewayd/status"
)

// TestConditions: a condition that blocks payments is maintenance to wallets, for its networks,
// tokens and directions only. Supervisors get its kind and chain, never more.
func TestConditions(t *testing.T) {
	told := func(k status.Kind, id chain.ID, stops bool) func(*records.Tx) error {
		return func(tx *records.Tx) error {
			return records.NoteConditions(tx, "test", []records.Condition{{Kind: string(k), Chain: id, Subject: "secret.example", Stops: stops, Detail: "secret words"}})
		}
	}
	for _, c := range []struct {
		name              string
		cause             func(*records.Tx) error
		deposit, withdraw string
		other             string // both directions of the network that shares the exchange chain only
		health            string
	}{
		{"nothing", func(*records.Tx) error { return nil }, "OPEN", "OPEN", "OPEN", `"status":"ok","reasons":[],"warnings":[]`},
		{"source nodes", told(status.NodesDown, recordstest.Source, true), "MAINTAIN", "MAINTAIN", "OPEN",
			`"status":"degraded","reasons":[{"kind":"nodes_unreachable","chain":"eth"}],"warnings":[],"blocked":[{"network":"eth","token":"` + token + `"`},
		{"exchange nodes", told(status.NodesStale, recordstest.Exchange, true), "MAINTAIN", "MAINTAIN", "MAINTAIN",
			`"status":"stopped","reasons":[{"kind":"nodes_stale","chain":"vite"}],"warnings":[]`},
		{"one of the nodes", told(status.NodeFaulty, recordstest.Source, false), "OPEN", "OPEN", "OPEN",
			`"status":"ok","reasons":[],"warnings":[{"kind":"node_faulty","chain":"eth"}]`},
		{"hot account", func(tx *records.Tx) error {
			return tx.Accounts().SetState(recordstest.Source, recordstest.Hot, records.AccountHalted, "secret words")
		}, "OPEN", "MAINTAIN", "OPEN", `"status":"degraded","reasons":[{"kind":"account_stopped","chain":"eth"}],"warnings":[]`},
		{"gateway account", func(tx *records.Tx) error {
			return tx.Accounts().SetState(recordstest.Exchange, recordstest.Gateway, records.AccountRecovering, "secret words")
		}, "MAINTAIN", "OPEN", "OPEN", `"status":"degraded","reasons":[{"kind":"account_stopped","chain":"vite"}],"warnings":[]`},
		{"gas account", func(tx *records.Tx) error {
			return tx.Accounts().SetState(recordstest.Source, recordstest.GasTank, records.AccountHalted, "secret words")
		}, "OPEN", "OPEN", "OPEN", `"status":"ok","reasons":[],"warnings":[{"kind":"account_idle","chain":"eth"}]`},
		{"halted chain", func(tx *records.Tx) error { return tx.Chains().Halt(recordstest.Source, "secret words") }, "MAINTAIN", "MAINTAIN", "OPEN",
			`"status":"degraded","reasons":[{"kind":"chain_halted","chain":"eth"}],"warnings":[]`},
		{"flag", func(tx *records.Tx) error {
			return records.SetAutomatic(tx, recordstest.Network, token, records.Withdrawal, records.ChannelMaintain, "secret words")
		}, "OPEN", "MAINTAIN", "OPEN", `"status":"degraded","reasons":[{"kind":"channel_stopped"}],"warnings":[]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := setup(t)
			r.Do(c.cause)
			meta := r.get(at(eth, "/meta-info", "tokenId", token)).data(t)
			require.Equal(t, []any{c.deposit, c.withdraw}, []any{meta["depositState"], meta["withdrawState"]})
			other := r.get(at(bsc, "/meta-info", "tokenId", token)).data(t)
			require.Equal(t, []any{c.other, c.other}, []any{other["depositState"], other["withdrawState"]})
			_, notice := r.get(at(eth, "/deposit-info", "tokenId", token, "walletAddress", alice)).data(t)["noticeMsg"]
			require.Equal(t, c.deposit == "MAINTAIN", notice)
			require.Equal(t, c.withdraw == "MAINTAIN", r.get(at(eth, "/withdraw-info", "tokenId", token, "walletAddress", alice)).SubCode == int(withdrawMaintain))
			health := r.get("/health")
			require.Contains(t, health.body, c.health)
			require.Equal(t, map[bool]int{true: 200, false: 503}[strings.Contains(c.health, `"ok"`) || strings.Contains(c.health, `"degraded"`)], health.status)
			require.NotContains(t, health.body, "secret")
		})
	}
}

// TestNoDaemon: a gateway whose daemon has never worked reports maintenance.
func TestNoDaemon(t *testing.T) {
	r := setup(t)
	other := recordstest.Open(t)
	server, err := New(Config{Config: httpserver.Config{Listen: "127.0.0.1:0"}}, Parts{Store: other, Log: r.server.Log, Routes: r.server.Routes})
	require.NoError(t, err)
	r.server = server
	r.run(t)
	r.url = "http://" + server.Addr()
	require.Contains(t, r.get("/health").body, `"reasons":[{"kind":"daemon_down"}]`)
	require.Equal(t, "MAINTAIN", r.get(at(eth, "/meta-info", "tokenId", token)).data(t)["withdrawState"])
}
