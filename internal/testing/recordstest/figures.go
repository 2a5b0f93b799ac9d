package recordstest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/records/books"
)

func testFigures(t *testing.T, url string) {
	r := newRig(t, url)
	seq := r.historyEnd()
	r.Receive(records.Deposit, 100)
	_, paid := r.Owe(records.Withdrawal, 200)
	r.Owe(records.Withdrawal, 300)
	s := r.Bind(paid)
	hash := r.Sign(s, records.AttemptPay)
	r.Pass(time.Minute)
	r.See(func(tx *records.Tx) error {
		transfers, err := books.OpenTransfersOf(tx)
		require.NoError(t, err)
		require.Equal(t, []books.OpenTransfers{{Network: Network, Direction: records.Deposit, State: records.Seen, Count: 1, Oldest: time.Minute}}, transfers)
		payments, err := books.OpenPaymentsOf(tx, Source)
		require.NoError(t, err)
		require.ElementsMatch(t, []books.OpenPayments{
			{Network: Network, Chain: Source, Purpose: chain.Credit, State: records.Bound, Count: 1, Oldest: time.Minute},
			{Network: Network, Chain: Source, Purpose: chain.Credit, State: records.Queued, Count: 1, Oldest: time.Minute},
		}, payments)
		slots, err := books.UndecidedSlotsOf(tx, Source)
		require.NoError(t, err)
		require.Equal(t, []books.UndecidedSlots{{State: "unmined", Count: 1, Oldest: time.Minute}}, slots)
		return nil
	})
	before := r.Cursor(Source)
	r.Settle(s, hash)
	r.See(func(tx *records.Tx) error {
		slots, err := books.UndecidedSlotsOf(tx, Source)
		require.NoError(t, err)
		require.Empty(t, slots)
		transfers, payments, upTo, err := books.EventsSince(tx, seq)
		require.NoError(t, err)
		require.ElementsMatch(t, []books.Events{
			{Network: Network, Direction: records.Deposit, Event: "seen", Count: 1},
			{Network: Network, Direction: records.Withdrawal, Event: "seen", Count: 2}, {Network: Network, Direction: records.Withdrawal, Event: "final", Count: 2},
		}, transfers)
		require.ElementsMatch(t, []books.Events{
			{Network: Network, Chain: string(Source), Purpose: "credit", Event: "queued", Count: 2}, {Network: Network, Chain: string(Source), Purpose: "credit", Event: "bound", Count: 1},
			{Network: Network, Chain: string(Source), Purpose: "credit", Event: "attempt_pay", Count: 1}, {Network: Network, Chain: string(Source), Purpose: "credit", Event: "paid", Count: 1},
		}, payments)
		times, err := books.CreditTimesBetween(tx, seq, upTo)
		require.NoError(t, err)
		require.Equal(t, []books.CreditTime{{Network: Network, Direction: records.Withdrawal, Millis: time.Minute.Milliseconds()}}, times)
		none, nothing, end, err := books.EventsSince(tx, upTo)
		require.NoError(t, err)
		require.Empty(t, none)
		require.Empty(t, nothing)
		require.Equal(t, upTo, end)
		fees, err := books.FeesBetween(tx, Source, before.Height, r.Cursor(Source).Height)
		require.NoError(t, err)
		require.False(t, fees.IsZero())
		fees, err = books.FeesBetween(tx, Source, r.Cursor(Source).Height, r.Cursor(Source).Height)
		require.NoError(t, err)
		require.True(t, fees.IsZero())
		return nil
	})
	size, err := r.Store.Size(context.Background())
	require.NoError(t, err)
	require.Greater(t, size, int64(10_000))
}

// historyEnd is the newest line of the history.
func (r *Rig) historyEnd() (seq uint64) {
	r.See(func(tx *records.Tx) (err error) {
		seq, err = books.HistoryEnd(tx)
		return err
	})
	return seq
}
