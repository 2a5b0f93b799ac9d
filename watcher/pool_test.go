package watcher

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/chaintest"
	"gatewayd/records"
	"gatewayd/records/books"
	"gatewayd/records/signguard"
	"gatewayd/watcher/treasury"
)

// withPool is the network with as many paying accounts on both chains. The first are those that it
// has without a pool.
func withPool(eth, vite *chaintest.Chain, n records.Network, accounts int) records.Network {
	n.Hots, n.Gateways = []string{n.Hot}, []string{n.Gateway}
	for i := 1; i < accounts; i++ {
		n.Hots = append(n.Hots, eth.Address(fmt.Sprintf("hot/%d", i)))
		n.Gateways = append(n.Gateways, vite.Address(fmt.Sprintf("gateway/%d", i)))
	}
	eth.Own(n.Hots...)
	vite.Own(n.Gateways...)
	return n
}

// ensurePool stores the accounts of a pool, as the daemon does when it starts.
func ensurePool(tx *records.Tx, n records.Network) error {
	for i := 1; i < len(n.Hots); i++ {
		for _, a := range []records.Account{
			{Chain: n.Source, Account: n.Hots[i], Kind: records.KindHot, KeyPath: fmt.Sprintf("hot/%d", i)},
			{Chain: n.Exchange, Account: n.Gateways[i], Kind: records.KindGateway, KeyPath: fmt.Sprintf("gateway/%d", i)},
		} {
			a.Network = n.Name
			if err := tx.Accounts().Ensure(a); err != nil {
				return err
			}
		}
	}
	return nil
}

// resize is a start with another number of accounts in the configuration.
func (r *rig) resize(accounts int) {
	r.t.Helper()
	r.net = withPool(r.eth, r.vite, r.net, accounts)
	r.update(func(tx *records.Tx) error { return ensurePool(tx, r.net) })
	r.parts.Networks = []records.Network{r.net}
	r.restart()
}

// poolRig is a gateway of three paying accounts on each chain, all of it levelled.
func poolRig(t *testing.T) *rig {
	r := setup(t)
	r.parts.Chains["eth"] = sweepable{r.eth}
	r.resize(3)
	r.level()
	return r
}

// level lets the accounts share what they have, until nothing moves any more.
func (r *rig) level() {
	r.t.Helper()
	for range 6 {
		before := r.levellings()
		require.NoError(r.t, r.w.Treasury().Level(r.t.Context()))
		r.rest()
		if r.levellings() == before {
			return
		}
	}
	require.Fail(r.t, "levelling does not come to rest")
}

// levellings counts the payments between our accounts that are not void.
func (r *rig) levellings() (n uint64) {
	r.t.Helper()
	r.view(func(tx *records.Tx) error {
		totals, err := books.TotalsOf(tx, r.net.Name, "")
		for _, p := range totals.Payments {
			if p.Purpose == chain.Sweep && p.State != records.VoidPayment {
				n += p.Count
			}
		}
		return err
	})
	return n
}

// payers counts the payments of transfers by the account that makes them.
func (r *rig) payers(hashes []string, state records.PaymentState) map[string]int {
	r.t.Helper()
	found := map[string]int{}
	for _, h := range hashes {
		if p := r.payment(h); p.State == state {
			found[p.Account]++
		}
	}
	return found
}

func TestPoolIsLevelled(t *testing.T) {
	r := poolRig(t)
	for _, account := range r.net.Gateways {
		require.InDelta(t, stock/3, amountOf(t, r.vite.Holding(account, usd)), 2)
	}
	for _, account := range r.net.Hots {
		require.InDelta(t, stock*100/3, amountOf(t, r.eth.Holding(account, usdEth)), 2)
		require.InDelta(t, stock*100/3, amountOf(t, r.eth.Holding(account, chain.Native)), 20_000)
	}
	require.Equal(t, uint64(2+2+2+2), r.levellings(), "one transfer for each account and asset")
	for _, rec := range r.allTransfers() {
		require.Equal(t, records.Funding, rec.Direction)
		require.Equal(t, records.ReasonInternal, rec.Reason)
		require.Equal(t, records.Final, rec.State)
		require.Empty(t, rec.Owner)
	}
	r.view(func(tx *records.Tx) error {
		totals, err := books.TotalsOf(tx, r.net.Name, usd)
		require.Empty(t, totals.Transfers, "what goes from one account of ours to another came from nobody")
		return err
	})
	r.requireSound()
}

func amountOf(t *testing.T, a chain.Amount) uint64 {
	t.Helper()
	require.True(t, a.Uint256().IsUint64())
	return a.Uint256().Uint64()
}

