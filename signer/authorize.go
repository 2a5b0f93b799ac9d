package signer

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"gatewayd/chain"
	"gatewayd/records/signguard"
)

// maxText bounds each text of a claim. The longest are gateway comments' addresses.
const maxText = 512

// maxApprovals bounds how many approvals may come with one claim.
const maxApprovals = 16

// Check is a rule that claims must pass before they are authorized. It returns one verdict for each
// claim, in order, of payments on one ledger. Claims that are authorized already are not checked
// again. An error fails the complete group, and the caller asks for all of it again.
type Check interface {
	Check(ctx context.Context, id chain.ID, claims []chain.Claim) ([]chain.Verdict, error)
}

// Authorize answers for claims of one ledger, in order, whether their payments may be bound and
// signed. A cause has one authorization permanently, unless nothing of it can be paid any more. The
// same claim is answered the same again for grantLifetime, and checked again after that, and
// counted once. What is new costs one durable commit for the group.
func (s *Signer) Authorize(ctx context.Context, id chain.ID, claims ...chain.Claim) ([]chain.Verdict, error) {
	if _, ok := s.rules[id]; !ok {
		return nil, fmt.Errorf("%w: it knows no chain %q", ErrRefused, id)
	}
	if len(claims) > MaxOrders {
		return nil, fmt.Errorf("%w: %d claims at once, at most %d are allowed", ErrRefused, len(claims), MaxOrders)
	}
	s.authorizing.Lock()
	defer s.authorizing.Unlock()
	g := claimGroup{id: id, now: s.now(), granted: s.grants.has, evidence: s.ledgers != nil, claims: claims, verdicts: make([]chain.Verdict, len(claims)), checked: map[int]bool{}, arrivals: map[int]*chain.Arrival{}}
	for i, c := range claims {
		g.verdicts[i] = wellFormed(c)
	}
	if err := g.askGuard(ctx, s.guard.States, true); err != nil {
		return nil, err
	}
	for _, check := range s.checks {
		if err := g.runCheck(ctx, check); err != nil {
			return nil, err
		}
	}
	moved, _ := g.open(false)
	asked, claims := g.open(true)
	if err := g.askGuard(ctx, s.guard.Authorize, false); err != nil {
		return nil, err
	}
	for _, i := range moved {
		if g.verdicts[i].State == chain.Authorized {
			s.grants.put(id, g.now, g.claims[i])
		}
	}
	s.reportAuthorized(id, g, asked, claims)
	return g.verdicts, nil
}

// reportAuthorized passes the claims that were checked and authorized just now to Parts.Authorized.
func (s *Signer) reportAuthorized(id chain.ID, g claimGroup, at []int, checked []chain.Claim) {
	if s.authorized == nil {
		return
	}
	var list []chain.Claim
	for i, n := range at {
		if g.verdicts[n].State == chain.Authorized {
			list = append(list, checked[i])
		}
	}
	if len(list) > 0 {
		s.authorized(id, list)
	}
}

// wellFormed is an empty verdict unless the claim is none that anything could authorize.
func wellFormed(c chain.Claim) chain.Verdict {
	p := c.Payment
	switch {
	case p.ID > maxNumber || c.Cause.Height > maxNumber:
		return refusal(fmt.Sprintf("payment %d at block %d: numbers up to %d are kept", p.ID, c.Cause.Height, uint64(maxNumber)))
	case p.ID == 0 || c.Account == "":
		return refusal("it has no payment or no account")
	case p.Purpose != chain.Credit && p.Purpose != chain.Refund && p.Purpose != chain.Sweep && p.Purpose != chain.Gas && p.Purpose != chain.Cold && p.Purpose != chain.Receive && p.Purpose != chain.Allow:
		return refusal(fmt.Sprintf("purpose %q is never authorized", p.Purpose))
	case hasSource(p):
		return refusal("a " + string(p.Purpose) + " takes nothing in, and has no source")
	case (p.Purpose == chain.Credit || p.Purpose == chain.Refund) && c.Cause.Ref == "":
		return refusal("a " + string(p.Purpose) + " names the transfer that it answers")
	}
	for _, text := range []string{c.Account, string(p.Asset), p.To, p.Label, p.Source, c.Cause.Network, c.Cause.Token, c.Cause.User, string(c.Cause.Chain), c.Cause.Ref, c.Cause.Sender, c.Cause.Mark} {
		if len(text) > maxText {
			return refusal(fmt.Sprintf("a text of %d bytes is too long", len(text)))
		}
		if !utf8.ValidString(text) || strings.Contains(text, "\x00") {
			return refusal(fmt.Sprintf("%q is not text", text)) // a server's sign-guard could not keep it
		}
	}
	if len(c.Approvals) > maxApprovals {
		return refusal(fmt.Sprintf("%d approvals, at most %d are allowed", len(c.Approvals), maxApprovals))
	}
	if p.Purpose.PaysNobody() {
		return chain.Verdict{State: chain.Authorized}
	}
	return chain.Verdict{}
}

