package recordstest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/records/control"
)

func testChannels(t *testing.T, url string) {
	r := newRig(t, url)
	get := func() (c control.Channel) {
		r.See(func(tx *records.Tx) (err error) {
			c, err = control.ChannelOf(tx, Network, Token, records.Deposit)
			return err
		})
		return c
	}
	require.Equal(t, control.ChannelOpen, get().State(), "never set")
	tests := []struct{ operator, automatic, want string }{
		{control.ChannelOpen, control.ChannelOpen, control.ChannelOpen},
		{control.ChannelMaintain, control.ChannelOpen, control.ChannelMaintain},
		{control.ChannelOpen, control.ChannelMaintain, control.ChannelMaintain},
		{control.ChannelClosed, control.ChannelOpen, control.ChannelClosed},
		{control.ChannelClosed, control.ChannelMaintain, control.ChannelClosed},
	}
	for _, tt := range tests {
		r.Do(func(tx *records.Tx) error {
			if err := control.SetChannel(tx, Network, Token, records.Deposit, tt.operator, "shift change", "operator:eve"); err != nil {
				return err
			}
			return control.SetAutomatic(tx, Network, Token, records.Deposit, tt.automatic, "books")
		})
		c := get()
		require.Equal(t, []string{tt.operator, tt.automatic, tt.want}, []string{c.Operator, c.Automatic, c.State()}, "neither flag overwrites the other")
	}
	require.Equal(t, "books", get().Why)
	r.Do(func(tx *records.Tx) error {
		return control.SetChannel(tx, Network, Token, records.Deposit, control.ChannelOpen, "checked by hand", "operator:eve")
	})
	require.Equal(t, "books", get().Why, "the cause of the automatic stop is not lost")
	events := func() (out []records.Event) {
		r.See(func(tx *records.Tx) (err error) {
			out, err = tx.History("channel", Network+"/"+Token+"/deposit")
			return err
		})
		return out
	}
	before := events()
	require.Equal(t, "operator:eve", before[0].Actor)
	r.Do(func(tx *records.Tx) error {
		return control.SetAutomatic(tx, Network, Token, records.Deposit, control.ChannelMaintain, "again")
	})
	require.Equal(t, before, events(), "no change, no line")
	r.Do(func(tx *records.Tx) error {
		return control.StopChannel(tx, Network, Token, records.Deposit, "a fork")
	})
	require.Equal(t, "a fork", get().Why, "what only an operator ends is told, whatever stopped the channel before")
	require.Error(t, r.Try(func(tx *records.Tx) error {
		return control.SetChannel(tx, Network, Token, records.Deposit, "SHUT", "", "")
	}))
	require.Error(t, r.Try(func(tx *records.Tx) error {
		return control.SetAutomatic(tx, Network, Token, records.Deposit, control.ChannelClosed, "")
	}))
	require.Error(t, r.Try(func(tx *records.Tx) error {
		return control.SetChannel(tx, Network, Token, records.Funding, control.ChannelOpen, "", "")
	}))
}

func testQuotes(t *testing.T, url string) {
	r := newRig(t, url)
	add := func(cost uint64) {
		r.Do(func(tx *records.Tx) error { return tx.AddQuote(Network, Token, chain.NewAmount(cost)) })
		r.Pass(time.Minute)
	}
	lowest := func(since time.Time) (cost chain.Amount, found bool) {
		r.See(func(tx *records.Tx) (err error) {
			cost, _, found, err = tx.QuotesSince(Network, Token, since)
			return err
		})
		return cost, found
	}
	_, found := lowest(r.Now())
	require.False(t, found)
	start := r.Now()
	for _, cost := range []uint64{90, 70, 1000, 800} {
		add(cost)
	}
	r.See(func(tx *records.Tx) error {
		_, highest, found, err := tx.QuotesSince(Network, Token, start)
		require.Equal(t, []any{chain.NewAmount(1000), true}, []any{highest, found})
		require.NoError(t, err)
		_, _, found, err = tx.QuotesSince(Network, "other", start)
		require.False(t, found)
		return err
	})
	tests := []struct {
		since time.Time
		want  uint64
	}{
		{start.Add(-time.Hour), 70},
		{start.Add(90 * time.Second), 70}, // still in force then
		{start.Add(2 * time.Minute), 800},
		{r.Now(), 800},
	}
	for _, tt := range tests {
		cost, found := lowest(tt.since)
		require.True(t, found)
		require.Equal(t, chain.NewAmount(tt.want), cost, "since %s", tt.since.Sub(start))
	}
	r.Pass(25 * time.Hour)
	add(500)
	cost, _ := lowest(start)
	require.Equal(t, chain.NewAmount(500), cost, "old quotes are forgotten")
}

func testHistory(t *testing.T, url string) {
	r := newRig(t, url)
	_, p := r.Owe(records.Deposit, 500)
	ctx := records.WithActor(t.Context(), "operator:eve")
	require.NoError(t, r.Store.Update(ctx, func(tx *records.Tx) error {
		if err := tx.MovePayment(p, records.Queued, records.HeldPayment, "look at it"); err != nil {
			return err
		}
		return tx.MovePayment(p, records.HeldPayment, records.Queued, "")
	}))
	r.Pay(p)
	r.See(func(tx *records.Tx) error {
		h, err := tx.History("payment", "1")
		require.NoError(t, err)
		var lines []string
		for _, e := range h {
			lines = append(lines, e.Actor+" "+e.Event)
		}
		require.Equal(t, []string{
			"daemon queued", "operator:eve held", "operator:eve queued", "daemon bound", "daemon attempt_pay", "daemon paid",
		}, lines)
		require.Equal(t, r.Now(), h[0].At)
		return tx.VerifyHistory()
	})

	// Whoever gets past the guards cannot change a line unseen.
	db := raw(t, url)
	for _, drop := range []string{`DROP TRIGGER history_no_update`, `DROP TRIGGER history_no_update ON history`} {
		if _, err := db.Exec(drop); err == nil {
			break
		}
	}
	_, err := db.Exec(`UPDATE history SET detail = 'nothing happened' WHERE event = 'held'`)
	require.NoError(t, err)
	require.ErrorIs(t, r.Store.View(t.Context(), func(tx *records.Tx) error { return tx.VerifyHistory() }), records.ErrConflict)
}
