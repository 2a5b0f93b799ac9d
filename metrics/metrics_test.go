package metrics

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/httpserver"
	"gatewayd/internal/testing/chaintest"
	"gatewayd/internal/testing/recordstest"
	"gatewayd/records"
	"gatewayd/status"
)

// bridge is a follower's on a store with a network of one token.
func bridge(store *records.Store) Bridge {
	n := records.Network{
		Name: recordstest.Network, Source: recordstest.Source, Exchange: recordstest.Exchange, Hot: recordstest.Hot, Hots: []string{recordstest.Hot},
		Gateway: recordstest.Gateway, Gateways: []string{recordstest.Gateway},
		Tokens: []records.Token{{TokenID: recordstest.Token, Symbol: "ETH-000", Asset: chain.Native, Decimals: 2, AssetDecimals: 2}},
	}
	source := chaintest.New(chaintest.Config{ID: recordstest.Source, Finality: 3, Now: time.Now})
	source.Endow(recordstest.Hot, chain.Native, chain.NewAmount(12_345))
	return Bridge{
		Store: store, Chains: map[chain.ID]chain.Chain{recordstest.Source: source}, CoinDecimals: map[chain.ID]uint8{recordstest.Source: 2},
		Networks: func() []records.Network { return []records.Network{n} },
	}
}

func scrape(m *Metrics) string {
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	return w.Body.String()
}

// TestLedgerOfDurations: transfers of a ledger of coins have a longer objective.
func TestLedgerOfDurations(t *testing.T) {
	m := New(t.TempDir())
	m.totals.know([]records.Network{{Name: "ltc", NoSenders: true}})
	require.Contains(t, scrape(m), `gatewayd_transfer_duration_seconds_count{direction="deposit",ledger="coins",network="ltc"} 0`+"\n")
}

// TestFiguresOfRows: the page contains the figures of rows and nodes; events count from the first
// reading on, each once.
func TestFiguresOfRows(t *testing.T) {
	r := recordstest.NewRig(t)
	m := New(t.TempDir())
	f := &follower{Bridge: bridge(r.Store), totals: m.totals}
	read := func() string {
		p := f.read(t.Context())
		m.page.Store(&p)
		return scrape(m)
	}
	r.Owe(records.Deposit, 100)
	f.readSlow(t.Context())
	first := read()
	for _, line := range []string{
		`gatewayd_leader 1`,
		`gatewayd_account_balance{account="` + recordstest.Hot + `",asset="native",chain="eth",kind="hot",network="eth",symbol="ETH"} 123.45`,
		`gatewayd_transfers_total{direction="deposit",network="eth",state="final"} 0`,
		`gatewayd_condition{chain="",direction="",kind="daemon_down",network="",stops="true",token=""} 1`,
	} {
		require.Contains(t, first, line+"\n")
	}
	_, payment := r.Owe(records.Withdrawal, 300)
	require.Contains(t, read(), `gatewayd_account_pending{account="`+recordstest.Hot+`",asset="native",chain="eth",kind="hot",network="eth",symbol="ETH"} 2.99`+"\n")
	r.Pay(payment)
	for range 2 {
		again := read()
		require.Contains(t, again, `gatewayd_transfers_total{direction="withdrawal",network="eth",state="final"} 1`+"\n")
		require.Contains(t, again, `gatewayd_payments_total{chain="eth",network="eth",purpose="credit",state="paid"} 1`+"\n")
		require.Contains(t, again, `gatewayd_transfer_duration_seconds_count{direction="withdrawal",ledger="accounts",network="eth"} 1`+"\n", "each transfer once")
		require.Contains(t, again, `gatewayd_transfer_duration_seconds_count{direction="deposit",ledger="accounts",network="eth"} 0`+"\n")
		require.Contains(t, again, `gatewayd_fees_paid_coins_total{chain="eth"} 210`+"\n")
	}
}

// TestBlockedPayments: each channel that operators let open has a figure, which rules can group.
func TestBlockedPayments(t *testing.T) {
	r := recordstest.NewRig(t)
	m := New(t.TempDir())
	f := &follower{Bridge: bridge(r.Store), totals: m.totals}
	read := func() string {
		p := f.read(t.Context())
		m.page.Store(&p)
		return scrape(m)
	}
	deposit := `gatewayd_payments_blocked{direction="deposit",network="eth",token="` + recordstest.Token + `"} `
	withdrawal := strings.Replace(deposit, "deposit", "withdrawal", 1)
	r.Do(func(tx *records.Tx) error {
		if err := records.BeatAt(tx, status.Role, time.Minute); err != nil {
			return err
		}
		return records.NoteConditions(tx, "test", []records.Condition{{Kind: string(status.NoFunds), Network: "eth", Token: recordstest.Token, Direction: records.Withdrawal, Stops: true}})
	})
	page := read()
	require.Contains(t, page, deposit+"0\n")
	require.Contains(t, page, withdrawal+"1\n")
	r.Do(func(tx *records.Tx) error {
		return records.SetChannel(tx, "eth", recordstest.Token, records.Withdrawal, records.ChannelMaintain, "a test", "ann")
	})
	require.NotContains(t, read(), withdrawal)
}

