// Package checks contains a signer's checks of payments in addition to their causes: lists of
// addresses, limits, and the approvals of people, in this order. Held payments are checked again:
// limits roll on, people approve, lists change.
//
//	claims ─▶ listed? ─▶ within the limits? ─▶ approved, where required? ─▶ authorized ─▶ counted
//
// It counts the sign-guard's stored authorizations, so that a restart loses nothing.
package checks

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"gatewayd/chain"
	"gatewayd/policy"
	"gatewayd/records/signguard"
	"gatewayd/signer/approval"
	"gatewayd/signer/limits"
)

// Asset is a gateway token as one of its chains has it.
type Asset = policy.Asset

// history reads the sign-guard's authorizations.
type history interface {
	CreditsSince(ctx context.Context, at time.Time) ([]signguard.Authorization, error)
	// Newest returns the greatest time of what was authorized or of fees that were counted; zero
	// for nothing.
	Newest(ctx context.Context) (time.Time, error)
	AuthorizationsOf(ctx context.Context, causes []string) (map[string]signguard.Authorization, error)
	PaidTo(ctx context.Context, id chain.ID, payee string) (bool, error)
	FeesSince(ctx context.Context, at time.Time) ([]signguard.Fee, error)
	Fees(ctx context.Context, id chain.ID, slots []chain.Slot) ([]chain.Amount, error)
	NoteFees(ctx context.Context, id chain.ID, at time.Time, fees []signguard.Fee) error
}

// Set is all checks of a signer. It is safe for concurrent use.
type Set struct {
	history history
	now     func() time.Time
	clock   *limits.Clock

	mu    sync.RWMutex
	rules rules                  // replaced as one value
	was   map[string]*limits.Use // as what the claims that were asked about last had been counted before, by cause
}

// rules are the checks by one configuration.
type rules struct {
	limits    *limits.Limits
	fees      *limits.Fees
	bounded   map[chain.ID]bool // chains with a budget of fees
	approvals *approval.Rule
	lists     *BlockLists
}

// New makes the checks of a checked configuration, and counts the sign-guard's authorizations of
// the last day.
func New(ctx context.Context, cfg Config, assets []Asset, h history, now func() time.Time) (*Set, error) {
	s := &Set{history: h, now: now, clock: limits.NewClock(now)}
	return s, s.Reconfigure(ctx, cfg, assets)
}

// Reconfigure takes another configuration, or none of it.
func (s *Set) Reconfigure(ctx context.Context, cfg Config, assets []Asset) error {
	r := rules{bounded: map[chain.ID]bool{}}
	var err error
	if r.lists, err = NewBlockLists(cfg.BlockList, s.now); err != nil {
		return fmt.Errorf("block_list: %w", err)
	}
	newest, err := s.history.Newest(ctx)
	if err != nil {
		return err
	}
	s.clock.Restore(newest)
	since := s.clock.Now().Add(-limits.Past)
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.limits, err = s.counted(ctx, cfg.Limits, assets, since); err != nil {
		return fmt.Errorf("limits: %w", err)
	}
	if r.fees, err = s.countedFees(ctx, cfg.Limits.Fees, since); err != nil {
		return fmt.Errorf("limits: %w", err)
	}
	for _, f := range cfg.Limits.Fees {
		r.bounded[f.Chain] = true
	}
	if r.approvals, err = approval.NewRule(cfg.Approvals, assets); err != nil {
		return fmt.Errorf("approvals: %w", err)
	}
	s.rules = r
	return nil
}

// counted are limits with what was authorized in the last day, by the clock of the limits.
func (s *Set) counted(ctx context.Context, cfg limits.Config, assets []Asset, since time.Time) (*limits.Limits, error) {
	l, err := limits.NewOn(s.clock, cfg, assets)
	if err != nil {
		return nil, err
	}
	past, err := s.history.CreditsSince(ctx, since)
	if err != nil {
		return nil, err
	}
	uses := make([]limits.Use, len(past))
	for i, a := range past {
		uses[i] = counted(a)
	}
	l.Load(uses)
	return l, nil
}

func (s *Set) countedFees(ctx context.Context, budgets []limits.FeeBudget, since time.Time) (*limits.Fees, error) {
	f := limits.NewFeesOn(s.clock, budgets)
	past, err := s.history.FeesSince(ctx, since)
	for _, p := range past {
		f.Load(p.Chain, p.At, p.Most)
	}
	return f, err
}

// counted converts an authorization for the limits.
func counted(a signguard.Authorization) limits.Use {
	return limits.Use{At: a.At, Chain: a.Chain, Asset: a.Asset, Users: usersOf(a.User, a.Payee), Amount: a.Amount}
}

func usersOf(user, payee string) []string {
	users := slices.DeleteFunc([]string{user, payee}, func(name string) bool { return name == "" })
	return slices.Compact(users)
}

// current are the rules of now.
func (s *Set) current() rules {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.rules
}

// Now is the time of what is authorized now: it never goes back.
func (s *Set) Now() time.Time { return s.clock.Now() }

// maxAtOnce bounds the questions to a screening service at one time.
const maxAtOnce = 16

// Listed holds payments to those on a list and for the money of those on a list, and what nobody
// can tell of.
func (s *Set) Listed(ctx context.Context, id chain.ID, claims []chain.Claim) ([]chain.Verdict, error) {
	lists := s.current().lists
	lists.Refresh()
	verdicts := make([]chain.Verdict, len(claims))
	var g errgroup.Group
	g.SetLimit(maxAtOnce)
	for i, c := range claims {
		verdicts[i].State = chain.Authorized
		if !isPayout(c.Payment.Purpose) {
			continue
		}
		g.Go(func() error {
			if text := listed(ctx, lists, id, c); text != "" {
				verdicts[i] = chain.Verdict{State: chain.HeldClaim, Reason: chain.ReasonListed, Text: text}
			}
			return nil
		})
	}
	_ = g.Wait() // what fails is a verdict
	return verdicts, nil
}

