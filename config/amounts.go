package config

import (
	"cmp"
	"regexp"

	"gatewayd/chain"
)

// TokenAmount is an amount of a gateway token for people: "12.5 USDT-000". What the configuration
// does not know stays in smallest units.
func (c Config) TokenAmount(token string, a chain.Amount) string {
	for _, n := range c.Networks {
		for _, t := range n.Tokens {
			if t.Token == token {
				return a.Whole(t.Decimals) + " " + cmp.Or(t.Symbol, t.Token)
			}
		}
	}
	return inUnits(a, token)
}

// AssetAmount is an amount of what moves on one chain, for people: a gateway token on an exchange
// chain, else a source chain's asset.
func (c Config) AssetAmount(id chain.ID, asset chain.Asset, a chain.Amount) string {
	k, known := c.Chain(id)
	if known && !k.Source {
		return c.TokenAmount(string(asset), a)
	}
	for _, n := range c.Networks {
		for _, t := range n.Tokens {
			if n.Source == id && t.Asset == asset {
				return a.Whole(t.AssetDecimals) + " " + t.token().SourceSymbol()
			}
		}
	}
	if asset == chain.Native {
		return a.Whole(c.coinDecimals(id)) + " coins"
	}
	return inUnits(a, string(asset))
}

// coinDecimals returns the decimals of a chain's coin; an unknown chain has those of the first
// chain.
func (c Config) coinDecimals(id chain.ID) uint8 {
	if k, known := c.Chain(id); known {
		return k.Decimals
	}
	for _, k := range c.Chains() {
		return k.Decimals
	}
	return 0
}

// inUnits formats an amount of an asset with unknown decimals.
func inUnits(a chain.Amount, asset string) string {
	if a.IsZero() {
		return "0 of " + asset
	}
	return a.String() + " units of " + cmp.Or(asset, "an unknown token")
}

// amountText is an amount in a text of the records or of the watcher: smallest units, and the asset
// as the records have it.
var amountText = regexp.MustCompile(`\b(\d+) (?:of )?(native|0x[0-9a-fA-F]{40}|tti_[0-9a-f]{24})\b`)

// oneCoin reports whether the coins of all source chains have the same decimals.
func (c Config) oneCoin() bool {
	found := map[uint8]bool{}
	for _, k := range c.Chains() {
		if k.Source {
			found[k.Decimals] = true
		}
	}
	return len(found) < 2
}

// InWholeUnits converts the amounts in a text to whole units. Assets with unknown decimals do not
// change, nor does coin where chains differ in its decimals: the text names no chain with it.
func (c Config) InWholeUnits(text string) string {
	oneCoin := c.oneCoin()
	return amountText.ReplaceAllStringFunc(text, func(found string) string {
		m := amountText.FindStringSubmatch(found)
		a, err := chain.ParseAmount(m[1])
		if err != nil || m[2] == string(chain.Native) && !oneCoin {
			return found
		}
		for _, n := range c.Networks {
			for _, t := range n.Tokens {
				switch m[2] {
				case t.Token:
					return c.TokenAmount(t.Token, a)
				case string(t.Asset):
					return c.AssetAmount(n.Source, t.Asset, a)
				}
			}
		}
		if m[2] == string(chain.Native) {
			return a.Whole(c.coinDecimals("")) + " coins"
		}
		return found
	})
}
