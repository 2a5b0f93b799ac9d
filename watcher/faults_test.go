package watcher

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/chaintest"
	"gatewayd/records"
	"gatewayd/records/signguard"
	"gatewayd/watcher/follow"
)

func TestDroppedPayoutIsSentAgain(t *testing.T) {
	r := setup(t)
	owner, address := r.user()
	in := r.deposit(address, 50_000)
	out := r.withdraw(owner, r.eth.Address("payee"), 1000)
	r.run(finality + 1)
	for _, c := range []*chaintest.Chain{r.eth, r.vite} {
		waiting := c.Waiting()
		require.NotEmpty(t, waiting, "a payment on %s", c.ID())
		require.True(t, c.Drop(waiting[0]))
	}
	r.rest()
	require.Equal(t, records.Paid, r.payment(in).State)
	require.Equal(t, records.Paid, r.payment(out).State)
	r.requireHolding(r.vite, owner, usd, 500)
	r.requireHolding(r.eth, r.eth.Address("payee"), usdEth, (1000-fee)*100)
	r.requireSound()
}

func TestPayoutOfALeftBlockIsSentAgain(t *testing.T) {
	r := setup(t)
	owner, address := r.user()
	r.deposit(address, 50_000)
	r.withdraw(owner, r.eth.Address("payee"), 1000)
	r.run(finality + 2)
	r.requireHolding(r.vite, owner, usd, 500)
	r.eth.Reorg(1, false)
	r.vite.Reorg(1, false)
	r.requireHolding(r.vite, owner, usd, 0)
	r.requireHolding(r.eth, r.eth.Address("payee"), usdEth, 0)
	r.rest()
	r.eth.Gossip()
	r.vite.Gossip()
	r.rest()
	r.requireHolding(r.vite, owner, usd, 500)
	r.requireHolding(r.eth, r.eth.Address("payee"), usdEth, (1000-fee)*100)
	r.requireSound()
}

func TestStuckPayoutIsReplaced(t *testing.T) {
	r := setup(t)
	owner, _ := r.user()
	hash := r.withdraw(owner, r.eth.Address("payee"), 1000)
	r.run(finality + 1)
	r.eth.SetBaseFee(30) // the first attempt's cap is 22
	r.rest()
	p := r.payment(hash)
	require.Equal(t, records.Paid, p.State)
	r.view(func(tx *records.Tx) error {
		slots, a, err := tx.Slots().AttemptByHash("eth", p.Tx)
		require.Len(t, slots, 1)
		require.Equal(t, "replace", a.Kind)
		require.Positive(t, a.Seq)
		return err
	})
	r.requireHolding(r.eth, r.eth.Address("payee"), usdEth, (1000-fee)*100)
	r.requireSound()
}

func TestBroadcastAnswersDecideNothing(t *testing.T) {
	for _, c := range []struct {
		name  string
		fault chaintest.Fault
	}{{"refused", chaintest.Refuse}, {"cut", chaintest.Cut}, {"fake", chaintest.Fake}} {
		t.Run(c.name, func(t *testing.T) {
			r := setup(t)
			owner, address := r.user()
			in := r.deposit(address, 50_000)
			out := r.withdraw(owner, r.eth.Address("payee"), 1000)
			r.eth.Lie(chaintest.Times(5, c.fault, chaintest.CallBroadcast))
			r.vite.Lie(chaintest.Times(5, c.fault, chaintest.CallBroadcast))
			r.rest()
			r.rest()
			require.Equal(t, records.Paid, r.payment(in).State)
			require.Equal(t, records.Paid, r.payment(out).State)
			r.requireHolding(r.vite, owner, usd, 500)
			r.requireHolding(r.eth, r.eth.Address("payee"), usdEth, (1000-fee)*100)
			r.requireSound()
		})
	}
}

func TestNodeUnavailableForAWhile(t *testing.T) {
	r := setup(t)
	owner, address := r.user()
	in := r.deposit(address, 50_000)
	r.run(2)
	r.lieEverywhere(chaintest.Always(chaintest.Refuse))
	for range 5 {
		r.eth.Mine(1)
		r.vite.Mine(1)
		require.ErrorIs(t, r.w.Step(t.Context()), chain.ErrUnavailable)
	}
	r.lieEverywhere(chaintest.Honest)
	r.rest()
	require.Equal(t, records.Paid, r.payment(in).State)
	r.requireHolding(r.vite, owner, usd, 500)
	r.requireSound()
}

