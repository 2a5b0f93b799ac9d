package recordstest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records"
)

func page(r *Rig, owner string, d records.Direction, offset, limit int) (out []records.Record, total int) {
	r.T.Helper()
	r.See(func(tx *records.Tx) (err error) {
		out, total, err = tx.Page(Network, Token, owner, d, offset, limit)
		return err
	})
	return out, total
}

func ids(list []records.Record) []uint64 {
	out := make([]uint64, len(list))
	for i, l := range list {
		out[i] = l.ID
	}
	return out
}

func testPages(t *testing.T, url string) {
	r := newRig(t, url)
	paid, p := r.Owe(records.Deposit, 500)
	hash := r.Pay(p)
	signed, p := r.Owe(records.Deposit, 500)
	signedHash := r.Sign(r.Bind(p), records.AttemptPay)
	queued, _ := r.Owe(records.Deposit, 500)
	for range 3 {
		r.Receive(records.Withdrawal, 500)
	}
	r.Do(func(tx *records.Tx) error { _, err := tx.StepBack(Exchange); return err })

	all, total := page(r, Alice, records.Deposit, 0, 10)
	require.Equal(t, 3, total)
	require.Equal(t, []uint64{queued.ID, signed.ID, paid.ID}, ids(all), "newest first")
	require.Equal(t, []string{"", signedHash, hash}, []string{all[0].CreditTx, all[1].CreditTx, all[2].CreditTx})
	require.Equal(t, records.Queued, all[0].Credit.State)
	require.Equal(t, []uint64{r.Cursor(Source).Head, r.Cursor(Source).Final.Height}, []uint64{all[0].Head, all[0].FinalAt})
	require.Equal(t, r.Now(), all[0].At)
	require.Equal(t, r.Transfer(queued.ID), all[0].Transfer)

	second, total := page(r, Alice, records.Deposit, 1, 1)
	require.Equal(t, []uint64{signed.ID}, ids(second))
	require.Equal(t, 3, total)
	none, total := page(r, Alice, records.Deposit, 3, 10)
	require.Empty(t, none)
	require.Equal(t, 3, total)
	withdrawals, total := page(r, Alice, records.Withdrawal, 0, 10)
	require.Len(t, withdrawals, 2, "an orphaned withdrawal is not shown")
	require.Equal(t, 2, total)
	for _, owner := range []string{Bob, "", "\xff", "a\x00"} {
		none, total = page(r, owner, records.Deposit, -5, -5)
		require.Empty(t, none)
		require.Zero(t, total)
	}
}

func testLists(t *testing.T, url string) {
	r := newRig(t, url)
	paid, p := r.Owe(records.Deposit, 500)
	hash := r.Pay(p)
	held := r.Receive(records.Deposit, 500)
	r.Do(func(tx *records.Tx) error {
		return tx.MoveTransfer(held.ID, records.Seen, records.Held, records.ReasonUnbound)
	})
	stuck, p := r.Owe(records.Withdrawal, 500)
	r.Do(func(tx *records.Tx) error {
		return tx.MovePayment(p, records.Queued, records.HeldPayment, "channel closed")
	})
	r.Pass(time.Hour)
	late := r.Receive(records.Withdrawal, 700)

	tests := []struct {
		name   string
		filter records.Filter
		want   []uint64
	}{
		{"all", records.Filter{}, []uint64{late.ID, stuck.ID, held.ID, paid.ID}},
		{"limit", records.Filter{Limit: 2}, []uint64{late.ID, stuck.ID}},
		{"before", records.Filter{Limit: 2, BeforeID: stuck.ID}, []uint64{held.ID, paid.ID}},
		{"direction", records.Filter{Limit: 9, Direction: records.Withdrawal}, []uint64{late.ID, stuck.ID}},
		{"state", records.Filter{Limit: 9, State: records.Final}, []uint64{stuck.ID, paid.ID}},
		{"reason", records.Filter{Limit: 9, Reason: records.ReasonUnbound}, []uint64{held.ID}},
		{"owner", records.Filter{Limit: 9, Owner: Bob}, []uint64{}},
		{"network and token", records.Filter{Limit: 9, Network: Network, Token: Token}, []uint64{late.ID, stuck.ID, held.ID, paid.ID}},
		{"another network", records.Filter{Limit: 9, Network: "bsc"}, []uint64{}},
		{"tx in", records.Filter{Limit: 9, Tx: held.Tx}, []uint64{held.ID}},
		{"tx out", records.Filter{Limit: 9, Tx: hash}, []uint64{paid.ID}},
		{"older", records.Filter{Limit: 9, OlderThan: 30 * time.Minute}, []uint64{stuck.ID, held.ID, paid.ID}},
		{"for operators", records.Filter{Limit: 9, NeedsOperator: true}, []uint64{stuck.ID, held.ID}},
	}
	for _, tt := range tests {
		r.See(func(tx *records.Tx) error {
			got, err := tx.Records(tt.filter)
			require.Equal(t, tt.want, ids(got), tt.name)
			return err
		})
	}
	for text, want := range map[string][]uint64{
		fmt.Sprint(stuck.ID): {stuck.ID}, held.Ref: {held.ID}, held.Tx: {held.ID}, hash: {paid.ID}, "nothing": {}, "\x00": {}, "-1": {},
	} {
		r.See(func(tx *records.Tx) error {
			got, err := tx.FindRecords(text)
			require.Equal(t, want, ids(got), text)
			return err
		})
	}
	r.See(func(tx *records.Tx) error {
		one, err := tx.Record(paid.ID)
		require.NoError(t, err)
		require.Equal(t, hash, one.CreditTx)
		_, err = tx.Record(999)
		require.ErrorIs(t, err, records.ErrNotFound)
		return nil
	})
}

