package watcher

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/chaintest"
	"gatewayd/records"
	"gatewayd/transfers"
	"gatewayd/watcher/pay"
	"gatewayd/watcher/recovery"
)

// setupCoins is a rig whose source chain is a ledger of coins. Its pool has coins of these amounts,
// each in a transaction of its own.
func setupCoins(t *testing.T, amounts ...uint64) *rig {
	t.Helper()
	btc := chaintest.New(chaintest.Config{ID: "btc", Pool: "hot", Finality: finality})
	vite := chaintest.New(chaintest.Config{ID: "vite", Finality: finality, Linked: true})
	n := coinsNetwork(btc, vite)
	btc.Own(n.Hot)
	vite.Own(n.Gateway)
	vite.Endow(n.Gateway, usd, units(stock))
	r := setupOn(t, btc, vite, n, chaintest.CoinLedger{Chain: btc})
	for _, amount := range amounts {
		fundPool(btc, n.Hot, 1, amount)
	}
	r.rest()
	return r
}

// held are the coins that the records let the pool spend.
func (r *rig) held() (list []chain.HeldCoin) {
	r.t.Helper()
	r.view(func(tx *records.Tx) (err error) {
		list, err = tx.Coins().Held(r.eth.ID(), r.net.Hot)
		return err
	})
	return list
}

// backup is the bytes of the database.
func (r *rig) backup() []byte {
	r.t.Helper()
	require.NoError(r.t, r.store.Close())
	bytes, err := os.ReadFile(r.path)
	require.NoError(r.t, err)
	r.reopen()
	return bytes
}

// reopen is a new process on the database.
func (r *rig) reopen() {
	r.t.Helper()
	var err error
	r.store, err = records.Open(r.t.Context(), records.Config{URL: "sqlite:" + r.path, Now: func() time.Time { return r.now }})
	require.NoError(r.t, err)
	r.parts.Store = r.store
	r.eth.SetAccounts(records.NewWatch(r.store))
	r.restart()
}

// restore puts an earlier database in the place of the present one.
func (r *rig) restore(backup []byte) {
	r.t.Helper()
	require.NoError(r.t, r.store.Close())
	require.NoError(r.t, os.WriteFile(r.path, backup, 0o600))
	r.reopen()
}

// requirePaidOnce checks on the ledger alone that each payout has come once.
func (r *rig) requirePaidOnce(hashes ...string) {
	r.t.Helper()
	r.requirePaid(hashes...)
	r.requireSound()
}

// waitingPayouts are payouts of 1000 that are signed and in no block, because blocks ask for more.
func (r *rig) waitingPayouts(n int) []string {
	r.t.Helper()
	r.eth.KeepFirst(true)
	hashes := r.payouts(n)
	r.vite.Mine(finality + 1)
	r.step()
	r.step()
	r.eth.SetBaseFee(40)
	for _, h := range hashes {
		require.Len(r.t, r.attempts(r.payment(h)), 1)
	}
	return hashes
}

// TestCoinsPayAndComeBack: deposits and payouts on a ledger of coins, with the coins of users' own
// addresses spent as any other.
func TestCoinsPayAndComeBack(t *testing.T) {
	r := setupCoins(t, 60_000)
	owner, address := r.user()
	r.eth.Send(
		chaintest.Out{To: address, Asset: chain.Native, Amount: units(20_000)},
		chaintest.Out{To: r.eth.Address("stranger"), Asset: chain.Native, Amount: units(20_000)},
		chaintest.Out{To: address, Asset: chain.Native, Amount: units(30_000)},
	)
	r.rest()
	r.requireHolding(r.vite, owner, usd, 500)
	hash := r.payouts(1)[0] // needs more than the pool's own coin
	r.rest()
	r.requirePaidOnce(hash)
	require.Equal(t, uint64(60_000+50_000-(1000-fee)*100), amountOf(t, r.eth.Holding(r.net.Hot, chain.Native))+amountOf(t, r.eth.Holding(address, chain.Native))+amountOf(t, r.eth.Burnt()))
}