// A node that lags behind on a branch the others have left must not make an orphaned deposit final.
func TestLaggingNodeMakesNoOrphanFinal(t *testing.T) {
	for _, fault := range []chaintest.Fault{chaintest.Missing, chaintest.Orphan} {
		r := setup(t)
		owner, address := r.user()
		r.run(6)
		hash := r.deposit(address, 50_000)
		r.run(2)
		r.eth.Reorg(2, false)
		r.eth.Mine(20)
		r.eth.Lie(chaintest.Always(fault, chaintest.CallBlock))
		for range 5 {
			_ = r.w.Step(t.Context()) // it may complain
			r.vite.Mine(1)
		}
		require.NotEqual(t, records.Final, r.transfer(hash).State)
		r.eth.Lie(chaintest.Honest)
		for range 20 {
			r.eth.Mine(1)
			r.vite.Mine(1)
			_ = r.w.Step(t.Context())
		}
		r.requireState(hash, records.Orphaned, "")
		r.requireHolding(r.vite, owner, usd, 0)
		require.False(t, r.cursor("eth").Halted, "a lagging node is no finality violation")
	}
}

// The line may be shorter for a moment, with the final point above our branch: that is a re-org, no
// violation.
func TestShorterLineIsNoViolation(t *testing.T) {
	r := setup(t)
	owner, address := r.user()
	r.run(10)
	hash := r.deposit(address, 50_000)
	r.run(3)
	r.eth.Rollback(3, true)
	r.step()
	r.eth.Mine(1)
	r.step()
	r.eth.Mine(8)
	r.rest()
	require.False(t, r.cursor("eth").Halted)
	require.Equal(t, records.Paid, r.payment(hash).State)
	r.requireHolding(r.vite, owner, usd, 500)
	r.requireSound()
}

func TestFinalityViolationStopsEverything(t *testing.T) {
	r := setup(t)
	_, address := r.user()
	r.run(2)
	held := r.vite.Address("user 1")
	r.update(func(tx *records.Tx) error {
		return records.SetChannel(tx, "main", usd, records.Deposit, "MAINTAIN", "test", "operator:test")
	})
	hash := r.deposit(address, 50_000)
	out := r.withdraw(held, r.eth.Address("payee"), 1000)
	r.run(finality + 1)
	require.Equal(t, records.Queued, r.payment(hash).State)
	r.update(func(tx *records.Tx) error {
		return records.SetChannel(tx, "main", usd, records.Deposit, "OPEN", "", "operator:test")
	})
	r.eth.Reorg(finality+2, false)
	r.eth.Mine(1)
	sent := r.eth.Calls(chaintest.CallBroadcast)
	for range 30 {
		r.step()
		r.eth.Mine(1)
		r.vite.Mine(1)
	}
	require.True(t, r.cursor("eth").Halted)
	require.NotEmpty(t, r.cursor("eth").Why)
	require.Equal(t, sent, r.eth.Calls(chaintest.CallBroadcast), "nothing is sent on a halted chain")
	require.Equal(t, records.Queued, r.payment(hash).State, "nothing is paid for a halted chain's transfers")
	require.NotEqual(t, records.Paid, r.payment(out).State)
	r.requireHolding(r.vite, held, usd, 0)
}

func TestForeignSignerHaltsTheAccount(t *testing.T) {
	for _, c := range []struct {
		id  chain.ID
		key string
	}{{"eth", "hot"}, {"vite", "gateway"}} {
		t.Run(string(c.id), func(t *testing.T) {
			r := setup(t)
			owner, address := r.user()
			r.deposit(address, 50_000) // so that both accounts are in use
			r.withdraw(owner, r.eth.Address("first"), 1000)
			r.rest()
			ledger := map[chain.ID]*chaintest.Chain{"eth": r.eth, "vite": r.vite}[c.id]
			ledger.SendUnknownTx(c.key, ledger.Address("thief"), map[chain.ID]chain.Asset{"eth": usdEth, "vite": usd}[c.id], units(5))
			r.run(1)
			sent := ledger.Calls(chaintest.CallBroadcast)
			r.deposit(address, 50_000)
			r.withdraw(owner, r.eth.Address("payee"), 1000)
			r.rest()
			a := r.account(c.id, ledger.Address(c.key))
			require.Contains(t, []records.AccountState{records.AccountHalted, records.AccountRecovering}, a.State)
			require.NotEmpty(t, a.Why)
			require.Equal(t, sent, ledger.Calls(chaintest.CallBroadcast), "nothing is sent after it")
		})
	}
}