// testTotals: the books are exact to the unit, far above what a float or an integer column could hold.
func testTotals(t *testing.T, url string) {
	r := newRig(t, url)
	large := chain.MustAmount("57896044618658097711785492504343953926634992332820282019728792003956564819967") // 2^255-1
	r.Do(func(tx *records.Tx) error {
		for i := range 2 {
			in := r.Incoming(records.Deposit, 1, chain.Block{Point: chain.Point{Height: 101, Hash: "h"}})
			in.Amount, in.Net, in.Token = large, chain.NewAmount(uint64(i)), "big"
			if _, _, err := tx.SeeTransfer(in); err != nil {
				return err
			}
		}
		return nil
	})
	_, p := r.Owe(records.Deposit, 500)
	r.Pay(p)
	r.Owe(records.Deposit, 30)
	r.Owe(records.Withdrawal, 101)
	failed := r.Incoming(records.Deposit, 5000, r.Mine(Source, ""))
	failed.Failed = true
	r.Do(func(tx *records.Tx) error { _, _, err := tx.SeeTransfer(failed); return err })
	dusty := r.Incoming(records.Deposit, 12345, r.Mine(Source, ""))
	dusty.Token, dusty.Net = "dusty", chain.NewAmount(12)
	r.Do(func(tx *records.Tx) error {
		out, _, err := tx.SeeTransfer(dusty)
		if err != nil {
			return err
		}
		return tx.MoveTransfer(out.ID, records.Seen, records.Final, "")
	})

	totals := func(token string) (out records.Totals) {
		r.See(func(tx *records.Tx) (err error) { out, err = tx.Totals(Network, token); return err })
		return out
	}
	big, err := totals("big").Moved(records.Deposit, records.Seen)
	require.NoError(t, err)
	require.Equal(t, "115792089237316195423570985008687907853269984665640564039457584007913129639934", big.Amount.String())
	require.Equal(t, uint64(2), big.Count)

	b := totals(Token)
	in, err := b.Moved(records.Deposit, records.Final, records.Held)
	require.NoError(t, err)
	require.Equal(t, []any{chain.NewAmount(530), uint64(2)}, []any{in.Amount, in.Count})
	seen, err := b.Moved(records.Deposit, records.Seen)
	require.NoError(t, err)
	require.Zero(t, seen.Count, "a failed transaction moved nothing")
	out, err := b.Moved(records.Withdrawal, records.Final)
	require.NoError(t, err)
	require.Equal(t, []any{chain.NewAmount(101), chain.NewAmount(100), chain.NewAmount(1)}, []any{out.Amount, out.Net, out.Fee})
	paid, err := b.Pays(chain.Credit, Exchange, records.Paid)
	require.NoError(t, err)
	require.Equal(t, chain.NewAmount(500), paid)
	owed, err := b.Owed(Exchange)
	require.NoError(t, err)
	require.Equal(t, chain.NewAmount(30), owed)
	owed, err = b.Owed(Source)
	require.NoError(t, err)
	require.Equal(t, chain.NewAmount(100), owed)
	require.Equal(t, map[chain.ID]chain.Amount{Exchange: chain.NewAmount(21000)}, b.NetworkFees)
	dust, err := totals("dusty").Dust(2, 5)
	require.NoError(t, err)
	require.Equal(t, chain.NewAmount(345), dust)
	require.Equal(t, records.Totals{NetworkFees: map[chain.ID]chain.Amount{}}, totals("unknown"))
}