// TestStolenCoinStopsTheAccount: another transaction with our key spends the coin of a slot. The
// account stops in the final block that shows it, other payouts wait, and when the operator resumes
// it, the payment of that slot leaves once more, and once in all.
func TestStolenCoinStopsTheAccount(t *testing.T) {
	r := setupCoins(t, 300_000, 200_000, 200_000, 200_000)
	hashes := r.waitingPayouts(2)
	stolen := r.slots(r.payment(hashes[0]))[0]
	require.NotEqual(t, stolen.Coin, r.slots(r.payment(hashes[1]))[0].Coin)
	thief := r.eth.Steal("hot", r.eth.Address("mallory"), stolen.Coin)
	r.run(finality)
	require.Equal(t, records.AccountRecovering, r.account("btc", r.net.Hot).State, "its block may leave the line")
	r.run(2)
	require.Equal(t, records.AccountHalted, r.account("btc", r.net.Hot).State)
	require.Equal(t, records.Bound, r.payment(hashes[0]).State, "only an operator knows whom it has paid")
	waits := r.payouts(1)[0]
	r.eth.SetBaseFee(10)
	r.rest()
	require.Equal(t, records.Queued, r.payment(waits).State)
	r.requirePaid(hashes[1]) // it was signed, and nodes have it
	r.requireHolding(r.eth, r.payment(hashes[0]).Payee, chain.Native, 0)

	ops := r.operatorRecovery()
	require.ErrorIs(t, ops.Resume(t.Context(), "btc", r.net.Hot, 0), transfers.ErrNothingToDo)
	f := r.unknownTx(ops, "btc", r.net.Hot)
	require.Equal(t, []any{thief, stolen.Coin, stolen.Nonce}, []any{f.Tx, f.Out.Coin, f.Number})
	require.NoError(t, ops.Accept(t.Context(), "btc", r.net.Hot, thief, "our own move", 0))
	require.NoError(t, ops.Resume(t.Context(), "btc", r.net.Hot, 0))
	r.rest()
	r.requirePaidOnce(append(hashes, waits)...)
	again := r.slots(r.payment(hashes[0]))
	require.Len(t, again, 2)
	require.Equal(t, []string{records.SlotVoid, records.SlotPaid}, []string{again[0].State, again[1].State})
	require.NotEqual(t, stolen.Coin, again[1].Coin)
}

// TestStolenCoinOfAnUnsignedSlot: a thief spends the coin of a slot for which nothing was signed,
// so that only the records know whose it is.
func TestStolenCoinOfAnUnsignedSlot(t *testing.T) {
	r := setupCoins(t, 200_000, 200_000, 200_000)
	verdicts := claimVerdicts{}
	held, behind := r.heldPayout(verdicts)
	slot := r.slotOf(held)
	thief := r.eth.Steal("hot", r.eth.Address("mallory"), slot.Coin)
	r.run(finality + 2)
	require.Equal(t, records.AccountHalted, r.account("btc", r.net.Hot).State)
	clear(verdicts)
	ops := r.operatorRecovery()
	require.Equal(t, slot.Nonce, r.unknownTx(ops, "btc", r.net.Hot).Number)
	require.NoError(t, ops.Accept(t.Context(), "btc", r.net.Hot, thief, "our own move", 0))
	require.ErrorIs(t, ops.Resume(t.Context(), "btc", r.net.Hot, 0), recovery.ErrNotAtRest)
	r.rest()
	require.NoError(t, ops.Resume(t.Context(), "btc", r.net.Hot, 0))
	r.rest()
	r.requirePaidOnce(held, behind)
	require.Len(t, r.slots(r.payment(held)), 2)
	require.Len(t, r.slots(r.payment(behind)), 1)
}

// TestStolenFurtherCoin: a thief spends a coin that a slot only adds to its own. Its own coin is
// not spent, so the payment stays in its slot, and is signed again there with other coins.
func TestStolenFurtherCoin(t *testing.T) {
	r := setupCoins(t, 60_000, 50_000)
	hash := r.waitingPayouts(1)[0]
	spent := chaintest.Spends(r.attempts(r.payment(hash))[0].Attempt)
	require.Len(t, spent, 2)
	thief := r.eth.Steal("hot", r.eth.Address("mallory"), spent[1])
	r.run(finality + 2)
	require.Equal(t, records.AccountHalted, r.account("btc", r.net.Hot).State)
	r.eth.SetBaseFee(10)
	fundPool(r.eth, r.net.Hot, 1, 70_000)
	ops := r.operatorRecovery()
	require.NoError(t, ops.Accept(t.Context(), "btc", r.net.Hot, thief, "our own move", 0))
	r.run(finality + 2)
	require.ErrorIs(t, ops.Resume(t.Context(), "btc", r.net.Hot, 0), recovery.ErrNotAtRest)
	r.rest()
	require.NoError(t, ops.Resume(t.Context(), "btc", r.net.Hot, 0))
	r.rest()
	r.requirePaidOnce(hash)
	require.Len(t, r.slots(r.payment(hash)), 1)
}

