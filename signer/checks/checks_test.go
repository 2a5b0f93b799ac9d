package checks_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/chaintest"
	"gatewayd/records/signguard"
	"gatewayd/signer"
	"gatewayd/signer/approval"
	"gatewayd/signer/checks"
	"gatewayd/signer/limits"
)

var begin = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

const token = chain.Asset("token")

// env is a signer with checks, a real sign-guard and a clock.
type env struct {
	*signer.Signer
	t     *testing.T
	cfg   checks.Config
	path  string
	guard *signguard.Guard
	set   *checks.Set
	eth   *chaintest.Chain
	now   time.Time
	seq   uint64
}

func setup(t *testing.T, cfg checks.Config) *env {
	t.Helper()
	require.NoError(t, cfg.Check())
	w := &env{t: t, cfg: cfg, path: filepath.Join(t.TempDir(), "guard.db"), now: begin}
	w.eth = chaintest.New(chaintest.Config{ID: "eth"})
	w.start()
	t.Cleanup(func() { require.NoError(t, w.guard.Close()) })
	return w
}

// start opens the sign-guard as a new process does.
func (w *env) start() {
	var err error
	if w.guard != nil {
		require.NoError(w.t, w.guard.Close())
	}
	w.guard, err = signguard.Open(w.path)
	require.NoError(w.t, err)
	assets := []checks.Asset{{Network: "eth", Token: "tti_1", Symbol: "USDT", Chain: "eth", Asset: token, Decimals: 0, TokenDecimals: 0}}
	w.set, err = checks.New(w.t.Context(), w.cfg, assets, w.guard, func() time.Time { return w.now })
	require.NoError(w.t, err)
	w.Signer = signer.New(signer.Parts{
		Keys: chaintest.NoKeys{}, Guard: w.guard, Rules: map[chain.ID]chain.Rules{"eth": w.eth.Rules()}, Now: w.set.Now, Fees: w.set, Authorized: w.set.Authorized,
		Checks: []signer.Check{checks.Func(w.set.Listed), checks.Func(w.set.Limited), checks.Func(w.set.Approved)},
	})
}

// claim is a payout of a withdrawal of its own.
func (w *env) claim(to string, amount uint64) chain.Claim {
	w.seq++
	return chain.Claim{
		Account: w.eth.Address("hot"),
		Payment: chain.Payment{ID: w.seq, Purpose: chain.Credit, Asset: token, To: w.eth.Address(to), Amount: chain.NewAmount(amount)},
		Cause:   chain.Cause{Network: "eth", Token: "tti_1", User: "vite_" + to, Chain: "vite", Height: w.seq, Ref: fmt.Sprint("ref", w.seq), Sender: "vite_" + to},
	}
}

// asks returns the verdict on each, in words.
func (w *env) asks(claims ...chain.Claim) (words []string) {
	w.t.Helper()
	verdicts, err := w.Authorize(w.t.Context(), "eth", claims...)
	require.NoError(w.t, err)
	for _, v := range verdicts {
		word := string(v.State)
		if v.Reason != "" {
			word += " " + v.Reason + ": " + v.Text
		}
		words = append(words, word)
	}
	return words
}

func limited(change func(*limits.Token)) checks.Config {
	t := limits.Token{Network: "eth", Token: "tti_1"}
	change(&t)
	return checks.Config{Limits: limits.Config{Tokens: []limits.Token{t}}}
}

