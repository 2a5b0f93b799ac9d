package watcher

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/chaintest"
	"gatewayd/records"
	"gatewayd/watcher/pay"
)

// halfDead is a ledger whose nodes tell no balance of some assets.
type halfDead struct {
	*chaintest.Chain
	silent map[chain.Asset]bool
}

func (h halfDead) Balance(ctx context.Context, account string, asset chain.Asset) (chain.Amount, error) {
	if h.silent[asset] {
		return chain.Amount{}, chain.ErrUnavailable
	}
	return h.Chain.Balance(ctx, account, asset)
}

// forgotten is a ledger on which an asset is configured no more: what it holds can be told, and
// nothing is paid in it.
type forgotten struct {
	*chaintest.Chain
	asset chain.Asset
}

func (f forgotten) Estimate(ctx context.Context, account string, pay chain.Payment) (chain.Amount, error) {
	if pay.Asset == f.asset {
		return chain.Amount{}, errors.New("not configured on this chain")
	}
	return f.Chain.Estimate(ctx, account, pay)
}

// try is run when payers may fail; it returns the last fault.
func (r *rig) try(blocks int) (err error) {
	r.t.Helper()
	for range blocks {
		r.eth.Mine(1)
		r.vite.Mine(1)
		err = r.w.Step(r.t.Context())
	}
	return err
}

// A token whose contract answers no more, or that is not configured any more, keeps no payment of
// another asset back. Its own say what they wait for after a minute, and leave when it answers
// again.
func TestBrokenAssetKeepsNoOtherBack(t *testing.T) {
	for name, broken := range map[string]func(*rig) chain.Chain{
		"no balance":     func(r *rig) chain.Chain { return halfDead{r.eth, map[chain.Asset]bool{usdEth: true}} },
		"not configured": func(r *rig) chain.Chain { return forgotten{r.eth, usdEth} },
	} {
		t.Run(name, func(t *testing.T) {
			r := setup(t)
			owner, _ := r.user()
			r.parts.Chains["eth"] = broken(r)
			r.restart()
			stuck := []string{r.withdraw(owner, r.eth.Address("payee"), 1000), r.withdraw(owner, r.eth.Address("payee"), 500)}
			other := r.withdrawCoin(owner, 1000)
			require.ErrorContains(t, r.try(3*finality+6), "asset usd")
			require.Equal(t, records.Paid, r.payment(other).State)
			require.Equal(t, []any{records.Queued, records.Reason("")}, []any{r.payment(stuck[0]).State, r.payment(stuck[0]).Reason}, "it has not waited for long")

			r.now = r.now.Add(2 * pay.NoteLaterAfter)
			require.Error(t, r.try(1))
			require.Equal(t, records.WaitsAsset, r.payment(stuck[0]).Reason)
			require.Empty(t, r.payment(stuck[1]).Reason, "one payment says so for all")
			later := r.withdrawCoin(owner, 1000)
			require.Error(t, r.try(3*finality+6))
			require.Equal(t, records.Paid, r.payment(later).State)

			r.parts.Chains["eth"] = r.eth
			r.restart()
			r.rest()
			for _, hash := range stuck {
				require.Equal(t, []any{records.Paid, records.Reason("")}, []any{r.payment(hash).State, r.payment(hash).Reason})
			}
			r.requireSound()
		})
	}
}

// What waits for a silent asset waits for money once the asset answers, and does not blame it any
// more.
func TestAssetThatAnswersAgainMayBeShort(t *testing.T) {
	r := setup(t)
	owner, _ := r.user()
	r.parts.Chains["eth"] = halfDead{r.eth, map[chain.Asset]bool{usdEth: true}}
	r.restart()
	stuck := r.withdraw(owner, r.eth.Address("payee"), 1000)
	require.Error(t, r.try(3*finality))
	r.now = r.now.Add(2 * pay.NoteLaterAfter)
	require.Error(t, r.try(1))
	require.Equal(t, records.WaitsAsset, r.payment(stuck).Reason)
	r.parts.Chains["eth"] = limitedBalance{r.eth, r.net.Hot, usdEth, 1}
	r.restart()
	r.run(2)
	require.Equal(t, []any{records.Queued, records.Reason("")}, []any{r.payment(stuck).State, r.payment(stuck).Reason})
}

// While the chain does not even tell the coin of an account, nothing is said of single payments.
func TestSilentChainIsNoAssetsFault(t *testing.T) {
	r := setup(t)
	owner, _ := r.user()
	r.parts.Chains["eth"] = halfDead{r.eth, map[chain.Asset]bool{usdEth: true, chain.Native: true}}
	r.restart()
	stuck := []string{r.withdraw(owner, r.eth.Address("payee"), 1000), r.withdrawCoin(owner, 1000)}
	require.ErrorIs(t, r.try(3*finality), chain.ErrUnavailable)
	r.now = r.now.Add(time.Hour)
	require.ErrorIs(t, r.try(2), chain.ErrUnavailable)
	for _, hash := range stuck {
		require.Equal(t, []any{records.Queued, records.Reason("")}, []any{r.payment(hash).State, r.payment(hash).Reason})
	}
}

// pricedInCoin is a ledger that tells what a payout of its coin costs.
type pricedInCoin struct {
	*chaintest.Chain
	cost chain.Amount
}

func (p pricedInCoin) PayoutCost(_ context.Context, asset chain.Asset) (chain.Amount, error) {
	if asset != chain.Native {
		return chain.Amount{}, chain.ErrUnavailable
	}
	return p.cost, nil
}

// A token that cannot be quoted keeps the quotes of the others fresh.
func TestQuotesOfOthersGoOn(t *testing.T) {
	r := setup(t)
	r.parts.Chains["eth"] = pricedInCoin{r.eth, chain.MustAmount("5000000000000000000")}
	r.net.Tokens[0].Policy.Fee = records.Fee{Kind: "network"}
	r.net.Tokens[1].Policy.Fee = records.Fee{Kind: "network"}
	r.parts.Networks = []records.Network{r.net}
	r.restart()
	require.ErrorContains(t, r.w.payers.Quote(t.Context()), "quoting token "+usd)
	owner, _ := r.user()
	hash := r.order(owner, coin, 5000, chain.Memo{Type: 1, Address: r.eth.Address("payee"), Label: "1"})
	r.run(1)
	require.Equal(t, units(500), r.transfer(hash).Fee)
}
