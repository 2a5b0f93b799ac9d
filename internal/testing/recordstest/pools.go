package recordstest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/records/books"
)

// testPools: a move from one paying account to another is counted once, at every stage, and has no
// owner.
func testPools(t *testing.T, url string) {
	r := newRig(t, url)
	const second, third = "vite_second", "vite_third"
	for _, a := range []string{second, third} {
		r.Do(func(tx *records.Tx) error {
			return tx.Accounts().Ensure(records.Account{Chain: Exchange, Account: a, Kind: records.KindGateway, Network: Network, KeyPath: a})
		})
	}
	pool := func() map[string]books.PoolAccount {
		found := map[string]books.PoolAccount{}
		r.See(func(tx *records.Tx) error {
			list, err := books.Pool(tx, Network, Exchange, records.KindGateway)
			for _, a := range list {
				found[a.Account.Account] = a
			}
			return err
		})
		require.Len(t, found, 3)
		return found
	}
	move := func(to string, amount uint64) records.Payment {
		return records.Payment{Purpose: chain.Sweep, Network: Network, Chain: Exchange, Account: Gateway, Asset: Token, Amount: chain.NewAmount(amount), Payee: to}
	}
	first, err := queue(r, move(second, 70))
	require.NoError(t, err)
	_, err = queue(r, move(third, 5))
	require.NoError(t, err, "the same asset to another account")
	_, err = queue(r, move(second, 1))
	require.ErrorIs(t, err, records.ErrConflict, "one at a time to each")
	got := pool()
	require.Equal(t, chain.NewAmount(75), got[Gateway].Leaving[Token])
	require.Equal(t, chain.NewAmount(70), got[second].Coming[Token])
	require.Len(t, got[Gateway].Waiting, 2)
	var ordered uint64 // by an operator, and given up again below
	r.Do(func(tx *records.Tx) (err error) {
		back := move(Gateway, 4)
		back.Account = third
		ordered, err = tx.Treasury().OrderMove(back, "a test")
		return err
	})
	require.Empty(t, pool()[third].Waiting, "nobody counts anew what an operator has ordered")
	require.Equal(t, chain.NewAmount(4), pool()[third].Leaving[Token])
	r.See(func(tx *records.Tx) error {
		m, found, err := tx.Treasury().MoveOrder(ordered)
		require.True(t, found)
		require.Equal(t, "a test", m.Why)
		require.NotEmpty(t, m.Actor)
		if _, found, _ = tx.Treasury().MoveOrder(first); found {
			require.Fail(t, "nobody ordered that")
		}
		return err
	})
	r.See(func(tx *records.Tx) error {
		list, err := tx.Treasury().Moved(9)
		require.Len(t, list, 1)
		require.Equal(t, ordered, list[0].ID)
		return err
	})
	r.Do(func(tx *records.Tx) error {
		return tx.Payments().Move(ordered, records.Queued, records.VoidPayment, "a test")
	})

	r.Do(func(tx *records.Tx) error {
		return tx.Accounts().SetState(Exchange, Gateway, records.AccountHalted, "a test")
	})
	require.Empty(t, pool()[second].Coming, "nobody counts on an account that may not sign")
	r.Do(func(tx *records.Tx) error { return tx.Accounts().SetState(Exchange, Gateway, records.AccountOK, "") })

	r.Pay(first)
	in := r.Incoming(records.Funding, 70, r.Mine(Exchange, ""))
	in.Chain, in.From, in.To, in.Asset = Exchange, Gateway, second, Token
	in.Owner, in.Payee, in.Reason = "", "", records.ReasonInternal
	r.Do(func(tx *records.Tx) (err error) { in, _, err = tx.Transfers().See(in); return err })
	got = pool()
	require.Equal(t, chain.NewAmount(5), got[Gateway].Leaving[Token])
	require.Equal(t, chain.NewAmount(70), got[second].Transit[Token])
	r.Finalize(Exchange)
	var taken uint64
	r.Do(func(tx *records.Tx) (err error) {
		if err := tx.Transfers().Move(in.ID, records.Seen, records.Final, records.ReasonInternal); err != nil {
			return err
		}
		taken, err = tx.Payments().Queue(records.Payment{
			TransferID: in.ID, Purpose: chain.Receive, Network: Network, Token: Token, Chain: Exchange, Account: second, Asset: Token,
			Amount: in.Amount, Payee: second, Source: in.Tx,
		})
		return err
	})
	require.Equal(t, chain.NewAmount(70), pool()[second].Transit[Token])
	r.Do(func(tx *records.Tx) error { return tx.Accounts().Adopt(Exchange, second, 1, "zero") })
	r.Pay(taken)
	require.Empty(t, pool()[second].Transit)
	r.See(func(tx *records.Tx) error {
		totals, err := books.TotalsOf(tx, Network, Token)
		require.Empty(t, totals.Transfers)
		return err
	})
	poolSums(t, pool())
}

func poolSums(t *testing.T, pool map[string]books.PoolAccount) {
	var list []books.PoolAccount
	for _, a := range pool {
		list = append(list, a)
	}
	sums, err := books.PoolSum(list, func(a books.PoolAccount) map[chain.Asset]chain.Amount { return a.Leaving })
	require.NoError(t, err)
	require.Equal(t, map[chain.Asset]chain.Amount{Token: chain.NewAmount(5)}, sums)
}