// TestLimitsOutliveTheProcess: what was authorized counts after a start, with the clock as it is or
// set back; what was asked for again counts once, and what was held not at all.
func TestLimitsOutliveTheProcess(t *testing.T) {
	w := setup(t, limited(func(t *limits.Token) { t.PerDay = chain.NewAmount(100) }))
	first := w.claim("a", 60)
	const held = "held limit: the limit of a day is 100 USDT, of which 60 USDT are used: 41 USDT more pass from 2026-11-24 12:01 UTC on"
	require.Equal(t, []string{"authorized"}, w.asks(first))
	require.Equal(t, []string{"authorized", held}, w.asks(first, w.claim("b", 41)))
	for _, back := range []time.Duration{0, -time.Hour, -48 * time.Hour} {
		w.now = begin.Add(back)
		w.start()
		require.Equal(t, []string{"authorized", held}, w.asks(first, w.claim("b", 41)))
	}
	require.Equal(t, []string{"authorized", "held limit: the limit of a day is 100 USDT, of which 100 USDT are used: 1 USDT more pass from 2026-11-24 12:01 UTC on"},
		w.asks(w.claim("b", 40), w.claim("c", 1)))
	w.now = begin.Add(24*time.Hour + time.Minute)
	w.start()
	require.Equal(t, []string{"authorized"}, w.asks(w.claim("c", 100)))
}

// TestRefundsAreNotLimited: they go back to where the money came from, and use up nobody's limit.
func TestRefundsAreNotLimited(t *testing.T) {
	w := setup(t, limited(func(t *limits.Token) { t.PerDay = chain.NewAmount(100) }))
	back := w.claim("a", 1_000)
	back.Payment.Purpose = chain.Refund
	require.Equal(t, []string{"authorized", "authorized"}, w.asks(back, w.claim("b", 100)))
}

// TestListedAreHeld: payees and senders, and refunds to them as well.
func TestListedAreHeld(t *testing.T) {
	path := filepath.Join(t.TempDir(), "list")
	w := setup(t, checks.Config{BlockList: checks.BlockListConfig{Files: []checks.BlockList{{Name: "sanctions", File: path}}}})
	require.Contains(t, w.asks(w.claim("a", 1))[0], "held listed: list sanctions: ", "a list that was never read passes nobody")
	require.Contains(t, w.set.Report().Lists, "list sanctions: ")
	require.NoError(t, os.WriteFile(path, []byte(w.eth.Address("a")+"\nvite_b\n"), 0o600))
	back := w.claim("a", 1)
	back.Payment.Purpose = chain.Refund
	require.Equal(t, []string{
		"held listed: the payee " + w.eth.Address("a") + " is on the list sanctions", "held listed: the sender vite_b is on the list sanctions", "authorized",
		"held listed: the payee " + w.eth.Address("a") + " is on the list sanctions",
	}, w.asks(w.claim("a", 1), w.claim("b", 1), w.claim("c", 1), back))
	require.NoError(t, os.WriteFile(path, []byte("# empty\n"), 0o600))
	require.Equal(t, []string{"authorized"}, w.asks(w.claim("a", 1)))
	require.Empty(t, w.set.Report().Lists)
}

// TestPeopleApprove: a payment that wants approvals is held until it has them, and then stays
// authorized.
func TestPeopleApprove(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ann")
	public, err := approval.NewKey(file)
	require.NoError(t, err)
	key, err := approval.ReadKey(file)
	require.NoError(t, err)
	w := setup(t, checks.Config{Approvals: approval.Config{
		Approvers: []approval.Approver{{Name: "ann", Key: public}},
		Tokens:    []approval.Token{{Network: "eth", Token: "tti_1", ApproveAbove: chain.NewAmount(100), FirstPayoutAbove: chain.NewAmount(10)}},
	}})
	large, first := w.claim("a", 101), w.claim("b", 11)
	require.Equal(t, []string{
		"held approval: 101 USDT are above 100 USDT: 0 of 1 approvals",
		"held approval: 11 USDT are above 10 USDT, and " + w.eth.Address("b") + " was never paid before: 0 of 1 approvals",
		"authorized",
	}, w.asks(large, first, w.claim("b", 10)))
	require.Equal(t, []string{"authorized"}, w.asks(first), "he is known by now")

	s, err := approval.Sign(key, "eth", large, begin.Add(time.Hour))
	require.NoError(t, err)
	other := w.claim("a", 102)
	other.Approvals = []chain.Approval{s}
	require.Contains(t, w.asks(other)[0], "held approval: 102 USDT are above 100 USDT: 0 of 1 approvals (ann: the approval is not valid: it is for another payment")
	w.now = begin.Add(time.Hour)
	large.Approvals = []chain.Approval{s}
	require.Contains(t, w.asks(large)[0], "it ended at")
	w.now = begin
	w.start()
	require.Equal(t, []string{"authorized"}, w.asks(large))
	large.Approvals = nil
	w.now = begin.Add(2 * time.Hour)
	require.Equal(t, []string{"authorized"}, w.asks(large), "what is authorized stays so")
}

