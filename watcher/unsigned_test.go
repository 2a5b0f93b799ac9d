package watcher

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/chaintest"
	"gatewayd/records"
	"gatewayd/signer"
	"gatewayd/status"
	"gatewayd/watcher/pay"
)

// evidenceSigner is a signer with nodes of its own and one check.
func (r *rig) evidenceSigner(j claimVerdicts, keys signer.Keys) *signer.Signer {
	return signer.New(signer.Parts{
		Keys: keys, Guard: r.guard, Rules: rulesOf(r.eth, r.vite), Checks: []signer.Check{j},
		Ledgers: map[chain.ID]signer.Ledger{r.eth.ID(): r.eth, "vite": r.vite},
	})
}

// bindWith has the signer authorize payments that its checks would hold now, and binds them.
func (r *rig) bindWith(id chain.ID, blocks *chaintest.Chain, from string, s *signer.Signer) {
	r.t.Helper()
	r.parts.Signer = allows{s}
	r.restart()
	blocks.Mine(finality + 1)
	for range 3 {
		require.NoError(r.t, r.w.followers[chain.ID(from)].Round(r.t.Context()))
	}
	r.bindOnly(id)
	r.parts.Signer = s
	r.restart()
}

// heldPayout is a withdrawal that is bound and then listed, with one that is bound behind it.
func (r *rig) heldPayout(verdicts claimVerdicts) (held, behind string) {
	r.t.Helper()
	listed := r.eth.Address("listed")
	owner, _ := r.user()
	held, behind = r.withdraw(owner, listed, 1000), r.withdraw(owner, r.eth.Address("payee"), 1000)
	verdicts[listed] = chain.Verdict{State: chain.HeldClaim, Reason: chain.ReasonListed, Text: "it is on the list"}
	r.bindWith(r.eth.ID(), r.vite, "vite", r.evidenceSigner(verdicts, chaintest.NoKeys{}))
	require.Equal(r.t, []records.PaymentState{records.Bound, records.Bound}, []records.PaymentState{r.payment(held).State, r.payment(behind).State})
	return held, behind
}

// heldCredit is a deposit whose credit is bound and then held, with one that is bound behind it,
// after a paid one.
func (r *rig) heldCredit(verdicts claimVerdicts) (held, behind string) {
	r.t.Helper()
	owner, address := r.user()
	_, another := r.user()
	first := r.deposit(another, 500_000)
	r.rest()
	require.Equal(r.t, records.Paid, r.payment(first).State)
	held, behind = r.deposit(address, 500_000), r.deposit(another, 600_000)
	verdicts[owner] = chain.Verdict{State: chain.HeldClaim, Reason: chain.ReasonLimit, Text: "too much today"}
	r.bindWith("vite", r.eth, "eth", r.evidenceSigner(verdicts, chaintest.NoKeys{}))
	require.Equal(r.t, []records.PaymentState{records.Bound, records.Bound}, []records.PaymentState{r.payment(held).State, r.payment(behind).State})
	return held, behind
}

// shownHeld is what conditions say of payments that the signer does not sign.
func (r *rig) shownHeld() (text string) {
	r.t.Helper()
	r.view(func(tx *records.Tx) error {
		list, err := records.Conditions(tx)
		for _, c := range list {
			if c.Kind == string(status.PaymentsHeld) {
				text += c.Detail
			}
		}
		return err
	})
	return text
}

// TestHeldBoundPaymentLeavesItsNumber: a payment that is bound, unsigned and then held keeps back
// nothing for long. Its number is cancelled, and it is paid once when the signer passes it.
func TestHeldBoundPaymentLeavesItsNumber(t *testing.T) {
	r := setup(t)
	verdicts := claimVerdicts{}
	held, behind := r.heldPayout(verdicts)
	r.run(2)
	r.now = r.now.Add(pay.LeaveHeldAfter - time.Minute)
	r.run(2)
	require.Equal(t, records.Bound, r.payment(behind).State)
	require.Empty(t, r.attemptsOf(r.payment(held)))
	require.Contains(t, r.shownHeld(), "it is on the list")
	require.Contains(t, r.shownHeld(), "`gatewayd records show ")
	r.now = r.now.Add(time.Minute)
	r.rest()
	require.Equal(t, records.Paid, r.payment(behind).State)
	require.Equal(t, records.HeldPayment, r.payment(held).State)
	require.Equal(t, records.HeldListed, r.payment(held).Reason)
	require.Empty(t, r.shownHeld())
	require.Equal(t, records.AccountOK, r.account("eth", r.net.Hot).State)
	clear(verdicts)
	require.NoError(t, r.w.payers.AskHeld(t.Context()))
	r.rest()
	require.Equal(t, records.Paid, r.payment(held).State)
	r.requireSound()
}