// TestPayoutInAReorg: a re-org takes the payout's block. It is paid once, whatever the new branch
// has: nothing, the same transaction, or an earlier attempt.
func TestPayoutInAReorg(t *testing.T) {
	minedPayout := func(t *testing.T) (r *rig, hash string) {
		r = setupCoins(t, 200_000, 200_000)
		hash = r.payouts(1)[0]
		r.vite.Mine(finality + 1)
		r.step()
		r.run(2)
		r.requireHolding(r.eth, r.payment(hash).Payee, chain.Native, (1000-fee)*100)
		require.Len(t, r.held(), 1)
		return r, hash
	}
	t.Run("lost", func(t *testing.T) {
		r, hash := minedPayout(t)
		tx := r.attempts(r.payment(hash))[0].Hash
		r.eth.Reorg(2, false)
		r.eth.LoseDropped()
		r.eth.MineEmpty(1)
		r.step()
		require.Len(t, r.held(), 2, "its coin is unspent")
		require.True(t, r.held()[0].Signed)
		r.rest()
		r.requirePaidOnce(hash)
		require.Equal(t, tx, r.payment(hash).Tx, "the same bytes were sent again")
	})
	t.Run("mined again", func(t *testing.T) {
		r, hash := minedPayout(t)
		r.eth.Reorg(3, true)
		r.rest()
		r.requirePaidOnce(hash)
		require.Len(t, r.slots(r.payment(hash)), 1)
	})
	t.Run("an earlier attempt", func(t *testing.T) {
		r := setupCoins(t, 200_000, 200_000)
		hash := r.payouts(1)[0]
		r.vite.Mine(finality + 1)
		r.step()
		first := r.attempts(r.payment(hash))[0].Attempt
		r.eth.SetBaseFee(40)
		r.run(finality + 2)
		attempts := r.attempts(r.payment(hash))
		require.Len(t, attempts, 2)
		require.Equal(t, chaintest.Spends(first)[0], chaintest.Spends(attempts[1].Attempt)[0])
		height, _, mined := r.eth.Find(attempts[1].Hash)
		require.True(t, mined)
		head, err := r.eth.Head(t.Context())
		require.NoError(t, err)
		r.eth.SetBaseFee(10)
		r.eth.KeepFirst(true)
		r.eth.Rollback(int(head.Latest.Height+1-height), false)
		require.NoError(t, chaintest.Send(t.Context(), r.eth, first))
		r.rest()
		r.requirePaidOnce(hash)
		require.Equal(t, first.Hash, r.payment(hash).Tx)
	})
}

// TestRewardIsCreditedWhenItMatures: a deposit out of a block's reward is credited when the block
// that may spend it is final, and its coin is not spent before.
func TestRewardIsCreditedWhenItMatures(t *testing.T) {
	r := setupCoins(t)
	owner, address := r.user()
	hash := r.eth.MineTo(address, units(200_000))
	r.step()
	height, _, _ := r.eth.Find(hash)
	payout := r.payouts(1)[0]
	for r.eth.Final() < height+chaintest.Maturity {
		r.requireHolding(r.vite, owner, usd, 0)
		require.Equal(t, records.Seen, r.transfer(hash).State)
		if newest := r.eth.Final() + finality; newest+1 < height+chaintest.Maturity {
			require.Empty(t, r.held(), "at %d", newest)
		}
		r.run(1)
	}
	r.rest()
	r.requireHolding(r.vite, owner, usd, 2000)
	r.requirePaidOnce(payout)

	lost := r.eth.MineTo(address, units(200_000))
	r.run(2)
	r.eth.Reorg(3, true)
	r.rest()
	r.rest()
	require.Equal(t, records.Orphaned, r.transfer(lost).State)
	r.requireHolding(r.vite, owner, usd, 2000)
}