// A unknown transaction in the very number that a payment of ours is bound to.
func TestForeignSignerTakesOurNumber(t *testing.T) {
	r := setup(t)
	owner, _ := r.user()
	r.eth.SetBaseFee(30)
	r.update(func(tx *records.Tx) error { return nil })
	out := r.withdraw(owner, r.eth.Address("payee"), 1000)
	r.run(finality + 1)
	require.Equal(t, records.Bound, r.payment(out).State)
	r.eth.SendUnknownTx("hot", r.eth.Address("thief"), usdEth, units(5))
	r.rest()
	require.Equal(t, records.AccountHalted, r.account("eth", r.net.Hot).State)
	require.Equal(t, records.Bound, r.payment(out).State, "an operator decides what becomes of it")
	r.requireHolding(r.eth, r.eth.Address("payee"), usdEth, 0)
}

func TestNewAccountWaitsUntilItsPastIsFinal(t *testing.T) {
	r := setup(t)
	late := r.eth.Address("late")
	r.eth.Own(late)
	r.eth.Deposit(r.eth.Address("treasury"), late, chain.Native, units(50_000), chain.Memo{Type: -1})
	r.run(1)
	r.eth.SendUnknownTx("late", r.eth.Address("cold"), chain.Native, units(7)) // the operators, before the daemon knows the account
	r.update(func(tx *records.Tx) error {
		return tx.Accounts().Ensure(records.Account{Chain: "eth", Account: late, Kind: records.KindGas, Network: "main", KeyPath: "late"})
	})
	r.run(1)
	require.Equal(t, records.AccountNew, r.account("eth", late).State)
	r.rest()
	require.Equal(t, records.AccountOK, r.account("eth", late).State)
	require.Equal(t, uint64(1), r.account("eth", late).Base)
}

// An account that has paid nothing yet is adopted in the first round that finds it at rest: what
// leaves it after that without the daemon stops it.
func TestAccountsAreAdoptedBeforeTheyPay(t *testing.T) {
	r := setup(t)
	r.run(1)
	for id, account := range map[chain.ID]string{"eth": r.net.Hot, "vite": r.net.Gateway} {
		require.Equal(t, records.AccountOK, r.account(id, account).State)
	}
	r.eth.SendUnknownTx("hot", r.eth.Address("thief"), usdEth, units(7))
	r.run(finality + 3)
	require.Contains(t, []records.AccountState{records.AccountHalted, records.AccountRecovering}, r.account("eth", r.net.Hot).State)
}

func TestEmptyHotAccountDelaysPayouts(t *testing.T) {
	r := setup(t)
	owner, _ := r.user()
	var outs []string
	for range 25 { // 25 x 50,000 is more than there is
		outs = append(outs, r.withdraw(owner, r.eth.Address("payee"), maximum+fee))
	}
	r.rest()
	r.rest()
	queued := 0
	for _, out := range outs {
		if r.payment(out).State == records.Queued {
			queued++
		}
	}
	require.Equal(t, 5, queued)
	r.requireHolding(r.eth, r.eth.Address("payee"), usdEth, 20*maximum*100)

	r.eth.Deposit(r.eth.Address("treasury"), r.net.Hot, usdEth, units(stock*100), chain.Memo{Type: -1})
	r.rest()
	r.requireHolding(r.eth, r.eth.Address("payee"), usdEth, 25*maximum*100)
	r.requireSound()
}

func TestManyPayoutsKeepTheirOrder(t *testing.T) {
	r := setup(t)
	owner, _ := r.user()
	for range 40 { // more than the sixteen open slots
		r.withdraw(owner, r.eth.Address("payee"), 200)
	}
	r.rest()
	r.rest()
	r.rest()
	r.requireHolding(r.eth, r.eth.Address("payee"), usdEth, 40*(200-fee)*100)
	r.requireSound()
}

// While fees are above the ceiling nothing new is signed, and what was signed is still offered to
// every block.
func TestFeeCeilingDoesNotStopResending(t *testing.T) {
	r := setup(t)
	owner, _ := r.user()
	first := r.withdraw(owner, r.eth.Address("payee"), 1000)
	r.run(finality + 1)
	r.eth.SetBaseFee(2000) // the ceiling is 1000
	second := r.withdraw(owner, r.eth.Address("payee"), 500)
	for range finality + 4 {
		r.eth.Mine(1)
		r.vite.Mine(1)
		_ = r.w.Step(t.Context())
	}
	before := r.eth.Calls(chaintest.CallBroadcast)
	for range 3 {
		r.eth.Mine(1)
		_ = r.w.Step(t.Context())
	}
	require.GreaterOrEqual(t, r.eth.Calls(chaintest.CallBroadcast), before+3)
	r.eth.SetBaseFee(10)
	r.rest()
	require.Equal(t, records.Paid, r.payment(first).State)
	require.Equal(t, records.Paid, r.payment(second).State)
	r.requireSound()
}

