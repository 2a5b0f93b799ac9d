package signer_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records/signguard"
	"gatewayd/signer"
)

// verdicts are the states that claims of one ledger get.
func (w *env) verdicts(claims ...chain.Claim) (states []chain.VerdictState) {
	w.t.Helper()
	list, err := w.Authorize(w.t.Context(), "eth", claims...)
	require.NoError(w.t, err)
	for _, v := range list {
		states = append(states, v.State)
		require.Equal(w.t, v.State == chain.Authorized, v.Text == "", "%+v", v)
		require.NotContains(w.t, v.Text, "\n")
	}
	return states
}

func states(list ...chain.VerdictState) []chain.VerdictState { return list }

// TestNothingIsSignedWithoutAuthorization: neither key nor slot is used for a payment without an
// authorization, or for another than the authorized one.
func TestNothingIsSignedWithoutAuthorization(t *testing.T) {
	w := setup(t)
	o := w.order(w.eth, 0, "", w.pay(1, "payee", 5))
	_, err := w.Signer.Sign(t.Context(), "eth", o)
	require.ErrorIs(t, err, signguard.ErrUnauthorized)
	w.claim("eth", o)
	for name, other := range map[string]chain.Order{
		"another payee":   w.order(w.eth, 0, "", w.pay(1, "thief", 5)),
		"another amount":  w.order(w.eth, 0, "", w.pay(1, "payee", 6)),
		"another payment": w.order(w.eth, 0, "", w.pay(2, "payee", 5)),
	} {
		_, err := w.Signer.Sign(t.Context(), "eth", other)
		require.ErrorIs(t, err, signguard.ErrUnauthorized, name)
	}
	require.Zero(t, w.signed)
	_, err = w.Signer.Sign(t.Context(), "eth", o)
	require.NoError(t, err)
}

// TestCausesAreAuthorizedOnce: what is signed for a transfer excludes everything else for it, under
// whatever number, until it is void.
func TestCausesAreAuthorizedOnce(t *testing.T) {
	w := setup(t)
	o := w.order(w.eth, 0, "", w.pay(1, "payee", 5))
	mine := claimOf(o)
	other := func(change func(*chain.Claim)) chain.Claim { c := mine; change(&c); return c }
	renumbered := other(func(c *chain.Claim) { c.Payment.ID = 9 })
	refund := other(func(c *chain.Claim) {
		c.Payment.ID, c.Payment.Purpose, c.Payment.To = 2, chain.Refund, w.eth.Address("sender")
	})

	require.Equal(t, states(chain.Authorized, chain.Authorized), w.verdicts(mine, mine))
	require.Equal(t, states(chain.Authorized), w.verdicts(refund), "nothing is signed for the credit, which has no authorization from now on")
	_, err := w.Signer.Sign(t.Context(), "eth", o)
	require.ErrorIs(t, err, signguard.ErrUnauthorized)
	require.Equal(t, states(chain.Authorized), w.verdicts(renumbered))
	require.Equal(t, states(chain.Authorized), w.verdicts(mine), "nothing is signed under the other number")

	_, err = w.Signer.Sign(t.Context(), "eth", o)
	require.NoError(t, err)
	require.Equal(t, states(chain.Authorized, chain.LaterClaim, chain.RefusedClaim, chain.RefusedClaim, chain.RefusedClaim, chain.RefusedClaim), w.verdicts(
		mine, renumbered, refund,
		other(func(c *chain.Claim) { c.Payment.To = "thief" }),
		other(func(c *chain.Claim) { c.Payment.Amount = chain.NewAmount(6) }),
		other(func(c *chain.Claim) { c.Account = w.eth.Address("other") }),
	))
	require.NoError(t, w.Free(t.Context(), 1))
	require.Equal(t, states(chain.Authorized), w.verdicts(refund))
}

// TestNumbersOfPaymentsComeAgain: a restored database gives numbers a second time. One that
// something is signed under is that payment's until it is decided.
func TestNumbersOfPaymentsComeAgain(t *testing.T) {
	w := setup(t)
	o := w.order(w.eth, 0, "", w.pay(1, "payee", 5))
	_, err := w.sign(o)
	require.NoError(t, err)
	twin := claimOf(o)
	twin.Cause.Ref = "another transfer"
	require.Equal(t, states(chain.LaterClaim), w.verdicts(twin))
	require.NoError(t, w.Release(t.Context(), "eth", o.Slot.Account, 1))
	require.Equal(t, states(chain.Authorized), w.verdicts(twin))
	_, err = w.Signer.Sign(t.Context(), "eth", w.order(w.eth, 1, "", w.pay(1, "payee", 5)))
	require.NoError(t, err)
	_, err = w.Signer.Sign(t.Context(), "eth", w.order(w.eth, 2, "", w.pay(1, "payee", 5)))
	require.ErrorIs(t, err, signguard.ErrRefused, "one slot for a number")
}