// hasSource reports whether a payment names a source that has none. In the fingerprint the source
// would follow the label, and could be mistaken for a part of it: a merge has one of both at most.
func hasSource(p chain.Payment) bool {
	return p.Source != "" && p.Purpose != chain.Receive && (p.Purpose != chain.Merge || p.Label != "")
}

func refusal(text string) chain.Verdict {
	return chain.Verdict{State: chain.RefusedClaim, Reason: chain.ReasonRefused, Text: text}
}

// claimGroup is claims that are asked for together. An empty verdict is open.
type claimGroup struct {
	id       chain.ID
	now      time.Time
	granted  func(id chain.ID, now time.Time, c chain.Claim) bool
	evidence bool // the signer sees for itself what became of signatures
	claims   []chain.Claim
	verdicts []chain.Verdict
	checked  map[int]bool           // open claims that were authorized before, under another number
	arrivals map[int]*chain.Arrival // of open claims
}

// open returns the claims without a verdict and their indexes; unchecked leaves out those that were
// authorized before.
func (g *claimGroup) open(unchecked bool) (at []int, claims []chain.Claim) {
	for i, v := range g.verdicts {
		if v.State == "" && !(unchecked && g.checked[i]) {
			at, claims = append(at, i), append(claims, g.claims[i])
		}
	}
	return at, claims
}

// runCheck has a check judge the open claims. A claim that passes stays open for the next check.
func (g *claimGroup) runCheck(ctx context.Context, check Check) error {
	at, claims := g.open(true)
	if len(at) == 0 {
		return nil
	}
	verdicts, err := judge(ctx, g.id, check, claims)
	if err != nil {
		return err
	}
	for i, n := range at {
		if a := verdicts[i].Arrival; a != nil {
			g.arrivals[n] = a
		}
		if verdicts[i].State != chain.Authorized {
			g.verdicts[n] = verdicts[i]
			g.verdicts[n].Arrival = nil
		}
	}
	return nil
}

// judge asks a check about claims.
func judge(ctx context.Context, id chain.ID, check Check, claims []chain.Claim) ([]chain.Verdict, error) {
	verdicts, err := check.Check(ctx, id, claims)
	if err == nil && len(verdicts) != len(claims) {
		err = fmt.Errorf("%d verdicts for %d claims", len(verdicts), len(claims))
	}
	if err != nil {
		return nil, fmt.Errorf("checking payments: %w", err)
	}
	return verdicts, nil
}

// askGuard asks the sign-guard about the open claims. A claim that it does not know stays open, and
// at first one that was authorized and is not granted now.
func (g *claimGroup) askGuard(ctx context.Context, ask func(context.Context, []signguard.Authorization) ([]signguard.State, error), first bool) error {
	at, claims := g.open(false)
	if len(at) == 0 {
		return nil
	}
	wanted := make([]signguard.Authorization, len(at))
	for i, c := range claims {
		wanted[i] = g.authorization(c)
		wanted[i].Arrival = g.arrivals[at[i]]
	}
	states, err := ask(ctx, wanted)
	if err != nil {
		return err
	}
	for i, n := range at {
		state := states[i]
		if first && (state == signguard.Living || state == signguard.Moved) && !g.granted(g.id, g.now, claims[i]) {
			state = signguard.Unknown
		}
		g.verdicts[n], g.checked[n] = verdictOf(state), state == signguard.Moved
	}
	return nil
}

func verdictOf(s signguard.State) chain.Verdict {
	switch s {
	case signguard.Living:
		return chain.Verdict{State: chain.Authorized}
	case signguard.Waits:
		return chain.Verdict{State: chain.LaterClaim, Text: "its cause is signed under another number, which no final block has decided"}
	case signguard.Taken:
		return refusal("another payment is signed for the same cause")
	case signguard.Spent:
		return refusal("its cause is paid")
	case signguard.Overdrawn:
		return chain.Verdict{State: chain.HeldClaim, Reason: chain.ReasonUnproven, Text: "the credits at its deposit address would exceed its balance"}
	case signguard.Uncounted:
		return chain.Verdict{State: chain.LaterClaim, Text: "the balance of its deposit address must be read first"}
	}
	return chain.Verdict{}
}

func (g *claimGroup) authorization(c chain.Claim) signguard.Authorization {
	p := c.Payment
	return signguard.Authorization{
		Key: c.Key(g.id), Digest: Fingerprint(p), Chain: g.id, Account: c.Account, PaymentID: p.ID,
		Network: c.Cause.Network, Token: c.Cause.Token, User: c.Cause.User, Payee: p.To, Asset: p.Asset, Amount: p.Amount, At: g.now, Evidence: g.evidence,
	}
}
