package cause_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/chaintest"
	"gatewayd/policy"
	"gatewayd/records/signguard"
	"gatewayd/signer/cause"
)

// priced is a ledger that knows what a token's transfer costs.
type priced struct {
	*chaintest.Chain
	cost uint64
}

func (p *priced) SweepCost(context.Context) (chain.Amount, error)      { return amount(p.cost), nil }
func (p *priced) TokenSweepCost(context.Context) (chain.Amount, error) { return amount(p.cost), nil }

// gasEnv is a checker that sees prices, with a clock.
type gasEnv struct {
	*env
	prices *priced
	now    time.Time
	last   uint64
}

func setupGas(t *testing.T) *gasEnv {
	t.Helper()
	w := &gasEnv{env: setup(t), now: time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)}
	w.prices = &priced{w.eth, 100}
	w.checker = cause.New(cause.Parts{
		Chains:   map[chain.ID]cause.Reader{"eth": w.prices, "vite": w.vite},
		Networks: func() []policy.Network { return []policy.Network{w.network} }, Bindings: w.guard, Now: func() time.Time { return w.now },
		Accounts: []cause.Account{
			{Chain: "eth", Address: w.eth.Address("gas"), Network: "main", Kind: cause.Gas},
			{Chain: "eth", Address: w.eth.Address("old hot"), Network: "main", Kind: cause.Hot, Retired: true},
		},
	})
	return w
}

// given is a deposit address with tokens.
func (w *gasEnv) given(index uint32, tokens uint64) string {
	w.t.Helper()
	address := w.eth.Address(fmt.Sprint("deposit/", index))
	require.NoError(w.t, w.guard.GiveAddress(w.t.Context(), signguard.Binding{Network: "main", Chain: "eth", Index: index, Address: address, User: w.user}))
	if tokens > 0 {
		w.brought(address, "usd", amount(tokens))
	}
	return address
}

func (w *gasEnv) brought(to string, asset chain.Asset, units chain.Amount) {
	w.eth.Deposit(w.eth.Address("sender"), to, asset, units, chain.Memo{Type: -1})
	w.eth.Mine(1)
}

// asks is the answer for coin to an account, under a new number.
func (w *gasEnv) asks(to string, units uint64) chain.Verdict {
	w.t.Helper()
	w.last++
	return w.verdict("eth", chain.Claim{
		Account: w.eth.Address("gas"), Cause: chain.Cause{Network: "main"},
		Payment: chain.Payment{ID: w.last, Purpose: chain.Gas, Asset: chain.Native, To: to, Amount: amount(units)},
	})
}

// TestGasGoesWhereTokensAre: an address gets coin as far as sweeping its tokens costs, and none
// without tokens.
func TestGasGoesWhereTokensAre(t *testing.T) {
	w := setupGas(t)
	for i := range w.network.Tokens {
		w.network.Tokens[i].Policy.MinDeposit = amount(10)
	}
	used, unused, dusty := w.given(21, 1_000), w.given(22, 0), w.given(23, 999)
	require.Equal(t, chain.Authorized, w.asks(used, 100).State)
	require.Equal(t, chain.Authorized, w.asks(used, 600).State, "prices of the daemon may be higher")
	v := w.asks(used, 601)
	require.Equal(t, chain.LaterClaim, v.State)
	require.Contains(t, v.Text, "is limited to 600")
	for _, to := range []string{unused, dusty, w.eth.Address("old hot")} {
		v := w.asks(to, 100)
		require.Equal(t, chain.LaterClaim, v.State)
		require.Contains(t, v.Text, "has no tokens worth a sweep")
	}
	w.brought(w.eth.Address("old hot"), "usd", amount(5_000))
	require.Equal(t, chain.Authorized, w.asks(w.eth.Address("old hot"), 400).State, "a retired account is emptied")
	w.brought(used, chain.Native, amount(600))
	v = w.asks(used, 100)
	require.Equal(t, chain.LaterClaim, v.State)
	require.Contains(t, v.Text, "enough for its transfers")
	w.prices.cost = 200
	require.Equal(t, chain.Authorized, w.asks(used, 100).State, "fees have risen")
	w.eth.Lie(chaintest.Always(chaintest.Refuse, chaintest.CallBalance))
	require.Equal(t, chain.LaterClaim, w.asks(used, 100).State)
}

// TestGasIsCounted: an hour bounds the payments to an address and on a ledger. The same payment
// counts once, and no clock frees or keeps any.
func TestGasIsCounted(t *testing.T) {
	w := setupGas(t)
	address := w.given(21, 1_000)
	for range 30 {
		require.Equal(t, chain.Authorized, w.asks(address, 100).State)
	}
	v := w.asks(address, 100)
	require.Equal(t, chain.LaterClaim, v.State)
	require.Contains(t, v.Text, "30 times in an hour")
	w.last--
	w.last--
	require.Equal(t, chain.Authorized, w.asks(address, 100).State, "asked again after it was counted")
	require.Equal(t, chain.Authorized, w.asks(w.given(22, 1_000), 100).State, "other addresses are served")
	w.now = w.now.Add(time.Hour)
	require.Equal(t, chain.Authorized, w.asks(address, 100).State)
	for n := uint32(23); ; n++ {
		to := w.given(n, 1_000)
		for range 30 {
			if v = w.asks(to, 100); v.State != chain.Authorized {
				require.Contains(t, v.Text, "5000 times on eth in an hour")
				require.Equal(t, uint32(23+4_999/30), n)
				return
			}
		}
	}
}

// TestGasOutlivesAFallOfThePrice: what was authorized when gas was dear may still be signed when it
// is cheap. Another amount, payee or payment may not.
func TestGasOutlivesAFallOfThePrice(t *testing.T) {
	w := setupGas(t)
	to, other := w.given(21, 1_000), w.given(22, 1_000)
	require.Equal(t, chain.Authorized, w.asks(to, 600).State)
	claim := chain.Claim{
		Account: w.eth.Address("gas"), Cause: chain.Cause{Network: "main"},
		Payment: chain.Payment{ID: w.last, Purpose: chain.Gas, Asset: chain.Native, To: to, Amount: amount(600)},
	}
	_, err := w.guard.Authorize(t.Context(), []signguard.Authorization{{
		Key: claim.Key("eth"), Digest: claim.Payment.Fingerprint(), Chain: "eth", Account: claim.Account, PaymentID: claim.Payment.ID, Network: "main",
		Payee: to, Asset: chain.Native, Amount: amount(600), At: w.now, Evidence: true,
	}})
	require.NoError(t, err)
	w.prices.cost = 50
	require.Equal(t, chain.Authorized, w.verdict("eth", claim).State)
	for name, alter := range map[string]func(*chain.Claim){
		"amount": func(c *chain.Claim) { c.Payment.Amount = amount(601) }, "payee": func(c *chain.Claim) { c.Payment.To = other },
		"payment": func(c *chain.Claim) { c.Payment.ID++ },
	} {
		altered := claim
		alter(&altered)
		require.Contains(t, w.verdict("eth", altered).Text, "is limited to 300", name)
	}
	w.brought(to, chain.Native, amount(600))
	require.Equal(t, chain.LaterClaim, w.verdict("eth", claim).State, "it has its gas")
}
