package watcher

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/chaintest"
	"gatewayd/records"
	"gatewayd/signer"
	"gatewayd/transfers"
	"gatewayd/watcher/pay"
)

// batchRig is a gateway whose payouts share transactions, with the allowance that this needs.
func batchRig(t *testing.T, most int, wait time.Duration) *rig {
	t.Helper()
	r := setup(t)
	r.eth.SetBatch(most, wait)
	r.rest()
	return r
}

// payouts orders withdrawals to payees of their own.
func (r *rig) payouts(n int) (hashes []string) {
	r.t.Helper()
	owner, _ := r.user()
	for range n {
		r.users++
		hashes = append(hashes, r.withdraw(owner, r.eth.Address(fmt.Sprintf("payee %d", r.users)), 1000))
	}
	return hashes
}

// sizes counts the batches in the source chain by the number of their payments; plain ones of the
// hot account count as 1.
func (r *rig) sizes() map[int]int {
	r.t.Helper()
	byTx := map[string]int{}
	r.view(func(tx *records.Tx) error {
		list, err := tx.Transfers().Where(`WHERE direction = 'withdrawal' ORDER BY id`)
		for _, t := range list {
			payments, err := tx.Payments().Of(t.ID)
			if err != nil {
				return err
			}
			for _, p := range payments {
				if p.Purpose == chain.Credit && p.State == records.Paid {
					byTx[p.Tx]++
				}
			}
		}
		return err
	})
	sizes := map[int]int{}
	for _, n := range byTx {
		sizes[n]++
	}
	return sizes
}

func (r *rig) requirePaid(hashes ...string) {
	r.t.Helper()
	for _, h := range hashes {
		p := r.payment(h)
		require.Equal(r.t, records.Paid, p.State, "%s: %s", h, p.Reason)
		r.requireHolding(r.eth, p.Payee, r.asset, (1000-fee)*100)
	}
}

// TestAllowanceComesFirst: batches move a token only after the account has allowed it, and payouts
// do not wait for that.
func TestAllowanceComesFirst(t *testing.T) {
	r := setup(t)
	r.setChannel(records.Withdrawal, "MAINTAIN")
	first := r.payouts(3)
	r.rest()
	r.eth.SetBatch(50, 0)
	r.setChannel(records.Withdrawal, "OPEN")
	r.rest()
	r.requirePaid(first...)
	require.Equal(t, map[int]int{1: 3}, r.sizes())
	allowed, err := r.eth.Allowed(t.Context(), r.net.Hot, usdEth, units(1))
	require.NoError(t, err)
	require.True(t, allowed)
	second := r.payouts(3)
	r.rest()
	r.requirePaid(second...)
	require.Equal(t, map[int]int{1: 3, 3: 1}, r.sizes())
	r.requireSound()
}

func TestBatchesAreFilled(t *testing.T) {
	r := batchRig(t, 4, time.Hour)
	hashes := r.payouts(11)
	r.rest()
	r.requirePaid(hashes...)
	require.Equal(t, map[int]int{4: 2, 3: 1}, r.sizes())
	r.requireSound()
}

// TestPayoutWaitsForOthers: a payout waits as long as its chain says, and leaves alone when no
// other has come.
func TestPayoutWaitsForOthers(t *testing.T) {
	r := batchRig(t, 50, time.Minute)
	hash := r.payouts(1)[0]
	r.rest()
	require.Equal(t, records.Queued, r.payment(hash).State)
	r.now = r.now.Add(time.Minute)
	r.rest()
	r.requirePaid(hash)

	early := r.payouts(1)[0]
	r.rest()
	r.now = r.now.Add(30 * time.Second)
	late := r.payouts(1)[0]
	r.rest()
	require.Equal(t, records.Queued, r.payment(late).State)
	r.now = r.now.Add(30 * time.Second)
	r.rest()
	r.requirePaid(early, late)
	require.Equal(t, r.payment(early).Tx, r.payment(late).Tx, "the first takes the others along")
	r.requireSound()
}