// TestHeldBoundCreditLeavesItsLine: on a ledger that links blocks a new line begins at the height
// that is not signed.
func TestHeldBoundCreditLeavesItsLine(t *testing.T) {
	r := setup(t)
	verdicts := claimVerdicts{}
	held, behind := r.heldCredit(verdicts)
	r.run(2)
	require.Empty(t, r.attemptsOf(r.payment(held)))
	r.now = r.now.Add(pay.LeaveHeldAfter)
	r.rest()
	require.Equal(t, records.Paid, r.payment(behind).State)
	require.Equal(t, records.HeldPayment, r.payment(held).State)
	clear(verdicts)
	require.NoError(t, r.w.payers.AskHeld(t.Context()))
	r.rest()
	require.Equal(t, records.Paid, r.payment(held).State)
	r.requireSound()
}

// TestKilledWhileANumberIsCancelled: the process dies at each step of a cancellation, and the
// signer passes the payment again right after. It is paid once, and the account goes on.
func TestKilledWhileANumberIsCancelled(t *testing.T) {
	killedWhileLeaving(t, "eth", (*rig).heldPayout)
}

// TestKilledWhileABranchBegins: the same where the ledger links blocks, and a new branch leaves the
// payment out.
func TestKilledWhileABranchBegins(t *testing.T) {
	killedWhileLeaving(t, "vite", (*rig).heldCredit)
}

// killedWhileLeaving kills the process at each step in which a held payment leaves its slot.
func killedWhileLeaving(t *testing.T, id chain.ID, hold func(*rig, claimVerdicts) (held, behind string)) {
	deaths := map[string]int{}
	steps := []string{"before the commit", "after the commit", "before the guard", "after the guard", "after the signature", "before sending", "after sending"}
	for _, step := range steps {
		for nth := range 4 {
			t.Run(strings.ReplaceAll(step, " ", "_"), func(t *testing.T) {
				r := setup(t)
				f := &fuse{left: -1, census: deaths}
				verdicts := claimVerdicts{}
				held, behind := hold(r, verdicts)
				r.run(1)
				parts := r.parts
				r.parts = r.fused(f, verdicts)
				r.restart()
				r.step()
				r.now = r.now.Add(pay.LeaveHeldAfter)
				f.reset(nth, step)
				for range finality {
					if err := r.w.Step(t.Context()); errors.Is(err, errCrash) {
						break
					}
					r.eth.Mine(1)
					r.vite.Mine(1)
				}
				clear(verdicts)
				r.parts = parts
				r.restart()
				require.NoError(t, r.w.payers.AskHeld(t.Context()))
				r.rest()
				require.Equal(t, []records.PaymentState{records.Paid, records.Paid}, []records.PaymentState{r.payment(held).State, r.payment(behind).State})
				account := r.net.Hot
				if id == "vite" {
					account = r.net.Gateway
				}
				require.Equal(t, records.AccountOK, r.account(id, account).State)
				r.requireSound()
			})
		}
	}
	for _, step := range steps {
		require.Positive(t, deaths[step], step)
	}
}

// fused is the rig's parts under a fuse.
func (r *rig) fused(f *fuse, verdicts claimVerdicts) Parts {
	parts := r.parts
	parts.Store = &crashStore{Transactor: r.store, fuse: f}
	parts.Signer = &crashSigner{Signer: r.evidenceSigner(verdicts, crashKeys{f}), fuse: f, guard: r.guard}
	parts.Chains = map[chain.ID]chain.Chain{}
	for id, c := range r.parts.Chains {
		parts.Chains[id] = &crashChain{Chain: c, Batcher: chain.CapabilitiesOf(c).Batches, fuse: f, store: r.store, sent: map[string]bool{}}
	}
	return parts
}
