package approval

import (
	"errors"
	"fmt"

	"gatewayd/chain"
)

// Config is the section signer.approvals of the configuration. Without approvers nothing wants an approval, and nothing can be approved.
type Config struct {
	Needed    int        `yaml:"needed"` // how many approvers must sign: 1 or 2; default 1
	Approvers []Approver `yaml:"approvers"`
	Tokens    []Token    `yaml:"tokens"`
}

// Approver is a person with a key.
type Approver struct {
	Name string `yaml:"name"`
	Key  string `yaml:"key"` // public, as `gatewayd approver new` prints it
}

// Token says which payments of a gateway token want approvals, on each of its chains. Amounts are integers in the token's smallest unit.
type Token struct {
	Network          string       `yaml:"network"`
	Token            string       `yaml:"token"` // its token id
	ApproveAbove     chain.Amount `yaml:"approve_above"`
	FirstPayoutAbove chain.Amount `yaml:"first_payout_above"` // to a payee who was never paid before
}

const maxApprovers = 32

// WithDefaults is the section with every empty field filled.
func (c Config) WithDefaults() Config {
	if c.Needed == 0 {
		c.Needed = 1
	}
	return c
}

// Check names the first field that cannot be used, and why.
func (c Config) Check() error {
	c = c.WithDefaults()
	switch {
	case c.Needed != 1 && c.Needed != 2:
		return fmt.Errorf("needed: %d: 1 or 2 is wanted", c.Needed)
	case len(c.Approvers) > maxApprovers:
		return fmt.Errorf("approvers: %d are the most", maxApprovers)
	case len(c.Tokens) > 0 && len(c.Approvers) < c.Needed:
		return fmt.Errorf("approvers: %d for %d signatures: nothing could ever be approved", len(c.Approvers), c.Needed)
	}
	if err := c.checkApprovers(); err != nil {
		return fmt.Errorf("approvers: %w", err)
	}
	seen := map[string]bool{}
	for _, t := range c.Tokens {
		key := t.Network + " " + t.Token
		switch {
		case t.Network == "" || t.Token == "" || seen[key]:
			return fmt.Errorf("tokens: %q of network %q: each stands once, with network and token", t.Token, t.Network)
		case t.ApproveAbove.IsZero() && t.FirstPayoutAbove.IsZero():
			return fmt.Errorf("tokens: %s: approve_above or first_payout_above is wanted", t.Token)
		case !t.ApproveAbove.IsZero() && t.ApproveAbove.Less(t.FirstPayoutAbove):
			return fmt.Errorf("tokens: %s: first_payout_above is above approve_above", t.Token)
		}
		seen[key] = true
	}
	return nil
}

func (c Config) checkApprovers() error {
	names, keys := map[string]bool{}, map[string]bool{}
	for _, a := range c.Approvers {
		if a.Name == "" || names[a.Name] {
			return fmt.Errorf("name %q is empty or used twice", a.Name)
		}
		if _, err := ParsePublic(a.Key); err != nil {
			return fmt.Errorf("%s: %w", a.Name, err)
		}
		if keys[a.Key] {
			return errors.New(a.Name + ": the key is another approver's as well")
		}
		names[a.Name], keys[a.Key] = true, true
	}
	return nil
}