// TestFailedInABatchGoesAlone: one payee who takes nothing costs the others of its batch nothing.
// It is tried once more by itself, and refunded less its fee.
func TestFailedInABatchGoesAlone(t *testing.T) {
	r := batchRig(t, 50, 0)
	owner, _ := r.user()
	bad := r.eth.Address("refuses")
	r.eth.RejectUnseen(bad, true)
	failed := []string{r.withdraw(owner, bad, 1000), r.withdraw(owner, bad, 1000)}
	others := r.payouts(4)
	r.rest()
	r.requirePaid(others...)
	r.rest()
	batches, made, void := r.eth.Batches()
	require.Equal(t, []int{1, 4, 2}, []int{batches, made, void})
	r.requireHolding(r.eth, bad, usdEth, 0)
	r.requireHolding(r.vite, owner, usd, 2*(1000-fee))
	for _, hash := range failed {
		payments := r.payments(hash)
		require.Equal(t, []records.PaymentState{records.VoidPayment, records.Paid}, []records.PaymentState{payments[0].State, payments[1].State})
		require.Equal(t, 2, payments[0].Gen, "once in the batch, and once alone")
	}
	r.requireSound()
}

// TestPaymentsThatShareNoTransaction: labels, payees that the ledger wants by themselves, and what
// is no payout have transactions of their own.
func TestPaymentsThatShareNoTransaction(t *testing.T) {
	r := batchRig(t, 50, 0)
	owner, _ := r.user()
	r.order(owner, coin, 1000, chain.Memo{Type: 1, Address: r.eth.Address("exchange"), Label: "777"})
	r.order(owner, coin, 1000, chain.Memo{Type: 1, Address: r.eth.Address("exchange"), Label: "778"})
	r.order(owner, coin, 1000, chain.Memo{Type: 1, Address: r.eth.Address("exchange"), Label: ""})
	r.vite.SetBatch(50, 0)
	for range 2 {
		r.order(owner, usd, 1000, chain.Memo{Type: 0, Address: "nowhere"}) // is refunded
	}
	separate := r.eth.Address("separate")
	r.eth.KeepSeparate(separate)
	alone := []string{r.withdraw(owner, separate, 1000), r.withdraw(owner, separate, 1000)}
	together := r.payouts(2)
	r.rest()
	r.rest()
	r.requirePaid(together...)
	require.Equal(t, r.payment(together[0]).Tx, r.payment(together[1]).Tx)
	require.NotEqual(t, r.payment(alone[0]).Tx, r.payment(alone[1]).Tx)
	batches, made, void := r.eth.Batches()
	require.Equal(t, []int{1, 2, 0}, []int{batches, made, void})
	batches, _, _ = r.vite.Batches()
	require.Zero(t, batches, "refunds")
	r.requireSound()
}

// blindChain shows no outcomes of batches.
type blindChain struct {
	chain.Chain
	chain.Batcher
}

func (c blindChain) Block(ctx context.Context, height uint64) (chain.Block, error) {
	b, err := c.Chain.Block(ctx, height)
	for i := range b.OwnTxs {
		b.OwnTxs[i].Members = nil
	}
	return b, err
}

// TestBatchWithoutOutcomesIsHeld: what a block does not show of a batch is for people, neither paid
// nor paid again.
func TestBatchWithoutOutcomesIsHeld(t *testing.T) {
	r := batchRig(t, 50, 0)
	r.parts.Chains["eth"] = blindChain{r.eth, r.eth}
	r.restart()
	hashes := r.payouts(2)
	r.rest()
	for _, h := range hashes {
		p := r.payment(h)
		require.Equal(t, []any{records.HeldPayment, records.ReasonPayoutDiffers}, []any{p.State, p.Reason})
		r.requireHolding(r.eth, p.Payee, usdEth, (1000-fee)*100)
	}
}

// TestHeldInABatchHoldsNoOther: a payment that the signer holds after it was bound in a batch
// leaves its number at once, because others share it.
func TestHeldInABatchHoldsNoOther(t *testing.T) {
	r := batchRig(t, 50, 0)
	verdicts := claimVerdicts{}
	held, behind := r.heldPayout(verdicts)
	require.Equal(t, r.slotOf(held).Nonce, r.slotOf(behind).Nonce)
	r.rest()
	require.Less(t, r.now.Sub(r.payment(held).ChangedAt), pay.LeaveHeldAfter)
	require.Equal(t, records.HeldPayment, r.payment(held).State)
	r.requirePaid(behind)
	r.requireSound()
}

