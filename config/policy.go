package config

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Policy has a short hash of each network, token and chain, by its name. It covers what daemon and
// signer must agree on: two configurations with equal hashes judge every payment alike.
type Policy map[string]string

// Policy returns the hashes of the configuration.
func (c Config) Policy() (Policy, error) {
	parts := map[string]any{}
	for _, k := range c.Chains() {
		if s, ok := k.Settings.(interface{ Judges() []any }); ok {
			parts["chain "+string(k.ID)] = append(s.Judges(), k.Kind, k.count(), sorted(k.Retired))
		}
	}
	for _, n := range c.Networks {
		parts["network "+n.Name] = []any{n.Source, n.Exchange, n.Account, sorted(n.Funders)}
		for _, t := range n.Tokens {
			parts["network "+n.Name+" token "+t.Token] = t.token()
		}
	}
	hashes := Policy{}
	for name, part := range parts {
		text, err := json.Marshal(part)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		sum := sha256.Sum256(text)
		hashes[name] = hex.EncodeToString(sum[:8])
	}
	return hashes, nil
}

func sorted[T interface{ ~int | ~string }](list []T) []T {
	return slices.Compact(slices.Sorted(slices.Values(list)))
}

// Differences names what differs from another policy.
func (p Policy) Differences(other Policy) (names []string) {
	all := maps.Clone(p)
	maps.Copy(all, other)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if p[name] != other[name] {
			names = append(names, name)
		}
	}
	return names
}

// Hash returns one hash of all.
func (p Policy) Hash() string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(p)) {
		fmt.Fprintf(h, "%s %s\n", name, p[name])
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
