package watcher

import (
	"context"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/chaintest"
	"gatewayd/internal/testing/recordstest"
	"gatewayd/records"
	"gatewayd/records/books"
	"gatewayd/view"
	"gatewayd/watcher/treasury"
)

// sweepCost is what the ledger in memory asks for one transaction at most: 10 gas at a cap of 22,
// and room for a replacement.
const sweepCost = 500

// sweepable is a ledger with one address per user.
type sweepable struct{ *chaintest.Chain }

func (s sweepable) SweepCost(context.Context) (chain.Amount, error) { return units(sweepCost), nil }
func (s sweepable) TokenSweepCost(context.Context) (chain.Amount, error) {
	return units(sweepCost), nil
}

// sweepRig is a gateway whose native coin has own addresses too.
func sweepRig(t *testing.T) *rig {
	r := setup(t)
	native := r.net.Tokens[1]
	native.Type, native.Policy.Type, native.TokenID = 0, 0, "tti_native"
	r.net.Tokens = append(r.net.Tokens, native)
	r.parts.Networks = []records.Network{r.net}
	r.parts.Chains["eth"] = sweepable{r.eth}
	r.restart()
	return r
}

func (r *rig) sweep() {
	r.t.Helper()
	require.NoError(r.t, r.w.Treasury().Sweep(r.t.Context()))
}

func TestTokenSweepGetsItsGasFirst(t *testing.T) {
	r := sweepRig(t)
	_, address := r.user()
	r.deposit(address, 50_000)
	r.run(2)
	r.sweep()
	r.run(1)
	r.requireHolding(r.eth, address, chain.Native, 0) // not final yet: nothing moves
	r.run(finality)
	for range 4 { // gas, then the tokens; asked too often on purpose
		r.sweep()
		r.sweep()
		r.rest()
	}
	r.requireHolding(r.eth, address, usdEth, 0)
	hot := r.eth.Holding(r.net.Hot, usdEth)
	require.Equal(t, units(stock*100+50_000), hot)
	left, err := units(sweepCost).Sub(r.eth.Holding(address, chain.Native))
	require.NoError(t, err, "one top-up")
	require.False(t, left.IsZero())
	require.Len(t, r.allTransfers(), 1, "our own gas is nobody's deposit")
	r.requireSound()
}

func TestNativeSweepLeavesItsCost(t *testing.T) {
	r := sweepRig(t)
	owner, address := r.user()
	r.vite.Deposit(r.vite.Address("treasury"), r.net.Gateway, "tti_native", units(20_000), chain.Memo{Type: -1})
	r.rest()
	before := r.eth.Holding(r.net.Hot, chain.Native)
	r.eth.Deposit(r.eth.Address("x"), address, chain.Native, units(10_000), chain.Memo{Type: -1})
	r.rest()
	r.sweep()
	r.rest()
	r.sweep()
	r.rest()
	want, err := before.Add(units(10_000 - sweepCost))
	require.NoError(t, err)
	require.Equal(t, want, r.eth.Holding(r.net.Hot, chain.Native))
	require.Equal(t, units(10_000), r.vite.Holding(owner, "tti_native"))
	r.requireSound()
}

func TestDustIsNotSwept(t *testing.T) {
	r := sweepRig(t)
	_, address := r.user()
	r.eth.Deposit(r.eth.Address("x"), address, chain.Native, units(treasury.SweepFactor*sweepCost-1), chain.Memo{Type: -1})
	r.rest()
	r.sweep()
	r.rest()
	r.requireHolding(r.eth, address, chain.Native, treasury.SweepFactor*sweepCost-1)
}

func (r *rig) allTransfers() (list []records.Record) {
	r.t.Helper()
	r.view(func(tx *records.Tx) (err error) {
		list, err = view.Records(tx, view.Filter{})
		return err
	})
	return list
}

