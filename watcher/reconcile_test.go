package watcher

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"gatewayd/chain"
	"gatewayd/internal/testing/chaintest"
	"gatewayd/records"
	"gatewayd/transfers"
)

func (r *rig) channel(d records.Direction) (c records.Channel) {
	r.t.Helper()
	r.view(func(tx *records.Tx) (err error) {
		c, err = records.ChannelOf(tx, "main", usd, d)
		return err
	})
	return c
}

func TestShortfallClosesTheChannelUntilItIsMended(t *testing.T) {
	r := setup(t)
	owner, _ := r.user()
	for range 22 { // more than the hot account has
		r.withdraw(owner, r.eth.Address("payee"), maximum+fee)
	}
	r.rest()
	r.rest()
	books := r.w.books()
	for i := range 3 {
		require.Equal(t, "OPEN", r.channel(records.Withdrawal).State(), "round %d", i)
		require.NoError(t, books.Round(t.Context()))
	}
	c := r.channel(records.Withdrawal)
	require.Equal(t, "MAINTAIN", c.Automatic)
	require.Contains(t, c.Why, r.net.Hot)
	require.Equal(t, "OPEN", r.channel(records.Deposit).State(), "the other account has enough")

	r.eth.Deposit(r.eth.Address("treasury"), r.net.Hot, usdEth, units(stock*100), chain.Memo{Type: -1})
	r.run(1)
	require.NoError(t, books.Round(t.Context()))
	require.Equal(t, "OPEN", r.channel(records.Withdrawal).State())
	r.rest()
	r.requireHolding(r.eth, r.eth.Address("payee"), usdEth, 22*maximum*100)
	r.requireSound()
}

// silent is a ledger of which no node tells a balance.
type silent struct{ *chaintest.Chain }

func (silent) Balance(context.Context, string, chain.Asset) (chain.Amount, error) {
	return chain.Amount{}, chain.ErrUnavailable
}

// A chain whose nodes tell no balances keeps no other chain's shortfall from closing its channel.
func TestShortfallClosesTheChannelBesideASilentChain(t *testing.T) {
	r := setup(t)
	owner, _ := r.user()
	for range 22 { // more than the hot account has
		r.withdraw(owner, r.eth.Address("payee"), maximum+fee)
	}
	_, address := r.user()
	r.rest()
	r.setChannel(records.Deposit, "MAINTAIN")
	r.deposit(address, 50_000) // so that the gateway owes something too
	r.rest()
	r.parts.Chains["vite"] = silent{r.vite}
	r.restart()
	books := r.w.books()
	for range 3 {
		require.ErrorIs(t, books.Round(t.Context()), chain.ErrUnavailable)
	}
	require.Equal(t, "MAINTAIN", r.channel(records.Withdrawal).Automatic)
	require.Equal(t, "OPEN", r.channel(records.Deposit).Automatic, "nobody knows")
}

func TestQuietBooksChangeNothing(t *testing.T) {
	r := setup(t)
	owner, address := r.user()
	books := r.w.books()
	for range 30 {
		r.deposit(address, 20_000)
		r.withdraw(owner, r.eth.Address("payee"), 300)
		r.run(1)
		require.NoError(t, books.Round(t.Context()))
		require.Equal(t, "OPEN", r.channel(records.Withdrawal).State())
		require.Equal(t, "OPEN", r.channel(records.Deposit).State())
	}
}

// TestBreachClosesUntilItIsMended: a transfer that nothing pays is found in the round after it, and
// stays found although nothing changes any more.
func TestBreachClosesUntilItIsMended(t *testing.T) {
	r := setup(t)
	books := r.w.books()
	require.NoError(t, books.Round(t.Context()))
	_, address := r.user()
	r.setChannel(records.Deposit, "MAINTAIN")
	hash := r.deposit(address, 50_000)
	r.run(6)
	p := r.payment(hash)
	require.Equal(t, records.Queued, p.State)
	require.NoError(t, books.Round(t.Context()))
	require.Equal(t, "OPEN", r.channel(records.Deposit).Automatic)
	r.update(func(tx *records.Tx) error {
		return tx.Payments().Move(p.ID, records.Queued, records.VoidPayment, "by mistake")
	})
	for range 3 {
		require.NoError(t, books.Round(t.Context()))
		require.Equal(t, "MAINTAIN", r.channel(records.Deposit).Automatic)
	}
	p.ID, p.State = 0, ""
	r.update(func(tx *records.Tx) error {
		_, err := tx.Payments().Queue(p)
		return err
	})
	require.NoError(t, books.Round(t.Context()))
	require.Equal(t, "OPEN", r.channel(records.Deposit).Automatic)
}

// priced is a ledger that tells what a payout costs.
type priced struct {
	*chaintest.Chain
	cost *chain.Amount
}

