package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/sirupsen/logrus"

	"gatewayd/chain"
	"gatewayd/chain/ethereum"
	"gatewayd/chain/vite"
	"gatewayd/chain/vite/core"
	"gatewayd/gateway"
	"gatewayd/operator/status"
	"gatewayd/records"
	"gatewayd/watcher"
)

// Config is the whole configuration: one tree of the packages' own parts. Unknown keys are errors. Secrets are named by file or
// environment variable, never written here.
type Config struct {
	Data     string            `yaml:"data"` // directory of everything the daemon keeps
	Log      LogConfig         `yaml:"log"`
	Database records.Config    `yaml:"database"`
	Wallet   WalletConfig      `yaml:"wallet"`
	Ethereum []ethereum.Config `yaml:"ethereum"`
	Vite     []vite.Config     `yaml:"vite"`
	Embedded *EmbeddedConfig   `yaml:"embedded"`
	Networks []NetworkConfig   `yaml:"networks"`
	Gateway  gateway.Config    `yaml:"gateway"`
	Watcher  watcher.Config    `yaml:"watcher"`
	Status   status.Config     `yaml:"status"`
	Exchange *ExchangeConfig   `yaml:"exchange"` // the exchange API; off when left out

	path string  // of its file; empty for one that has none
	read *Config // as the file says it, where this one was changed since
}

// LogConfig says how much is logged and in which form: text for people, json for programs.
type LogConfig struct {
	Level  string `yaml:"level"`
	Format string `yaml:"format"`
}

// WalletConfig names the entropy store with the daemon's keys and where its password comes from.
type WalletConfig struct {
	Store        string `yaml:"store"`
	PasswordFile string `yaml:"password_file"`
	PasswordEnv  string `yaml:"password_env"`
	passwordKey  string // what a message calls PasswordFile; empty: by its key in the configuration

	RPC WalletRPCConfig `yaml:"rpc"` // JSON-RPC of the stores in the same directory; off unless an address is given
}

// EmbeddedConfig runs an exchange chain of our own in this process instead of following real nodes.
type EmbeddedConfig struct {
	Dir     string `yaml:"dir"`     // where the chain is kept
	Listen  string `yaml:"listen"`  // address of its JSON-RPC
	WS      string `yaml:"ws"`      // address of the same over WebSocket; the system chooses a port unless one is given
	Genesis string `yaml:"genesis"` // JSON file; see docs/genesis.md
	Public  bool   `yaml:"public"`  // answer only what the public port of a real node answers; without it other machines must not reach listen and ws
}

// NetworkConfig is one source chain under one base path.
type NetworkConfig struct {
	Name             string        `yaml:"name"`
	Path             string        `yaml:"path"`
	Source           chain.ID      `yaml:"source"`
	Exchange         chain.ID      `yaml:"exchange"`
	Account          uint32        `yaml:"account"` // which address of the wallet is the gateway's on the exchange chain
	Funders          []string      `yaml:"funders"`
	SourceExplorer   string        `yaml:"source_explorer"`
	ExchangeExplorer string        `yaml:"exchange_explorer"`
	Tokens           []TokenConfig `yaml:"tokens"`
}

// TokenConfig is one gateway token. Amounts are integers in the gateway token's smallest unit.
type TokenConfig struct {
	Token         string        `yaml:"token"`
	Symbol        string        `yaml:"symbol"`
	Decimals      uint8         `yaml:"decimals"`
	Asset         chain.Asset   `yaml:"asset"` // native, or the address of the ERC-20 contract
	AssetDecimals uint8         `yaml:"asset_decimals"`
	Type          int           `yaml:"type"`
	LabelName     string        `yaml:"label_name"`
	Issued        bool          `yaml:"issued"` // the gateway is the token's only issuer; known by itself where an account of the gateway owns the token
	MinDeposit    chain.Amount  `yaml:"min_deposit"`
	MinWithdraw   chain.Amount  `yaml:"min_withdraw"`
	MaxWithdraw   chain.Amount  `yaml:"max_withdraw"`
	MinRefund     *chain.Amount `yaml:"min_refund"` // default: a hundredth of MinWithdraw
	Deposits      records.Depth `yaml:"deposit_confirmations"`
	Withdrawals   records.Depth `yaml:"withdraw_confirmations"`
	Fee           records.Fee   `yaml:"fee"`
}

// LoadConfig reads a file strictly: an unknown key or a wrong type is an error that shows its line.
func LoadConfig(path string) (Config, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Config{}, unread(path, err)
	}
	var c Config
	if err := yaml.NewDecoder(bytes.NewReader(text), yaml.Strict()).Decode(&c); err != nil && !errors.Is(err, io.EOF) {
		return Config{}, fmt.Errorf("configuration %s:\n%s", path, yaml.FormatError(err, false, true))
	}
	c.fill()
	if err := c.Check(); err != nil {
		return Config{}, fmt.Errorf("configuration %s: %w", path, err)
	}
	c.path = path
	return c, nil
}

