package checks

import (
	"context"
	"slices"

	"gatewayd/chain"
)

// Func is a check of claims.
type Func func(ctx context.Context, id chain.ID, claims []chain.Claim) ([]chain.Verdict, error)

// Check calls itself.
func (f Func) Check(ctx context.Context, id chain.ID, claims []chain.Claim) ([]chain.Verdict, error) {
	return f(ctx, id, claims)
}

// Unless is a check that approvals overrule: what it holds because nothing proves it passes when
// enough approvers have signed it.
func (s *Set) Unless(check Func) Func {
	return func(ctx context.Context, id chain.ID, claims []chain.Claim) ([]chain.Verdict, error) {
		verdicts, err := check(ctx, id, claims)
		if err != nil {
			return nil, err
		}
		verdicts = slices.Clone(verdicts)
		for i, v := range verdicts {
			if v.State != chain.HeldClaim || v.Reason != chain.ReasonUnproven {
				continue
			}
			if ok, missing := s.current().approvals.Enough(id, claims[i], s.clock.Wall()); ok {
				verdicts[i] = chain.Verdict{State: chain.Authorized, Arrival: approved(v.Arrival)}
			} else {
				verdicts[i].Text += "; " + missing
			}
		}
		return verdicts, nil
	}
}

// approved is an arrival that people have accepted. It counts at its address, and no limit is kept.
func approved(a *chain.Arrival) *chain.Arrival {
	if a == nil {
		return nil
	}
	return &chain.Arrival{Chain: a.Chain, Address: a.Address, Amount: a.Amount, Height: a.Height, Proof: chain.ByPeople}
}