func (r *rig) slotOf(hash string) (s records.Slot) {
	r.t.Helper()
	p := r.payment(hash)
	r.view(func(tx *records.Tx) error {
		slots, err := tx.Slots().Of(p.ID)
		require.NotEmpty(r.t, slots)
		s = slots[len(slots)-1]
		return err
	})
	return s
}

// TestUnknownBatchIsSettled: restored records settle a batch that the sign-guard and the ledger
// know, each payment by its place, and only when all of it fits.
func TestUnknownBatchIsSettled(t *testing.T) {
	for name, missing := range map[string]bool{"all": false, "one is missing": true} {
		t.Run(name, func(t *testing.T) {
			r := batchRig(t, 50, 0)
			r.setChannel(records.Withdrawal, "MAINTAIN")
			hashes := r.payouts(3)
			r.run(finality + 3)
			order := chain.Payment{ID: r.payment(hashes[2]).ID, Purpose: chain.Batch, Asset: usdEth, To: r.eth.BatchTo(usdEth)}
			for _, h := range []string{hashes[2], hashes[0], hashes[1]} {
				p := r.payment(h)
				m := chain.Payment{ID: p.ID, Purpose: chain.Credit, Asset: usdEth, To: p.Payee, Amount: p.Amount}
				order.Members = append(order.Members, m)
				order.Amount, _ = order.Amount.Add(p.Amount)
				verdicts, err := r.parts.Signer.Authorize(t.Context(), "eth", transfers.ClaimOf(p, r.transfer(h)))
				require.NoError(t, err)
				require.Equal(t, chain.Authorized, verdicts[0].State)
			}
			if missing {
				order.Members[1].Amount, order.Members[2].Amount = units(5), units((2000-2*fee)*100-5)
			}
			r.sendSigned(order, missing)
			r.run(finality + 3)
			require.Equal(t, records.AccountHalted, r.account("eth", r.net.Hot).State)

			ops := r.operatorRecovery()
			done, err := ops.SettleAll(t.Context(), "eth", r.net.Hot, 0)
			require.NoError(t, err)
			if missing {
				require.Empty(t, done)
				require.Error(t, ops.Resume(t.Context(), "eth", r.net.Hot, 0))
				f := r.unknownTx(ops, "eth", r.net.Hot)
				require.NoError(t, ops.Accept(t.Context(), "eth", r.net.Hot, f.Tx, "two were paid otherwise", 0))
				require.Equal(t, []records.PaymentState{records.Queued, records.Queued, records.Paid},
					[]records.PaymentState{r.payment(hashes[0]).State, r.payment(hashes[1]).State, r.payment(hashes[2]).State})
				require.NoError(t, ops.Resume(t.Context(), "eth", r.net.Hot, 0))
				return
			}
			require.Len(t, done, 3)
			require.NoError(t, ops.Resume(t.Context(), "eth", r.net.Hot, 0))
			r.setChannel(records.Withdrawal, "OPEN")
			r.rest()
			r.requirePaid(hashes...)
			r.requireSound()
		})
	}
}

// sendSigned has an order signed at the hot account's next number and sent, past the records; a
// foreign one past the sign-guard too.
func (r *rig) sendSigned(order chain.Payment, foreign bool) {
	r.t.Helper()
	slot := chain.Slot{Account: r.net.Hot, Key: "hot", Nonce: r.account("eth", r.net.Hot).Next}
	if foreign {
		a, err := chaintest.Sign(r.t.Context(), r.eth, chaintest.NoKeys{}, slot, order, nil)
		require.NoError(r.t, err)
		require.NoError(r.t, chaintest.Send(r.t.Context(), r.eth, a))
		return
	}
	a, err := r.eth.Prepare(r.t.Context(), slot, order, nil)
	require.NoError(r.t, err)
	signed, err := r.parts.Signer.Sign(r.t.Context(), "eth", chain.Order{Slot: slot, Payment: order, Unsigned: a.Raw})
	require.NoError(r.t, err)
	a.Hash, a.Raw = signed[0].Hash, signed[0].Raw
	require.NoError(r.t, chaintest.Send(r.t.Context(), r.eth, a))
}

