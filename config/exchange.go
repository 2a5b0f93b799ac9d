package config

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"

	"gatewayd/chain"
	"gatewayd/exchangeapi"
	"gatewayd/exchangeapi/index"
	"gatewayd/exchangeapi/ws"
	"gatewayd/gateway"
	"gatewayd/httpserver"
)

// Exchange is the section exchange of the configuration: the exchange's public API. Without the
// section there is none.
type Exchange struct {
	exchangeapi.Config `yaml:",inline"`
	// Node is the URL of the exchange chain's node, preferably over WebSocket, which announces new
	// blocks. The default is the first node of the first chain in the list vite.
	Node    string       `yaml:"node"`
	Index   index.Config `yaml:"index"` // its default database is exchange.db in the data directory
	Sockets ws.Config    `yaml:"sockets"`
	Keys    string       `yaml:"keys"` // URL of the database of API keys; without it apikeys.db in the data directory
	// The secrets of API keys are encrypted with 32 bytes in hexadecimal, from an environment
	// variable or a file. The file is made if it is missing; without a name it is apikeys.secret in
	// the data directory. Keep a copy apart: without it every account needs a new key.
	SecretFile string `yaml:"secret_file"`
	SecretEnv  string `yaml:"secret_env"`
	// KeyPage serves the page of API keys at /keys; left out, it is served.
	KeyPage *bool `yaml:"key_page"`
	// TradePage serves the trade page at /trade; left out, it is served.
	TradePage *bool `yaml:"trade_page"`
	// Test is a test network under the path /test.
	Test *ExchangeTest `yaml:"test"`

	// From the rest of the configuration: the chains, on some of which price feeds are read, and
	// the bridged tokens.
	Chains   []Chain                          `yaml:"-"`
	Bridged  map[string][]exchangeapi.Bridged `yaml:"-"`
	Operator gateway.Operator                 `yaml:"-"` // from the gateway, for users

	Dial  Dialer   `yaml:"-"` // to a node in this process; nil for one elsewhere
	Nodes []string `yaml:"-"` // of the chain in the list vite

	NoBridgePage bool `yaml:"-"` // the gateway serves none
}

// ExchangeTest is the exchange of a test network.
type ExchangeTest struct {
	Node  string       `yaml:"node"`
	Index index.Config `yaml:"index"`
}

// Names of the networks that API keys are issued for.
const (
	MainExchange = "main"
	TestExchange = "test"
)

// WithDefaults fills what follows from the data directory and the chain's nodes.
func (c Exchange) WithDefaults(data string, nodes []string) Exchange {
	c.Nodes = nodes
	if c.Node == "" && len(nodes) > 0 {
		c.Node = nodes[0]
	}
	c.Index.URL = cmp.Or(c.Index.URL, "sqlite:"+filepath.Join(data, "exchange.db"))
	c.Keys = cmp.Or(c.Keys, "sqlite:"+filepath.Join(data, "apikeys.db"))
	c.SecretFile = cmp.Or(c.SecretFile, filepath.Join(data, "apikeys.secret"))
	if c.Test != nil {
		test := *c.Test
		test.Index.URL = cmp.Or(test.Index.URL, "sqlite:"+filepath.Join(data, "exchange-test.db"))
		c.Test = &test
	}
	return c
}

// Check reports every rule that the section, with its defaults, breaks.
func (c Exchange) Check() error {
	faults := []error{c.Config.Check(), c.Index.Check(), c.Sockets.Check()}
	for _, f := range c.Rates.Feeds {
		if !slices.ContainsFunc(c.Chains, func(k Chain) bool { return k.Source && string(k.ID) == f.Chain }) {
			faults = append(faults, fmt.Errorf("rates.feeds: chain %q is not in the list ethereum", f.Chain))
		}
	}
	if c.MaxConnections > 0 && c.MaxConnections <= c.Sockets.Connections {
		faults = append(faults, fmt.Errorf("max_connections %d: sockets.connections %d leave no room for requests", c.MaxConnections, c.Sockets.Connections))
	}
	if c.Node == "" {
		faults = append(faults, errors.New("node is required if the list vite is empty"))
	}
	if c.Test != nil {
		faults = append(faults, c.Test.Index.Check())
		if c.Test.Node == "" {
			faults = append(faults, errors.New("test.node is required"))
		}
	}
	return errors.Join(faults...)
}

// bridged returns the tokens that the networks bridge with the first exchange chain, which has the
// exchange, by token ID.
func (c Config) bridged() map[string][]exchangeapi.Bridged {
	all := map[string][]exchangeapi.Bridged{}
	i := slices.IndexFunc(c.Chains(), func(k Chain) bool { return !k.Source })
	if i < 0 {
		return all
	}
	first := c.Chains()[i].ID
	for _, n := range c.Networks {
		if n.Exchange != first {
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

// Public returns the exchange API's URL for clients, as far as the configuration contains it; ""
// where only its operator knows it.
func (c Exchange) Public() string { return publicURL(c.Config.Config) }

// publicURL returns a server's URL for clients, as far as its configuration contains it; "" where
// only its operator knows it.
func publicURL(c httpserver.Config) string {
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
