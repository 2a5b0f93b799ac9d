// Package config is the configuration of the daemon: one YAML tree of the packages' own parts, its
// defaults, every rule that can be checked without asking a node, and the list of keys that a
// running daemon takes over.
package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"gatewayd/chain"
	"gatewayd/chain/bitcoin"
	"gatewayd/chain/ethereum"
	"gatewayd/chain/vite"
	"gatewayd/gateway"
	"gatewayd/notify"
	"gatewayd/records"
	"gatewayd/status"
	"gatewayd/watcher"
)

// Config is the complete configuration: one tree of the packages' own parts. Unknown keys are
// errors. Secrets are named by file or environment variable, never written here.
type Config struct {
	// Include lists files with further keys, relative to this one. Load leaves it empty.
	Include   []string          `yaml:"include,omitempty"`
	Data      string            `yaml:"data"` // directory of everything the daemon keeps
	Log       Log               `yaml:"log"`
	Database  records.Config    `yaml:"database"`
	Wallet    Wallet            `yaml:"wallet"`
	Signer    Signer            `yaml:"signer"`
	Ethereum  []ethereum.Config `yaml:"ethereum"`
	Bitcoin   []bitcoin.Config  `yaml:"bitcoin"`
	Vite      []vite.Config     `yaml:"vite"`
	Embedded  *Embedded         `yaml:"embedded"`
	Networks  []Network         `yaml:"networks"`
	Gateway   gateway.Config    `yaml:"gateway"`
	Operators Operators         `yaml:"operators"`
	Watcher   watcher.Config    `yaml:"watcher"`
	Status    status.Config     `yaml:"status"`
	Alerts    notify.Config     `yaml:"alerts"`   // receivers of conditions and records
	Exchange  *Exchange         `yaml:"exchange"` // the exchange API; off when left out

	Linked []Chain `yaml:"-"` // chains whose Settings are a LinkedAdapter
	Path   string  `yaml:"-"` // of its file; empty for one that has none
	// Included are the files that it includes.
	Included []string `yaml:"-"`
	// Removed names keys of the file that this version no longer has: they change nothing.
	Removed []string `yaml:"-"`
	asFile  *Config  // the file's content, if this copy was changed since
}

// Load reads a file strictly, with those that it includes: an unknown key or a wrong type is an
// error that shows file and line. With an error of the check it returns the section log, in which
// the caller can report it.
func Load(path string) (Config, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Config{}, unread(path, err)
	}
	c, err := decode(path, text)
	if err != nil {
		return Config{}, err
	}
	c.Fill()
	if err := c.Check(); err != nil {
		return Config{Log: c.Log}, fmt.Errorf("configuration %s: %w", path, err)
	}
	c.Path = path
	return c, nil
}

// unread returns the reason why a configuration cannot be read.
func unread(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return missingError{path, err}
	}
	return fmt.Errorf("reading the configuration %s: %w", path, err)
}

// missingError reports a missing file in words for people.
type missingError struct {
	path string
	error
}

func (e missingError) Error() string {
	return fmt.Sprintf("there is no configuration %s: name the daemon's with -c; config.example.yaml is an example", e.path)
}

func (e missingError) Unwrap() error { return e.error }

// Fill sets what follows from the data directory.
func (c *Config) Fill() {
	c.Data = cmp.Or(c.Data, "data")
	if c.Exchange != nil {
		nodes, _ := c.ExchangeNodes()
		exchange := c.Exchange.WithDefaults(c.Data, nodes)
		exchange.Chains, exchange.Bridged = c.Chains(), c.bridged()
		exchange.Gateway.URL = cmp.Or(exchange.Gateway.URL, publicURL(c.Gateway.Config))
		exchange.Operator = c.Gateway.Operator
		exchange.NoBridgePage = len(c.Networks) == 0 || c.Gateway.BridgePage != nil && !*c.Gateway.BridgePage
		c.Exchange = &exchange
	}
	c.Database.URL = cmp.Or(c.Database.URL, "sqlite:"+filepath.Join(c.Data, "gatewayd.db"))
	c.Wallet.Store = storeIn(c.Data, c.Wallet.Store)
	c.Wallet.Successors = slices.Clone(c.Wallet.Successors)
	for i, s := range c.Wallet.Successors {
		c.Wallet.Successors[i].Store = storeIn(c.Data, s.Store)
	}
	for _, n := range c.Networks {
		for i, text := range n.Funders {
			if address, err := senderAddress(text); err == nil { // Check names those that are none
				n.Funders[i] = address
			}
		}
		source, _ := c.Chain(n.Source)
		for i, t := range n.Tokens {
			n.Tokens[i].Cold = source.canonicalCold(t.Cold)
			if address, err := CanonicalAddress(string(t.Asset)); err == nil { // transfers name contracts so
				n.Tokens[i].Asset = chain.Asset(address)
			}
		}
	}
}

// Check reports every rule that the configuration breaks, without asking a node; `gatewayd doctor`
// asks the nodes.
func (c Config) Check() error {
	var faults []error
	add := func(what string, err error) {
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", what, err))
		}
	}
	chains := c.checkChains(add)
	add("gateway", c.Gateway.Check())
	add("operators", c.Operators.Check())
	add("log", c.Log.Check())
	add("watcher", c.Watcher.Check())
	add("status", c.Status.Check())
	add("alerts", c.Alerts.Check())
	if len(c.Networks) > 0 && c.Database.URL != "" {
		add("database", c.Database.Check())
	}
	if c.Exchange != nil {
		add("exchange", c.Exchange.Check())
	}
	if c.Embedded != nil {
		add("embedded", c.Embedded.Check())
	}
	if c.Wallet.RPC.Enabled() {
		add("wallet.rpc", c.Wallet.RPC.Check())
	}
	add("wallet.pkcs11", c.Wallet.PKCS11.Check())
	add("wallet.successors", c.Wallet.checkSuccessors())
	c.checkSigner(add)
	add("networks", c.checkNetworks(chains))
	add("signer", c.checkChecks())
	return errors.Join(faults...)
}
