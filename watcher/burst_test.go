package watcher

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/watcher/pay"
	"gatewayd/watcher/recovery"
)

// Depths of finality as in production.
const (
	sourceDepth   = 64
	exchangeDepth = 180
)

// burstSize is how many deposits and withdrawals come at once; GATEWAYD_OPEN_SLOTS makes it more.
func burstSize(t *testing.T) int {
	if text := os.Getenv("GATEWAYD_OPEN_SLOTS"); text != "" {
		n, err := strconv.Atoi(text)
		require.NoError(t, err)
		return n
	}
	return 300
}

// sentTo counts the credits of an account that are signed and not final.
func (r *rig) sentTo(id chain.ID, account string) (n int) {
	r.t.Helper()
	r.view(func(tx *records.Tx) error {
		open, err := tx.Slots().Open(id, account)
		for _, o := range open {
			if o.Payment.Purpose == chain.Credit && len(o.Attempts) > 0 {
				n++
			}
		}
		return err
	})
	return n
}

// endow gives the paying accounts what a burst of n takes. It must come before the first Mine.
func (r *rig) endow(n int) {
	r.eth.Endow(r.net.Hot, usdEth, units(uint64(n)*minimum*100))
	r.vite.Endow(r.net.Gateway, usd, units(uint64(n)*minimum))
}

// burst makes n users deposit in one block and n withdraw in one.
func (r *rig) burst(n int) (deposits, withdrawals []string) {
	r.t.Helper()
	for range n {
		owner, address := r.user()
		deposits = append(deposits, r.deposit(address, minimum*100))
		withdrawals = append(withdrawals, r.withdraw(owner, r.eth.Address("payee of "+owner), minimum+fee))
	}
	return deposits, withdrawals
}

// What comes at once leaves at once: credits as fast as the ledger takes them, payouts as fast as
// blocks take the unmined ones, however deep finality is. While they wait for it they are open, and
// nothing of it slows others down.
func TestBurstLeavesAtProductionDepth(t *testing.T) {
	n := burstSize(t)
	r := setupAt(t, sourceDepth, exchangeDepth)
	r.endow(n)
	deposits, withdrawals := r.burst(n)
	r.run(1)
	credits, payouts := r.blocksUntilSent(n)
	require.LessOrEqual(t, credits, (n+n)/256+3, "snapshot blocks from final to sent: credits and the receives of what came in")
	require.LessOrEqual(t, payouts, n/16+3, "source blocks from final to sent")
	r.run(sourceDepth + exchangeDepth + 5)
	for _, hash := range append(deposits, withdrawals...) {
		require.Equal(t, records.Paid, r.payment(hash).State)
	}
	r.requireSound()
}

// blocksUntilSent counts the blocks from the one that makes the burst final until nothing of it
// waits for a slot.
func (r *rig) blocksUntilSent(n int) (credits, payouts int) {
	r.t.Helper()
	r.eth.Mine(sourceDepth)
	r.step()
	require.True(r.t, r.waits("vite", r.net.Gateway), "more are final than a snapshot block takes")
	for ; r.waits("vite", r.net.Gateway); credits++ {
		require.Less(r.t, credits, 100+n)
		r.eth.Mine(1)
		r.vite.Mine(1)
		r.step()
	}
	r.vite.Mine(exchangeDepth - credits)
	r.step()
	require.True(r.t, r.waits("eth", r.net.Hot), "more are final than a block takes")
	for ; r.waits("eth", r.net.Hot); payouts++ {
		require.Less(r.t, payouts, 100+n)
		r.run(1)
	}
	return credits, payouts
}

// waits reports whether a user's payment has no slot yet.
func (r *rig) waits(id chain.ID, account string) (found bool) {
	r.t.Helper()
	r.view(func(tx *records.Tx) error {
		assets, err := tx.Payments().QueuedAssets(id, account, records.ClassUser)
		found = len(assets) > 0
		return err
	})
	return found
}

// Whoever sends refusals cannot keep others waiting: a credit that becomes final behind hundreds of
// refunds leaves within two blocks.
func TestRefundsKeepNobodyWaiting(t *testing.T) {
	r := setupAt(t, sourceDepth, 2)
	owner, address := r.user()
	for range 1000 {
		r.withdraw(owner, r.eth.Address("payee"), 1) // below the minimum
	}
	hash := r.deposit(address, 50_000)
	r.eth.Mine(sourceDepth)
	r.run(3)
	r.eth.Mine(2)
	for blocks := 0; ; blocks++ {
		require.LessOrEqual(t, blocks, 2)
		r.step()
		if p := r.payments(hash); len(p) == 1 && p[0].State == records.Bound {
			break
		}
		r.eth.Mine(1)
		r.vite.Mine(1)
	}
	r.run(20)
	require.Equal(t, records.Paid, r.payment(hash).State)
	r.requireSound()
}