// TestSweepBringsLessWhenFeesRise triples the base fee once a sweep waits, and the nodes forget it:
// the next attempt pays its fee out of what it moves. The books have what arrived, and the rest is
// swept when fees are low again.
func TestSweepBringsLessWhenFeesRise(t *testing.T) {
	r := sweepRig(t)
	_, address := r.user()
	r.vite.Endow(r.net.Gateway, "tti_native", units(stock)) // what is not credited is not swept
	r.eth.Deposit(r.eth.Address("x"), address, chain.Native, units(10_000), chain.Memo{Type: -1})
	r.rest()
	before := r.eth.Holding(r.net.Hot, chain.Native)
	r.sweep()
	r.step()
	require.Len(t, r.eth.Waiting(), 1)
	r.eth.SetBaseFee(2_000) // an attempt needs 20,020 of 10,000
	r.eth.LoseDropped()
	r.rest()
	require.Equal(t, before, r.eth.Holding(r.net.Hot, chain.Native), "too dear: it waits")
	r.eth.SetBaseFee(200) // 4,020 for a first attempt, the cap of the one that waits is 22
	r.eth.LoseDropped()
	r.rest()
	brought := r.swept()
	require.True(t, brought.Less(units(10_000-sweepCost)), "it brought %s", brought)
	require.False(t, brought.Less(units((10_000-sweepCost)/2)), "it brought %s", brought)
	arrived, err := r.eth.Holding(r.net.Hot, chain.Native).Sub(before)
	require.NoError(t, err)
	require.Equal(t, brought, arrived)

	r.eth.SetBaseFee(10)
	r.sweep()
	r.rest()
	require.True(t, brought.Less(r.swept()), "the rest")
	require.True(t, r.eth.Holding(address, chain.Native).Less(units(sweepCost)))
	r.requireSound()
}

// swept is what all sweeps brought, by the books.
func (r *rig) swept() (sum chain.Amount) {
	r.t.Helper()
	r.view(func(tx *records.Tx) error {
		totals, err := books.TotalsOf(tx, r.net.Name, "")
		require.NoError(r.t, err)
		sum, err = recordstest.Pays(totals, chain.Sweep, "eth", records.Paid)
		return err
	})
	return sum
}

// TestListedCoinIsNotSwept: what a listed sender has deposited stays at its address, while others'
// coin goes on its way; once it is credited, it is swept.
func TestListedCoinIsNotSwept(t *testing.T) {
	r := sweepRig(t)
	listed, at := r.user()
	_, other := r.user()
	verdicts := claimVerdicts{listed: {State: chain.HeldClaim, Reason: chain.ReasonListed, Text: "the sender is on the list"}}
	r.restartWithCheck(verdicts)
	r.deposit(at, 50_000)
	r.deposit(other, 40_000)
	r.rest()
	for range 4 {
		r.sweep()
		r.rest()
	}
	r.requireHolding(r.eth, at, usdEth, 50_000)
	r.requireHolding(r.eth, other, usdEth, 0)
	clear(verdicts)
	require.NoError(t, r.w.payers.AskHeld(t.Context()))
	r.rest()
	for range 4 {
		r.sweep()
		r.rest()
	}
	r.requireHolding(r.eth, at, usdEth, 0)
	r.requireSound()
}

// TestCoinWaitsForItsVerdict: what is final is not swept before the signer has been asked about its
// sender, however long that takes.
func TestCoinWaitsForItsVerdict(t *testing.T) {
	r := sweepRig(t)
	owner, at := r.user()
	verdicts := claimVerdicts{}
	r.restartWithCheck(verdicts)
	r.setChannel(records.Deposit, "MAINTAIN")
	r.deposit(at, 50_000)
	r.rest()
	for range 4 {
		r.sweep()
		r.rest()
	}
	r.requireHolding(r.eth, at, usdEth, 50_000)
	r.requireHolding(r.eth, at, chain.Native, 0)
	verdicts[owner] = chain.Verdict{State: chain.HeldClaim, Reason: chain.ReasonUnproven, Text: "no block shows it"}
	r.setChannel(records.Deposit, "OPEN")
	r.rest()
	r.sweep()
	r.rest()
	r.requireHolding(r.eth, at, chain.Native, 0) // the lists were not asked either
	clear(verdicts)
	require.NoError(t, r.w.payers.AskHeld(t.Context()))
	r.rest()
	for range 4 {
		r.sweep()
		r.rest()
	}
	r.requireHolding(r.eth, at, usdEth, 0)
	r.requireSound()
}