func TestNoQuotaDelays(t *testing.T) {
	r := setup(t)
	owner, address := r.user()
	r.vite.SetQuota(false)
	in := r.deposit(address, 50_000)
	r.rest()
	require.Equal(t, records.Bound, r.payment(in).State)
	r.vite.SetQuota(true)
	r.rest()
	require.Equal(t, records.Paid, r.payment(in).State)
	r.requireHolding(r.vite, owner, usd, 500)
	r.requireSound()
}

// faultySigner is a signer that fails as fault says.
type faultySigner struct {
	Signer
	fault func() error
}

func (s faultySigner) Sign(ctx context.Context, id chain.ID, orders ...chain.Order) ([]chain.SignedTx, error) {
	if err := s.fault(); err != nil {
		return nil, err
	}
	return s.Signer.Sign(ctx, id, orders...)
}

func TestGuardRefusalHaltsTheAccount(t *testing.T) {
	r := setup(t)
	owner, _ := r.user()
	r.parts.Signer = faultySigner{r.parts.Signer, func() error { return signguard.ErrRefused }}
	r.restart()
	r.withdraw(owner, r.eth.Address("payee"), 1000)
	for range 20 {
		r.eth.Mine(1)
		r.vite.Mine(1)
		_ = r.w.Step(t.Context())
	}
	require.Equal(t, records.AccountHalted, r.account("eth", r.net.Hot).State)
	require.Zero(t, r.eth.Calls(chaintest.CallBroadcast))
}

func TestGuardFaultIsWaitedOut(t *testing.T) {
	r := setup(t)
	owner, _ := r.user()
	broken := true
	r.parts.Signer = faultySigner{r.parts.Signer, func() error {
		if broken {
			return errors.New("disk I/O error")
		}
		return nil
	}}
	r.restart()
	out := r.withdraw(owner, r.eth.Address("payee"), 1000)
	for range 12 {
		r.eth.Mine(1)
		r.vite.Mine(1)
		_ = r.w.Step(t.Context())
	}
	require.Zero(t, r.eth.Calls(chaintest.CallBroadcast), "nothing is signed without the guard")
	broken = false
	r.rest()
	require.Equal(t, records.Paid, r.payment(out).State)
	r.requireSound()
}

func TestUnknownNetworkChainIsRefused(t *testing.T) {
	r := setup(t)
	parts := r.parts
	parts.Chains = map[chain.ID]chain.Chain{"eth": r.eth}
	_, err := New(Config{}, parts)
	require.ErrorContains(t, err, "vite")
	_, err = New(Config{Sweep: "every now and then"}, r.parts)
	require.ErrorContains(t, err, "every now and then")
	_, err = New(Config{Sweep: "CRON_TZ=UTC"}, r.parts)
	require.Error(t, err)
}

// blindedSigner is a signer whose nodes do not have the blocks that it is to read, as often as it
// is asked up to a bound.
type blindedSigner struct {
	Signer
	asked, most int
}

// ReadOutcomes fails, and sees the block when it was asked too often.
func (s *blindedSigner) ReadOutcomes(ctx context.Context, id chain.ID, height uint64) error {
	if s.asked++; s.asked <= s.most {
		return chain.ErrNotNow
	}
	return s.Signer.ReadOutcomes(ctx, id, height)
}

// TestManyFailuresWaitForTheSigner: as many failed payouts as are settled at a time wait until the
// signer has seen their blocks. The round ends all the same.
func TestManyFailuresWaitForTheSigner(t *testing.T) {
	const most, depth = 2_000, 64
	r := setupAt(t, depth, finality)
	s := &blindedSigner{Signer: r.parts.Signer, most: most}
	r.parts.Signer = s
	r.restart()
	owner, _ := r.user()
	payee := r.eth.Address("a contract that takes nothing when it counts")
	r.eth.RejectUnseen(payee, true)
	var hashes []string
	for range follow.MaxSettled + 20 {
		hashes = append(hashes, r.withdraw(owner, payee, 200))
	}
	r.run(finality + follow.MaxSettled/16 + 8)
	r.eth.Mine(depth)
	r.step()
	require.Positive(t, s.asked)
	require.Less(t, s.asked, most)
	r.view(func(tx *records.Tx) error {
		waiting, err := tx.OwnTxs().Unsettled("eth", follow.MaxSettled)
		require.Len(t, waiting, follow.MaxSettled)
		return err
	})
	s.most = 0
	r.rest()
	for _, hash := range hashes {
		r.requireState(hash, records.Refused, records.ReasonPayoutFailed)
	}
}
