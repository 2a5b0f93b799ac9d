package main

import (
	"net"
	"strings"

	"gatewayd/chain"
	"gatewayd/exchangeapi"
	"gatewayd/serve"
)

// bridged are the tokens that the networks bridge with the first exchange chain, on which the exchange stands, by token id.
func (c Config) bridged() map[string][]exchangeapi.Bridged {
	all := map[string][]exchangeapi.Bridged{}
	for _, n := range c.Networks {
		if len(c.Vite) == 0 || n.Exchange != c.Vite[0].ID {
			continue
		}
		for _, t := range n.Tokens {
			side := exchangeapi.Bridged{Platform: strings.ToUpper(n.Name), Path: n.Path, Decimals: int(t.AssetDecimals)}
			if t.Asset != chain.Native {
				side.Address, side.Standard = string(t.Asset), "ERC20"
			}
			all[t.Token] = append(all[t.Token], side)
		}
	}
	return all
}

// publicURL is where clients reach a server as far as its configuration tells; "" where only its operator knows.
func publicURL(c serve.Config) string {
	host, port, err := net.SplitHostPort(c.Listen)
	if err != nil || port == "0" {
		return ""
	}
	if len(c.ACME.Domains) > 0 {
		host = c.ACME.Domains[0]
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		return ""
	}
	switch {
	case !c.Secured():
		return "http://" + net.JoinHostPort(host, port)
	case port == "443" || port == "https":
		return "https://" + host
	}
	return "https://" + net.JoinHostPort(host, port)
}
