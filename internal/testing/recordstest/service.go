package recordstest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records"
)

// testService: what waits at an account is served round robin by user, class by class.
func testService(t *testing.T, url string) {
	r := newRig(t, url)
	users := map[uint64]string{}
	owe := func(user string, n int) {
		for range n {
			in := r.Incoming(records.Deposit, 100, r.Mine(Source, ""))
			in.Owner = user
			r.Do(func(tx *records.Tx) (err error) { in, _, err = tx.Transfers().See(in); return err })
			r.Finalize(Source)
			r.Do(func(tx *records.Tx) error {
				if err := tx.Transfers().Move(in.ID, records.Seen, records.Final, ""); err != nil {
					return err
				}
				id, err := tx.Payments().Queue(CreditOf(in))
				users[id] = user
				return err
			})
		}
	}
	waiting := func(limit int) (ids []uint64, order string) {
		r.See(func(tx *records.Tx) error {
			list, err := tx.Payments().Queued(Exchange, Gateway, records.ClassUser, Token, limit)
			for _, p := range list {
				ids, order = append(ids, p.ID), order+users[p.ID]
			}
			return err
		})
		return ids, order
	}
	owe("a", 4)
	owe("b", 1)
	owe("c", 2)
	_, order := waiting(100)
	require.Equal(t, "abcacaa", order)
	ids, _ := waiting(3)
	for _, id := range ids {
		r.Bind(id)
	}
	owe("d", 1)
	owe("b", 1)
	_, order = waiting(100)
	require.Equal(t, "acdbaa", order, "who comes late is served with those whose turn it is, not behind all")

	r.See(func(tx *records.Tx) error {
		list, err := tx.Payments().Queued(Exchange, Gateway, records.ClassUser, Token, 100, Token)
		require.Empty(t, list)
		if err == nil {
			list, err = tx.Payments().Queued(Exchange, Gateway, records.ClassUser, Token, 2, "another", "and another")
			require.Len(t, list, 2)
		}
		return err
	})
	r.See(func(tx *records.Tx) error {
		assets, err := tx.Payments().QueuedAssets(Exchange, Gateway, records.ClassUser)
		require.Equal(t, []chain.Asset{Token}, assets)
		if err == nil {
			assets, err = tx.Payments().QueuedAssets(Exchange, Gateway, records.ClassRefund)
			require.Empty(t, assets)
		}
		return err
	})
	require.Equal(t, []records.Class{records.ClassUser, records.ClassUser, records.ClassRefund, records.ClassReceive},
		[]records.Class{records.ClassOf(chain.Credit), records.ClassOf(chain.Gas), records.ClassOf(chain.Refund), records.ClassOf(chain.Receive)}, fmt.Sprint(users))
}

// testWaits notes why payouts wait. A note is gone when its payout is bound.
func testWaits(t *testing.T, url string) {
	r := newRig(t, url)
	note := func(id uint64, reason records.Reason) error {
		return r.Try(func(tx *records.Tx) error { return tx.Payments().NoteWaiting(id, reason) })
	}
	waits := func() (all []records.Wait) {
		r.See(func(tx *records.Tx) (err error) { all, err = records.Waits(tx, Network, Source); return err })
		return all
	}
	_, one := r.Owe(records.Withdrawal, 500)
	_, two := r.Owe(records.Withdrawal, 600)
	require.Empty(t, waits())
	require.NoError(t, note(one, records.WaitsFeeCeiling))
	want := records.Wait{Token: Token, Reason: records.WaitsFeeCeiling, Count: 1, Account: Hot}
	require.Equal(t, []records.Wait{want}, waits(), "the other may leave")
	require.NoError(t, note(two, records.WaitsFeeCeiling))
	want.Count, want.All = 2, true
	require.Equal(t, []records.Wait{want}, waits())
	require.NoError(t, note(two, records.WaitsNoCoin))
	require.Len(t, waits(), 2)
	r.Bind(two)
	require.Empty(t, r.Payment(two).Reason)
	require.ErrorIs(t, note(two, records.WaitsNoCoin), records.ErrConflict, "it waits no more")
	want.Count = 1
	require.Equal(t, []records.Wait{want}, waits())
	require.NoError(t, note(one, records.WaitsSigner))
	require.Equal(t, []records.Wait{{Token: Token, Reason: records.WaitsSigner, Count: 1, Account: Hot}}, waits(), "what waits for the signer stops nobody")
	require.NoError(t, note(one, records.WaitsAsset))
	require.Equal(t, []records.Wait{{Token: Token, Reason: records.WaitsAsset, Count: 1, Account: Hot}}, waits(), "nor does what waits for its asset")
}

// testHeldFor finds what is held for a reason, a page at a time.
func testHeldFor(t *testing.T, url string) {
	r := newRig(t, url)
	held := func(reason records.Reason, after uint64, limit int) (ids []uint64) {
		r.See(func(tx *records.Tx) error {
			list, err := tx.Payments().HeldFor(reason, after, limit)
			for _, p := range list {
				ids = append(ids, p.ID)
			}
			return err
		})
		return ids
	}
	_, one := r.Owe(records.Withdrawal, 500)
	_, two := r.Owe(records.Withdrawal, 600)
	_, three := r.Owe(records.Withdrawal, 700)
	for _, id := range []uint64{one, two, three} {
		r.Do(func(tx *records.Tx) error {
			return tx.Payments().Move(id, records.Queued, records.HeldPayment, records.HeldLimit)
		})
	}
	require.Equal(t, []uint64{one, two}, held(records.HeldLimit, 0, 2))
	require.Equal(t, []uint64{three}, held(records.HeldLimit, two, 2))
	r.Do(func(tx *records.Tx) error { return tx.Payments().NoteHeld(two, records.HeldApproval) })
	require.Equal(t, []uint64{one, three}, held(records.HeldLimit, 0, 9))
	require.Equal(t, []uint64{two}, held(records.HeldApproval, 0, 9))
	r.Do(func(tx *records.Tx) error { return tx.Payments().Move(two, records.HeldPayment, records.Queued, "") })
	require.Empty(t, held(records.HeldApproval, 0, 9))
	require.ErrorIs(t, r.Try(func(tx *records.Tx) error { return tx.Payments().NoteHeld(two, records.HeldLimit) }), records.ErrConflict, "it is held no more")
	in, credit := r.Owe(records.Deposit, 800)
	r.Do(func(tx *records.Tx) error {
		return tx.Payments().Move(credit, records.Queued, records.HeldPayment, records.HeldUnproven)
	})
	for owner, want := range map[string]bool{in.Owner: true, "another": false} {
		r.See(func(tx *records.Tx) error {
			found, err := tx.Payments().HeldDeposit(records.HeldUnproven, in.Network, in.Token, owner)
			require.Equal(t, want, found, owner)
			return err
		})
	}
}