// TestApprovalsOverruleWhatNobodyProves, and nothing else.
func TestApprovalsOverruleWhatNobodyProves(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ann")
	public, err := approval.NewKey(file)
	require.NoError(t, err)
	key, err := approval.ReadKey(file)
	require.NoError(t, err)
	w := setup(t, checks.Config{Approvals: approval.Config{Approvers: []approval.Approver{{Name: "ann", Key: public}}}})
	verdict := chain.Verdict{State: chain.HeldClaim, Reason: chain.ReasonUnproven, Text: "no transfer"}
	check := w.set.Unless(func(_ context.Context, _ chain.ID, claims []chain.Claim) ([]chain.Verdict, error) {
		return []chain.Verdict{verdict}, nil
	})
	c := w.claim("a", 1)
	ask := func() chain.Verdict {
		verdicts, err := check(t.Context(), "eth", []chain.Claim{c})
		require.NoError(t, err)
		return verdicts[0]
	}
	require.Equal(t, chain.Verdict{State: chain.HeldClaim, Reason: chain.ReasonUnproven, Text: "no transfer; 0 of 1 approvals"}, ask())
	s, err := approval.Sign(key, "eth", c, begin.Add(time.Hour))
	require.NoError(t, err)
	c.Approvals = []chain.Approval{s}
	require.Equal(t, chain.Authorized, ask().State)
	for _, v := range []chain.Verdict{{State: chain.RefusedClaim, Reason: chain.ReasonUnproven}, {State: chain.LaterClaim}, {State: chain.HeldClaim, Reason: chain.ReasonListed}} {
		verdict = v
		require.Equal(t, v, ask())
	}
}

// TestApprovedArrivalsCount: coin that people have approved is counted at its address, without a
// limit.
func TestApprovedArrivalsCount(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ann")
	public, err := approval.NewKey(file)
	require.NoError(t, err)
	key, err := approval.ReadKey(file)
	require.NoError(t, err)
	w := setup(t, checks.Config{Approvals: approval.Config{Approvers: []approval.Approver{{Name: "ann", Key: public}}}})
	require.Equal(t, 1, w.set.Report().Approvers)
	limit := chain.NewAmount(3)
	a := chain.Arrival{Chain: "eth", Address: "0xin", Amount: chain.NewAmount(5), Height: 7, Proof: chain.ByBalance, Limit: &limit}
	check := w.set.Unless(func(context.Context, chain.ID, []chain.Claim) ([]chain.Verdict, error) {
		return []chain.Verdict{{State: chain.HeldClaim, Reason: chain.ReasonUnproven, Text: "too little", Arrival: &a}}, nil
	})
	c := w.claim("a", 1)
	s, err := approval.Sign(key, "eth", c, begin.Add(time.Hour))
	require.NoError(t, err)
	c.Approvals = []chain.Approval{s}
	verdicts, err := check(t.Context(), "eth", []chain.Claim{c})
	require.NoError(t, err)
	a.Proof, a.Limit = chain.ByPeople, nil
	require.Equal(t, []chain.Verdict{{State: chain.Authorized, Arrival: &a}}, verdicts)
}

