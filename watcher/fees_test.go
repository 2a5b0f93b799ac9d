package watcher

import (
	"slices"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/chaintest"
	"gatewayd/records"
	"gatewayd/watcher/pay"
)

// emptyHot takes all coin from the hot account without a transaction of ours.
func (r *rig) emptyHot() chain.Amount {
	r.t.Helper()
	had := r.eth.Holding(r.net.Hot, chain.Native)
	r.eth.Send(chaintest.Out{To: r.net.Hot, Asset: chain.Native, Amount: had, Taken: true})
	return had
}

// topUp gives the hot account coin from a funder.
func (r *rig) topUp(amount chain.Amount) {
	r.t.Helper()
	r.eth.Deposit(r.eth.Address("treasury"), r.net.Hot, chain.Native, amount, chain.Memo{Type: -1})
}

// attempts is what was signed for the newest slot of a payment.
func (r *rig) attempts(p records.Payment) (list []records.Attempt) {
	r.t.Helper()
	r.view(func(tx *records.Tx) error {
		slots, err := tx.Slots().Of(p.ID)
		if err == nil && len(slots) > 0 {
			list, err = tx.Slots().Attempts(slots[len(slots)-1])
		}
		return err
	})
	return list
}

func (r *rig) requireWaiting(token string, reason records.Reason) {
	r.t.Helper()
	r.view(func(tx *records.Tx) error {
		all, err := records.Waits(tx, "main", "eth")
		i := slices.IndexFunc(all, func(w records.Wait) bool { return w.Token == token })
		require.Equal(r.t, reason != "", i >= 0)
		if i >= 0 {
			require.Equal(r.t, reason, all[i].Reason)
			require.True(r.t, all[i].All)
		}
		return err
	})
}

// An account without coin for fees binds nothing, its channels say so, refunds go on, and a top-up
// opens everything at the market's price.
func TestNoCoinForFees(t *testing.T) {
	r := setup(t)
	owner, _ := r.user()
	had := r.emptyHot()
	hash := r.withdraw(owner, r.eth.Address("payee"), 1000)
	r.run(40)
	bad := r.withdraw(owner, "nowhere", 700)
	r.rest()
	p := r.payment(hash)
	require.Equal(t, records.Queued, p.State)
	require.Equal(t, records.WaitsNoCoin, p.Reason)
	require.Zero(t, r.account("eth", r.net.Hot).Next, "nothing was bound")
	require.Equal(t, records.Paid, r.payment(bad).State, "a refund needs none of that coin")
	r.requireWaiting(usd, records.WaitsNoCoin)

	r.topUp(had)
	r.rest()
	p = r.payment(hash)
	require.Equal(t, records.Paid, p.State)
	require.Empty(t, p.Reason)
	list := r.attempts(p)
	require.Len(t, list, 1)
	require.Equal(t, units(22), list[0].FeeCap)
	r.requireWaiting(usd, "")
	r.requireSound()
}

// A payout that no node takes, because its account cannot pay its fee, is sent again as it is: a
// higher price would not help.
func TestUnaffordableAttemptIsNotReplaced(t *testing.T) {
	r := setup(t)
	r.run(1)
	owner, _ := r.user()
	hash := r.withdraw(owner, r.eth.Address("payee"), 1000)
	r.vite.Mine(finality + 2)
	r.step()
	waiting := r.eth.Waiting()
	require.Len(t, waiting, 1)
	require.True(t, r.eth.Drop(waiting[0]))
	r.eth.LoseDropped()
	had := r.emptyHot()
	r.run(40)
	require.Equal(t, records.Bound, r.payment(hash).State)
	require.Len(t, r.attempts(r.payment(hash)), 1)
	r.topUp(had)
	r.rest()
	require.Equal(t, waiting[0], r.payment(hash).Tx)
	r.requireSound()
}

