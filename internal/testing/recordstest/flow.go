package recordstest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/records/books"
)

// testFlow: the pending payments of an account, and its signatures since a moment.
func testFlow(t *testing.T, url string) {
	r := newRig(t, url)
	backlog := func() (list []books.AssetSum) {
		r.See(func(tx *records.Tx) (err error) { list, err = books.Backlog(tx, Exchange, Gateway); return err })
		return list
	}
	signed := func(ago time.Duration) (count, amount uint64) {
		r.See(func(tx *records.Tx) error {
			list, err := books.SignedSince(tx, Exchange, Gateway, r.Now().Add(-ago))
			for _, s := range list {
				require.Equal(t, chain.Asset(Token), s.Asset)
				count, amount = count+s.Count, amount+s.Amount.Uint256().Uint64()
			}
			return err
		})
		return count, amount
	}
	require.Empty(t, backlog())
	count, _ := signed(time.Hour)
	require.Zero(t, count)

	oldest := func() (id uint64) {
		r.See(func(tx *records.Tx) (err error) {
			id, _, err = books.OldestPending(tx, Exchange, Gateway, chain.Asset(Token))
			return err
		})
		return id
	}
	require.Zero(t, oldest())

	var owed, payments []uint64
	queued := r.Now()
	for i := range uint64(7) {
		in, p := r.Owe(records.Deposit, 100+i)
		owed, payments = append(owed, in.ID), append(payments, p)
	}
	require.Equal(t, owed[0], oldest())
	waits := backlog()
	require.Len(t, waits, 1)
	require.Equal(t, []any{chain.Asset(Token), uint64(7), chain.NewAmount(721)}, []any{waits[0].Asset, waits[0].Count, waits[0].Amount})
	require.False(t, waits[0].Oldest.Before(queued))
	for _, p := range payments[:5] { // one in each ten minutes
		r.Pass(10 * time.Minute)
		r.Pay(p)
	}
	require.Equal(t, uint64(2), backlog()[0].Count)
	require.Equal(t, owed[5], oldest())
	for minutes, want := range map[int][2]uint64{5: {1, 104}, 15: {2, 207}, 35: {4, 410}, 600: {5, 510}} {
		count, amount := signed(time.Duration(minutes) * time.Minute)
		require.Equal(t, want, [2]uint64{count, amount}, "the last %d minutes", minutes)
	}
	s := r.Bind(payments[5])
	require.Equal(t, uint64(2), backlog()[0].Count, "what is in no block waits")
	count, _ = signed(5 * time.Minute)
	require.Equal(t, uint64(2), count)
	r.Settle(s, r.Sign(s, records.AttemptPay))
	r.Pass(time.Hour)
	count, _ = signed(5 * time.Minute)
	require.Zero(t, count)
	r.Do(func(tx *records.Tx) error {
		return tx.Payments().Move(payments[6], records.Queued, records.HeldPayment, "")
	})
	require.Equal(t, chain.NewAmount(106), backlog()[0].Amount, "what an operator keeps back is still owed")
}

// testCreditsSince: the payments to users since a moment with the times of their payment, and of
// many payments the newest.
func testCreditsSince(t *testing.T, url string) {
	r := newRig(t, url)
	read := func(since time.Time, newest uint64) (list []books.Credit, from time.Time) {
		r.See(func(tx *records.Tx) (err error) {
			list = nil
			from, err = books.CreditsSince(tx, since, newest, func(c books.Credit) { list = append(list, c) })
			return err
		})
		return list, from
	}
	list, _ := read(r.Now().Add(-time.Hour), 100)
	require.Empty(t, list)
	old := r.Now()
	r.Owe(records.Deposit, 100)
	r.Pass(time.Hour)
	since := r.Now()
	_, paid := r.Owe(records.Deposit, 200)
	r.Pass(time.Minute)
	r.Pay(paid)
	r.Owe(records.Withdrawal, 300)
	list, from := read(since, 100)
	require.Len(t, list, 2)
	require.Equal(t, since, from)
	first := list[0]
	require.Equal(t, []any{Network, Token, Exchange, chain.Asset(Token), chain.NewAmount(200)}, []any{first.Network, first.Token, first.Chain, first.Asset, first.Amount})
	require.GreaterOrEqual(t, first.Paid.Sub(first.Queued), time.Minute)
	require.Equal(t, []any{Source, true}, []any{list[1].Chain, list[1].Paid.IsZero()})
	list, _ = read(old, 100)
	require.Len(t, list, 3)
	list, from = read(old, 1)
	require.Len(t, list, 1)
	require.Equal(t, list[0].Queued, from, "complete from the oldest that is read")
	list, _ = read(r.Now().Add(time.Hour), 100)
	require.Empty(t, list)
}

// testInclusion: how many blocks the transactions of accounts took, by the head at their first
// signature.
func testInclusion(t *testing.T, url string) {
	r := newRig(t, url)
	of := func(ago time.Duration, accounts ...string) (i records.Inclusion) {
		r.See(func(tx *records.Tx) (err error) {
			i, err = tx.OwnTxs().Inclusion(Exchange, accounts, r.Now().Add(-ago))
			return err
		})
		return i
	}
	pay := func(blocks int, kinds ...string) {
		_, p := r.Owe(records.Deposit, 100)
		s := r.Bind(p)
		head := r.Cursor(Exchange).Height
		var hash string
		for i, kind := range kinds {
			hash = fmt.Sprintf("included-%d-%d", s.Nonce, i)
			r.Do(func(tx *records.Tx) error {
				return tx.Slots().AddAttempt(s, records.Attempt{
					Attempt: chain.Attempt{Seq: i, Hash: hash, Raw: []byte(hash), FeeCap: chain.NewAmount(9)}, Kind: kind, Head: head + uint64(i),
				})
			})
		}
		for range blocks - 1 {
			r.Mine(Exchange, "")
		}
		r.Settle(s, hash)
	}
	require.Zero(t, of(time.Hour, Gateway))
	pay(3, records.AttemptPay)
	r.Pass(2 * time.Hour)
	pay(1, records.AttemptPay)
	pay(5, records.AttemptPay, records.AttemptReplace, records.AttemptReplace)
	require.Equal(t, records.Inclusion{Count: 2, Blocks: 6}, of(time.Hour, Gateway), "a replaced transaction counts from its first signature")
	require.Equal(t, records.Inclusion{Count: 2, Blocks: 6}, of(time.Hour, Gateway, "another"))
	require.Equal(t, records.Inclusion{Count: 3, Blocks: 9}, of(3*time.Hour, Gateway))
	require.Zero(t, of(time.Hour, "another"))
}