// TestCoinsOfABlockThatIsNotFinal are not spent: a payout waits for them.
func TestCoinsOfABlockThatIsNotFinal(t *testing.T) {
	r := setupCoins(t)
	hash := r.payouts(1)[0]
	r.rest()
	require.Equal(t, records.Queued, r.payment(hash).State)
	fundPool(r.eth, r.net.Hot, 2, 100_000)
	for range finality {
		r.run(1)
		require.Equal(t, records.Queued, r.payment(hash).State)
		require.Empty(t, r.held())
		balance, err := r.eth.Balance(t.Context(), r.net.Hot, chain.Native)
		require.NoError(t, err)
		require.True(t, balance.IsZero())
	}
	r.rest()
	r.requirePaidOnce(hash)
}

// TestBatchesShareNoCoin: transactions that wait at the same time spend different coins, also those
// that they add, and all payees are paid while the change of others is on its way.
func TestBatchesShareNoCoin(t *testing.T) {
	for _, most := range []int{1, 2, 50} {
		t.Run(fmt.Sprint(most), func(t *testing.T) {
			r := setupCoins(t, 70_000, 70_000, 70_000, 70_000, 70_000, 70_000, 200_000, 200_000, 200_000)
			r.eth.SetBatch(most, 0)
			r.eth.SetBaseFee(40)
			r.eth.KeepFirst(true)
			var hashes []string
			for range 2 {
				hashes = append(hashes, r.payouts(4)...)
				r.vite.Mine(finality + 1)
				r.step()
				r.step()
			}
			users, transactions := map[string]string{}, map[string]bool{}
			for _, h := range hashes {
				for _, a := range r.attempts(r.payment(h)) {
					transactions[a.Hash] = true
					for _, out := range chaintest.Spends(a.Attempt) {
						require.Equal(t, a.Hash, cmp.Or(users[out], a.Hash), "coin %s", out)
						users[out] = a.Hash
					}
				}
			}
			require.Greater(t, len(transactions), 1)
			require.Greater(t, len(users), len(transactions))
			r.eth.SetBaseFee(10)
			for range 4 {
				r.rest()
			}
			r.requirePaidOnce(hashes...)
		})
	}
}

// TestSmallSlotFreesALargeOne: two bound payments have taken the only coins, and the first needs
// both. The second is signed, and its change pays for the first.
func TestSmallSlotFreesALargeOne(t *testing.T) {
	r := setupCoins(t, 100_000, 100_000)
	owner, _ := r.user()
	large := r.withdraw(owner, r.eth.Address("large"), 1500+fee)
	r.vite.Mine(1)
	small := r.withdraw(owner, r.eth.Address("small"), 300+fee)
	r.vite.Mine(finality + 1)
	r.step()
	r.step()
	require.Equal(t, []records.PaymentState{records.Bound, records.Bound}, []records.PaymentState{r.payment(large).State, r.payment(small).State})
	r.rest()
	r.rest()
	require.Equal(t, []records.PaymentState{records.Paid, records.Paid}, []records.PaymentState{r.payment(large).State, r.payment(small).State})
	r.requireHolding(r.eth, r.eth.Address("large"), chain.Native, 150_000)
	r.requireHolding(r.eth, r.eth.Address("small"), chain.Native, 30_000)
	r.requireSound()
}

// TestNodeThatDoesNotReplace: where no replacement helps, none is signed, and the payout waits for
// the fees to come down. No coin is left for its child.
func TestNodeThatDoesNotReplace(t *testing.T) {
	r := setupCoins(t, 200_000)
	hash := r.waitingPayouts(1)[0]
	r.rest()
	require.Len(t, r.attempts(r.payment(hash)), 1)
	r.requireHolding(r.eth, r.payment(hash).Payee, chain.Native, 0)
	r.eth.SetBaseFee(10)
	r.rest()
	r.requirePaidOnce(hash)

	r.eth.KeepFirst(false)
	hash = r.payouts(1)[0]
	r.vite.Mine(finality + 1)
	r.step()
	r.eth.SetBaseFee(40)
	r.run(finality + 2)
	require.Len(t, r.attempts(r.payment(hash)), 2, "others replace")
	r.rest()
	r.requirePaidOnce(hash)
}

// TestUnpayableIsRefunded: a payee that cannot be paid gets no slot.
func TestUnpayableIsRefunded(t *testing.T) {
	r := setupCoins(t, 200_000, 200_000)
	r.eth.SetBatch(50, 0)
	owner, _ := r.user()
	r.eth.Reject(r.eth.Address("refuses"), true)
	bad := r.withdraw(owner, r.eth.Address("refuses"), 1000)
	good := r.payouts(1)[0]
	r.rest()
	r.rest()
	r.requirePaidOnce(good)
	r.requireState(bad, records.Refused, records.ReasonPayeeRefuses)
	r.requireHolding(r.vite, owner, usd, 1000)
}