// unread says why a configuration cannot be read.
func unread(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return plainly(err, "there is no configuration %s: name the daemon's with -c; config.example.yaml is one to begin with", path)
	}
	return fmt.Errorf("reading the configuration %s: %w", path, err)
}

// fill sets what follows from the data directory.
func (c *Config) fill() {
	if c.Data == "" {
		c.Data = "data"
	}
	if c.Exchange != nil {
		exchange := c.Exchange.withDefaults(c.Data, c.exchangeNodes())
		exchange.sources, exchange.bridged = c.Ethereum, c.bridged()
		exchange.Gateway.URL = cmp.Or(exchange.Gateway.URL, publicURL(c.Gateway.Config))
		c.Exchange = &exchange
	}
	if c.Database.URL == "" {
		c.Database.URL = "sqlite:" + filepath.Join(c.Data, "gatewayd.db")
	}
	if c.Wallet.Store != "" && !filepath.IsAbs(c.Wallet.Store) && !strings.ContainsRune(c.Wallet.Store, filepath.Separator) {
		c.Wallet.Store = filepath.Join(c.Data, "wallet", c.Wallet.Store)
	}
	for _, n := range c.Networks {
		for i, text := range n.Funders {
			if address, err := canonicalAddress(text); err == nil { // Check names those that are none
				n.Funders[i] = address
			}
		}
	}
}

// canonicalAddress is an address of either chain as transfers name their senders.
func canonicalAddress(text string) (string, error) {
	if strings.HasPrefix(text, "0x") {
		return ethereum.CanonicalAddress(text)
	}
	a, err := core.ParseAddress(text)
	return a.String(), err
}

// Check tells every rule the configuration breaks that can be seen without asking a node; `gatewayd doctor` asks the nodes.
func (c Config) Check() error {
	var faults []error
	add := func(what string, err error) {
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", what, err))
		}
	}
	ids := map[chain.ID]string{}
	for _, e := range c.Ethereum {
		add("ethereum "+string(e.ID), c.withTokens(e).Check())
		add("ethereum "+string(e.ID), checkAccounts(e.Accounts))
		ids[e.ID] = "source"
	}
	for _, v := range c.Vite {
		add("vite "+string(v.ID), v.Check())
		add("vite "+string(v.ID), checkAccounts(v.Accounts))
		ids[v.ID] = "exchange"
	}
	if len(ids) != len(c.Ethereum)+len(c.Vite) {
		add("chains", errors.New("two chains have the same id"))
	}
	add("gateway", c.Gateway.Check())
	add("log", c.Log.Check())
	add("watcher", c.Watcher.Check())
	add("status", c.Status.Check())
	if c.Exchange != nil {
		add("exchange", c.Exchange.Check())
	}
	if c.Embedded != nil {
		add("embedded", c.Embedded.Check())
	}
	if c.Wallet.RPC.Enabled() {
		add("wallet.rpc", c.Wallet.RPC.Check())
	}
	add("networks", c.checkNetworks(ids))
	return errors.Join(faults...)
}

// Check refuses levels and formats that do not exist.
func (l LogConfig) Check() error {
	if _, err := logrus.ParseLevel(l.level()); err != nil {
		return err
	}
	if l.Format != "" && l.Format != "text" && l.Format != "json" {
		return fmt.Errorf("format %q: text or json is wanted", l.Format)
	}
	return nil
}

func (l LogConfig) level() string {
	if l.Level == "" {
		return "info"
	}
	return l.Level
}

func (c Config) checkNetworks(ids map[chain.ID]string) error {
	if len(c.Networks) == 0 && c.Exchange == nil {
		return errors.New("at least one is wanted, or the section exchange: there is nothing to serve")
	}
	var faults []error
	sources, accounts, names, paths := map[chain.ID]bool{}, map[uint32]bool{}, map[string]bool{}, map[string]bool{}
	for _, n := range c.Networks {
		path := strings.Trim(n.Path, "/")
		switch {
		case n.Name == "" || names[n.Name]:
			faults = append(faults, fmt.Errorf("name %q is empty or used twice", n.Name))
		case paths[path]:
			faults = append(faults, fmt.Errorf("%s: path %q is used twice", n.Name, n.Path))
		case ids[n.Source] != "source" || ids[n.Exchange] != "exchange":
			faults = append(faults, fmt.Errorf("%s: source %q and exchange %q must be ids of the ethereum and vite lists", n.Name, n.Source, n.Exchange))
		case sources[n.Source]:
			faults = append(faults, fmt.Errorf("%s: source %q already serves another network", n.Name, n.Source))
		case accounts[n.Account]:
			faults = append(faults, fmt.Errorf("%s: account %d already serves another network; wallets tell networks apart by the gateway address", n.Name, n.Account))
		}
		sources[n.Source], accounts[n.Account], names[n.Name], paths[path] = true, true, true, true
		faults = append(faults, n.checkFunders()...)
		faults = append(faults, n.checkTokens()...)
	}
	return errors.Join(faults...)
}

