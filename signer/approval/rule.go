package approval

import (
	"fmt"
	"strings"
	"time"

	"gatewayd/chain"
	"gatewayd/policy"
)

type key struct {
	chain chain.ID
	asset chain.Asset
}

// threshold bounds a payment of an asset without approval, in its own units.
type threshold struct {
	policy.Asset
	above, first chain.Amount // zero: none
}

type approver struct {
	name string
	key  publicKey
}

// Rule decides which payments need approvals, and whether they have them.
type Rule struct {
	needed    int
	approvers map[string]approver // by the text of the public key
	assets    map[key]threshold
}

// NewRule takes a checked configuration.
func NewRule(cfg Config, assets []policy.Asset) (*Rule, error) {
	cfg = cfg.WithDefaults()
	r := &Rule{needed: cfg.Needed, approvers: map[string]approver{}, assets: map[key]threshold{}}
	for _, a := range cfg.Approvers {
		public, err := cfg.publicKey(a)
		if err != nil {
			return nil, fmt.Errorf("approvers: %s: %w", a.Name, err)
		}
		r.approvers[a.PublicKey()] = approver{a.Name, public}
	}
	for _, t := range cfg.Tokens {
		for _, a := range assets {
			if a.Network != t.Network || a.Token != t.Token {
				continue
			}
			above, _, err := t.ApproveAbove.Rescale(a.TokenDecimals, a.Decimals)
			if err != nil {
				return nil, fmt.Errorf("approve_above of %s: %w", t.Token, err)
			}
			first, _, err := t.FirstPayoutAbove.Rescale(a.TokenDecimals, a.Decimals)
			if err != nil {
				return nil, fmt.Errorf("first_payout_above of %s: %w", t.Token, err)
			}
			r.assets[key{a.Chain, a.Asset}] = threshold{a, above, first}
		}
	}
	return r, nil
}

// Wanted returns the reason why a payment needs approvals; empty: it needs none. paidBefore reports
// whether its payee was ever paid on the chain. A refund returns to the money's sender and needs
// none.
func (r *Rule) Wanted(id chain.ID, p chain.Payment, paidBefore func() (bool, error)) (string, error) {
	t, ok := r.assets[key{id, p.Asset}]
	if !ok || p.Purpose != chain.Credit {
		return "", nil
	}
	if !t.above.IsZero() && t.above.Less(p.Amount) {
		return fmt.Sprintf("%s are above %s", t.Text(p.Amount), t.Text(t.above)), nil
	}
	if t.first.IsZero() || !t.first.Less(p.Amount) {
		return "", nil
	}
	before, err := paidBefore()
	if err != nil || before {
		return "", err
	}
	return fmt.Sprintf("%s are above %s, and %s was never paid before", t.Text(p.Amount), t.Text(t.first), p.To), nil
}

// Approvers returns the number of people whose approvals count.
func (r *Rule) Approvers() int { return len(r.approvers) }

// Enough reports whether a claim has the signatures that it wants; if not, what is missing or
// wrong, in one line.
func (r *Rule) Enough(id chain.ID, c chain.Claim, now time.Time) (ok bool, why string) {
	if len(r.approvers) == 0 {
		return false, "no approvers are configured"
	}
	signed, faults := map[string]bool{}, []string{}
	for _, s := range c.Approvals[:min(len(c.Approvals), MaxSignatures)] {
		name, err := r.Verify(id, c, s, now)
		switch {
		case err != nil:
			faults = append(faults, err.Error())
		case signed[name]:
			faults = append(faults, fmt.Sprintf("%s has already approved it: only one approval counts", name))
		}
		if err == nil {
			signed[name] = true
		}
	}
	if len(signed) >= r.needed {
		return true, ""
	}
	why = fmt.Sprintf("%d of %d approvals", len(signed), r.needed)
	if len(faults) > 0 {
		why += " (" + strings.Join(faults[:min(len(faults), 3)], "; ") + ")"
	}
	return false, why
}

// Verify returns whose signature it is, if it counts for the claim.
func (r *Rule) Verify(id chain.ID, c chain.Claim, s Signature, now time.Time) (name string, err error) {
	a, ok := r.approvers[s.Key]
	if !ok {
		return "", fmt.Errorf("%w: its key is not an approver's", ErrRefused)
	}
	if err := verify(a.key, s, id, c, now); err != nil {
		return "", fmt.Errorf("%s: %w", a.name, err)
	}
	return a.name, nil
}