// TestHeldPayoutReleasesItsCoin: a payment that the signer holds after it was bound leaves its slot
// by a transaction that spends the slot's coin to ourselves.
func TestHeldPayoutReleasesItsCoin(t *testing.T) {
	r := setupCoins(t, 200_000, 200_000, 200_000)
	held, behind := r.heldPayout(claimVerdicts{})
	coin := r.slotOf(held).Coin
	r.rest()
	require.Equal(t, records.Bound, r.payment(held).State)
	r.now = r.now.Add(pay.LeaveHeldAfter)
	r.rest()
	r.rest()
	require.Equal(t, records.HeldPayment, r.payment(held).State)
	require.Equal(t, records.Paid, r.payment(behind).State)
	r.requireHolding(r.eth, r.payment(held).Payee, chain.Native, 0)
	for _, c := range r.held() {
		require.NotEqual(t, coin, c.Out, "it was spent")
		require.False(t, c.Bound)
	}
	r.requireSound()
}

// TestHeldPayoutsDelayNoOther: slots of coins are independent, so a payout is signed whatever the
// signer holds before it.
func TestHeldPayoutsDelayNoOther(t *testing.T) {
	r := setupCoins(t, 200_000, 200_000, 200_000, 200_000, 200_000)
	verdicts := claimVerdicts{}
	held, behind := r.heldPayout(verdicts)
	r.run(2)
	require.Len(t, r.attempts(r.payment(behind)), 1)
	r.rest()
	require.Equal(t, records.Paid, r.payment(behind).State)
	require.Equal(t, records.Bound, r.payment(held).State, "it is not time yet")
	require.Empty(t, r.attempts(r.payment(held)))
	r.now = r.now.Add(pay.TellUnsignedAfter)
	r.run(1)
	require.Contains(t, r.shownHeld(), "it is on the list")
	require.NotContains(t, r.shownHeld(), "blocks later payments")
	r.view(func(tx *records.Tx) error {
		list, err := records.Conditions(tx)
		for _, c := range list {
			require.False(t, c.Stops, c.Detail)
		}
		return err
	})
	clear(verdicts)
	r.rest()
	r.requirePaidOnce(held, behind)
	require.Empty(t, r.shownHeld())
}

// TestLostSignatureIsCancelled: restored records do not know a payout that was signed and that no
// node has any more. Its coin is spent to ourselves, and then it is paid, once.
func TestLostSignatureIsCancelled(t *testing.T) {
	r := setupCoins(t, 200_000, 200_000)
	r.setChannel(records.Withdrawal, "MAINTAIN")
	hash := r.payouts(1)[0]
	r.run(finality + 3)
	p := r.payment(hash)
	verdicts, err := r.parts.Signer.Authorize(t.Context(), "btc", transfers.ClaimOf(p, r.transfer(hash)))
	require.NoError(t, err)
	require.Equal(t, chain.Authorized, verdicts[0].State)
	order := chain.Payment{ID: p.ID, Purpose: chain.Credit, Asset: chain.Native, To: p.Payee, Amount: p.Amount}
	slot := chain.Slot{Account: r.net.Hot, Key: "hot", Nonce: r.account("btc", r.net.Hot).Next, Coin: r.held()[0].Out}
	a, err := r.eth.Prepare(t.Context(), slot, order, nil)
	require.NoError(t, err)
	signed, err := r.parts.Signer.Sign(t.Context(), "btc", chain.Order{Slot: slot, Payment: order, Unsigned: a.Raw})
	require.NoError(t, err)
	r.restart()
	r.setChannel(records.Withdrawal, "OPEN")
	r.rest()
	require.Equal(t, records.AccountRecovering, r.account("btc", r.net.Hot).State)
	for _, c := range r.held() {
		require.NotEqual(t, slot.Coin, c.Out, "the number is cancelled")
	}
	require.Error(t, chaintest.Send(t.Context(), r.eth, chain.Attempt{Hash: signed[0].Hash, Raw: signed[0].Raw}), "it can never be mined")
	require.NoError(t, r.operatorRecovery().Resume(t.Context(), "btc", r.net.Hot, 0))
	r.rest()
	r.requirePaidOnce(hash)
}