// TestMalformedClaims are refused before anything is asked.
func TestMalformedClaims(t *testing.T) {
	w := setup(t)
	mine := claimOf(w.order(w.eth, 0, "", w.pay(1, "payee", 5)))
	for name, change := range map[string]func(*chain.Claim){
		"no payment": func(c *chain.Claim) { c.Payment.ID = 0 },
		"no account": func(c *chain.Claim) { c.Account = "" },
		"no purpose": func(c *chain.Claim) { c.Payment.Purpose = "" },
		"cancel":     func(c *chain.Claim) { c.Payment.Purpose = chain.Cancel },
		"no cause":   func(c *chain.Claim) { c.Cause.Ref = "" },
		"long":       func(c *chain.Claim) { c.Payment.Label = strings.Repeat("x", 513) },
	} {
		c := mine
		change(&c)
		require.Equal(t, states(chain.RefusedClaim), w.verdicts(c), name)
	}
	_, err := w.Authorize(t.Context(), "bsc", mine)
	require.ErrorIs(t, err, signer.ErrRefused)
	_, err = w.Authorize(t.Context(), "eth", make([]chain.Claim, signer.MaxOrders+1)...)
	require.ErrorIs(t, err, signer.ErrRefused)
}

// verdictOf is a check that holds what is paid to one payee, or fails.
type verdictOf struct {
	payee string
	asked int
	err   error
}

// Check counts.
func (v *verdictOf) Check(_ context.Context, _ chain.ID, claims []chain.Claim) ([]chain.Verdict, error) {
	list := make([]chain.Verdict, len(claims))
	for i, c := range claims {
		v.asked++
		list[i] = chain.Verdict{State: chain.Authorized}
		if c.Payment.To == v.payee {
			list[i] = chain.Verdict{State: chain.HeldClaim, Reason: chain.ReasonLimit, Text: "too much"}
		}
	}
	return list, v.err
}

// TestChecksRunInOrder: a later check sees what the earlier ones passed, and no check sees what was
// authorized before.
func TestChecksRunInOrder(t *testing.T) {
	w := setup(t)
	first, second := &verdictOf{payee: w.eth.Address("a")}, &verdictOf{payee: w.eth.Address("b")}
	w.Signer = signer.New(signer.Parts{Keys: w, Guard: w.guard, Rules: map[chain.ID]chain.Rules{"eth": w.eth.Rules()}, Checks: []signer.Check{first, second}})
	claims := []chain.Claim{}
	for i, payee := range []string{"a", "b", "c"} {
		claims = append(claims, claimOf(w.order(w.eth, 0, "", w.pay(uint64(i+1), payee, 5))))
	}
	want := states(chain.HeldClaim, chain.HeldClaim, chain.Authorized)
	require.Equal(t, want, w.verdicts(claims...))
	require.Equal(t, []int{3, 2}, []int{first.asked, second.asked})
	require.Equal(t, want, w.verdicts(claims...))
	require.Equal(t, []int{5, 3}, []int{first.asked, second.asked})
	second.payee = ""
	require.Equal(t, states(chain.HeldClaim, chain.Authorized, chain.Authorized), w.verdicts(claims...))
	first.err = errors.New("the nodes are away")
	_, err := w.Authorize(t.Context(), "eth", claims...)
	require.ErrorIs(t, err, first.err)
}

// TestTextsAreText: a text that a sign-guard on a server cannot store fails its own claim, not the
// others of the group.
func TestTextsAreText(t *testing.T) {
	w := setup(t)
	good, bad, worse := claimOf(w.order(w.eth, 0, "", w.pay(1, "payee", 5))), claimOf(w.order(w.eth, 1, "", w.pay(2, "a", 5))), claimOf(w.order(w.eth, 2, "", w.pay(3, "b", 5)))
	bad.Payment.To, worse.Payment.Label = "a\x00", "\xff"
	require.Equal(t, states(chain.RefusedClaim, chain.Authorized, chain.RefusedClaim), w.verdicts(bad, good, worse))
}
