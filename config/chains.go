package config

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/sirupsen/logrus"

	"gatewayd/chain"
	"gatewayd/chain/bitcoin"
	"gatewayd/chain/ethereum"
	"gatewayd/chain/vite"
	"gatewayd/wallet"
)

// Chain is one configured chain, of whatever kind. Which kinds there are, this file and signer.go
// know; docs/architecture.md 6 has what a new one needs.
type Chain struct {
	ID       chain.ID
	Kind     string           // its section of the configuration
	Source   bool             // tokens originate there; false: they are bridged to it
	Accounts int              // of each network that pay on it or did, at least one
	Retired  []int            // the indexes of those that pay no more
	OnDemand bool             // blocks come only with transactions
	Decimals uint8            // of its coin
	CoinType uint32           // of SLIP-44, which the keys of our accounts on a source chain are derived with
	Coins    wallet.CoinPaths // of its only account, on a ledger of coins; empty elsewhere
	Tokens   []chain.Asset
	Network  string   // of Bitcoin and its kin, such as litecoin
	ChainID  uint64   // of EIP-155; 0: it has none
	Nodes    []string // URLs of the nodes that it is reached by; they may contain a key

	MaxFee string // ceiling of fees in the unit of its section; empty where there are no fees

	// Settings are the adapter's own, for who knows its kind.
	Settings interface{ Check() error }
}

// MostCost returns the maximum network cost of one payment of an asset, in the chain's coin; zero
// where there are no fees.
func (c Chain) MostCost(asset chain.Asset) (chain.Amount, error) {
	switch s := c.Settings.(type) {
	case ethereum.Config:
		return s.MostCost(asset)
	case bitcoin.Config:
		return s.MostCost(), nil
	}
	return chain.Amount{}, nil
}

// LinkedAdapter is the settings of a chain that has no section in the configuration: an adapter
// that is linked in, such as a test's.
type LinkedAdapter interface {
	Check() error
	Open(ours Accounts, log logrus.FieldLogger) (Adapter, error)
	// Account is the address of the key at a derivation path.
	Account(path string) (string, error)
}

// Chains are the configured chains, source chains first, in the file's order.
func (c Config) Chains() (list []Chain) {
	for _, e := range c.Ethereum {
		e = c.withTokens(e)
		list = append(list, Chain{
			ID: e.ID, Kind: "ethereum", Source: true, Accounts: e.Accounts, Retired: e.Retired, OnDemand: e.OnDemand, Decimals: ethereum.CoinDecimals, CoinType: ethereum.CoinType,
			Tokens: e.Tokens, ChainID: e.ChainID, Nodes: e.Nodes, MaxFee: e.MaxFee(), Settings: e,
		})
	}
	for _, b := range c.Bitcoin {
		list = append(list, bitcoinChain(b))
	}
	for _, v := range c.Vite {
		list = append(list, Chain{ID: v.ID, Kind: "vite", Accounts: v.Accounts, Retired: v.Retired, Nodes: v.Nodes, Settings: v})
	}
	return append(list, c.Linked...)
}

// Adapter connects to a chain.
type Adapter interface {
	chain.Chain
	Rules() chain.Rules // by which its payments are signed
	Close()
}

// Accounts lists our accounts for adapters.
type Accounts interface {
	Accounts(ctx context.Context, id chain.ID) ([]string, error)
	Owned(ctx context.Context, id chain.ID, candidates []string) (map[string]bool, error)
	// Coins, HeldCoins, CoinsAt and CoinTxs are for ledgers of coins: see bitcoin.Accounts.
	Coins(ctx context.Context, id chain.ID, outpoints []string) (map[string]chain.Coin, error)
	HeldCoins(ctx context.Context, id chain.ID, account string) ([]chain.HeldCoin, error)
	CoinsAt(ctx context.Context, id chain.ID, height uint64) ([]chain.Coin, error)
	CoinTxs(ctx context.Context, id chain.ID, hashes []string) (map[string][]byte, error)
}

// Timed is the chain with an observer of the requests to its nodes.
func (c Chain) Timed(observe func(node, method string, took time.Duration)) Chain {
	switch s := c.Settings.(type) {
	case ethereum.Config:
		s.Timed = observe
		c.Settings = s
	case bitcoin.Config:
		s.Timed = observe
		c.Settings = s
	case vite.Config:
		s.Timed = observe
		c.Settings = s
	}
	return c
}

// Open makes the adapter, which connects to nothing yet. Without our accounts it cannot read
// blocks.
func (c Chain) Open(ours Accounts, log logrus.FieldLogger) (Adapter, error) {
	if log != nil {
		log = log.WithField("chain", c.ID)
	}
	switch s := c.Settings.(type) {
	case ethereum.Config:
		s.Log = log
		return ethereum.New(s, ours)
	case bitcoin.Config:
		s.Log = log
		return bitcoin.New(s, ours)
	case vite.Config:
		s.Log = log
		return vite.New(s, ours)
	case LinkedAdapter:
		return s.Open(ours, log)
	}
	return nil, fmt.Errorf("chain %s: there is no adapter of kind %s", c.ID, c.Kind)
}

