package recordstest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records"
)

func testChannels(t *testing.T, url string) {
	r := newRig(t, url)
	get := func() (c records.Channel) {
		r.See(func(tx *records.Tx) (err error) {
			c, err = records.ChannelOf(tx, Network, Token, records.Deposit)
			return err
		})
		return c
	}
	require.Equal(t, records.ChannelOpen, get().State(), "never set")
	tests := []struct{ operator, automatic, want string }{
		{records.ChannelOpen, records.ChannelOpen, records.ChannelOpen},
		{records.ChannelMaintain, records.ChannelOpen, records.ChannelMaintain},
		{records.ChannelOpen, records.ChannelMaintain, records.ChannelMaintain},
		{records.ChannelClosed, records.ChannelOpen, records.ChannelClosed},
		{records.ChannelClosed, records.ChannelMaintain, records.ChannelClosed},
	}
	for _, tt := range tests {
		r.Do(func(tx *records.Tx) error {
			if err := records.SetChannel(tx, Network, Token, records.Deposit, tt.operator, "shift change", "operator:eve"); err != nil {
				return err
			}
			return records.SetAutomatic(tx, Network, Token, records.Deposit, tt.automatic, "books")
		})
		c := get()
		require.Equal(t, []string{tt.operator, tt.automatic, tt.want}, []string{c.Operator, c.Automatic, c.State()}, "neither flag overwrites the other")
	}
	require.Equal(t, "books", get().Why)
	r.Do(func(tx *records.Tx) error {
		return records.SetChannel(tx, Network, Token, records.Deposit, records.ChannelOpen, "checked by hand", "operator:eve")
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
		return records.SetAutomatic(tx, Network, Token, records.Deposit, records.ChannelMaintain, "again")
	})
	require.Equal(t, before, events(), "no change, no line")
	r.Do(func(tx *records.Tx) error {
		return records.StopChannel(tx, Network, Token, records.Deposit, "a fork")
	})
	require.Equal(t, "a fork", get().Why, "what only an operator ends is told, whatever stopped the channel before")
	require.Error(t, r.Try(func(tx *records.Tx) error {
		return records.SetChannel(tx, Network, Token, records.Deposit, "SHUT", "", "")
	}))
	require.Error(t, r.Try(func(tx *records.Tx) error {
		return records.SetAutomatic(tx, Network, Token, records.Deposit, records.ChannelClosed, "")
	}))
	require.Error(t, r.Try(func(tx *records.Tx) error {
		return records.SetChannel(tx, Network, Token, records.Funding, records.ChannelOpen, "", "")
	}))
}

func testQuotes(t *testing.T, url string) {
	r := newRig(t, url)
	add := func(cost uint64) {
		r.Do(func(tx *records.Tx) error { return records.AddQuote(tx, Network, Token, chain.NewAmount(cost)) })
		r.Pass(time.Minute)
	}
	lowest := func(since time.Time) (cost chain.Amount, found bool) {
		r.See(func(tx *records.Tx) (err error) {
			cost, _, found, err = records.QuotesSince(tx, Network, Token, since)
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
		_, highest, found, err := records.QuotesSince(tx, Network, Token, start)
		require.Equal(t, []any{chain.NewAmount(1000), true}, []any{highest, found})
		require.NoError(t, err)
		_, _, found, err = records.QuotesSince(tx, Network, "other", start)
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
	r.Pass(8 * time.Hour) // the clock is ahead for a moment
	add(5)
	r.Pass(-8 * time.Hour)
	ahead, _ := lowest(r.Now())
	require.Equal(t, chain.NewAmount(500), ahead, "what is to come is charged nobody")
}

func testHistory(t *testing.T, url string) {
	r := newRig(t, url)
	_, p := r.Owe(records.Deposit, 500)
	ctx := records.WithActor(t.Context(), "operator:eve")
	require.NoError(t, r.Store.Update(ctx, func(tx *records.Tx) error {
		if err := tx.Payments().Move(p, records.Queued, records.HeldPayment, "look at it"); err != nil {
			return err
		}
		return tx.Payments().Move(p, records.HeldPayment, records.Queued, "")
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
		newest, err := tx.HistoryBefore(0, false, 2)
		require.NoError(t, err)
		require.Equal(t, h[len(h)-1], newest[0])
		require.Equal(t, newest[0].Seq-1, newest[1].Seq)
		people, err := tx.HistoryBefore(newest[0].Seq, true, 10)
		require.NoError(t, err)
		require.Equal(t, []records.Event{h[2], h[1]}, people)
		eve, err := tx.HistoryOfActor("operator:eve", h[2].Seq, 10)
		require.NoError(t, err)
		require.Equal(t, []records.Event{h[1]}, eve)
		return tx.VerifyHistory()
	})

	// Whoever gets past the guards cannot change a line unseen.
	db := raw(t, url)
	for _, guard := range []string{"history_no_update", "history_no_delete"} {
		_, here := db.Exec(`DROP TRIGGER ` + guard)
		_, there := db.Exec(`DROP TRIGGER ` + guard + ` ON history`)
		require.True(t, here == nil || there == nil, "%v, %v", here, there)
	}
	verify := func() error {
		return r.Store.View(t.Context(), func(tx *records.Tx) error { return tx.VerifyHistory() })
	}
	for _, change := range []struct{ do, undo string }{
		{`UPDATE history SET detail = 'nothing happened' WHERE event = 'held'`, `UPDATE history SET detail = 'look at it' WHERE event = 'held'`},
		{`UPDATE history SET actor = 'daemon' WHERE event = 'held'`, `UPDATE history SET actor = 'operator:eve' WHERE event = 'held'`},
		{`UPDATE history SET at = at - 1 WHERE event = 'held'`, `UPDATE history SET at = at + 1 WHERE event = 'held'`},
		{`DELETE FROM history WHERE event = 'held'`, ``},
	} {
		require.NoError(t, verify())
		_, err := db.Exec(change.do)
		require.NoError(t, err)
		require.ErrorIs(t, verify(), records.ErrConflict, change.do)
		_, err = db.Exec(change.undo)
		require.NoError(t, err)
	}
}
