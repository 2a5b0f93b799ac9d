package approval

import (
	"cmp"
	"errors"
	"fmt"

	"gatewayd/chain"
)

// Config is the section signer.approvals of the configuration. Without approvers nothing wants an
// approval, and nothing can be approved.
type Config struct {
	Needed    int        `yaml:"needed"` // how many approvers must sign: 1 or 2; default 1
	URL       string     `yaml:"url"`    // of the operators' console, where passkeys sign; default http://localhost:8070
	Approvers []Approver `yaml:"approvers"`
	Tokens    []Token    `yaml:"tokens"`
}

// Approver is a person with a key of one of two kinds.
type Approver struct {
	Name    string `yaml:"name"`
	Key     string `yaml:"key"`     // public, as `gatewayd approver new` prints it
	Passkey string `yaml:"passkey"` // public, as `gatewayd console passkeys` shows it
}

// PublicKey is the text of the one that there is.
func (a Approver) PublicKey() string { return cmp.Or(a.Key, a.Passkey) }

func (c Config) publicKey(a Approver) (publicKey, error) {
	if a.Key != "" && a.Passkey != "" || a.PublicKey() == "" {
		return nil, errors.New("exactly one of key and passkey is required")
	}
	if a.Key != "" {
		public, err := ParsePublic(a.Key)
		return ed25519Key(public), err
	}
	key, err := ParsePasskeyKey(a.Passkey)
	if err != nil {
		return nil, err
	}
	site, err := ParseSite(c.URL)
	if err != nil {
		return nil, fmt.Errorf("url: %w", err)
	}
	return passkeyOf{site, key}, nil
}

// Token selects the payments of a gateway token that need approvals, on each of its chains. Amounts
// are integers in the token's smallest unit.
type Token struct {
	Network          string       `yaml:"network"`
	Token            string       `yaml:"token"` // its token id
	ApproveAbove     chain.Amount `yaml:"approve_above"`
	FirstPayoutAbove chain.Amount `yaml:"first_payout_above"` // to a payee who was never paid before
}

const maxApprovers = 32

// WithDefaults is the section with every empty field filled.
func (c Config) WithDefaults() Config {
	c.Needed = cmp.Or(c.Needed, 1)
	c.URL = cmp.Or(c.URL, DefaultURL)
	return c
}

// Check names the first field that cannot be used, and why.
func (c Config) Check() error {
	c = c.WithDefaults()
	switch {
	case c.Needed != 1 && c.Needed != 2:
		return fmt.Errorf("needed: %d: must be 1 or 2", c.Needed)
	case len(c.Approvers) > maxApprovers:
		return fmt.Errorf("approvers: at most %d are allowed", maxApprovers)
	case len(c.Tokens) > 0 && len(c.Approvers) < c.Needed:
		return fmt.Errorf("approvers: %d for %d signatures: approval would be impossible", len(c.Approvers), c.Needed)
	}
	if _, err := ParseSite(c.URL); err != nil {
		return fmt.Errorf("url: %w", err)
	}
	if err := c.checkApprovers(); err != nil {
		return fmt.Errorf("approvers: %w", err)
	}
	seen := map[string]bool{}
	for _, t := range c.Tokens {
		key := t.Network + " " + t.Token
		switch {
		case t.Network == "" || t.Token == "" || seen[key]:
			return fmt.Errorf("tokens: %q of network %q: must be listed once, with network and token", t.Token, t.Network)
		case t.ApproveAbove.IsZero() && t.FirstPayoutAbove.IsZero():
			return fmt.Errorf("tokens: %s: approve_above or first_payout_above is required", t.Token)
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
		if _, err := c.publicKey(a); err != nil {
			return fmt.Errorf("%s: %w", a.Name, err)
		}
		if keys[a.PublicKey()] {
			return errors.New(a.Name + ": another approver has the same key")
		}
		names[a.Name], keys[a.PublicKey()] = true, true
	}
	return nil
}