// isPayout reports whether a payment goes to others than ourselves.
func isPayout(p chain.Purpose) bool { return p == chain.Credit || p == chain.Refund }

// listed says why a payment is held; empty: it is not.
func listed(ctx context.Context, lists *BlockLists, id chain.ID, c chain.Claim) string {
	amount := c.Payment.Amount.String()
	for _, q := range []struct {
		who string
		BlockQuestion
	}{
		{"payee", BlockQuestion{Address: c.Payment.To, Chain: string(id), Direction: "out", Amount: amount}},
		{"sender", BlockQuestion{Address: c.Cause.Sender, Chain: string(c.Cause.Chain), Direction: "in", Amount: amount}},
	} {
		switch name, err := lists.Listed(ctx, q.BlockQuestion); {
		case err != nil:
			return err.Error()
		case name != "":
			return fmt.Sprintf("the %s %s is on the list %s", q.who, q.Address, name)
		}
	}
	return ""
}

// Limited holds what is over a limit. Refunds are not limited: they go back to where the money came
// from. What was authorized before and is authorized again counts once, as of the last time.
func (s *Set) Limited(ctx context.Context, id chain.ID, claims []chain.Claim) ([]chain.Verdict, error) {
	if err := s.readCounted(ctx, id, claims); err != nil {
		return nil, err
	}
	verdicts := make([]chain.Verdict, len(claims))
	var uses []limits.Use
	var at []int
	for i, c := range claims {
		verdicts[i].State = chain.Authorized
		if c.Payment.Purpose == chain.Credit {
			uses, at = append(uses, s.useOf(id, c)), append(at, i)
		}
	}
	for i, why := range s.current().limits.Check(uses) {
		if why != "" {
			verdicts[at[i]] = chain.Verdict{State: chain.HeldClaim, Reason: chain.ReasonLimit, Text: why}
		}
	}
	return verdicts, nil
}

// before returns the sign-guard's earlier authorizations of the claims' causes.
func (s *Set) before(ctx context.Context, id chain.ID, claims []chain.Claim) (map[string]signguard.Authorization, error) {
	keys := make([]string, len(claims))
	for i, c := range claims {
		keys[i] = c.Key(id)
	}
	return s.history.AuthorizationsOf(ctx, keys)
}

// readCounted remembers as what the claims were counted before.
func (s *Set) readCounted(ctx context.Context, id chain.ID, claims []chain.Claim) error {
	known, err := s.before(ctx, id, claims)
	if err != nil {
		return err
	}
	was := map[string]*limits.Use{}
	for key, a := range known {
		if strings.HasPrefix(a.Digest, string(chain.Credit)+"|") {
			use := counted(a)
			was[key] = &use
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.was = was
	return nil
}

func (s *Set) useOf(id chain.ID, c chain.Claim) limits.Use {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return limits.Use{Chain: id, Asset: c.Payment.Asset, Users: usersOf(c.Cause.User, c.Payment.To), Amount: c.Payment.Amount, Was: s.was[c.Key(id)]}
}

// Approved holds what wants approvals and has too few. What was authorized before as it is had
// enough, and stays approved.
func (s *Set) Approved(ctx context.Context, id chain.ID, claims []chain.Claim) ([]chain.Verdict, error) {
	rule := s.current().approvals
	known, err := s.before(ctx, id, claims)
	if err != nil {
		return nil, err
	}
	verdicts := make([]chain.Verdict, len(claims))
	for i, c := range claims {
		verdicts[i].State = chain.Authorized
		if was := known[c.Key(id)]; was.Chain == id && was.Account == c.Account && was.Digest == c.Payment.Fingerprint() {
			continue
		}
		why, err := rule.Wanted(id, c.Payment, func() (bool, error) { return s.history.PaidTo(ctx, id, c.Payment.To) })
		if err != nil {
			return nil, err
		}
		if why == "" {
			continue
		}
		if ok, missing := rule.Enough(id, c, s.clock.Wall()); !ok {
			verdicts[i] = chain.Verdict{State: chain.HeldClaim, Reason: chain.ReasonApproval, Text: why + ": " + missing}
		}
	}
	return verdicts, nil
}

// Authorized counts what was authorized just now.
func (s *Set) Authorized(id chain.ID, claims []chain.Claim) {
	var uses []limits.Use
	for _, c := range claims {
		if c.Payment.Purpose == chain.Credit {
			uses = append(uses, s.useOf(id, c))
		}
	}
	s.current().limits.Count(uses)
}

// Report contains the use of the limits, and the faults.
type Report struct {
	limits.Report
	Lists string `json:"lists,omitempty"` // what does not work of lists and screening

	Approvers  int                 `json:"approvers"`            // people whose approvals count
	Unprovable map[chain.ID]string `json:"unprovable,omitempty"` // chains on which the signer cannot prove coin that only balances show, and why

	// Policy has the hashes of the signer's networks, tokens and chains (config.Policy).
	Policy map[string]string `json:"policy,omitempty"`
}

// Report returns the present state.
func (s *Set) Report() Report {
	r := s.current()
	r.lists.Refresh()
	report := Report{Report: r.limits.Report(), Approvers: r.approvals.Approvers()}
	report.Lines = append(report.Lines, r.fees.Lines()...)
	if err := r.lists.Fault(); err != nil {
		report.Lists = strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	return report
}
