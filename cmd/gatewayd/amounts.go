package main

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/shopspring/decimal"

	"gatewayd/chain"
)

// wholeUnits writes an amount of smallest units in whole units, exactly: 1500000 of 6 decimals is 1.5.
func wholeUnits(a chain.Amount, decimals uint8) string {
	return decimal.NewFromBigInt(a.Uint256().ToBig(), -int32(decimals)).String()
}

// tokenAmount is an amount of a gateway token for people: "12.5 USDT-000". What the configuration does not know stays in smallest units.
func (c Config) tokenAmount(token string, a chain.Amount) string {
	for _, n := range c.Networks {
		for _, t := range n.Tokens {
			if t.Token == token {
				return wholeUnits(a, t.Decimals) + " " + cmp.Or(t.Symbol, t.Token)
			}
		}
	}
	return inUnits(a, token)
}

// assetAmount is an amount of what moves on one chain, for people: a gateway token on an exchange chain, else a source chain's asset.
func (c Config) assetAmount(id chain.ID, asset chain.Asset, a chain.Amount) string {
	for _, v := range c.Vite {
		if v.ID == id {
			return c.tokenAmount(string(asset), a)
		}
	}
	for _, n := range c.Networks {
		for _, t := range n.Tokens {
			if n.Source == id && t.Asset == asset {
				return wholeUnits(a, t.AssetDecimals) + " " + sourceSymbol(t)
			}
		}
	}
	if asset == chain.Native {
		return wholeUnits(a, nativeDecimals) + " coins"
	}
	return inUnits(a, string(asset))
}

// nativeDecimals is what every EVM chain counts its coin with.
const nativeDecimals = 18

// sourceSymbol is the name of a token's asset on its own chain: the gateway token's without the number that the exchange chain adds.
func sourceSymbol(t TokenConfig) string {
	symbol, number, ok := strings.Cut(t.Symbol, "-")
	if !ok || strings.Trim(number, "0123456789") != "" {
		symbol = t.Symbol
	}
	return cmp.Or(symbol, string(t.Asset))
}

// inUnits is an amount of something that nobody told the decimals of.
func inUnits(a chain.Amount, asset string) string {
	if a.IsZero() {
		return "0 of " + asset
	}
	return a.String() + " units of " + cmp.Or(asset, "an unknown token")
}

// amountText is an amount in a text of the records or of the watcher: smallest units, and the asset as the records have it.
var amountText = regexp.MustCompile(`\b(\d+) (?:of )?(native|0x[0-9a-fA-F]{40}|tti_[0-9a-f]{24})\b`)

// inWholeUnits is a text with its amounts as people read them. What nobody knows the decimals of stays as it is.
func (c Config) inWholeUnits(text string) string {
	return amountText.ReplaceAllStringFunc(text, func(found string) string {
		m := amountText.FindStringSubmatch(found)
		a, err := chain.ParseAmount(m[1])
		if err != nil {
			return found
		}
		for _, n := range c.Networks {
			for _, t := range n.Tokens {
				switch m[2] {
				case t.Token:
					return c.tokenAmount(t.Token, a)
				case string(t.Asset):
					return c.assetAmount(n.Source, t.Asset, a)
				}
			}
		}
		if m[2] == string(chain.Native) {
			return wholeUnits(a, nativeDecimals) + " coins"
		}
		return found
	})
}