// A replacement that the account cannot pay is not made, though the attempt waits for too low a
// fee.
func TestReplacementIsAffordable(t *testing.T) {
	r := setup(t)
	r.run(1)
	owner, _ := r.user()
	hash := r.withdraw(owner, r.eth.Address("payee"), 1000)
	r.vite.Mine(finality + 2)
	r.step()
	had := r.emptyHot()
	r.topUp(units(400)) // 220 for the attempt, 620 for one at the new price
	r.eth.Hold(r.net.Hot, true)
	r.eth.Mine(1)
	r.eth.SetBaseFee(30)
	r.run(20)
	require.Len(t, r.attempts(r.payment(hash)), 1)
	r.topUp(had)
	r.eth.Hold(r.net.Hot, false)
	r.rest()
	require.Equal(t, records.Paid, r.payment(hash).State)
	require.Len(t, r.attempts(r.payment(hash)), 2)
	r.requireSound()
}

// A payout whose fee would be above a multiple of what its user paid waits, and is overtaken by
// those that may cost more.
func TestCeilingOfAPayout(t *testing.T) {
	r := setup(t)
	r.parts.Networks[0].Tokens[0].Policy.Fee.Rate = decimal.New(3, 15) // five times 0.30 is a fee of 500: a cap of 50
	r.restart()
	owner, _ := r.user()
	r.eth.SetBaseFee(30) // asks for a cap of 62
	hash := r.withdraw(owner, r.eth.Address("payee"), 1000)
	other := r.order(owner, coin, 1000, chain.Memo{Type: 1, Address: r.eth.Address("other")})
	r.rest()
	require.Equal(t, records.Paid, r.payment(other).State)
	p := r.payment(hash)
	require.Equal(t, records.Queued, p.State)
	require.Equal(t, records.WaitsFeeCeiling, p.Reason)
	r.requireWaiting(usd, records.WaitsFeeCeiling)
	r.requireWaiting(coin, "")
	r.eth.SetBaseFee(20)
	r.run(pay.TryAgain + finality + 3)
	require.Equal(t, records.Paid, r.payment(hash).State)
	r.requireWaiting(usd, "")
	r.requireSound()
}

// No replacement of a payout goes above its ceiling either.
func TestReplacementStaysUnderTheCeiling(t *testing.T) {
	r := setup(t)
	r.parts.Networks[0].Tokens[0].Policy.Fee.Rate = decimal.New(3, 15)
	r.restart()
	r.run(1)
	owner, _ := r.user()
	hash := r.withdraw(owner, r.eth.Address("payee"), 1000)
	r.vite.Mine(finality + 2)
	r.step()
	r.eth.SetBaseFee(30)
	r.run(20)
	require.Len(t, r.attempts(r.payment(hash)), 1)
	r.eth.SetBaseFee(10)
	r.rest()
	require.Equal(t, records.Paid, r.payment(hash).State)
	r.requireSound()
}

// Payees that refuse, by themselves or only when it counts, delay nobody: an honest payout leaves
// within two blocks.
func TestRefusingPayeesDelayNobody(t *testing.T) {
	const many = 64
	for name, reject := range map[string]func(*chaintest.Chain, string, bool){"seen": (*chaintest.Chain).Reject, "unseen": (*chaintest.Chain).RejectUnseen} {
		t.Run(name, func(t *testing.T) {
			r := setupAt(t, 60, finality)
			burn := func() {
				for range many {
					payee := r.eth.Address(string(rune('a' + r.users)))
					reject(r.eth, payee, true)
					owner, _ := r.user()
					r.order(owner, coin, 1000, chain.Memo{Type: 1, Address: payee})
				}
			}
			burn()
			owner, _ := r.user()
			if name == "seen" { // at the same time as the others
				r.withdraw(owner, r.eth.Address("honest"), 1000)
				r.vite.Mine(finality + 2)
			} else { // behind them, while their payouts wait for a final block
				r.run(finality + 2 + many/16)
				require.EqualValues(t, many, r.account("eth", r.net.Hot).Next)
				r.withdraw(owner, r.eth.Address("honest"), 1000)
				r.vite.Mine(finality + 2)
			}
			r.step()
			r.eth.Mine(1)
			r.step()
			r.eth.Mine(1)
			r.requireHolding(r.eth, r.eth.Address("honest"), usdEth, (1000-fee)*100)
			r.run(70)
			r.requireSound()
			want := uint64(1000)
			if name == "unseen" {
				want -= fee
			}
			r.requireHolding(r.vite, r.vite.Address("user 1"), coin, want)
		})
	}
}