func TestPoolSpreadsPayments(t *testing.T) {
	r := poolRig(t)
	deposits, withdrawals := r.burst(30)
	r.rest()
	r.rest()
	for side, hashes := range map[string][]string{"deposits": deposits, "withdrawals": withdrawals} {
		paid := r.payers(hashes, records.Paid)
		require.Len(t, paid, 3, side)
		for account, n := range paid {
			require.Greater(t, n, 3, "%s of %s", side, account)
		}
	}
	r.requireSound()
}

func TestPoolAccountOfATransferIsStable(t *testing.T) {
	r := poolRig(t)
	shrunk := r.net
	shrunk.Gateways = r.net.Gateways[:2]
	moved := 0
	for i := range 300 {
		tr := records.Transfer{Chain: "eth"}
		tr.Ref = fmt.Sprint(i)
		before, after := r.net.PayerOf("vite", tr.Transfer, tr.Chain), shrunk.PayerOf("vite", tr.Transfer, tr.Chain)
		if before == r.net.Gateways[2] {
			moved++
			continue
		}
		require.Equal(t, before, after, "who stays keeps what is his")
	}
	require.InDelta(t, 100, moved, 40)
}

// TestStuckAccountDelaysOnlyItsOwn halts one account of each pool: what falls to it waits for the
// operator, everything else is paid.
func TestStuckAccountDelaysOnlyItsOwn(t *testing.T) {
	r := poolRig(t)
	r.update(func(tx *records.Tx) error {
		for _, a := range []struct {
			id      chain.ID
			account string
		}{{"eth", r.net.Hots[1]}, {"vite", r.net.Gateways[1]}} {
			if err := tx.Accounts().SetState(a.id, a.account, records.AccountHalted, "a test"); err != nil {
				return err
			}
		}
		return nil
	})
	deposits, withdrawals := r.burst(30)
	r.rest()
	r.rest()
	for stuck, hashes := range map[string][]string{r.net.Gateways[1]: deposits, r.net.Hots[1]: withdrawals} {
		waits, paid := r.payers(hashes, records.Queued), r.payers(hashes, records.Paid)
		require.Equal(t, map[string]int{stuck: waits[stuck]}, waits)
		require.Positive(t, waits[stuck])
		require.Equal(t, 30-waits[stuck], paid[r.net.Hots[0]]+paid[r.net.Hots[2]]+paid[r.net.Gateways[0]]+paid[r.net.Gateways[2]])
	}
	before := r.levellings()
	r.level()
	require.Equal(t, before, r.levellings(), "nobody sends to an account that may not sign, or counts on it")
	r.update(func(tx *records.Tx) error {
		if err := tx.Accounts().SetState("eth", r.net.Hots[1], records.AccountOK, ""); err != nil {
			return err
		}
		return tx.Accounts().SetState("vite", r.net.Gateways[1], records.AccountOK, "")
	})
	r.rest()
	require.Empty(t, r.payers(append(deposits, withdrawals...), records.Queued))
	r.requireSound()
}

// TestCheapNonceDelaysOnlyItsOwn leaves the transactions of one account out of the blocks, as when
// their fee is too low.
func TestCheapNonceDelaysOnlyItsOwn(t *testing.T) {
	r := poolRig(t)
	_, first := r.burst(30)
	r.run(finality)
	stuck := r.net.Hots[2]
	r.eth.Hold(stuck, true)
	r.rest()
	waits := r.payers(first, records.Bound)
	require.Len(t, waits, 1)
	require.Positive(t, waits[stuck])
	require.Len(t, r.payers(first, records.Paid), 2)
	require.Empty(t, r.payers(first, records.Queued))
	r.eth.Hold(stuck, false)
	r.rest()
	require.Empty(t, r.payers(first, records.Bound))
	r.requireSound()
}

// TestRetiredAccountGoesHome takes two accounts out of the configuration while they have payments
// to make.
func TestRetiredAccountGoesHome(t *testing.T) {
	r := poolRig(t)
	deposits, withdrawals := r.burst(30)
	r.run(finality + 2)
	require.Len(t, r.payers(deposits, records.Queued), 0)
	gone := [2]string{r.net.Hots[2], r.net.Gateways[2]}
	r.resize(2)
	r.rest()
	require.Positive(t, r.payers(withdrawals, records.Paid)[gone[0]], "what it had to pay it pays")
	require.Positive(t, r.payers(deposits, records.Paid)[gone[1]])
	r.level()
	r.requireHolding(r.vite, gone[1], usd, 0)
	r.requireHolding(r.vite, gone[1], coin, 0)
	r.requireHolding(r.eth, gone[0], usdEth, 0)
	require.Less(t, amountOf(t, r.eth.Holding(gone[0], chain.Native)), uint64(treasury.SweepFactor*sweepCost), "what is left is not worth its fee")
	later, _ := r.burst(30)
	r.rest()
	r.rest()
	require.Zero(t, r.payers(later, records.Paid)[gone[1]])

	r.resize(3)
	r.level()
	again, _ := r.burst(30)
	r.rest()
	r.rest()
	require.Positive(t, r.payers(again, records.Paid)[gone[1]], "it came back")
	r.requireSound()
}