// heavy is a ledger whose tokens take three times the gas of coin, as on Ethereum.
type heavy struct{ sweepable }

func (s heavy) SweepCost(context.Context) (chain.Amount, error)      { return units(248), nil }
func (s heavy) TokenSweepCost(context.Context) (chain.Amount, error) { return units(943), nil }
func (s heavy) Estimate(ctx context.Context, account string, pay chain.Payment) (chain.Amount, error) {
	fee, err := s.Chain.Estimate(ctx, account, pay)
	if err == nil && pay.Asset != chain.Native {
		fee, err = fee.Mul(3)
	}
	return fee, err
}

// heavyRig is a gateway on such a ledger, with a deposit of a token and one of coin, both credited,
// at one address.
func heavyRig(t *testing.T) (r *rig, address string) {
	r = sweepRig(t)
	r.parts.Chains["eth"] = heavy{sweepable{r.eth}}
	r.restart()
	r.vite.Endow(r.net.Gateway, "tti_native", units(stock))
	_, address = r.user()
	r.eth.Deposit(r.eth.Address("x"), address, chain.Native, units(10_000), chain.Memo{Type: -1})
	r.deposit(address, 50_000)
	r.rest()
	return r, address
}

func (r *rig) moves(purpose chain.Purpose) (list []records.Payment) {
	r.t.Helper()
	r.view(func(tx *records.Tx) (err error) {
		list, err = tx.Payments().Moves(purpose, 0, 100)
		return err
	})
	return list
}

// Coin beside a token: the token's sweep takes gas from it, and the rest is swept after it.
func TestCoinBesideATokenIsSwept(t *testing.T) {
	r, address := heavyRig(t)
	r.sweep()
	require.Len(t, r.moves(chain.Sweep), 1, "the coin waits for the token's sweep")
	r.eth.SetBaseFee(35) // 10 gas of the ledger in memory burn 370 then: what 30 gas burn at a base fee of 10 and a tip of 2
	r.rest()
	r.eth.SetBaseFee(10)
	for range 4 {
		r.sweep()
		r.rest()
	}
	r.requireHolding(r.eth, address, usdEth, 0)
	require.True(t, r.eth.Holding(address, chain.Native).Less(units(1_000)))
	r.requireSound()
}

// A sweep that waits and asks for more than is there by now, as an earlier version queued beside a
// token's, is counted anew.
func TestSweepThatAsksForTooMuchIsCountedAnew(t *testing.T) {
	r, address := heavyRig(t)
	r.update(func(tx *records.Tx) error {
		_, err := tx.Payments().Queue(records.Payment{
			Purpose: chain.Sweep, Network: r.net.Name, Chain: "eth", Account: address, Asset: chain.Native, Payee: r.net.Hot, Amount: units(9_999),
		})
		return err
	})
	for range 4 {
		r.sweep()
		r.rest()
	}
	require.True(t, r.eth.Holding(address, chain.Native).Less(units(1_000)))
	r.requireSound()
}

// A sweep that failed twice, as of a token that is paused, is counted anew after a while: money
// that comes later leaves with it.
func TestSweepThatFailedIsCountedAnewLater(t *testing.T) {
	r, address := heldSweep(t, records.ReasonPayoutFailed)
	r.sweep()
	r.rest()
	require.Equal(t, records.HeldPayment, r.moves(chain.Sweep)[0].State, "not at once: it costs a fee each time")
	r.now = r.now.Add(treasury.SweepPause)
	for range 2 {
		r.sweep()
		r.rest()
	}
	r.requireHolding(r.eth, address, usdEth, 0)
	r.requireSound()
}

// What the signer refused is asked about again in each round: somebody may have told it of the
// address since.
func TestRefusedSweepIsAskedAgain(t *testing.T) {
	r, address := heldSweep(t, records.HeldRefused)
	for range 2 {
		r.sweep()
		r.rest()
	}
	r.requireHolding(r.eth, address, usdEth, 0)
	require.Len(t, r.moves(chain.Sweep), 1)
	r.requireSound()
}