func (p priced) PayoutCost(context.Context, chain.Asset) (chain.Amount, error) { return *p.cost, nil }

func TestNetworkFeeIsTheLowestRecentQuote(t *testing.T) {
	r := setup(t)
	cost := chain.MustAmount("5000000000000000000") // 5 whole coins, 500 of the token's units
	r.parts.Chains["eth"] = priced{r.eth, &cost}
	r.net.Tokens[1].Policy.Fee = records.Fee{Kind: "network"}
	r.parts.Networks = []records.Network{r.net}
	r.restart()
	owner, _ := r.user()
	hash := r.order(owner, coin, 5000, chain.Memo{Type: 1, Address: r.eth.Address("payee"), Label: "1"})
	r.vite.Mine(1)
	require.ErrorIs(t, r.w.Step(t.Context()), transfers.ErrNoQuote)

	require.NoError(t, r.w.payers.Quote(t.Context()))
	r.now = r.now.Add(5 * time.Minute)
	cost = chain.MustAmount("8999999999999999999") // rounded up
	require.NoError(t, r.w.payers.Quote(t.Context()))
	r.run(1)
	require.Equal(t, units(500), r.transfer(hash).Fee)

	r.now = r.now.Add(16 * time.Minute) // nobody was shown the first quote within the window
	late := r.order(owner, coin, 5000, chain.Memo{Type: 1, Address: r.eth.Address("payee"), Label: "1"})
	r.rest()
	require.Equal(t, units(900), r.transfer(late).Fee)
	r.requireHolding(r.eth, r.eth.Address("payee"), chain.Native, 4500+4100)
	r.requireSound()
}

// Run is the same with loops, clocks and goroutines of its own, all of which end with the context.
func TestRunPaysAndStops(t *testing.T) {
	r := setup(t)
	owner, address := r.user()
	running := goleak.IgnoreCurrent()
	w, err := New(Config{Poll: time.Millisecond, Reconcile: 2 * time.Millisecond, QuoteEvery: time.Millisecond}, r.parts)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1) // one answer
	go func() { ended <- w.Run(ctx) }()

	r.deposit(address, 50_000)
	r.withdraw(owner, r.eth.Address("payee"), 1000)
	require.Eventually(t, func() bool {
		r.eth.Mine(1)
		r.vite.Mine(1)
		return r.vite.Holding(owner, usd) == units(500) && r.eth.Holding(r.eth.Address("payee"), usdEth) == units((1000-fee)*100)
	}, time.Minute, 10*time.Millisecond)
	cancel()
	require.NoError(t, <-ended)
	require.NoError(t, goleak.Find(running, goleak.IgnoreTopFunction("database/sql.(*DB).connectionOpener")))
	r.requireSound()
}

func TestRunEndsWithoutItsLease(t *testing.T) {
	r := setup(t)
	lease, err := r.store.Lease(t.Context(), "daemon", "first", time.Hour)
	require.NoError(t, err)
	r.parts.Store = r.store.Fenced(lease)
	require.NoError(t, lease.Release(t.Context()))
	w, err := New(Config{Poll: time.Millisecond}, r.parts)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // without the rule it never ends
	defer cancel()
	require.ErrorIs(t, w.Run(ctx), records.ErrFenced)
}

// TestFundsOnDepositAddresses: what users' addresses hold covers what is owed, and operators are
// told that sweeps are waited for. When none comes the channel closes.
func TestFundsOnDepositAddresses(t *testing.T) {
	r := sweepRig(t)
	r.vite.Endow(r.net.Gateway, "tti_native", units(stock))
	owner, address := r.user()
	for range 3 {
		r.deposit(address, maximum*100)
	}
	for range 22 { // more than the hot account has
		r.withdraw(owner, r.eth.Address("payee"), maximum+fee)
	}
	r.rest()
	r.rest()
	told := func() (kinds []string) {
		r.view(func(tx *records.Tx) error {
			list, err := records.Conditions(tx)
			for _, c := range list {
				require.False(t, c.Stops)
				kinds = append(kinds, c.Kind)
			}
			return err
		})
		return kinds
	}
	books := r.w.books()
	for range 6 {
		require.NoError(t, books.Round(t.Context()))
		require.Equal(t, []string{"funds_unswept"}, told())
		require.Equal(t, "OPEN", r.channel(records.Withdrawal).State())
	}
	r.now = r.now.Add(16 * time.Minute) // longer than sweeps are waited for
	for range 3 {
		require.NoError(t, books.Round(t.Context()))
	}
	require.Empty(t, told())
	require.Contains(t, r.channel(records.Withdrawal).Why, "top it up")
	for range 3 { // coin for the fee, then the sweep
		r.sweep()
		r.rest()
	}
	require.NoError(t, books.Round(t.Context()))
	require.Equal(t, "OPEN", r.channel(records.Withdrawal).State(), r.channel(records.Withdrawal).Why)
}
