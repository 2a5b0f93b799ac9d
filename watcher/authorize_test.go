package watcher

import (
	"context"
	"errors"
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

// claimVerdicts is a check of the signer that gives everything that is paid to an account one
// verdict.
type claimVerdicts map[string]chain.Verdict

// Check passes the rest.
func (j claimVerdicts) Check(_ context.Context, _ chain.ID, claims []chain.Claim) ([]chain.Verdict, error) {
	list := make([]chain.Verdict, len(claims))
	for i, c := range claims {
		list[i] = chain.Verdict{State: chain.Authorized}
		if v, ok := j[c.Payment.To]; ok {
			list[i] = v
		}
	}
	return list, nil
}

// countedSigner counts the calls that commit at the sign-guard.
type countedSigner struct {
	Signer
	asked, signed int
}

// Authorize counts.
func (s *countedSigner) Authorize(ctx context.Context, id chain.ID, claims ...chain.Claim) ([]chain.Verdict, error) {
	s.asked++
	return s.Signer.Authorize(ctx, id, claims...)
}

// Sign counts.
func (s *countedSigner) Sign(ctx context.Context, id chain.ID, orders ...chain.Order) ([]chain.SignedTx, error) {
	s.signed++
	return s.Signer.Sign(ctx, id, orders...)
}

// restartWithCheck restarts the rig with a signer that has one check.
func (r *rig) restartWithCheck(j claimVerdicts) *countedSigner {
	s := &countedSigner{Signer: signer.New(signer.Parts{Keys: chaintest.NoKeys{}, Guard: r.guard, Rules: rulesOf(r.eth, r.vite), Checks: []signer.Check{j}})}
	r.parts.Signer = s
	r.restart()
	return s
}

// TestHeldPaymentsBlockNobody: what the signer holds has no number, so that what comes behind it is
// paid; what it authorizes later is paid then.
func TestHeldPaymentsBlockNobody(t *testing.T) {
	r := setup(t)
	listed, odd, early := r.eth.Address("listed"), r.eth.Address("odd"), r.eth.Address("early")
	verdicts := claimVerdicts{
		listed: {State: chain.HeldClaim, Reason: chain.ReasonListed, Text: "it is on the list"},
		odd:    {State: chain.RefusedClaim, Reason: chain.ReasonRefused, Text: "its transfer names another payee"},
		early:  {State: chain.LaterClaim, Text: "the nodes do not show it yet"},
	}
	r.restartWithCheck(verdicts)
	owner, _ := r.user()
	held, refused, later := r.withdraw(owner, listed, 1000), r.withdraw(owner, odd, 1000), r.withdraw(owner, early, 1000)
	paid := r.withdraw(owner, r.eth.Address("payee"), 1000)
	r.rest()
	state := func(hash string) []any { p := r.payment(hash); return []any{p.State, p.Reason} }
	require.Equal(t, []any{records.Paid, records.Reason("")}, state(paid))
	require.Equal(t, []any{records.HeldPayment, records.HeldListed}, state(held))
	require.Equal(t, []any{records.HeldPayment, records.HeldRefused}, state(refused))
	require.Equal(t, []any{records.Queued, records.Reason("")}, state(later), "it has not waited for long")
	r.parts.Now = func() time.Time { return time.Now().Add(2 * pay.NoteLaterAfter) }
	r.restart()
	r.rest()
	require.Equal(t, []any{records.Queued, records.WaitsSigner}, state(later))

	verdicts[listed] = chain.Verdict{State: chain.HeldClaim, Reason: chain.ReasonLimit, Text: "too much today"}
	require.NoError(t, r.w.payers.AskHeld(t.Context()))
	require.Equal(t, []any{records.HeldPayment, records.HeldLimit}, state(held))
	clear(verdicts)
	require.NoError(t, r.w.payers.AskHeld(t.Context()))
	require.Equal(t, []any{records.Queued, records.Reason("")}, state(held))
	r.rest()
	require.Equal(t, []any{records.Paid, records.Reason("")}, state(held))
	require.Equal(t, []any{records.Paid, records.Reason("")}, state(later))
	require.Equal(t, []any{records.HeldPayment, records.HeldRefused}, state(refused), "nobody has ordered it again")
	r.update(func(tx *records.Tx) error {
		return r.w.rules().Order(tx, transfers.OrderRetry, transfers.Order{Record: r.transfer(refused).ID})
	})
	r.rest()
	require.Equal(t, []any{records.Paid, records.Reason("")}, state(refused))
	r.requireSound()
}

// TestOperatorsHold: what an operator holds is paid when an operator says so, and by nothing else.
// What is paid is not held.
func TestOperatorsHold(t *testing.T) {
	r := setup(t)
	payee := r.eth.Address("payee")
	verdicts := claimVerdicts{payee: {State: chain.HeldClaim, Reason: chain.ReasonApproval, Text: "it wants approval"}}
	r.restartWithCheck(verdicts)
	owner, _ := r.user()
	hash := r.withdraw(owner, payee, 1000)
	r.rest()
	hold := func() error {
		return r.store.Update(t.Context(), func(tx *records.Tx) error {
			return r.w.rules().Order(tx, transfers.OrderHold, transfers.Order{Record: r.transfer(hash).ID, Why: "ticket 1"})
		})
	}
	state := func() []any { p := r.payment(hash); return []any{p.State, p.Reason} }
	require.Equal(t, []any{records.HeldPayment, records.HeldApproval}, state())
	require.NoError(t, hold())
	require.ErrorIs(t, hold(), transfers.ErrNothingToDo, "it is held")
	clear(verdicts)
	require.NoError(t, r.w.payers.AskHeld(t.Context()))
	approved := chain.Approval{Key: "ann", Expires: time.Now().Add(time.Hour).Unix(), Nonce: "n", Signature: "s"}
	r.update(func(tx *records.Tx) error { return transfers.Approve(tx, r.payment(hash).ID, approved) })
	r.rest()
	require.Equal(t, []any{records.HeldPayment, records.ReasonOperator}, state())

	r.update(func(tx *records.Tx) error {
		return r.w.rules().Order(tx, transfers.OrderRetry, transfers.Order{Record: r.transfer(hash).ID})
	})
	require.NoError(t, hold(), "before it is bound")
	r.rest()
	require.Equal(t, []any{records.HeldPayment, records.ReasonOperator}, state())
	r.update(func(tx *records.Tx) error {
		return r.w.rules().Order(tx, transfers.OrderRetry, transfers.Order{Record: r.transfer(hash).ID})
	})
	r.rest()
	require.Equal(t, []any{records.Paid, records.Reason("")}, state())
	require.ErrorIs(t, hold(), transfers.ErrNothingToDo, "it is paid")
	r.requireSound()
}

// TestOperatorHoldsWhileTheSignerIsAsked: an order that arrives between the question and its answer
// stands, whatever the answer is.
func TestOperatorHoldsWhileTheSignerIsAsked(t *testing.T) {
	for _, answer := range []chain.Verdict{{State: chain.Authorized}, {State: chain.HeldClaim, Reason: chain.ReasonApproval}} {
		r := setup(t)
		hash, ask := "", false
		r.restartChecked(func(c chain.Claim) chain.Verdict {
			if !ask || c.Payment.Purpose != chain.Credit {
				return chain.Verdict{State: chain.HeldClaim, Reason: chain.ReasonLimit}
			}
			r.update(func(tx *records.Tx) error {
				return r.w.rules().Order(tx, transfers.OrderHold, transfers.Order{Record: r.transfer(hash).ID, Why: "ticket 1"})
			})
			return answer
		})
		owner, _ := r.user()
		hash = r.withdraw(owner, r.eth.Address("payee"), 1000)
		r.rest()
		require.Equal(t, records.HeldLimit, r.payment(hash).Reason)
		ask = true
		require.NoError(t, r.w.payers.AskHeld(t.Context()))
		ask = false
		p := r.payment(hash)
		require.Equal(t, []any{records.HeldPayment, records.ReasonOperator}, []any{p.State, p.Reason}, "%s", answer.State)
	}
}

// TestGroupsAreAuthorizedAtOnce: what is bound together costs one question before it, and one
// signature's commit after.
func TestGroupsAreAuthorizedAtOnce(t *testing.T) {
	r := setup(t)
	s := r.restartWithCheck(claimVerdicts{})
	owner, _ := r.user()
	for i := range 10 {
		r.withdraw(owner, r.eth.Address(fmt.Sprint("payee ", i)), 1000)
	}
	before := r.account("eth", r.net.Hot).Next
	r.vite.Mine(finality + 1)
	for range 5 {
		r.step()
	}
	require.Equal(t, before+10, r.account("eth", r.net.Hot).Next)
	require.Equal(t, []int{1, 2}, []int{s.asked, s.signed}, "one group of payouts; receives are asked for by nobody, and signed")
}

// TestBoundBeforeAuthorizations: what an earlier version bound, or a sign-guard from a backup has
// forgotten, is authorized before it is signed.
func TestBoundBeforeAuthorizations(t *testing.T) {
	r := setup(t)
	late := r.eth.Address("late")
	owner, _ := r.user()
	verdicts := claimVerdicts{}
	s := r.restartWithCheck(verdicts)
	r.parts.Signer = allows{s}
	r.restart()
	first, second := r.withdraw(owner, r.eth.Address("payee"), 1000), r.withdraw(owner, late, 1000)
	verdicts[late] = chain.Verdict{State: chain.HeldClaim, Reason: chain.ReasonLimit, Text: "too much today"}
	r.vite.Mine(finality + 1)
	for range 3 {
		require.NoError(t, r.w.followers["vite"].Round(t.Context()))
	}
	r.bindOnly("eth")
	require.Equal(t, records.Bound, r.payment(second).State)
	r.parts.Signer = s
	r.restart()
	r.run(2)
	r.now = r.now.Add(pay.TellUnsignedAfter)
	r.run(1)
	require.Contains(t, r.shownHeld(), "too much today")
	r.view(func(tx *records.Tx) error {
		slots, err := tx.Slots().Open("eth", r.net.Hot)
		require.Len(t, slots, 2)
		require.Equal(t, []int{1, 0}, []int{len(slots[0].Attempts), len(slots[1].Attempts)})
		return err
	})
	clear(verdicts)
	r.rest()
	require.Equal(t, []records.PaymentState{records.Paid, records.Paid}, []records.PaymentState{r.payment(first).State, r.payment(second).State})
	r.requireSound()
}

// loses signs, and its answers are lost.
type loses struct{ Signer }

func (l loses) Sign(ctx context.Context, id chain.ID, orders ...chain.Order) ([]chain.SignedTx, error) {
	_, err := l.Signer.Sign(ctx, id, orders...)
	return nil, errors.Join(errSilent, err)
}

// TestHeldPaymentKeepsBackNothingBeforeIt: what was signed before a crash is signed again as it is,
// whatever is held behind it, by a signer with nodes of its own too.
func TestHeldPaymentKeepsBackNothingBeforeIt(t *testing.T) {
	r := setup(t)
	late := r.eth.Address("late")
	owner, _ := r.user()
	verdicts := claimVerdicts{}
	process := func() Signer {
		return signer.New(signer.Parts{
			Keys: chaintest.NoKeys{}, Guard: r.guard, Rules: rulesOf(r.eth, r.vite), Checks: []signer.Check{verdicts},
			Ledgers: map[chain.ID]signer.Ledger{"eth": r.eth, "vite": r.vite},
		})
	}
	r.parts.Signer = allows{process()}
	r.restart()
	first, second := r.withdraw(owner, r.eth.Address("payee"), 1000), r.withdraw(owner, late, 1000)
	verdicts[late] = chain.Verdict{State: chain.HeldClaim, Reason: chain.ReasonLimit, Text: "too much today"}
	r.vite.Mine(finality + 1)
	for range 3 {
		require.NoError(t, r.w.followers["vite"].Round(t.Context()))
	}
	r.bindOnly("eth")
	require.Equal(t, []records.PaymentState{records.Bound, records.Bound}, []records.PaymentState{r.payment(first).State, r.payment(second).State})
	r.parts.Signer = loses{process()}
	r.restart()
	_ = r.w.Step(t.Context())
	require.Empty(t, r.attemptsOf(r.payment(first)))

	r.parts.Signer = process()
	r.restart()
	for range 3 * finality {
		r.eth.Mine(1)
		_ = r.w.Step(t.Context()) // the second one is held
	}
	require.Equal(t, []records.PaymentState{records.Paid, records.Bound}, []records.PaymentState{r.payment(first).State, r.payment(second).State})
	clear(verdicts)
	r.rest()
	require.Equal(t, records.Paid, r.payment(second).State)
	r.requireSound()
}

// allows says yes without asking the sign-guard.
type allows struct{ Signer }

// Authorize says yes.
func (allows) Authorize(_ context.Context, _ chain.ID, claims ...chain.Claim) ([]chain.Verdict, error) {
	list := make([]chain.Verdict, len(claims))
	for i := range list {
		list[i].State = chain.Authorized
	}
	return list, nil
}

// signsNothing refuses every order for now.
type signsNothing struct{ Signer }

var errSignsNothing = errors.New("signs nothing")

// Sign refuses.
func (signsNothing) Sign(context.Context, chain.ID, ...chain.Order) ([]chain.SignedTx, error) {
	return nil, errSignsNothing
}

// bindOnly gives slots to what waits on a chain, and signs nothing.
func (r *rig) bindOnly(id chain.ID) {
	signer := r.parts.Signer
	r.parts.Signer = signsNothing{signer}
	r.restart()
	require.ErrorIs(r.t, r.w.payers.Round(r.t.Context(), id), errSignsNothing)
	r.parts.Signer = signer
	r.restart()
}