// heldSweep is a gateway with a deposit of a token whose sweep is held for a reason.
func heldSweep(t *testing.T, reason records.Reason) (r *rig, address string) {
	r = sweepRig(t)
	_, address = r.user()
	r.deposit(address, 50_000)
	r.rest()
	r.sweep()
	r.rest()
	r.sweep()
	r.update(func(tx *records.Tx) error {
		return tx.Payments().Move(r.moves(chain.Sweep)[0].ID, records.Queued, records.HeldPayment, reason)
	})
	return r, address
}

// taxedSweep is taxed with own addresses.
type taxedSweep struct{ taxed }

func (s taxedSweep) SweepCost(context.Context) (chain.Amount, error) { return units(sweepCost), nil }
func (s taxedSweep) TokenSweepCost(context.Context) (chain.Amount, error) {
	return units(sweepCost), nil
}

// A sweep that moved something else than it says stays, however old, until an operator has settled
// it; then what came later is swept.
func TestSweepThatDiffersIsSettledByAnOperator(t *testing.T) {
	r := sweepRig(t)
	_, address := r.user()
	r.deposit(address, 50_000)
	r.rest()
	r.parts.Chains["eth"] = sweepable{r.eth}
	r.sweep()
	r.rest()
	r.parts.Chains["eth"] = taxedSweep{taxed{r.eth}}
	r.restart()
	r.sweep()
	r.rest()
	r.parts.Chains["eth"] = sweepable{r.eth}
	r.restart()
	held := r.moves(chain.Sweep)[0]
	require.Equal(t, []any{records.HeldPayment, records.ReasonPayoutDiffers}, []any{held.State, held.Reason})
	r.deposit(address, 40_000)
	r.rest()
	r.now = r.now.Add(2 * treasury.SweepPause)
	r.sweep()
	r.rest()
	require.Len(t, r.moves(chain.Sweep), 1)
	require.NoError(t, r.operatorRecovery().Settle(t.Context(), 0, r.attemptsOf(held)[0].Hash))
	for range 3 {
		r.sweep()
		r.rest()
	}
	r.requireHolding(r.eth, address, usdEth, 0)
	r.requireSound()
}

// Dust of a token is not swept: it would cost a top-up and a transfer each time. Together it may be
// worth that.
func TestDustOfATokenIsNotSwept(t *testing.T) {
	r := sweepRig(t)
	_, address := r.user()
	gas := r.eth.Holding(r.net.Gas, chain.Native)
	hash := r.deposit(address, 1)
	r.rest()
	r.requireState(hash, records.Refused, records.ReasonBelowMinimum)
	sweeps := func() {
		for range 4 {
			r.sweep()
			r.rest()
		}
	}
	sweeps()
	require.Empty(t, r.moves(chain.Gas))
	require.Equal(t, gas, r.eth.Holding(r.net.Gas, chain.Native))
	r.deposit(address, minimum*100-2)
	r.rest()
	sweeps()
	r.requireHolding(r.eth, address, usdEth, minimum*100-1)
	r.deposit(address, 1)
	r.rest()
	sweeps()
	r.requireHolding(r.eth, address, usdEth, 0)
	r.requireSound()
}

// Where the price of coin is known, a token is swept when it is worth three times its top-up and
// its transfer, as coin is.
func TestTokenSweepIsWorthItsCost(t *testing.T) {
	r := sweepRig(t)
	r.net.CoinDecimals = 4
	r.net.Tokens[0].Policy.Fee.Rate = decimal.NewFromInt(20) // 0.05 coin each for top-up and transfer are two tokens
	r.parts.Networks = []records.Network{r.net}
	r.restart()
	_, address := r.user()
	sweeps := func() {
		for range 4 {
			r.sweep()
			r.rest()
		}
	}
	r.deposit(address, 59_999)
	r.rest()
	sweeps()
	r.requireHolding(r.eth, address, usdEth, 59_999)
	r.deposit(address, 1)
	r.rest()
	sweeps()
	r.requireHolding(r.eth, address, usdEth, 0)
	r.requireSound()
}