// Account is the address of the key at a derivation path on the chain.
func (c Chain) Account(keys PublicKeys, path string) (string, error) {
	switch s := c.Settings.(type) {
	case LinkedAdapter:
		return s.Account(path)
	case bitcoin.Config:
		return c.coinAddress(s, keys, path)
	}
	return keys.Address(path)
}

// DepositPath is the path of the n-th user's deposit address on a source chain.
func (c Chain) DepositPath(n uint32) string {
	if c.Coins != "" {
		return c.Coins.Deposit(n)
	}
	return wallet.SourcePaths(c.CoinType).Deposit(n)
}

// Chain is a configured chain by its id.
func (c Config) Chain(id chain.ID) (Chain, bool) {
	list := c.Chains()
	i := slices.IndexFunc(list, func(k Chain) bool { return k.ID == id })
	if i < 0 {
		return Chain{}, false
	}
	return list[i], true
}

// MaxAccounts bounds how many accounts pay on a chain.
const MaxAccounts = 64

// CheckAccounts refuses a number of accounts that cannot be.
func CheckAccounts(n int) error {
	if n < 0 || n > MaxAccounts {
		return fmt.Errorf("accounts: must be from 1 to %d", MaxAccounts)
	}
	return nil
}

// count returns the number of accounts of each network.
func (c Chain) count() int { return max(1, c.Accounts) }

// checkRetired refuses to retire what is not there, or everything.
func (c Chain) checkRetired() error {
	seen := map[int]bool{}
	for _, i := range c.Retired {
		if i < 0 || i >= c.count() || seen[i] {
			return fmt.Errorf("retired: %d must be an index from 0 of one of %d accounts, listed once", i, c.count())
		}
		seen[i] = true
	}
	if len(seen) == c.count() {
		return errors.New("retired: no paying account would be left: raise accounts by the new ones first")
	}
	return nil
}

// checkChains adds what is wrong with each chain, and answers them by their ids.
func (c Config) checkChains(add func(what string, err error)) map[chain.ID]Chain {
	known, all := map[chain.ID]Chain{}, c.Chains()
	for _, k := range all {
		name := k.Kind + " " + string(k.ID)
		add(name, k.Settings.Check())
		add(name, CheckAccounts(k.Accounts))
		add(name, k.checkRetired())
		add(name, errors.Join(c.checkCoins(k)...))
		known[k.ID] = k
	}
	if len(known) != len(all) {
		add("chains", errors.New("two chains have the same id"))
	}
	return known
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

// takingChains takes the chains' own lists of tokens, their nodes, the ceilings of their fees, and
// which accounts pay, from a newer configuration. The nodes of an embedded chain stay.
func (c *Config) takingChains(next Config) {
	c.Ethereum = slices.Clone(c.Ethereum)
	for i, e := range c.Ethereum {
		for _, later := range next.Ethereum {
			if later.ID == e.ID {
				c.Ethereum[i].Tokens, c.Ethereum[i].MaxFeeGwei = later.Tokens, later.MaxFeeGwei
				c.Ethereum[i].Accounts, c.Ethereum[i].Retired = later.Accounts, later.Retired
				c.Ethereum[i].Nodes = later.Nodes
			}
		}
	}
	c.takingBitcoin(next)
	c.Vite = slices.Clone(c.Vite)
	for i, v := range c.Vite {
		for _, later := range next.Vite {
			if later.ID == v.ID {
				c.Vite[i].Accounts, c.Vite[i].Retired = later.Accounts, later.Retired
				if c.Embedded == nil && v.Dial == nil {
					c.Vite[i].Nodes = later.Nodes
				}
			}
		}
	}
}

// Dialer makes a connection.
type Dialer = func(ctx context.Context, network, address string) (net.Conn, error)

// ExchangeNodes are the nodes of the first exchange chain, and what connects to them where not the
// network does.
func (c Config) ExchangeNodes() ([]string, Dialer) {
	if len(c.Vite) == 0 {
		return nil, nil
	}
	return c.Vite[0].Nodes, c.Vite[0].Dial
}

// Redial replaces the URL and dialer of the exchange chains' nodes for which own returns true.
func (c Config) Redial(own func(url string) bool, url string, dial Dialer) Config {
	c.Vite = slices.Clone(c.Vite)
	for i, v := range c.Vite {
		nodes := slices.Clone(v.Nodes)
		for j, target := range nodes {
			if own(target) {
				nodes[j], c.Vite[i].Dial = url, dial
			}
		}
		c.Vite[i].Nodes = nodes
	}
	return c
}