// TestManyBatchesAfterARestart: more payments than a signer takes at once are bound and not signed;
// a signer that has forgotten its authorizations signs them all the same.
func TestManyBatchesAfterARestart(t *testing.T) {
	r := batchRig(t, 30, 0)
	r.parts.Signer = allows{r.evidenceSigner(claimVerdicts{}, chaintest.NoKeys{})}
	r.restart()
	hashes := r.payouts(signer.MaxOrders + 50)
	r.vite.Mine(finality + 1)
	for range 8 {
		require.NoError(t, r.w.followers["vite"].Round(t.Context()))
	}
	r.bindOnly("eth")
	r.bindOnly("eth")
	require.Equal(t, records.Bound, r.payment(hashes[len(hashes)-1]).State)
	r.parts.Signer = r.evidenceSigner(claimVerdicts{}, chaintest.NoKeys{})
	r.restart()
	r.rest()
	r.requirePaid(hashes...)
	r.requireSound()
}

// TestLostAllowanceReleasesTheNumber: a batch that cannot be signed leaves its number after ten
// minutes, and its payments leave otherwise.
func TestLostAllowanceReleasesTheNumber(t *testing.T) {
	r := batchRig(t, 50, 0)
	lost := &lostAllowance{Chain: r.eth, Batcher: r.eth}
	r.parts.Chains["eth"] = lost
	r.restart()
	lost.lost = true
	hashes := r.payouts(3)
	r.rest()
	require.Equal(t, records.Bound, r.payment(hashes[0]).State)
	r.now = r.now.Add(10 * time.Minute)
	r.eth.SetBatch(0, 0)
	r.rest()
	r.rest()
	r.requirePaid(hashes...)
	r.requireSound()
}

// lostAllowance is a chain whose batches cannot be prepared.
type lostAllowance struct {
	chain.Chain
	chain.Batcher
	lost bool
}

func (c *lostAllowance) Prepare(ctx context.Context, slot chain.Slot, pay chain.Payment, prev []chain.Attempt) (chain.Attempt, error) {
	if c.lost && pay.Purpose == chain.Batch {
		return chain.Attempt{}, chain.ErrNotNow
	}
	return c.Chain.Prepare(ctx, slot, pay, prev)
}

// TestBatchOverItsCeiling: payments whose batch costs more than they may are paid one by one.
func TestBatchOverItsCeiling(t *testing.T) {
	r := batchRig(t, 50, 0)
	r.parts.Chains["eth"] = dearBatches{r.eth, r.eth}
	r.restart()
	hashes := r.payouts(3)
	r.rest()
	r.requirePaid(hashes...)
	require.Equal(t, map[int]int{1: 3}, r.sizes())
	r.requireSound()
}

// dearBatches is a chain where batches are over every ceiling.
type dearBatches struct {
	chain.Chain
	chain.Batcher
}

func (c dearBatches) Estimate(ctx context.Context, account string, pay chain.Payment) (chain.Amount, error) {
	if pay.Purpose == chain.Batch {
		return chain.Amount{}, chain.ErrFeeCeiling
	}
	return c.Chain.Estimate(ctx, account, pay)
}

// deafToken is a chain that gives no answer about allowances.
type deafToken struct {
	chain.Chain
	chain.Batcher
}

func (deafToken) Allowed(context.Context, string, chain.Asset, chain.Amount) (bool, error) {
	return false, chain.ErrUnavailable
}

// TestNoAnswerAboutBatches: payouts leave singly where the ledger gives no answer about batches.
func TestNoAnswerAboutBatches(t *testing.T) {
	r := setup(t)
	r.eth.SetBatch(50, 0)
	r.parts.Chains["eth"] = deafToken{r.eth, r.eth}
	r.restart()
	hashes := r.payouts(3)
	for range 3*finality + 6 {
		r.eth.Mine(1)
		r.vite.Mine(1)
		_ = r.w.Step(t.Context())
	}
	r.requirePaid(hashes...)
	require.Equal(t, map[int]int{1: 3}, r.sizes())
}