// TestFeesAreBounded: signing stops where the budget of a day ends, cancellations too; a
// replacement takes what it offers more; a start and a clock that is set back give nothing back.
func TestFeesAreBounded(t *testing.T) {
	w := setup(t, checks.Config{Limits: limits.Config{Fees: []limits.FeeBudget{{Chain: "eth", PerDay: chain.NewAmount(1_000)}}}})
	hot := w.eth.Address("hot")
	w.eth.Endow(hot, chain.Native, chain.NewAmount(1_000_000))
	cancel := func(number uint64, prev ...chain.Attempt) (chain.Order, chain.Attempt) {
		pay := chain.Payment{Purpose: chain.Cancel, Asset: chain.Native, To: hot}
		slot := chain.Slot{Account: hot, Key: "hot", Nonce: number}
		a, err := w.eth.Prepare(t.Context(), slot, pay, prev)
		require.NoError(t, err)
		return chain.Order{Slot: slot, Payment: pay, Unsigned: a.Raw}, a
	}
	order, attempt := cancel(0)
	fee, err := w.eth.Rules().Fee(order)
	require.NoError(t, err)
	require.False(t, fee.IsZero())
	budget, err := fee.Mul(3)
	require.NoError(t, err)
	w.cfg.Limits.Fees[0].PerDay = budget
	w.start()
	sign := func(orders ...chain.Order) (int, error) {
		signed, err := w.Sign(t.Context(), "eth", orders...)
		return len(signed), err
	}
	n, err := sign(order)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	n, err = sign(order)
	require.NoError(t, err)
	require.Equal(t, 1, n, "the same again takes nothing more")
	second, _ := cancel(1)
	third, _ := cancel(2)
	fourth, _ := cancel(3)
	n, err = sign(second, third, fourth)
	require.ErrorIs(t, err, chain.ErrNotNow)
	require.ErrorContains(t, err, "the daily limit of fees on eth is "+budget.String()+" units of its coin, of which "+budget.String()+" are used")
	require.Equal(t, 2, n)
	more, _ := cancel(0, attempt)
	n, err = sign(more)
	require.ErrorIs(t, err, chain.ErrNotNow, "a replacement that offers more")
	require.Zero(t, n)
	require.InDelta(t, 1, w.set.Report().Near()[0].Ratio, 1e-9)
	for _, back := range []time.Duration{0, -time.Hour, -48 * time.Hour} {
		w.now = begin.Add(back)
		w.start()
		n, err = sign(fourth)
		require.ErrorIs(t, err, chain.ErrNotNow)
		require.Zero(t, n)
	}
	w.now = begin.Add(25 * time.Hour)
	n, err = sign(fourth, more)
	require.NoError(t, err)
	require.Equal(t, 2, n)
}

// TestAJumpAndAStart: a clock that is a year ahead during a start frees nothing, and a right one
// later is a day behind at most.
func TestAJumpAndAStart(t *testing.T) {
	w := setup(t, limited(func(t *limits.Token) { t.PerDay = chain.NewAmount(100) }))
	require.Equal(t, []string{"authorized"}, w.asks(w.claim("a", 100)))
	for _, at := range []time.Duration{365 * 24 * time.Hour, time.Hour, 366 * 24 * time.Hour} {
		w.now = begin.Add(at)
		w.start()
		require.Contains(t, w.asks(w.claim("b", 1))[0], "held limit", at)
	}
	w.now = begin.Add(2 * time.Hour)
	w.start()
	w.now = begin.Add(25 * time.Hour)
	require.Equal(t, []string{"authorized"}, w.asks(w.claim("b", 1)))
}

