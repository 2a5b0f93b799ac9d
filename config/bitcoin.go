package config

import (
	"fmt"
	"slices"
	"strings"

	"gatewayd/chain"
	"gatewayd/chain/bitcoin"
	"gatewayd/chain/bitcoin/network"
	"gatewayd/wallet"
	"gatewayd/wallet/keystore"
)

// PublicKeys are the public parts of keys.
type PublicKeys interface {
	Address(path string) (string, error)
	accountKeys
}

type accountKeys interface {
	AccountKey(path string) (keystore.ExtendedPublicKey, error)
}

// AccountKey is the extended public key of an account as a report of the records has it, for
// commands without keys.
type AccountKey struct {
	Public []byte `json:"public"` // compressed
	Chain  []byte `json:"chain_code"`
}

// AccountKey reads it.
func (k AccountKey) AccountKey(string) (keystore.ExtendedPublicKey, error) {
	return keystore.ParseExtendedPublicKey(k.Public, k.Chain)
}

// bitcoinChain is a chain of Bitcoin or its kin. All its addresses are of one account.
func bitcoinChain(b bitcoin.Config) Chain {
	k := Chain{ID: b.ID, Kind: "bitcoin", Network: b.Network, Source: true, Accounts: 1, OnDemand: b.OnDemand, Decimals: bitcoin.CoinDecimals, Nodes: b.Nodes, MaxFee: b.MaxRate(), Settings: b}
	if of := network.Named(b.Network); of != nil { // Check refuses others
		k.CoinType = of.CoinType
		k.Coins = wallet.CoinPaths(b.AccountPath())
	}
	return k
}

// WithKeys returns the chain with the public key of its account, by which a ledger of coins
// recognizes its own change. Other chains need none.
func (c Chain) WithKeys(keys accountKeys) (Chain, error) {
	s, ok := c.Settings.(bitcoin.Config)
	if !ok {
		return c, nil
	}
	account, err := c.coinAccount(s, keys)
	if err != nil {
		return c, fmt.Errorf("chain %s: %w", c.ID, err)
	}
	s.Accounts = []network.Account{account}
	c.Settings = s
	return c, nil
}

func (c Chain) coinAccount(s bitcoin.Config, keys accountKeys) (account network.Account, err error) {
	key, err := keys.AccountKey(string(c.Coins))
	if err != nil {
		return account, err
	}
	return network.Named(s.Network).NewAccount(string(c.Coins), key)
}

// coinAddress is the address of a path below the account of a ledger of coins.
func (c Chain) coinAddress(s bitcoin.Config, keys PublicKeys, path string) (string, error) {
	branch, index, err := c.Coins.Parse(path)
	if err != nil {
		return "", err
	}
	account, err := c.coinAccount(s, keys)
	if err != nil {
		return "", err
	}
	own, err := account.Own(branch, index)
	return own.Text, err
}

// checkCoins refuses what a ledger of coins cannot do.
func (c Config) checkCoins(k Chain) (faults []error) {
	if k.Coins == "" {
		return nil
	}
	served := 0
	for _, n := range c.Networks {
		if n.Source == k.ID {
			served++
		}
	}
	if served != 1 {
		faults = append(faults, fmt.Errorf("networks: exactly one must have it as its source, not %d: all coins of the chain belong to one network", served))
	}
	for _, s := range c.Wallet.Successors {
		for _, path := range s.Accounts {
			if strings.HasPrefix(path, string(k.Coins)+"/") {
				faults = append(faults, fmt.Errorf("wallet.successors: accounts: %q: the pool's keys stay with the first seed", path))
			}
		}
	}
	return faults
}

// checkToken refuses what a token of a source chain cannot be because of the chain's kind.
func (c Chain) checkToken(t Token) error {
	s, coins := c.Settings.(bitcoin.Config)
	if !coins {
		if _, foreign := canonicalCoinAddress(t.Cold); foreign {
			return fmt.Errorf("cold: %q is not an address of chain %s", t.Cold, c.ID)
		}
		return nil
	}
	switch {
	case t.Asset != chain.Native:
		return fmt.Errorf("asset %q: must be native: the chain has no other", t.Asset)
	case t.AssetDecimals != c.Decimals:
		return fmt.Errorf("asset_decimals: must be %d, the coin's", c.Decimals)
	case t.Type != 0:
		return fmt.Errorf("type %d: must be 0 (an address per user): the chain has no labels", t.Type)
	}
	if of := network.Named(s.Network); t.Cold != "" && of != nil {
		if _, err := of.Parse(t.Cold); err != nil {
			return fmt.Errorf("cold: %w", err)
		}
	}
	return nil
}

// canonicalCold is a token's cold address in the form of its source chain. What is no address of it
// stays, for checkToken.
func (c Chain) canonicalCold(text string) string {
	if s, ok := c.Settings.(bitcoin.Config); ok {
		if of := network.Named(s.Network); of != nil {
			if a, err := of.Parse(text); err == nil {
				return a.Text
			}
		}
	}
	return text
}

// canonicalCoinAddress is an address of any network of Bitcoin or its kin in its canonical form.
func canonicalCoinAddress(text string) (string, bool) {
	for _, name := range network.Names() {
		if a, err := network.Named(name).Parse(text); err == nil {
			return a.Text, true
		}
	}
	return "", false
}

// takingBitcoin takes the nodes and the ceiling of fees from a newer configuration.
func (c *Config) takingBitcoin(next Config) {
	c.Bitcoin = slices.Clone(c.Bitcoin)
	for i, b := range c.Bitcoin {
		for _, later := range next.Bitcoin {
			if later.ID == b.ID {
				c.Bitcoin[i].Nodes, c.Bitcoin[i].MaxFeeRate = later.Nodes, later.MaxFeeRate
			}
		}
	}
}