// TestReorgPaysHalfOfABatch: a batch that had paid all leaves its block, and a replacement pays
// half of them. No user is paid twice, and the others are paid singly.
func TestReorgPaysHalfOfABatch(t *testing.T) {
	r := batchRig(t, 50, 0)
	hashes := r.payouts(4)
	r.run(finality + 2)
	for _, h := range hashes {
		r.requireHolding(r.eth, r.payment(h).Payee, usdEth, (1000-fee)*100)
	}
	first, late := r.attempts(r.payment(hashes[0])), []string{r.payment(hashes[1]).Payee, r.payment(hashes[2]).Payee}
	r.eth.SetBaseFee(30) // the first attempt's cap is 22
	for _, to := range late {
		r.eth.RejectUnseen(to, true)
	}
	r.eth.Reorg(1, false)
	r.eth.LoseDropped()
	for range 3 * finality {
		r.run(1)
		if r.payment(hashes[1]).Gen == 1 { // the replacement is final
			break
		}
	}
	all := r.attempts(r.payment(hashes[0]))
	require.Greater(t, len(all), len(first))
	require.Equal(t, all[len(all)-1].Hash, r.payment(hashes[0]).Tx, "a replacement")
	for _, to := range late {
		r.requireHolding(r.eth, to, usdEth, 0)
		r.eth.RejectUnseen(to, false)
	}
	r.rest()
	r.rest()
	r.requirePaid(hashes...)
	require.Equal(t, map[int]int{2: 1, 1: 2}, r.sizes())
	r.requireSound()
}

// TestFaultOfOneDelaysNoOther: payees of every batch take nothing. All others are paid by the batch
// that they were in first, and those behind them without waiting for the failed ones.
func TestFaultOfOneDelaysNoOther(t *testing.T) {
	r := batchRig(t, 4, time.Hour)
	owner, _ := r.user()
	r.setChannel(records.Withdrawal, "MAINTAIN")
	var good, bad []string
	for i := range 4 {
		refuses := r.eth.Address(fmt.Sprintf("refuses %d", i))
		r.eth.RejectUnseen(refuses, true)
		bad = append(bad, r.withdraw(owner, refuses, 1000))
		good = append(good, r.payouts(3)...)
	}
	r.run(finality + 3)
	r.setChannel(records.Withdrawal, "OPEN")
	r.run(2) // they leave, and a block has them
	for _, h := range good {
		r.requireHolding(r.eth, r.payment(h).Payee, usdEth, (1000-fee)*100)
		require.Zero(t, r.payment(h).Gen)
	}
	r.rest()
	r.rest()
	r.requirePaid(good...)
	batches, made, void := r.eth.Batches()
	require.Equal(t, []int{4, 12, 4}, []int{batches, made, void})
	for _, h := range bad {
		require.Equal(t, records.VoidPayment, r.payments(h)[0].State)
	}
	r.requireHolding(r.vite, owner, usd, 4*(1000-fee))
	r.requireSound()
}

// TestFailedBatchIsPaidSingly: all payees of a batch whose transaction failed are paid at the next
// try, each by itself.
func TestFailedBatchIsPaidSingly(t *testing.T) {
	r := batchRig(t, 50, 0)
	hashes := r.payouts(3)
	r.eth.RejectUnseen(r.eth.BatchTo(usdEth), true)
	r.rest()
	r.eth.RejectUnseen(r.eth.BatchTo(usdEth), false)
	r.rest()
	r.requirePaid(hashes...)
	require.Equal(t, map[int]int{1: 3}, r.sizes())
	r.requireSound()
}

// TestApprovedPayoutGoesAlone: a payout that people had to approve, as a large one or the first to
// a payee, shares no transaction.
func TestApprovedPayoutGoesAlone(t *testing.T) {
	r := batchRig(t, 50, 0)
	large := r.eth.Address("large")
	verdicts := claimVerdicts{large: {State: chain.HeldClaim, Reason: chain.ReasonApproval, Text: "it wants approval"}}
	r.restartWithCheck(verdicts)
	owner, _ := r.user()
	hash := r.withdraw(owner, large, 1000)
	r.rest()
	require.Equal(t, records.HeldApproval, r.payment(hash).Reason)
	r.setChannel(records.Withdrawal, "MAINTAIN")
	others := r.payouts(3)
	r.run(finality + 3)
	clear(verdicts)
	approved := chain.Approval{Key: "ann", Expires: time.Now().Add(time.Hour).Unix(), Nonce: "n", Signature: "s"}
	r.update(func(tx *records.Tx) error { return transfers.Approve(tx, r.payment(hash).ID, approved) })
	r.setChannel(records.Withdrawal, "OPEN")
	r.rest()
	r.requirePaid(append(others, hash)...)
	require.Equal(t, map[int]int{3: 1, 1: 1}, r.sizes())
	r.requireSound()
}