// TestUnknownPayoutIsSettled: restored records find a payout in a block that only the sign-guard
// knows, by the coin that it spends, and settle it.
func TestUnknownPayoutIsSettled(t *testing.T) {
	for _, most := range []int{1, 50} {
		t.Run(fmt.Sprint(most), func(t *testing.T) {
			r := setupCoins(t, 200_000, 200_000)
			backup := r.backup()
			r.eth.SetBatch(most, 0)
			hashes := r.payouts(2)
			r.rest()
			r.requirePaid(hashes...)
			r.restore(backup)
			r.rest()
			r.rest()
			ops := r.operatorRecovery()
			_, err := ops.SettleAll(t.Context(), "vite", r.net.Gateway, 0)
			require.NoError(t, err)
			done, err := ops.SettleAll(t.Context(), "btc", r.net.Hot, 0)
			require.NoError(t, err)
			require.Len(t, done, 2)
			require.NoError(t, ops.Resume(t.Context(), "vite", r.net.Gateway, 0))
			require.NoError(t, ops.Resume(t.Context(), "btc", r.net.Hot, 0))
			r.rest()
			r.requirePaidOnce(hashes...)
			later := r.payouts(1)[0]
			r.rest()
			r.requirePaidOnce(later)
		})
	}
}

// merges are the payments that bring coins of the pool together, oldest first.
func (r *rig) merges() (list []records.Payment) {
	r.t.Helper()
	r.view(func(tx *records.Tx) error {
		for id := uint64(1); ; id++ {
			p, err := tx.Payments().Get(id)
			if errors.Is(err, records.ErrNotFound) {
				return nil
			}
			if err != nil {
				return err
			}
			if p.Purpose == chain.Merge {
				list = append(list, p)
			}
		}
	})
	return list
}

// TestSmallCoinsAreMerged: a pool of many coins makes few of them, while fees are low and no user's
// payment waits. The large ones stay for payouts.
func TestSmallCoinsAreMerged(t *testing.T) {
	amounts := append([]uint64{900_000}, slices.Repeat([]uint64{20_000}, 64)...)
	r := setupCoins(t)
	r.eth.SetBaseFee(40)
	for _, amount := range amounts {
		fundPool(r.eth, r.net.Hot, 1, amount)
	}
	r.rest()
	require.Len(t, r.held(), len(amounts))
	require.Empty(t, r.merges(), "fees are high")
	r.setChannel(records.Withdrawal, "MAINTAIN")
	r.eth.SetBaseFee(10)
	r.run(1)
	require.Len(t, r.merges(), 1)
	hash := r.payouts(1)[0]
	r.setChannel(records.Withdrawal, "OPEN")
	large := r.held()[0].Out
	r.vite.Mine(finality + 1)
	r.step()
	r.step()
	require.Equal(t, large, r.slots(r.payment(hash))[0].Coin, "the merge leaves it to payouts")
	r.rest()
	r.rest()
	r.requirePaidOnce(hash)
	merge := r.merges()
	require.Len(t, merge, 1)
	require.Equal(t, records.Paid, merge[0].State)
	require.Less(t, len(r.held()), 45)
	merges, children := r.eth.Merges()
	require.Equal(t, []int{1, 0}, []int{merges, children})
}

// TestMergesWaitForUsers: while a user's payment waits, no coins are merged.
func TestMergesWaitForUsers(t *testing.T) {
	r := setupCoins(t)
	hash := r.payouts(1)[0]
	r.rest()
	require.Equal(t, records.Queued, r.payment(hash).State)
	for range 61 {
		fundPool(r.eth, r.net.Hot, 1, 1_000) // of which no number of coins pays it
	}
	r.rest()
	require.Equal(t, records.Queued, r.payment(hash).State)
	require.Empty(t, r.merges())
}

// stuckPayout is a payout that waits for too low a fee, and no node replaces it. The pool has coins
// for its child.
func (r *rig) stuckPayout() (hash string, parent chain.Attempt) {
	r.t.Helper()
	hash = r.waitingPayouts(1)[0]
	for range 20 {
		if merges := r.merges(); len(merges) > 0 && len(r.attempts(merges[0])) > 0 {
			return hash, r.attempts(r.payment(hash))[0].Attempt
		}
		r.run(1)
	}
	r.t.Fatal("there is no child")
	return "", parent
}

