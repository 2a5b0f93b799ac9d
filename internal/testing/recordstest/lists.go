package recordstest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/records/books"
	"gatewayd/view"
)

// page reads a wallet's page, and compares each line with the complete record.
func page(r *Rig, owner string, d records.Direction, offset, limit int) (out []view.Line, total int) {
	r.T.Helper()
	r.See(func(tx *records.Tx) (err error) {
		out, total, err = r.Pages.Page(tx, Network, Token, owner, d, offset, limit)
		for _, line := range out {
			whole, err := tx.Transfers().Record(line.ID)
			require.NoError(r.T, err)
			require.Equal(r.T, view.LineOf(&whole), line)
		}
		return err
	})
	for range 2 { // what the first glance keeps the second one shows
		require.NoError(r.T, r.Store.RawRead(context.Background(), func(tx *records.Tx) error {
			glanced, all, err := r.Pages.Page(tx, Network, Token, owner, d, offset, limit)
			require.Equal(r.T, out, glanced)
			require.Equal(r.T, total, all)
			return err
		}))
	}
	return out, total
}

func ids(list []records.Record) []uint64 {
	out := make([]uint64, len(list))
	for i, l := range list {
		out[i] = l.ID
	}
	return out
}

func lineIDs(list []view.Line) []uint64 {
	out := make([]uint64, len(list))
	for i, l := range list {
		out[i] = l.ID
	}
	return out
}

