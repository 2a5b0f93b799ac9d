package cause_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/policy"
	"gatewayd/signer/cause"
)

// requireVerdict checks the state of a verdict and a part of its text.
func (w *env) requireVerdict(id chain.ID, c chain.Claim, state chain.VerdictState, text string) {
	w.t.Helper()
	v := w.verdict(id, c)
	require.Equal(w.t, state, v.State, v.Text)
	require.Contains(w.t, v.Text, text)
}

func TestGasIsPaidInCoinOnly(t *testing.T) {
	w := setup(t)
	gas := w.sweep()
	gas.Account, gas.Payment.Purpose, gas.Payment.To = w.eth.Address("gas"), chain.Gas, w.address
	w.requireVerdict("eth", gas, chain.RefusedClaim, "only the gas account pays for gas, in coin")
}

// TestColdMoneyLeavesTheSourceOnly uses a hot account on the exchange chain, where no cold address
// exists.
func TestColdMoneyLeavesTheSourceOnly(t *testing.T) {
	w := setup(t)
	w.checker.Take([]cause.Account{{Chain: "vite", Address: w.vite.Address("gateway"), Network: "main", Kind: cause.Hot}})
	c := w.cold()
	c.Account = w.vite.Address("gateway")
	w.requireVerdict("vite", c, chain.RefusedClaim, "a transfer to cold storage comes from a hot account of eth")
}

// TestCommentsHaveTheTokensType sends a comment with a label for a token that takes none.
func TestCommentsHaveTheTokensType(t *testing.T) {
	w := setup(t)
	c := w.withdrawn(chain.Memo{Type: 1, Address: w.eth.Address("payee"), Label: "x"})
	c.Payment.Label = "x"
	w.requireVerdict("eth", c, chain.RefusedClaim, "has no payee")
}

func TestPayoutsAreAtMostTheMaximum(t *testing.T) {
	w := setup(t)
	w.network.Tokens[0].Policy.MaxWithdraw = amount(5_000)
	c := w.ordered()
	c.Payment.Amount = amount(500_001)
	w.requireVerdict("eth", c, chain.RefusedClaim, "pays out 500000 at most")
	c.Payment.Amount = amount(500_000)
	require.Equal(t, chain.Authorized, w.verdict("eth", c).State)
}

func TestRefundsHaveNoLabel(t *testing.T) {
	w := setup(t)
	c := w.refunded()
	c.Payment.Label = "x"
	w.requireVerdict("vite", c, chain.HeldClaim, "needs approvals")
}

// TestTheDeeperTokenOfAnAssetCounts: two tokens share an asset, and the second waits for more
// blocks.
func TestTheDeeperTokenOfAnAssetCounts(t *testing.T) {
	for _, deeper := range []int{0, 1} {
		w := setup(t)
		second := w.network.Tokens[0]
		second.TokenID, second.Type = "tti_usd2", 1
		w.network.Tokens = append(w.network.Tokens[:1:1], second)
		for i := range w.network.Tokens {
			w.network.Tokens[i].Policy.DepositConfirmations = policy.Depth{Count: 1}
		}
		w.network.Tokens[deeper].Policy.DepositConfirmations = policy.Depth{Count: 100}
		c := w.usd()
		w.requireVerdict("vite", c, chain.LaterClaim, "is not final yet")
		w.eth.Mine(100)
		require.Equal(t, chain.Authorized, w.verdict("vite", c).State)
	}
}

// TestTransfersOfNoTokenWaitForTheFinalBlock refunds an asset that the network has no token for.
func TestTransfersOfNoTokenWaitForTheFinalBlock(t *testing.T) {
	w := setup(t)
	hash := w.eth.Deposit(w.eth.Address("sender"), w.address, "other", amount(5), chain.Memo{Type: -1})
	w.eth.Mine(1)
	in, height := w.find(w.eth, hash)
	c := chain.Claim{
		Account: w.eth.Address("hot"), Payment: chain.Payment{ID: 1, Purpose: chain.Refund, Asset: "other", To: in.From, Amount: amount(5)},
		Cause: chain.Cause{Network: "main", Chain: "eth", Height: height, Ref: in.Ref, Sender: in.From},
	}
	w.requireVerdict("eth", c, chain.LaterClaim, "is not final yet")
	w.mine()
	require.Equal(t, chain.Authorized, w.verdict("eth", c).State)
}

// TestAccountsBelongToTheirNetwork: a label or a comment at an account of another network proves
// nothing for this one.
func TestAccountsBelongToTheirNetwork(t *testing.T) {
	w := setup(t)
	labelled := w.deposited(chain.Memo{Type: -1, Label: "ABCD2345"}, w.eth.Address("hot"), chain.Native, 1234)
	labelled.Payment.Asset, labelled.Cause.Token = coin, coin
	payout := w.ordered()
	require.Equal(t, chain.Authorized, w.verdict("vite", labelled).State)
	require.Equal(t, chain.Authorized, w.verdict("eth", payout).State)
	w.checker.Take([]cause.Account{
		{Chain: "eth", Address: w.eth.Address("hot"), Network: "other", Kind: cause.Hot, Shared: true},
		{Chain: "eth", Address: w.eth.Address("hot 2"), Network: "main", Kind: cause.Hot},
		{Chain: "vite", Address: w.vite.Address("gateway"), Network: "other", Kind: cause.Gateway},
		{Chain: "vite", Address: w.vite.Address("gateway 2"), Network: "main", Kind: cause.Gateway},
	})
	labelled.Account = w.vite.Address("gateway 2")
	w.requireVerdict("vite", labelled, chain.HeldClaim, "names no user")
	payout.Account = w.eth.Address("hot 2")
	w.requireVerdict("eth", payout, chain.RefusedClaim, "did not come to the gateway's account")
}