// A user with many payments waits behind users with one.
func TestUsersAreServedInTurn(t *testing.T) {
	r := setup(t)
	greedy, _ := r.user()
	var many []string
	for range 100 {
		many = append(many, r.withdraw(greedy, r.eth.Address("payee"), 1000))
	}
	r.vite.Mine(1)
	modest, _ := r.user()
	one := r.withdraw(modest, r.eth.Address("payee"), 1000)
	r.vite.Mine(finality + 1)
	r.step() // all are final; the first sixteen are bound
	require.Equal(t, records.Bound, r.payment(one).State)
	require.Equal(t, records.Queued, r.payment(many[len(many)-1]).State)
	r.run(3*finality + 12)
	require.Equal(t, records.Paid, r.payment(many[len(many)-1]).State)
	r.requireSound()
}

// A re-org takes mined payments out of their blocks: they count as unmined again and are sent
// again.
func TestReorgUnderManyOpenSlots(t *testing.T) {
	r := setupAt(t, sourceDepth, exchangeDepth)
	n := 40
	r.endow(n)
	_, withdrawals := r.burst(n)
	r.run(1)
	r.vite.Mine(exchangeDepth)
	r.run(n/16 + 2)
	require.Equal(t, n, r.sentTo("eth", r.net.Hot))
	unmined := func() (count int) {
		r.view(func(tx *records.Tx) error {
			list, err := tx.Slots().Unmined("eth", r.net.Hot)
			count = len(list)
			return err
		})
		return count
	}
	require.Zero(t, unmined())
	r.eth.Reorg(5, false)
	r.eth.LoseDropped()
	r.step()
	require.Positive(t, unmined())
	r.run(4)
	require.Zero(t, unmined())
	r.run(sourceDepth + 1)
	for _, hash := range withdrawals {
		require.Equal(t, records.Paid, r.payment(hash).State)
	}
	r.requireSound()
}

// An account stops with many payments mined and waiting for their final block: it goes on after the
// operator's word, and each is paid once.
func TestResumeUnderManyOpenSlots(t *testing.T) {
	r := setupAt(t, sourceDepth, 2)
	n := min(burstSize(t)/3, 12*sourceDepth) // more cannot be open at 16 a block
	r.endow(n)
	_, withdrawals := r.burst(n)
	r.run(4)
	for r.sentTo("eth", r.net.Hot) < n {
		r.run(1)
	}
	open := func() (count int) {
		r.view(func(tx *records.Tx) error {
			list, err := tx.Slots().Open("eth", r.net.Hot)
			count = len(list)
			return err
		})
		return count
	}
	require.Equal(t, n, open())
	r.update(func(tx *records.Tx) error {
		return tx.Accounts().SetState("eth", r.net.Hot, records.AccountRecovering, "a test")
	})
	r.restart()
	require.ErrorIs(t, r.operatorRecovery().Resume(t.Context(), "eth", r.net.Hot, 0), recovery.ErrNotAtRest, "they wait for their final block")
	r.run(sourceDepth + 2)
	require.Zero(t, open())
	require.NoError(t, r.operatorRecovery().Resume(t.Context(), "eth", r.net.Hot, 0))
	late := r.withdraw(r.vite.Address("user 1"), r.eth.Address("payee"), 1000)
	r.run(sourceDepth + 8)
	for _, hash := range append(withdrawals, late) {
		require.Equal(t, records.Paid, r.payment(hash).State)
	}
	require.NoError(t, r.w.books().Round(t.Context()))
	r.requireSound()
}

// Two tokens may be paid in one asset. When one's channel is closed, what waits of it does not hide
// the other's payments, however much it is.
func TestClosedTokenHidesNoOther(t *testing.T) {
	const other = "tti_usd_labelled"
	r := setupAt(t, sourceDepth, 2)
	labelled, _ := r.net.Token(usd)
	labelled.TokenID, labelled.Type, labelled.Policy.Type = other, 1, 1
	r.net.Tokens = append(r.net.Tokens, labelled)
	r.parts.Networks = []records.Network{r.net}
	r.restart()
	r.vite.Endow(r.net.Gateway, other, units(stock))
	r.update(func(tx *records.Tx) error {
		return records.SetChannel(tx, "main", usd, records.Withdrawal, records.ChannelClosed, "a test", "tester")
	})
	waits := make([]string, pay.MaxGroup+50)
	for i := range waits {
		owner := r.vite.Address(fmt.Sprint("owner of closed ", i))
		waits[i] = r.withdraw(owner, r.eth.Address("payee"), minimum+fee)
	}
	r.run(4)
	require.Equal(t, records.Queued, r.payment(waits[pay.MaxGroup]).State)
	goes := r.order(r.vite.Address("owner of open"), other, minimum+fee, chain.Memo{Type: 1, Address: r.eth.Address("payee"), Label: "7"})
	r.run(5)
	require.Equal(t, records.Bound, r.payment(goes).State)
	require.Equal(t, records.Queued, r.payment(waits[0]).State)

	r.update(func(tx *records.Tx) error {
		return errors.Join(records.SetChannel(tx, "main", usd, records.Withdrawal, records.ChannelOpen, "a test", "tester"),
			records.SetChannel(tx, "main", other, records.Withdrawal, records.ChannelClosed, "a test", "tester"))
	})
	r.run(len(waits)/16 + sourceDepth + 5)
	require.Equal(t, records.Paid, r.payment(goes).State)
	for _, hash := range waits {
		require.Equal(t, records.Paid, r.payment(hash).State)
	}
	r.requireSound()
}
