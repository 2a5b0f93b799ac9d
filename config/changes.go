package config

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// Taking returns the configuration of a running daemon with the settings that it takes over from a
// newer one. These are the clients' limits, the log level, nodes, gas limits, the paying accounts,
// and for its networks the funders, explorers and tokens. All other settings need a restart.
func (c Config) Taking(next Config) Config {
	c.Log.Level = next.Log.Level
	c.Gateway.RatePerSecond, c.Gateway.Burst = next.Gateway.RatePerSecond, next.Gateway.Burst
	c.Gateway.NewBindingsPerHour, c.Gateway.NewBindingsPerSite = next.Gateway.NewBindingsPerHour, next.Gateway.NewBindingsPerSite
	c.Gateway.NewBindingsPerDay = next.Gateway.NewBindingsPerDay
	c.Signer.Config = next.Signer.Config
	c.Wallet.Successors = next.Wallet.Successors
	c.takingChains(next)
	if c.Exchange != nil && next.Exchange != nil {
		exchange := *c.Exchange
		exchange.Config = exchange.Config.Taking(next.Exchange.Config)
		c.Exchange = &exchange
	}
	c.Networks = slices.Clone(c.Networks)
	for i, n := range c.Networks {
		for _, later := range next.Networks {
			if later.Name == n.Name && later.Source == n.Source && later.Exchange == n.Exchange {
				c.Networks[i] = n.taking(later)
			}
		}
	}
	if c.asFile != nil {
		asFile := c.asFile.Taking(next)
		c.asFile = &asFile
	}
	return c
}

func (n Network) taking(later Network) Network {
	n.Funders, n.SourceExplorer, n.ExchangeExplorer = later.Funders, later.SourceExplorer, later.ExchangeExplorer
	n.SourceName, n.ExchangeName = later.SourceName, later.ExchangeName
	before := n.Tokens
	n.Tokens = slices.Clone(later.Tokens)
	for i, t := range n.Tokens {
		for _, b := range before {
			if b.Token == t.Token && !b.sameCoin(t) {
				n.Tokens[i] = b
			}
		}
	}
	return n
}

// sameCoin reports whether a token has the same asset, with the same unit and binding. Payments in
// progress were counted in it.
func (t Token) sameCoin(o Token) bool {
	return t.Asset == o.Asset && t.Decimals == o.Decimals && t.AssetDecimals == o.AssetDecimals && t.Type == o.Type
}

// Change is one key that two configurations have different values of.
type Change struct {
	Key string `json:"key"`
	Was string `json:"was"` // empty for what is new
	Now string `json:"now"` // empty for what is gone
}

// Changes names every key that differs. What lists hold is named by its name, id or symbol.
func Changes(was, now Config) ([]Change, error) {
	a, err := was.tree()
	if err != nil {
		return nil, err
	}
	b, err := now.tree()
	if err != nil {
		return nil, err
	}
	return compareTrees("", a, b), nil
}

// tree returns the configuration as its file would contain it, with every key.
func (c Config) tree() (tree any, err error) {
	text, err := yaml.Marshal(c)
	if err == nil {
		err = yaml.Unmarshal(text, &tree)
	}
	if err != nil {
		return nil, fmt.Errorf("writing the configuration: %w", err)
	}
	return tree, nil
}

// Fingerprint is the same for two files with the same content.
func (c Config) Fingerprint() (string, error) {
	tree, err := c.tree()
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(tree) // keys sorted
	if err != nil {
		return "", fmt.Errorf("writing the configuration: %w", err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8]), nil
}

func compareTrees(key string, was, now any) (found []Change) {
	a, b := branches(was), branches(now)
	if a == nil || b == nil {
		if leaf(was) != leaf(now) {
			found = append(found, Change{key, leaf(withoutSecrets(key, was)), leaf(withoutSecrets(key, now))})
		}
		return found
	}
	names := maps.Clone(a)
	maps.Copy(names, b)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		found = append(found, compareTrees(strings.TrimPrefix(key+"."+name, "."), a[name], b[name])...)
	}
	return found
}

// branches are the parts of a part of a configuration by their names; nil for one that is a value.
func branches(part any) map[string]any {
	switch p := part.(type) {
	case map[string]any:
		return p
	case []any:
		named := map[string]any{}
		for _, element := range p {
			e, ok := element.(map[string]any)
			if !ok {
				return nil
			}
			named[nameIn(e, p)] = e
		}
		if len(named) == len(p) {
			return named
		}
	}
	return nil
}

// nameIn returns the name of an element in a list; "" for an unnamed one.
func nameIn(e map[string]any, list []any) string {
	for _, key := range []string{"symbol", "name", "id", "token"} {
		name, ok := e[key].(string)
		if !ok {
			continue
		}
		same := 0
		for _, other := range list {
			if o, ok := other.(map[string]any); ok && o[key] == name {
				same++
			}
		}
		if same == 1 {
			return name
		}
	}
	return ""
}

// leaf is a value as text. An object is its token, name or id, without its other members.
func leaf(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case map[string]any:
		for _, key := range []string{"token", "name", "id"} {
			if name, ok := v[key].(string); ok {
				return name
			}
		}
		return "set"
	case []any:
		parts := make([]string, len(v))
		for i, p := range v {
			parts[i] = leaf(p)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return fmt.Sprint(value)
}

// RememberFile returns a copy that may be changed later and still contains the file's content.
func (c Config) RememberFile() Config {
	asFile := c
	c.asFile = &asFile
	return c
}

// AsRead returns the configuration of the file, with the settings taken over since.
func (c Config) AsRead() Config {
	if c.asFile != nil {
		return *c.asFile
	}
	return c
}

// String describes the change of a key.
func (c Change) String() string {
	switch {
	case c.Was == "":
		return "added: " + c.Now
	case c.Now == "":
		return "removed: " + c.Was
	}
	return c.Was + " -> " + c.Now
}

// Reload is the result of reading the configuration, for its caller.
type Reload struct {
	File    string   `json:"file"`
	Taken   []Change `json:"taken"`
	Restart []string `json:"restart"` // keys that have changed and that only a start takes over
	Refused string   `json:"refused,omitempty"`
	More    int      `json:"more,omitempty"` // keys left out
}

// maxReported bounds the keys that a report names.
const maxReported = 200

// Bounded leaves out what would make it too long.
func (r Reload) Bounded() Reload {
	taken, restart := min(len(r.Taken), maxReported), min(len(r.Restart), maxReported)
	r.More = len(r.Taken) - taken + len(r.Restart) - restart
	r.Taken, r.Restart = append([]Change{}, r.Taken[:taken]...), append([]string{}, r.Restart[:restart]...)
	return r
}