// TestStuckPayoutLeavesByItsChild: a merge spends the change of a payout that no node replaces, and
// pays for both. There is one for each attempt.
func TestStuckPayoutLeavesByItsChild(t *testing.T) {
	r := setupCoins(t, 200_000, 200_000, 15_000)
	small := r.held()[2].Out
	hash, parent := r.stuckPayout()
	merges := r.merges()
	require.Len(t, merges, 1)
	require.Contains(t, merges[0].Source, parent.Hash)
	slot := r.slots(merges[0])[0]
	require.Equal(t, small, slot.Coin, "the large ones are left to payouts")
	r.rest()
	r.requirePaidOnce(hash)
	require.Equal(t, records.Paid, r.merges()[0].State)
	require.Len(t, r.merges(), 1)
	found, children := r.eth.Merges()
	require.Equal(t, []int{1, 1}, []int{found, children})
	for _, h := range r.held() {
		require.False(t, h.Bound, "%s", h.Out)
	}
}

// TestChildInAReorg: the blocks of a parent and its child leave the line, at any depth, and the
// child's coin is given to no other slot.
func TestChildInAReorg(t *testing.T) {
	for depth := 1; depth <= 3; depth++ {
		r := setupCoins(t, 200_000, 200_000, 15_000, 200_000)
		hash, parent := r.stuckPayout()
		source := r.merges()[0].Source
		r.run(2)
		_, _, mined := r.eth.Find(parent.Hash)
		require.True(t, mined)
		r.eth.Reorg(depth, false)
		r.eth.LoseDropped()
		r.eth.SetBaseFee(10)
		r.eth.Hold(r.net.Hot, true) // blocks take none of ours
		more := r.payouts(2)
		r.vite.Mine(finality + 1)
		r.run(2)
		for _, h := range more {
			for _, a := range r.attempts(r.payment(h)) {
				require.NotContains(t, chaintest.Spends(a.Attempt), source)
			}
		}
		r.eth.Hold(r.net.Hot, false)
		r.rest()
		r.rest()
		r.requirePaidOnce(append(more, hash)...)
		require.Equal(t, records.Paid, r.merges()[0].State)
	}
}

// TestChildIsKeptItsCoin: the parent is in a block before its child. The change is the child's, and
// no other slot gets it.
func TestChildIsKeptItsCoin(t *testing.T) {
	r := setupCoins(t, 200_000, 15_000)
	hash, parent := r.stuckPayout()
	merge := r.merges()[0]
	child := r.attempts(merge)[0]
	require.True(t, r.eth.Drop(child.Hash))
	r.eth.LoseDropped()
	r.eth.SetBaseFee(10)
	r.eth.Mine(1)
	_, _, mined := r.eth.Find(parent.Hash)
	require.True(t, mined)
	r.eth.SetBaseFee(60)
	r.eth.Hold(r.net.Hot, true)
	r.run(finality + 2)
	r.requirePaid(hash)
	for _, h := range r.held() {
		if h.Out == merge.Source {
			require.Equal(t, []any{true, r.slots(merge)[0].Nonce, true}, []any{h.Bound, h.Number, h.Signed})
		}
	}
	waits := r.payouts(1)[0]
	r.vite.Mine(finality + 1)
	r.run(2)
	require.NotEqual(t, merge.Source, r.slotCoin(waits))
	r.eth.Hold(r.net.Hot, false)
	r.eth.SetBaseFee(10)
	r.rest()
	r.rest()
	r.requirePaidOnce(hash, waits)
	require.Equal(t, records.Paid, r.merges()[0].State)
}

func (r *rig) slotCoin(hash string) string {
	r.t.Helper()
	if slots := r.slots(r.payment(hash)); len(slots) > 0 {
		return slots[0].Coin
	}
	return ""
}

// TestChildLosesItsParent: a thief spends the coin of the parent. The child can never be mined, and
// leaves its number by a transaction without that coin.
func TestChildLosesItsParent(t *testing.T) {
	r := setupCoins(t, 200_000, 200_000, 15_000)
	hash, parent := r.stuckPayout()
	merge := r.merges()[0]
	require.Len(t, r.attempts(merge), 1)
	thief := r.eth.Steal("hot", r.eth.Address("mallory"), chaintest.Spends(parent)[0])
	r.run(finality + 2)
	require.Equal(t, records.AccountHalted, r.account("btc", r.net.Hot).State)
	ops := r.operatorRecovery()
	r.unknownTx(ops, "btc", r.net.Hot)
	require.NoError(t, ops.Accept(t.Context(), "btc", r.net.Hot, thief, "our own move", 0))
	r.eth.SetBaseFee(10)
	require.ErrorIs(t, ops.Resume(t.Context(), "btc", r.net.Hot, 0), recovery.ErrNotAtRest)
	r.rest()
	require.NoError(t, ops.Resume(t.Context(), "btc", r.net.Hot, 0))
	r.rest()
	r.requirePaidOnce(hash)
	require.Equal(t, records.Paid, r.merges()[0].State)
	attempts := r.attempts(merge)
	require.Len(t, attempts, 2)
	require.NotContains(t, chaintest.Spends(attempts[1].Attempt), merge.Source)
}