func (n NetworkConfig) checkFunders() (faults []error) {
	for _, text := range n.Funders {
		if _, err := canonicalAddress(text); err != nil {
			faults = append(faults, fmt.Errorf("%s: funders: %q is no address: %w", n.Name, text, err))
		}
	}
	return faults
}

func (n NetworkConfig) checkTokens() (faults []error) {
	seen, assets := map[string]bool{}, map[string]bool{}
	for _, t := range n.Tokens {
		if seen[t.Token] {
			faults = append(faults, fmt.Errorf("%s: token %s stands twice", n.Name, t.Token))
		}
		key := fmt.Sprint(t.Asset, t.Type)
		if assets[key] {
			faults = append(faults, fmt.Errorf("%s: asset %s serves two tokens of type %d", n.Name, t.Asset, t.Type))
		}
		seen[t.Token], assets[key] = true, true
		if err := t.Check(); err != nil {
			faults = append(faults, fmt.Errorf("%s token %s: %w", n.Name, t.Token, err))
		}
	}
	return faults
}

// Check tells what is wrong with a token by itself.
func (t TokenConfig) Check() error {
	switch {
	case t.Token == "" || t.Asset == "":
		return errors.New("token and asset are wanted")
	case !isTokenID(t.Token):
		return errors.New("token is no token id: tti_ and 24 digits, of which the last four are a checksum; is one mistyped?")
	case t.Type != 0 && t.Type != 1:
		return fmt.Errorf("type %d: 0 (an address per user) or 1 (a label per user) is wanted", t.Type)
	case (t.Type == 1) != (t.LabelName != ""):
		return errors.New("label_name goes with type 1 and only with it")
	case t.Decimals > 30 || t.AssetDecimals > 30:
		return errors.New("at most 30 decimals")
	case !t.MaxWithdraw.IsZero() && t.MaxWithdraw.Less(t.MinWithdraw):
		return errors.New("max_withdraw is below min_withdraw")
	case t.MinWithdraw.Less(t.minRefund()):
		return errors.New("min_refund is above min_withdraw")
	case t.Deposits.Count == 0 || t.Withdrawals.Count == 0:
		return errors.New("deposit_confirmations.count and withdraw_confirmations.count must be at least 1")
	}
	return t.Fee.Check()
}

func isTokenID(text string) bool {
	_, err := core.ParseTokenID(text)
	return err == nil
}

// minRefund is the smallest withdrawal that is refunded by itself.
func (t TokenConfig) minRefund() chain.Amount {
	if t.MinRefund != nil {
		return *t.MinRefund
	}
	hundredth, _, _ := t.MinWithdraw.MulDiv(1, 100) // what is less than the amount always fits
	return hundredth
}

// token is the same in the words of records.
func (t TokenConfig) token() records.Token {
	return records.Token{
		TokenID: t.Token, Symbol: t.Symbol, Decimals: t.Decimals, Asset: t.Asset, AssetDecimals: t.AssetDecimals, Type: t.Type, LabelName: t.LabelName, Issued: t.Issued,
		Policy: records.Policy{
			Type: t.Type, Decimals: t.Decimals, AssetDecimals: t.AssetDecimals,
			MinDeposit: t.MinDeposit, MinWithdraw: t.MinWithdraw, MaxWithdraw: t.MaxWithdraw, MinRefund: t.minRefund(),
			DepositConfirmations: t.Deposits, WithdrawConfirmations: t.Withdrawals, Fee: t.Fee,
		},
	}
}

// withTokens adds the contracts that the networks name to a chain's own list.
func (c Config) withTokens(e ethereum.Config) ethereum.Config {
	seen := map[chain.Asset]bool{chain.Native: true}
	for _, t := range e.Tokens {
		seen[t] = true
	}
	for _, n := range c.Networks {
		for _, t := range n.Tokens {
			if n.Source == e.ID && !seen[t.Asset] {
				e.Tokens = append(e.Tokens, t.Asset)
				seen[t.Asset] = true
			}
		}
	}
	return e
}

// exchangeNodes are the nodes of the first exchange chain.
func (c Config) exchangeNodes() []string {
	if len(c.Vite) == 0 {
		return nil
	}
	return c.Vite[0].Nodes
}

// onDemand are the chains whose blocks come only with transactions.
func (c Config) onDemand() (ids []chain.ID) {
	for _, e := range c.Ethereum {
		if e.OnDemand {
			ids = append(ids, e.ID)
		}
	}
	return ids
}

// networks are the configured networks without our accounts.
func (c Config) networks() []records.Network {
	list := make([]records.Network, len(c.Networks))
	for i, n := range c.Networks {
		list[i] = n.network()
	}
	return list
}