// TestShortAccountIsFilled owes more from one account than its part.
func TestShortAccountIsFilled(t *testing.T) {
	r := poolRig(t)
	_, address := r.user()
	hash := r.deposit(address, stock*100*2/3)
	r.rest()
	p := r.payment(hash)
	require.Equal(t, records.Queued, p.State, "no account has so much alone")
	require.NoError(t, r.w.books().Round(t.Context()))
	r.level()
	require.Equal(t, records.Paid, r.payment(hash).State)
	require.Equal(t, p.Account, r.payment(hash).Account)
	r.requireSound()
}

// TestPoolHoldsTogether compares what all accounts hold with what all owe: one that is short is no
// breach.
func TestPoolHoldsTogether(t *testing.T) {
	r := poolRig(t)
	_, address := r.user()
	hash := r.deposit(address, stock*100*2/3)
	r.rest()
	require.Equal(t, records.Queued, r.payment(hash).State)
	c := r.w.books()
	for range 6 {
		require.NoError(t, c.Round(t.Context()))
	}
	require.Equal(t, "OPEN", r.channel(records.Deposit).State())
	over := r.deposit(address, stock*100*2/3)
	r.rest()
	require.Equal(t, records.Queued, r.payment(over).State)
	for range 6 {
		require.NoError(t, c.Round(t.Context()))
	}
	require.Equal(t, "MAINTAIN", r.channel(records.Deposit).State())
}

// TestRestoredDatabaseStopsThePool lets the sign-guard know a signature of one account that the
// records have lost: what another account is about to pay may have been paid by it under another
// configuration.
func TestRestoredDatabaseStopsThePool(t *testing.T) {
	r := poolRig(t)
	lost := r.net.Gateways[1]
	a := r.account("vite", lost)
	require.Equal(t, records.AccountOK, a.State)
	require.NoError(t, r.guard.Allow(t.Context(), "vite", signguard.Signature{
		Slot: chain.Slot{Account: lost, Branch: a.Branch, Nonce: a.Next}, Digest: "lost", PaymentID: 1 << 40, Receive: true,
	}))
	deposits, withdrawals := r.burst(30)
	r.rest()
	r.rest()
	require.Empty(t, r.payers(deposits, records.Paid))
	require.Equal(t, records.AccountRecovering, r.account("vite", lost).State)
	require.Empty(t, r.payers(withdrawals, records.Paid), "what is lost may have refunded them")
}

// TestPoolCreditsAsItsStakes: where an account's stake pays for two blocks in each snapshot block,
// three accounts make at least twice as many credits in a snapshot block as one.
func TestPoolCreditsAsItsStakes(t *testing.T) {
	alone, pool := creditRate(t, 1), creditRate(t, 3)
	t.Logf("credits in a snapshot block: %.2f by one account, %.2f by three", alone, pool)
	require.InDelta(t, 2, alone, 0.1)
	require.GreaterOrEqual(t, pool, 2*alone)
}

// creditRate is how many of the deposits that became final at once are credited in each snapshot
// block until all are.
func creditRate(t *testing.T, accounts int) float64 {
	t.Helper()
	const n, stake = 100, 2
	r := setup(t)
	r.parts.Chains["eth"] = sweepable{r.eth}
	r.resize(accounts)
	r.level()
	deposits, owners := make([]string, n), make([]string, n)
	for i := range deposits {
		owner, address := r.user()
		deposits[i], owners[i] = r.deposit(address, minimum*100), owner
	}
	r.vite.SetStake(stake)
	r.run(1)
	r.eth.Mine(finality)
	r.step()
	blocks := 0
	for made := 0; made < n; blocks++ {
		require.Less(t, blocks, n)
		r.vite.Mine(1)
		r.step()
		made = 0
		for _, owner := range owners {
			if !r.vite.Holding(owner, usd).IsZero() {
				made++
			}
		}
	}
	r.vite.SetStake(0)
	r.rest()
	for _, hash := range deposits {
		require.Equal(t, records.Paid, r.payment(hash).State)
	}
	r.requireSound()
	return float64(n) / float64(blocks)
}
