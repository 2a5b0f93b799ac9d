package node

import (
	"fmt"
	"strings"

	"gatewayd/chain"
)

// coins is an amount in tokens as text: digits, optionally with underscores between them, and
// optional decimals.
type coins string

// UnmarshalYAML takes the text of numbers, so that none passes through a float.
func (c *coins) UnmarshalYAML(raw []byte) error {
	*c = coins(strings.Trim(strings.TrimSpace(string(raw)), `"'`))
	return nil
}

// units is the amount in a token's smallest unit.
func (c coins) units(decimals uint8) (chain.Amount, error) {
	whole, frac, _ := strings.Cut(strings.ReplaceAll(string(c), "_", ""), ".")
	if frac = strings.TrimRight(frac, "0"); len(frac) > int(decimals) {
		return chain.Amount{}, fmt.Errorf("%s has more than the %d decimals of the token", c, decimals)
	}
	if whole == "" {
		return chain.Amount{}, fmt.Errorf("amount %q: %w", string(c), chain.ErrAmount)
	}
	n, err := chain.ParseAmount(whole + frac + strings.Repeat("0", int(decimals)-len(frac)))
	if err != nil {
		return chain.Amount{}, fmt.Errorf("amount %q: %w", string(c), err)
	}
	return n, nil
}