// payouts are the hashes that a page shows, and the states.
func payouts(list []view.Line) (out [][2]string) {
	for _, l := range list {
		out = append(out, [2]string{l.OutTx, l.State})
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
	r.Do(func(tx *records.Tx) error { _, err := tx.Chains().StepBack(Exchange); return err })

	all, total := page(r, Alice, records.Deposit, 0, 10)
	require.Equal(t, 3, total)
	require.Equal(t, []uint64{queued.ID, signed.ID, paid.ID}, lineIDs(all), "newest first")
	require.Equal(t, [][2]string{{"", view.OppositeConfirmed}, {signedHash, view.TotProcessing}, {hash, view.TotConfirmed}}, payouts(all))

	second, total := page(r, Alice, records.Deposit, 1, 1)
	require.Equal(t, []uint64{signed.ID}, lineIDs(second))
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

// testPageStates: a page's lines equal the complete records, at every step of a record's life, with
// others and alone.
func testPageStates(t *testing.T, url string) {
	r := newRig(t, url)
	look := func(d records.Direction) [][2]string {
		all, total := page(r, Alice, d, 0, 20)
		require.Len(t, all, total)
		for i := range all {
			one, _ := page(r, Alice, d, i, 1)
			require.Equal(t, all[i], one[0])
		}
		return payouts(all)
	}
	seen := r.Receive(records.Deposit, 500)
	look(records.Deposit)
	r.Do(func(tx *records.Tx) error { _, err := tx.Chains().StepBack(Source); return err })
	look(records.Deposit)
	r.Pass(25 * time.Hour)
	r.Mine(Source, "b")
	look(records.Deposit)
	r.Do(func(tx *records.Tx) error { _, _, err := tx.Transfers().See(seen); return err })
	look(records.Deposit)
	refused := r.Receive(records.Withdrawal, 500)
	r.Do(func(tx *records.Tx) error {
		return tx.Transfers().Move(refused.ID, records.Seen, records.Refused, records.ReasonWrongAddress)
	})
	back := CreditOf(refused)
	back.Purpose, back.Chain, back.Account, back.Asset, back.Payee, back.Amount = chain.Refund, Exchange, Gateway, Token, Alice, refused.Amount
	var refund uint64
	r.Do(func(tx *records.Tx) (err error) { refund, err = tx.Payments().Queue(back); return err })
	require.Equal(t, [][2]string{{"", view.WrongWithdrawAddress}}, look(records.Withdrawal))
	hash := r.Pay(refund)
	look(records.Withdrawal)
	_, p := r.Owe(records.Withdrawal, 900)
	first := r.Bind(p)
	r.Sign(first, records.AttemptPay)
	newest := r.Sign(first, records.AttemptReplace)
	require.Equal(t, [][2]string{{newest, view.OppositeProcessing}, {"", view.WrongWithdrawAddress}}, look(records.Withdrawal))
	lines, _ := page(r, Alice, records.Withdrawal, 1, 1)
	require.Equal(t, []any{hash, records.Paid}, []any{lines[0].RefundTx, lines[0].Refund})
	r.Settle(first, newest)
	require.Equal(t, [2]string{newest, view.OppositeConfirmed}, look(records.Withdrawal)[0])
}

// testCachedLines: what others do to a record that is done is shown at once, though its line was
// shown before. Of what a line shows the guards let only these two change.
func testCachedLines(t *testing.T, url string) {
	r := newRig(t, url)
	paid, p := r.Owe(records.Deposit, 500)
	r.Pay(p)
	r.Owe(records.Deposit, 700)
	before, _ := page(r, Alice, records.Deposit, 0, 20)
	other := raw(t, url)
	for _, change := range []string{"block_at = block_at + 1000", "state = 'refused', reason = 'failed'"} {
		_, err := other.Exec(fmt.Sprintf("UPDATE transfers SET %s WHERE id = %d", change, paid.ID))
		require.NoError(t, err)
		after, _ := page(r, Alice, records.Deposit, 0, 20)
		require.Equal(t, before[0], after[0])
		require.NotEqual(t, before[1], after[1], change)
		before = after
	}
}

func testLists(t *testing.T, url string) {
	r := newRig(t, url)
	paid, p := r.Owe(records.Deposit, 500)
	hash := r.Pay(p)
	held := r.Receive(records.Deposit, 500)
	r.Do(func(tx *records.Tx) error {
		_, err := BindAddress(tx, Network, Source, Alice, func(uint32) (string, string, error) { return held.To, "m/0", nil })
		require.NoError(t, err)
		return tx.Transfers().Move(held.ID, records.Seen, records.Held, records.ReasonUnbound)
	})
	stuck, p := r.Owe(records.Withdrawal, 500)
	r.Do(func(tx *records.Tx) error {
		return tx.Payments().Move(p, records.Queued, records.HeldPayment, "channel closed")
	})
	r.Pass(time.Hour)
	late := r.Receive(records.Withdrawal, 700)

	tests := []struct {
		name   string
		filter view.Filter
		want   []uint64
	}{
		{"all", view.Filter{}, []uint64{late.ID, stuck.ID, held.ID, paid.ID}},
		{"limit", view.Filter{Limit: 2}, []uint64{late.ID, stuck.ID}},
		{"before", view.Filter{Limit: 2, BeforeID: stuck.ID}, []uint64{held.ID, paid.ID}},
		{"direction", view.Filter{Limit: 9, Direction: records.Withdrawal}, []uint64{late.ID, stuck.ID}},
		{"state", view.Filter{Limit: 9, State: records.Final}, []uint64{stuck.ID, paid.ID}},
		{"reason", view.Filter{Limit: 9, Reason: records.ReasonUnbound}, []uint64{held.ID}},
		{"owner", view.Filter{Limit: 9, Owner: Bob}, []uint64{}},
		{"network and token", view.Filter{Limit: 9, Network: Network, Token: Token}, []uint64{late.ID, stuck.ID, held.ID, paid.ID}},
		{"another network", view.Filter{Limit: 9, Network: "bsc"}, []uint64{}},
		{"tx in", view.Filter{Limit: 9, Tx: held.Tx}, []uint64{held.ID}},
		{"tx out", view.Filter{Limit: 9, Tx: hash}, []uint64{paid.ID}},
		{"older", view.Filter{Limit: 9, OlderThan: 30 * time.Minute}, []uint64{stuck.ID, held.ID, paid.ID}},
		{"nobody's", view.Filter{Limit: 9, Unattributed: true}, []uint64{}},
		{"after", view.Filter{Limit: 2, AfterID: paid.ID}, []uint64{stuck.ID, held.ID}},
		{"sender", view.Filter{Limit: 9, Address: held.From}, []uint64{held.ID, paid.ID}},
		{"user", view.Filter{Limit: 9, Address: Alice}, []uint64{late.ID, stuck.ID, held.ID, paid.ID}},
		{"payee", view.Filter{Limit: 9, Address: late.Payee, Direction: records.Withdrawal}, []uint64{late.ID, stuck.ID}},
		{"deposit address", view.Filter{Limit: 9, Address: paid.To}, []uint64{held.ID, paid.ID}},
		{"nobody's address", view.Filter{Limit: 9, Address: "0xnobody"}, []uint64{}},
		{"amount", view.Filter{Limit: 9, Amounts: []chain.Amount{chain.NewAmount(700), chain.NewAmount(7)}}, []uint64{late.ID}},
		{"from", view.Filter{Limit: 9, From: r.Now()}, []uint64{late.ID}},
		{"until", view.Filter{Limit: 9, Until: r.Now()}, []uint64{stuck.ID, held.ID, paid.ID}},
		{"between", view.Filter{Limit: 9, From: r.Now().Add(-time.Hour), Until: r.Now().Add(-time.Minute)}, []uint64{stuck.ID, held.ID, paid.ID}},
		{"from later on", view.Filter{Limit: 9, From: r.Now().Add(time.Hour)}, []uint64{}},
		{"until before all", view.Filter{Limit: 9, Until: r.Now().Add(-9 * time.Hour)}, []uint64{}},
		{"for operators", view.Filter{Limit: 9, NeedsOperator: true}, []uint64{stuck.ID, held.ID}},
	}
	for _, tt := range tests {
		r.See(func(tx *records.Tx) error {
			got, err := view.Records(tx, tt.filter)
			require.Equal(t, tt.want, ids(got), tt.name)
			return err
		})
	}
	for text, want := range map[string][]uint64{
		fmt.Sprint(stuck.ID): {stuck.ID}, held.Ref: {held.ID}, held.Tx: {held.ID}, hash: {paid.ID}, "nothing": {}, "\x00": {}, "-1": {},
	} {
		r.See(func(tx *records.Tx) error {
			got, err := view.FindRecords(tx, text)
			require.Equal(t, want, ids(got), text)
			return err
		})
	}
	r.See(func(tx *records.Tx) error {
		n, err := view.CountRecords(tx, view.Filter{Limit: 1, BeforeID: stuck.ID, Direction: records.Withdrawal})
		require.Equal(t, uint64(2), n, "in all")
		require.NoError(t, err)
		for _, whole := range []string{held.Tx, hash} {
			some, err := view.HashesWith(tx, whole[:len(whole)-1], 10)
			require.Contains(t, some, whole)
			require.NoError(t, err)
		}
		some, err := view.HashesWith(tx, "9", 10)
		require.Empty(t, some)
		require.NoError(t, err)
		one, err := tx.Transfers().Record(paid.ID)
		require.NoError(t, err)
		require.Equal(t, hash, one.CreditTx)
		_, err = tx.Transfers().Record(999)
		require.ErrorIs(t, err, records.ErrNotFound)
		return nil
	})
}

// testActionable: what waits for an operator, and deposits below the minimum of not long ago.
func testActionable(t *testing.T, url string) {
	r := newRig(t, url)
	refuse := func(d records.Direction, amount uint64, reason records.Reason) uint64 {
		in := r.Receive(d, amount)
		r.Do(func(tx *records.Tx) error { return tx.Transfers().Move(in.ID, records.Seen, records.Refused, reason) })
		return in.ID
	}
	r.Pay(second(r.Owe(records.Deposit, 500)))
	refuse(records.Deposit, 4, records.ReasonBelowMinimum)
	old := r.Receive(records.Deposit, 500)
	r.Do(func(tx *records.Tx) error {
		return tx.Transfers().Move(old.ID, records.Seen, records.Held, records.ReasonUnbound)
	})
	r.Pass(31 * 24 * time.Hour)
	small := refuse(records.Deposit, 3, records.ReasonBelowMinimum)
	refuse(records.Deposit, 0, records.ReasonBelowMinimum) // less than the smallest unit
	refuse(records.Deposit, 500, records.ReasonFailed)
	refuse(records.Withdrawal, 5, records.ReasonBelowMinimum) // is refunded
	refuse(records.Withdrawal, 1, records.ReasonDust)         // strangers can send many
	stuck, p := r.Owe(records.Withdrawal, 500)
	r.Do(func(tx *records.Tx) error {
		return tx.Payments().Move(p, records.Queued, records.HeldPayment, records.HeldLimit)
	})
	r.See(func(tx *records.Tx) error {
		got, err := view.Records(tx, view.Filter{Limit: 9, NeedsOperator: true})
		require.Equal(t, []uint64{stuck.ID, small, old.ID}, ids(got))
		require.NoError(t, err)
		n, err := view.CountRecords(tx, view.Filter{NeedsOperator: true})
		require.Equal(t, uint64(3), n)
		return err
	})
}

func second(_ records.Transfer, payment uint64) uint64 { return payment }

// testTotals: the books are exact to the unit, far above what a float or an integer column could
// hold.
func testTotals(t *testing.T, url string) {
	r := newRig(t, url)
	large := chain.MustAmount("57896044618658097711785492504343953926634992332820282019728792003956564819967") // 2^255-1
	r.Do(func(tx *records.Tx) error {
		for i := range 2 {
			in := r.Incoming(records.Deposit, 1, chain.Block{Point: chain.Point{Height: 101, Hash: "h"}})
			in.Amount, in.Net, in.Token = large, chain.NewAmount(uint64(i)), "big"
			if _, _, err := tx.Transfers().See(in); err != nil {
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
	r.Do(func(tx *records.Tx) error { _, _, err := tx.Transfers().See(failed); return err })
	dusty := r.Incoming(records.Deposit, 12345, r.Mine(Source, ""))
	dusty.Token, dusty.Net = "dusty", chain.NewAmount(12)
	r.Do(func(tx *records.Tx) error {
		out, _, err := tx.Transfers().See(dusty)
		if err != nil {
			return err
		}
		return tx.Transfers().Move(out.ID, records.Seen, records.Final, "")
	})

	totals := func(token string) (out books.Totals) {
		r.See(func(tx *records.Tx) (err error) { out, err = books.TotalsOf(tx, Network, token); return err })
		return out
	}
	big, err := Moved(totals("big"), records.Deposit, records.Seen)
	require.NoError(t, err)
	require.Equal(t, "115792089237316195423570985008687907853269984665640564039457584007913129639934", big.Amount.String())
	require.Equal(t, uint64(2), big.Count)

	b := totals(Token)
	in, err := Moved(b, records.Deposit, records.Final, records.Held)
	require.NoError(t, err)
	require.Equal(t, []any{chain.NewAmount(530), uint64(2)}, []any{in.Amount, in.Count})
	seen, err := Moved(b, records.Deposit, records.Seen)
	require.NoError(t, err)
	require.Zero(t, seen.Count, "a failed transaction moved nothing")
	out, err := Moved(b, records.Withdrawal, records.Final)
	require.NoError(t, err)
	require.Equal(t, []any{chain.NewAmount(101), chain.NewAmount(100), chain.NewAmount(1)}, []any{out.Amount, out.Net, out.Fee})
	paid, err := Pays(b, chain.Credit, Exchange, records.Paid)
	require.NoError(t, err)
	require.Equal(t, chain.NewAmount(500), paid)
	owed, err := Owed(b, Exchange)
	require.NoError(t, err)
	require.Equal(t, chain.NewAmount(30), owed)
	owed, err = Owed(b, Source)
	require.NoError(t, err)
	require.Equal(t, chain.NewAmount(100), owed)
	require.Equal(t, map[chain.ID]chain.Amount{Exchange: chain.NewAmount(21000)}, b.NetworkFees)
	dust, err := Dust(totals("dusty"), 2, 5)
	require.NoError(t, err)
	require.Equal(t, chain.NewAmount(345), dust)
	require.Equal(t, books.Totals{NetworkFees: map[chain.ID]chain.Amount{}}, totals("unknown"))
}
