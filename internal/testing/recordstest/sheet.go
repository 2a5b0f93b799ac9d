package recordstest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/records/books"
)

// testSheet: what must be held and what is owed, through a deposit, a withdrawal and a payout.
func testSheet(t *testing.T, url string) {
	r := newRig(t, url)
	n := records.Network{Name: Network, Source: Source, Exchange: Exchange}
	sheet := func(asset chain.Asset) (s books.Sheet) {
		r.See(func(tx *records.Tx) (err error) {
			s, err = books.SheetOf(tx, n, records.Token{TokenID: Token, Asset: asset})
			return err
		})
		return s
	}
	in, _ := r.Owe(records.Deposit, 500)
	out, payout := r.Owe(records.Withdrawal, 300)
	r.Finalize(Source)
	paid := r.Payment(payout)
	s := sheet(in.Asset)
	require.Equal(t, []chain.Amount{in.Amount, {}, in.Net, paid.Amount}, []chain.Amount{s.Came, s.Paid, s.Deposited, s.Unpaid})
	gross, err := out.Net.Add(out.Fee)
	require.NoError(t, err)
	require.Equal(t, gross, s.Withdrawn)
	require.False(t, s.Opened)
	r.Pay(payout)
	s = sheet(in.Asset)
	require.Equal(t, []chain.Amount{paid.Amount, {}}, []chain.Amount{s.Paid, s.Unpaid})

	r.Do(func(tx *records.Tx) error {
		return books.OpenToken(tx, Source, in.Asset, chain.NewAmount(70), s.Height)
	})
	require.ErrorIs(t, r.Try(func(tx *records.Tx) error {
		return books.OpenToken(tx, Source, in.Asset, chain.NewAmount(71), s.Height)
	}), records.ErrConflict)
	for range 2 {
		r.Do(func(tx *records.Tx) error {
			return books.WriteOffTokens(tx, Source, in.Asset, chain.NewAmount(2), "a test")
		})
	}
	r.Do(func(tx *records.Tx) error { return tx.Orders().MarkLost(Exchange, 0) })
	r.Do(func(tx *records.Tx) error { _, err := tx.Orders().WriteOff(out.ID); return err })
	require.Equal(t, []chain.Amount{paid.Amount, {}}, []chain.Amount{sheet(in.Asset).WrittenOff, sheet(in.Asset).GivenAway})
	r.Do(func(tx *records.Tx) error { return tx.Orders().MarkLost(Source, 0) })
	require.ErrorIs(t, r.Try(func(tx *records.Tx) error { _, err := tx.Orders().WriteOff(in.ID); return err }), records.ErrConflict, "its credit is not paid")

	s = sheet(in.Asset)
	require.Equal(t, []chain.Amount{chain.NewAmount(70), chain.NewAmount(4)}, []chain.Amount{s.Opening, s.Lost})
	require.ErrorIs(t, r.Try(func(tx *records.Tx) error {
		return books.WriteOffTokens(tx, Source, "0xother", chain.NewAmount(2), "a test")
	}), records.ErrNotFound)
}