// TestLostChildIsCancelled: restored records do not know the child of a stuck payout. Its coin is
// spent to ourselves, and the payout is paid once.
func TestLostChildIsCancelled(t *testing.T) {
	r := setupCoins(t, 200_000, 200_000, 15_000)
	hash := r.waitingPayouts(1)[0]
	backup := r.backup()
	r.run(finality + 2)
	require.Len(t, r.attempts(r.merges()[0]), 1)
	r.restore(backup)
	r.rest()
	r.rest()
	require.NoError(t, r.operatorRecovery().Resume(t.Context(), "btc", r.net.Hot, 0))
	r.rest()
	r.rest()
	r.requirePaidOnce(hash)
}

// TestChildOfAChild: a child that offers too little waits; it gets no child of its own.
func TestChildOfAChild(t *testing.T) {
	r := setupCoins(t, 200_000, 200_000, 15_000, 15_000)
	hash, _ := r.stuckPayout()
	r.eth.SetBaseFee(200)
	r.run(finality + 3)
	require.Len(t, r.merges(), 1)
	r.eth.SetBaseFee(10)
	r.rest()
	r.requirePaidOnce(hash)
}

// noMerges is a signer whose limit of merges is reached.
type noMerges struct {
	Signer
	why error
}

func (s noMerges) Sign(ctx context.Context, id chain.ID, orders ...chain.Order) ([]chain.SignedTx, error) {
	i := slices.IndexFunc(orders, func(o chain.Order) bool { return o.Payment.Purpose == chain.Merge })
	if i < 0 {
		return s.Signer.Sign(ctx, id, orders...)
	}
	signed, err := s.Signer.Sign(ctx, id, orders[:i]...)
	return signed, errors.Join(err, s.why)
}

// TestUnsignedMergeKeepsNothingBack: a merge that is bound, and not signed, because of the signer
// or of fees, keeps no payout waiting.
func TestUnsignedMergeKeepsNothingBack(t *testing.T) {
	for shown, why := range map[string]error{"": chain.ErrNotNow, "the same `merge_below`": errors.New("the signer refuses")} {
		t.Run(why.Error(), func(t *testing.T) { unsignedMerge(t, why, shown) })
	}
}

func unsignedMerge(t *testing.T, why error, shown string) {
	t.Helper()
	r := setupCoins(t)
	real := r.parts.Signer
	r.parts.Signer = noMerges{real, why}
	r.restart()
	for range 64 {
		fundPool(r.eth, r.net.Hot, 1, 200_000)
	}
	r.rest()
	require.Equal(t, records.Bound, r.merges()[0].State)
	require.Empty(t, r.attempts(r.merges()[0]))
	r.now = r.now.Add(pay.LeaveHeldAfter)
	r.run(1)
	require.Equal(t, shown != "", strings.Contains(r.shownHeld(), "the same `merge_below`"))
	require.Equal(t, records.Bound, r.merges()[0].State, "it costs no cancellation")
	r.view(func(tx *records.Tx) error {
		waiting, err := records.OldestWaiting(tx, "btc", r.net.Hot)
		require.Empty(t, waiting, "no user waits for it")
		return err
	})
	first := r.payouts(1)[0]
	r.rest()
	r.rest()
	r.requirePaidOnce(first)
	r.eth.SetBaseFee(40)
	second := r.payouts(1)[0]
	r.rest()
	r.rest()
	r.requirePaidOnce(second)
	require.Equal(t, records.Bound, r.merges()[0].State)
	r.parts.Signer = real
	r.eth.SetBaseFee(10)
	r.restart()
	r.rest()
	r.rest()
	require.Equal(t, records.Paid, r.merges()[0].State)
	require.Empty(t, r.shownHeld())
}
