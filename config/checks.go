package config

import (
	"fmt"

	"gatewayd/chain"
	"gatewayd/signer/checks"
)

// CheckedAssets are the gateway tokens as the signer's checks count them, on each of their chains.
func (c Config) CheckedAssets() (list []checks.Asset) {
	for _, n := range c.Networks {
		for _, t := range n.Tokens {
			source := checks.Asset{Network: n.Name, Token: t.Token, Symbol: t.Symbol, Chain: n.Source, Asset: t.Asset, Decimals: t.AssetDecimals, TokenDecimals: t.Decimals}
			exchange := source
			exchange.Chain, exchange.Asset, exchange.Decimals = n.Exchange, chain.Asset(t.Token), t.Decimals
			list = append(list, source, exchange)
		}
	}
	return list
}

// checkChecks refuses limits and approvals of what is not configured: they would hold nothing.
func (c Config) checkChecks() error {
	if err := c.Signer.Config.Check(); err != nil {
		return err
	}
	for _, t := range c.Signer.Limits.Tokens {
		if _, known := c.token(t.Network, t.Token); !known {
			return fmt.Errorf("limits: tokens: no network %q has a token %q", t.Network, t.Token)
		}
	}
	for _, t := range c.Signer.Approvals.Tokens {
		if _, known := c.token(t.Network, t.Token); !known {
			return fmt.Errorf("approvals: tokens: no network %q has a token %q", t.Network, t.Token)
		}
	}
	for _, f := range c.Signer.Limits.Fees {
		if _, known := c.Chain(f.Chain); !known {
			return fmt.Errorf("limits: fees: there is no chain %q", f.Chain)
		}
	}
	return nil
}

// token is a configured token of a network.
func (c Config) token(network, token string) (Token, bool) {
	for _, n := range c.Networks {
		for _, t := range n.Tokens {
			if n.Name == network && t.Token == token {
				return t, true
			}
		}
	}
	return Token{}, false
}
