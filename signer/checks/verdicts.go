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

// Unless is a check that approvals overrule: what it holds because nothing proves it passes when enough approvers have signed it.
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
			if ok, missing := s.current().approvals.Enough(id, claims[i], s.Now()); ok {
				verdicts[i] = chain.Verdict{State: chain.Authorized}
			} else {
				verdicts[i].Text += "; " + missing
			}
		}
		return verdicts, nil
	}
}
