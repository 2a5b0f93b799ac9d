package watcher

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/chaintest"
	"gatewayd/records"
	"gatewayd/signer"
)

// askedSigner counts for each payee how often the signer was asked to authorize a payment.
type askedSigner struct {
	Signer
	asked map[string]int
}

func (s askedSigner) Authorize(ctx context.Context, id chain.ID, claims ...chain.Claim) ([]chain.Verdict, error) {
	for _, c := range claims {
		s.asked[c.Payment.To]++
	}
	return s.Signer.Authorize(ctx, id, claims...)
}

// longer is more than an authorization may be signed for, and shorter is less.
const (
	longer  = 11 * time.Minute
	shorter = 9 * time.Minute
)

// TestKilledBeforeASignature: the daemon dies between the authorization of a payment and its
// signature, and starts when the authorization has expired. The payer has it authorized again
// without an operator, and pays it once.
func TestKilledBeforeASignature(t *testing.T) {
	for _, row := range []struct {
		died    string
		away    time.Duration
		restart bool // the signer starts again too
		asked   int
	}{
		{"after the authorization", longer, false, 2}, // not bound
		{"before preparing", 0, false, 1},
		{"before preparing", shorter, false, 1},
		{"before preparing", longer, false, 2},
		{"before preparing", 0, true, 2}, // a signer that starts has no authorizations to sign
		{"before preparing", longer, true, 2},
		{"before the guard", longer, false, 2},
		{"before the guard", longer, true, 2},
		{"after the guard", longer, false, 1}, // signed at its slot, so it is signed again
		{"after the guard", longer, true, 1},
		{"after the signature", longer, true, 1},
		{"before sending", longer, true, 1}, // stored
	} {
		m := newModel(t, 3, map[string]int{}) // a world without batches: the first step of each kind is the payout's
		of := m.parts.Signer.(*crashSigner)
		asked := map[string]int{}
		start := func() {
			of.Signer = askedSigner{signer.New(signer.Parts{
				Keys: crashKeys{m.fuse}, Guard: of.guard, Rules: rulesOf(m.eth, m.vite), Now: func() time.Time { return m.now },
			}), asked}
		}
		start()
		paid := m.withdraw(1000)
		m.restart(0, row.died)
		for range 3 * finality {
			if m.fuse.blown {
				break
			}
			m.eth.Mine(1)
			m.vite.Mine(1)
			_ = m.w.Step(t.Context())
		}
		require.Equal(t, row.died, m.fuse.where)
		require.Equal(t, 1, asked[paid.payee], "%+v", row)
		require.NoError(t, m.check())

		m.now = m.now.Add(row.away)
		if row.restart {
			start()
		}
		m.reopen()
		require.NoError(t, m.settle(), "%+v", row)
		require.Equal(t, row.asked, asked[paid.payee], "%+v", row)
		has, err := m.eth.Balance(t.Context(), paid.payee, usdEth)
		require.NoError(t, err)
		require.Equal(t, units(paid.amount), has, "%+v", row)
	}
}

// TestExpiredAuthorizationsAreAskedForAgain: payments that are bound and whose authorizations have
// expired are authorized again and signed, all of them in one round. What the signer holds now
// waits, and so does what follows it.
func TestExpiredAuthorizationsAreAskedForAgain(t *testing.T) {
	r := setup(t)
	verdicts, asked := claimVerdicts{}, map[string]int{}
	r.parts.Signer = askedSigner{signer.New(signer.Parts{
		Keys: chaintest.NoKeys{}, Guard: r.guard, Rules: rulesOf(r.eth, r.vite), Checks: []signer.Check{verdicts}, Now: func() time.Time { return r.now },
	}), asked}
	r.restart()
	owner, _ := r.user()
	payees := []string{r.eth.Address("first"), r.eth.Address("second"), r.eth.Address("third")}
	var sent []string
	for _, to := range payees {
		sent = append(sent, r.withdraw(owner, to, 1000))
	}
	r.vite.Mine(finality + 1)
	for range 3 {
		require.NoError(t, r.w.followers["vite"].Round(t.Context()))
	}
	r.bindOnly("eth")
	states := func() (list []records.PaymentState) {
		for _, hash := range sent {
			list = append(list, r.payment(hash).State)
		}
		return list
	}
	attempts := func() (list []int) {
		for _, hash := range sent {
			list = append(list, len(r.attemptsOf(r.payment(hash))))
		}
		return list
	}
	times := func() []int { return []int{asked[payees[0]], asked[payees[1]], asked[payees[2]]} }
	require.Equal(t, []records.PaymentState{records.Bound, records.Bound, records.Bound}, states())
	require.Equal(t, []int{1, 1, 1}, times())

	r.now = r.now.Add(longer)
	verdicts[payees[1]] = chain.Verdict{State: chain.HeldClaim, Reason: chain.ReasonLimit, Text: "too much today"}
	require.NoError(t, r.w.Step(t.Context()))
	require.Equal(t, []int{2, 2, 2}, times())
	require.Equal(t, []int{1, 0, 0}, attempts())

	clear(verdicts)
	r.now = r.now.Add(longer)
	r.step()
	require.Equal(t, []int{2, 3, 3}, times(), "the first one was signed")
	require.Equal(t, []int{1, 1, 1}, attempts())
	r.now = r.now.Add(longer)
	r.rest()
	require.Equal(t, []records.PaymentState{records.Paid, records.Paid, records.Paid}, states())
	require.Equal(t, []int{2, 3, 3}, times())
	r.requireSound()
}
