package recordstest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records"
)

// cold is a payment of coin from the hot account to the cold address.
func cold(amount uint64) records.Payment {
	return records.Payment{Purpose: chain.Cold, Network: Network, Token: Token, Chain: Source, Account: Hot, Asset: chain.Native, Amount: chain.NewAmount(amount), Payee: "0xcold"}
}

// testColdMoney: a manual transfer to the cold address is a paid payment, in place of a waiting one
// and in addition to one that has a slot.
func testColdMoney(t *testing.T, url string) {
	r := newRig(t, url)
	_, owed := r.Owe(records.Withdrawal, 500)
	r.Bind(owed) // adopts the account
	bound, err := queue(r, cold(40))
	require.NoError(t, err)
	r.Bind(bound)
	r.unknownTx(Source, Hot, 7, "by-hand", true)
	settle := func(hash string) error {
		return r.Try(func(tx *records.Tx) error { return tx.Recovery().SettleUnknownCold(cold(30), hash, "a test") })
	}
	require.ErrorIs(t, settle("by-hand"), records.ErrConflict, "the account is not stopped")
	r.stop(Source, Hot, records.AccountHalted)
	require.ErrorIs(t, settle("unheard-of"), records.ErrConflict)
	require.NoError(t, settle("by-hand"))
	require.ErrorIs(t, settle("by-hand"), records.ErrConflict, "once")
	r.See(func(tx *records.Tx) error {
		open, found, err := tx.Treasury().WaitingMove(cold(1))
		require.True(t, found)
		require.Equal(t, []any{bound, records.Bound}, []any{open.ID, open.State}, "its slot is another one")
		list, err2 := tx.Treasury().Moved(9)
		require.NoError(t, err2)
		require.Len(t, list, 2)
		require.Equal(t, []any{records.Paid, "by-hand", "a test"}, []any{list[0].State, list[0].Tx, list[0].Why})
		require.Equal(t, []string{"", ""}, []string{list[1].Actor, list[1].Why})
		return err
	})
	require.Equal(t, records.Queued, r.Payment(owed).State, "its number is used up")

	sweep := cold(5)
	sweep.Purpose, sweep.Account, sweep.Payee = chain.Sweep, GasTank, Hot
	id, err := queue(r, sweep)
	require.NoError(t, err)
	r.See(func(tx *records.Tx) error {
		waiting, found, err := tx.Treasury().WaitingMove(sweep)
		require.True(t, found)
		require.Equal(t, id, waiting.ID)
		return err
	})
	r.sound()
}

// testUnjudged: a deposit is unjudged from its decision until its credit has a slot.
func testUnjudged(t *testing.T, url string) {
	r := newRig(t, url)
	unjudged := func() (list []string) {
		r.See(func(tx *records.Tx) (err error) { list, err = tx.Treasury().Unjudged(Exchange, Gateway); return err })
		return list
	}
	require.Empty(t, unjudged())
	in, credit := r.Owe(records.Deposit, 500)
	require.Equal(t, []string{in.To}, unjudged())
	r.Bind(credit)
	require.Empty(t, unjudged())
}
