package operator

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/config"
	"gatewayd/internal/testing/chaintest"
	"gatewayd/internal/testing/recordstest"
	"gatewayd/records"
	"gatewayd/status"
)

// auditRig is a network of 21 tokens on ledgers in memory.
type auditRig struct {
	*recordstest.Rig
	*audit
	source, exchange *chaintest.Chain
	n                config.Network
}

func newAuditRig(t *testing.T) *auditRig {
	t.Helper()
	r := &auditRig{Rig: recordstest.NewRig(t)}
	cfg, err := config.Load("../config.example.yaml")
	require.NoError(t, err)
	r.n = cfg.Networks[0]
	first := r.n.Tokens[0]
	first.Token, first.Asset, first.Symbol = recordstest.Token, chain.Native, "ETH-000"
	r.n.Tokens = []config.Token{first}
	for i := range 20 {
		token := first
		token.Token, token.Asset, token.Symbol = fmt.Sprintf("tti_%d", i), chain.Asset(fmt.Sprintf("0x%040d", i)), fmt.Sprintf("T%d-000", i)
		r.n.Tokens = append(r.n.Tokens, token)
	}
	cfg.Networks = []config.Network{r.n}
	r.source = chaintest.New(chaintest.Config{ID: recordstest.Source, Finality: 3, Now: time.Now})
	r.exchange = chaintest.New(chaintest.Config{ID: recordstest.Exchange, Finality: 3, Now: time.Now})
	plenty := chain.MustAmount("1000000000000000000000000")
	for _, token := range r.n.Tokens {
		r.exchange.Endow(recordstest.Gateway, chain.Asset(token.Token), plenty)
	}
	for _, token := range r.n.Tokens[:9] {
		r.source.Endow(recordstest.Hot, token.Asset, plenty)
	}
	r.audit = &audit{
		Session: &Session{Config: cfg, Store: r.Store},
		chains:  map[chain.ID]chain.Chain{recordstest.Source: r.source, recordstest.Exchange: r.exchange},
	}
	r.Do(func(tx *records.Tx) error { return records.BeatAt(tx, status.Role, 0) })
	return r
}

// report audits everything but blocks, which the rig's records invent.
func (r *auditRig) report() Report {
	report, err := r.run(r.T.Context(), 1<<40)
	require.NoError(r.T, err)
	return report
}

// TestShortageIsNoDifference: tokens without funds are shortages with the amount and the next step,
// while the books are exact; so are their conditions and stopped channels.
func TestShortageIsNoDifference(t *testing.T) {
	r := newAuditRig(t)
	empty := r.n.Tokens[9:]
	r.Do(func(tx *records.Tx) error {
		for _, token := range empty {
			if err := records.SetAutomatic(tx, "eth", token.Token, records.Withdrawal, records.ChannelMaintain, "books: too little"); err != nil {
				return err
			}
		}
		return records.NoteConditions(tx, "test", []records.Condition{{
			Kind: string(status.NoFunds), Chain: "eth", Network: "eth", Token: empty[0].Token, Direction: records.Withdrawal, Stops: true, Detail: "no funds",
		}})
	})
	report := r.report()
	require.Empty(t, report.Faults)
	require.Empty(t, report.Blocked)
	require.Len(t, report.Shortages, len(empty))
	for i, s := range report.Shortages {
		require.Equal(t, []any{"eth", recordstest.Hot, empty[i].Token, empty[i].Asset, true}, []any{s.Network, s.Account, s.Token, s.Asset, s.Holds.IsZero()})
		require.Equal(t, *s.Needs, *s.Missing)
		require.Contains(t, s.Detail, "and the smallest payment needs")
		require.Contains(t, s.Next, "send at least ")
		require.Contains(t, s.Next, recordstest.Hot)
	}
}

// TestDebtWithoutFunds: a debt above the balance is a shortage of the difference.
func TestDebtWithoutFunds(t *testing.T) {
	r := newAuditRig(t)
	r.Owe(records.Deposit, 500)
	poor := chaintest.New(chaintest.Config{ID: recordstest.Exchange, Finality: 3, Now: time.Now})
	poor.Endow(recordstest.Gateway, chain.Asset(recordstest.Token), chain.NewAmount(100))
	r.chains[recordstest.Exchange] = poor
	report := r.report()
	require.Empty(t, report.Faults)
	var found []Shortage
	for _, s := range report.Shortages {
		if s.Account == recordstest.Gateway && s.Token == recordstest.Token {
			found = append(found, s)
		}
	}
	require.Len(t, found, 1)
	require.Contains(t, found[0].Detail, "owes")
	require.Equal(t, chain.NewAmount(100), *found[0].Holds)
	total, err := found[0].Holds.Add(*found[0].Missing)
	require.NoError(t, err)
	require.Equal(t, *found[0].Needs, total)
}

// TestWhatIsADifference: stopped accounts and halted chains are differences, a silent daemon and
// refused payments only block.
func TestWhatIsADifference(t *testing.T) {
	r := newAuditRig(t)
	r.Do(func(tx *records.Tx) error {
		return records.NoteConditions(tx, "test", []records.Condition{
			{Kind: string(status.PaymentRefused), Network: "eth", Direction: records.Withdrawal, Stops: true, Detail: "a cap of fees"},
			{Kind: string(status.NoCoin), Chain: "eth", Network: "eth", Direction: records.Withdrawal, Subject: recordstest.Hot, Stops: true, Detail: "too little coin"},
		})
	})
	report := r.report()
	require.Equal(t, []string{"a cap of fees"}, report.Blocked)
	require.Empty(t, report.Faults)
	coin := report.Shortages[len(report.Shortages)-1]
	require.Equal(t, []string{"too little coin", status.Remedy(status.NoCoin), recordstest.Hot}, []string{coin.Detail, coin.Next, coin.Account})

	r = newAuditRig(t)
	r.Do(func(tx *records.Tx) error { return tx.Chains().Halt(recordstest.Source, "a test") })
	r.Do(func(tx *records.Tx) error { return records.BeatAt(tx, status.Role, -time.Hour) })
	report = r.report()
	require.Equal(t, []string{"the daemon does not answer"}, report.Blocked)
	require.Len(t, report.Faults, 1)
	require.True(t, strings.HasPrefix(report.Faults[0], "chain eth is halted"), report.Faults[0])
}