// TestAuthorizationsOfDays: what was authorized day after day, within each day's limit, is not
// signed at one moment. It is asked for again, and counts once.
func TestAuthorizationsOfDays(t *testing.T) {
	w := setup(t, limited(func(t *limits.Token) { t.PerDay = chain.NewAmount(100) }))
	w.eth.Endow(w.eth.Address("hot"), token, chain.NewAmount(10_000))
	w.eth.Endow(w.eth.Address("hot"), chain.Native, chain.NewAmount(1_000_000))
	var claims []chain.Claim
	for day := range 4 {
		w.now = begin.Add(time.Duration(day) * 25 * time.Hour)
		for range 2 {
			claims = append(claims, w.claim("a", 50))
			require.Equal(t, []string{"authorized"}, w.asks(claims[len(claims)-1]))
		}
	}
	sign := func(number uint64, c chain.Claim) error {
		slot := chain.Slot{Account: c.Account, Key: "hot", Nonce: number}
		a, err := w.eth.Prepare(t.Context(), slot, c.Payment, nil)
		require.NoError(t, err)
		_, err = w.Sign(t.Context(), "eth", chain.Order{Slot: slot, Payment: c.Payment, Unsigned: a.Raw})
		return err
	}
	for _, c := range claims[:6] {
		require.ErrorIs(t, sign(0, c), signguard.ErrUnauthorized)
		require.Contains(t, w.asks(c)[0], "held limit", "the day is used up")
	}
	require.NoError(t, sign(0, claims[6]))
	w.now = w.now.Add(9 * time.Minute)
	require.NoError(t, sign(1, claims[7]))
	w.now = w.now.Add(time.Hour)
	require.NoError(t, sign(0, claims[6]), "what was signed is signed again as it is")
	w.start()
	require.NoError(t, sign(1, claims[7]), "after a start too")
	w.now = w.now.Add(24 * time.Hour)
	late := claims[0]
	require.Equal(t, []string{"authorized", "authorized"}, w.asks(late, claims[1]))
	w.now = w.now.Add(10 * time.Minute)
	require.ErrorIs(t, sign(2, late), signguard.ErrUnauthorized)
	require.Equal(t, []string{"authorized"}, w.asks(late), "it counts once")
	require.NoError(t, sign(2, late))
	require.Contains(t, w.asks(w.claim("b", 1))[0], "of which 100 USDT are used")
	w.start()
	require.Contains(t, w.asks(w.claim("b", 1))[0], "of which 100 USDT are used")
}

// TestListedBeforeTheSignature: lists are asked again at each signature, and at those for other
// fees.
func TestListedBeforeTheSignature(t *testing.T) {
	list := filepath.Join(t.TempDir(), "list")
	require.NoError(t, os.WriteFile(list, []byte("# none\n"), 0o600))
	w := setup(t, checks.Config{BlockList: checks.BlockListConfig{Files: []checks.BlockList{{Name: "sanctions", File: list}}}})
	hot := w.eth.Address("hot")
	w.eth.Endow(hot, token, chain.NewAmount(10_000))
	w.eth.Endow(hot, chain.Native, chain.NewAmount(1_000_000))
	w.Signer = signer.New(signer.Parts{
		Keys: chaintest.NoKeys{}, Guard: w.guard, Rules: map[chain.ID]chain.Rules{"eth": w.eth.Rules()}, Now: w.set.Now,
		Checks: []signer.Check{checks.Func(w.set.Listed)}, Listed: checks.Func(w.set.Listed),
	})
	order := func(number uint64, p chain.Payment) chain.Order {
		slot := chain.Slot{Account: hot, Key: "hot", Nonce: number}
		a, err := w.eth.Prepare(t.Context(), slot, p, nil)
		require.NoError(t, err)
		return chain.Order{Slot: slot, Payment: p, Unsigned: a.Raw}
	}
	first, second := w.claim("a", 5), w.claim("b", 5)
	require.Equal(t, []string{"authorized", "authorized"}, w.asks(first, second))
	_, err := w.Sign(t.Context(), "eth", order(0, first.Payment))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(list, []byte(first.Payment.To+"\n"+second.Cause.Sender+"\n"), 0o600))
	_, err = w.Sign(t.Context(), "eth", order(1, second.Payment))
	require.ErrorIs(t, err, signguard.ErrUnauthorized)
	require.ErrorContains(t, err, "is on the list sanctions")
	require.Contains(t, w.asks(second)[0], "held listed")
	_, err = w.Sign(t.Context(), "eth", order(0, first.Payment))
	require.ErrorIs(t, err, chain.ErrNotNow)
	require.ErrorContains(t, err, "is on the list sanctions")
	_, err = w.Sign(t.Context(), "eth", order(0, chain.Payment{Purpose: chain.Cancel, Asset: chain.Native, To: hot}))
	require.NoError(t, err, "a cancellation is")
}