// pools is a database with one pool of one connection.
type pools struct{ stats sql.DBStats }

func (p pools) Pools() map[string]sql.DBStats { return map[string]sql.DBStats{"write": p.stats} }

// TestCallsPoolsAndReloads: calls are observed by their names, errors by their kind.
func TestCallsPoolsAndReloads(t *testing.T) {
	m := New(t.TempDir())
	m.NodeCalls("eth")("node.example", "eth_getLogs", 30*time.Millisecond)
	sign := m.SignerCall(InProcess, "sign")
	sign.Begin()("")
	sign.Begin()(SignerAway)
	sign.Begin()(SignerCanceled)
	sign.Begin()
	m.Pools("records", pools{sql.DBStats{MaxOpenConnections: 1, InUse: 1, WaitCount: 3, WaitDuration: 1500 * time.Millisecond}})
	m.Reloaded(false)
	page := scrape(m)
	for _, line := range []string{
		`gatewayd_node_call_duration_seconds_bucket{chain="eth",method="eth_getLogs",node="node.example",le="0.025"} 0`,
		`gatewayd_node_call_duration_seconds_bucket{chain="eth",method="eth_getLogs",node="node.example",le="0.05"} 1`,
		`gatewayd_signer_call_duration_seconds_count{call="sign",signer="process"} 2`,
		`gatewayd_signer_calls_in_flight{call="sign",signer="process"} 1`,
		`gatewayd_signer_errors_total{call="sign",error="away",signer="process"} 1`,
		`gatewayd_signer_errors_total{call="sign",error="refused",signer="process"} 0`,
		`gatewayd_database_connections_in_use{database="records",pool="write"} 1`,
		`gatewayd_database_waits_total{database="records",pool="write"} 3`,
		`gatewayd_database_wait_seconds_total{database="records",pool="write"} 1.5`,
		`gatewayd_config_reload_failures_total 1`,
	} {
		require.Contains(t, page, line+"\n")
	}
}

// failing is a store that does not answer.
type failing struct{}

func (failing) View(context.Context, func(*records.Tx) error) error { return errors.New("no answer") }
func (failing) Size(context.Context) (int64, error)                 { return 0, errors.New("no answer") }

// TestStoreDownShows: without the store the page has no figure of it, and contains the reason.
func TestStoreDownShows(t *testing.T) {
	r := recordstest.NewRig(t)
	m := New(t.TempDir())
	f := &follower{Bridge: bridge(r.Store), totals: m.totals}
	f.Store = failing{}
	p := f.read(t.Context())
	m.page.Store(&p)
	page := scrape(m)
	require.Contains(t, page, `gatewayd_condition{chain="",direction="",kind="store_down",network="",stops="true",token=""} 1`+"\n")
	require.NotContains(t, page, "gatewayd_read_timestamp_seconds")
	require.NotContains(t, page, "gatewayd_transfers{")
}

// TestFollowTellsWhoLeads: a process that does not lead exports no figures of rows.
func TestFollowTellsWhoLeads(t *testing.T) {
	r := recordstest.NewRig(t)
	m := New(t.TempDir())
	require.Contains(t, scrape(m), "gatewayd_leader 0\n")
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1) // one answer
	go func() { ended <- m.Follow(ctx, bridge(r.Store)) }()
	require.Eventually(t, func() bool { return strings.Contains(scrape(m), "gatewayd_leader 1\n") }, time.Minute, 10*time.Millisecond)
	stop()
	require.NoError(t, <-ended)
	require.Contains(t, scrape(m), "gatewayd_leader 0\n")
	require.NotContains(t, scrape(m), "gatewayd_condition")
}

// BenchmarkScrape measures a scrape of a daemon with the routes of all servers and a page of
// figures.
func BenchmarkScrape(b *testing.B) {
	r := recordstest.NewRig(b)
	m := New(b.TempDir())
	f := &follower{Bridge: bridge(r.Store), totals: m.totals}
	f.readSlow(b.Context())
	p := f.read(b.Context())
	m.page.Store(&p)
	for i := range 60 {
		m.Requests("gateway")(httpserver.Request{Route: fmt.Sprint("GET /", i), Status: 200})
	}
	for b.Loop() {
		scrape(m)
	}
}

// BenchmarkRead measures the loop's work every ten seconds, with five hundred pending payments.
func BenchmarkRead(b *testing.B) {
	r := recordstest.NewRig(b)
	for range 500 {
		r.Owe(records.Withdrawal, 300)
	}
	f := &follower{Bridge: bridge(r.Store), totals: New(b.TempDir()).totals}
	for b.Loop() {
		f.read(b.Context())
	}
}
