package watcher

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/transfers"
	"gatewayd/watcher/pay"
)

// minRefund is the rig's smallest refund where a test sets one.
const minRefund = 2

// keepDust has the rig's tokens keep withdrawals below minRefund.
func (r *rig) keepDust() {
	for i := range r.net.Tokens {
		r.net.Tokens[i].Policy.MinRefund = units(minRefund)
	}
	r.parts.Networks = []records.Network{r.net}
	r.restart()
}

// lowUnmined counts refunds and receives of the gateway's account that stand in no block.
func (r *rig) lowUnmined() (n int) {
	r.view(func(tx *records.Tx) error {
		slots, err := tx.Slots().Unmined("vite", r.net.Gateway)
		n = pay.LowUnmined(slots)
		return err
	})
	return n
}

// Withdrawals below min_refund cost the gateway nothing: nothing is received, nothing refunded, and
// a credit leaves as if there were none.
func TestDustKeepsNobodyWaiting(t *testing.T) {
	for _, count := range []int{400, 1000} {
		t.Run(fmt.Sprint(count), func(t *testing.T) {
			if raced && count > 400 {
				t.Skip("takes long under the race detector")
			}
			r := setupAt(t, sourceDepth, exchangeDepth)
			r.keepDust()
			owner, address := r.user()
			var dust []string
			for range count {
				dust = append(dust, r.withdraw(owner, r.eth.Address("payee"), minRefund-1))
			}
			r.vite.Mine(exchangeDepth)
			hash := r.deposit(address, 50_000)
			r.eth.Mine(sourceDepth)
			r.step()
			r.eth.Mine(1)
			r.vite.Mine(1) // now all of it is final
			r.step()
			for blocks := 0; r.payment(hash).State == records.Queued; blocks++ {
				require.Less(t, blocks, 2)
				r.vite.Mine(1)
				r.step()
			}
			r.run(exchangeDepth + 2)
			require.Equal(t, records.Paid, r.payment(hash).State)
			for _, d := range dust {
				r.requireState(d, records.Refused, records.ReasonDust)
				r.view(func(tx *records.Tx) error {
					all, err := tx.Payments().Of(r.transfer(d).ID)
					require.Empty(t, all)
					return err
				})
			}
			r.requireSound()
		})
	}
}

// Dust is refused from one unit below min_refund on, and refunded once when an operator says so.
func TestDustIsRefundedByOrder(t *testing.T) {
	r := setup(t)
	r.keepDust()
	owner, _ := r.user()
	dust, small := r.withdraw(owner, "nowhere", minRefund-1), r.withdraw(owner, "nowhere", minRefund)
	r.rest()
	r.requireState(small, records.Refused, records.ReasonBelowMinimum)
	require.Equal(t, records.Paid, r.payment(small).State)
	r.requireState(dust, records.Refused, records.ReasonDust)

	refund := func() error {
		return r.store.Update(t.Context(), func(tx *records.Tx) error {
			return r.w.rules().Order(tx, transfers.OrderRefund, transfers.Order{Record: r.transfer(dust).ID})
		})
	}
	require.NoError(t, refund())
	require.ErrorIs(t, refund(), transfers.ErrNothingToDo)
	r.rest()
	r.requireState(dust, records.Refused, records.ReasonOperator)
	require.Equal(t, records.Paid, r.payment(dust).State)
	require.Equal(t, units(2*minRefund-1), r.vite.Holding(owner, usd))
	r.requireSound()
}

// A deposit below the minimum is refunded once by an operator's order, and not credited after that.
func TestSmallDepositIsRefundedByOrder(t *testing.T) {
	r := setup(t)
	_, address := r.user()
	hash := r.deposit(address, minimum*100-1)
	r.rest()
	r.requireState(hash, records.Refused, records.ReasonBelowMinimum)
	r.view(func(tx *records.Tx) error {
		list, err := tx.Recovery().Refundable("eth", r.transfer(hash).Asset, r.transfer(hash).Amount)
		require.Len(t, list, 1, "a refund that a restored database has forgotten is found")
		return err
	})
	before := r.eth.Holding(r.transfer(hash).From, r.transfer(hash).Asset)
	require.NoError(t, r.refund(hash, transfers.Order{}))
	require.ErrorIs(t, r.refund(hash, transfers.Order{}), transfers.ErrNothingToDo)
	require.ErrorIs(t, r.store.Update(t.Context(), func(tx *records.Tx) error {
		return r.w.rules().Order(tx, transfers.OrderRetry, transfers.Order{Record: r.transfer(hash).ID})
	}), transfers.ErrNothingToDo)
	r.rest()
	r.requireState(hash, records.Refused, records.ReasonOperator)
	require.Equal(t, records.Paid, r.payment(hash).State)
	paid, err := r.eth.Holding(r.transfer(hash).From, r.transfer(hash).Asset).Sub(before)
	require.NoError(t, err)
	require.Equal(t, r.transfer(hash).Amount, paid)
	r.requireSound()
}

// A refund of dust that a restored database has forgotten is found among what an unknown
// transaction may have been.
func TestForgottenRefundOfDustIsFound(t *testing.T) {
	r := setup(t)
	r.keepDust()
	owner, _ := r.user()
	dust := r.transfer(r.withdrawn(owner, minRefund-1))
	r.rest()
	r.view(func(tx *records.Tx) error {
		list, err := tx.Recovery().Refundable("vite", usd, units(minRefund-1))
		require.Len(t, list, 1)
		require.Equal(t, dust.ID, list[0].ID)
		return err
	})
}

// withdrawn is a withdrawal that the records have seen.
func (r *rig) withdrawn(owner string, amount uint64) string {
	hash := r.order(owner, usd, amount, chain.Memo{Type: -1})
	r.vite.Mine(1)
	r.step()
	return hash
}

// Refunds and receives that nothing waits for leave room for credits that come later: what is bound
// already goes before them.
func TestRefundsLeaveRoomForLaterCredits(t *testing.T) {
	r := setup(t)
	owner, _ := r.user()
	for range 300 {
		r.withdraw(owner, r.eth.Address("payee"), minimum-1)
	}
	r.vite.Mine(finality + 1)
	r.step()
	require.Equal(t, r.vite.MaxUnmined()/pay.LowShare, r.lowUnmined())
	for rounds := 0; r.waitsLow(); rounds++ {
		require.Less(t, rounds, 300)
		r.run(1)
		require.LessOrEqual(t, r.lowUnmined(), r.vite.MaxUnmined()/pay.LowShare)
	}
	r.rest()
	r.requireSound()
}

// waitsLow reports whether a refund has no slot yet.
func (r *rig) waitsLow() (found bool) {
	r.view(func(tx *records.Tx) error {
		assets, err := tx.Payments().QueuedAssets("vite", r.net.Gateway, records.ClassRefund)
		found = len(assets) > 0
		return err
	})
	return found
}
