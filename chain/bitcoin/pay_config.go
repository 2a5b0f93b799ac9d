package bitcoin

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"time"

	"gatewayd/chain"
	"gatewayd/chain/bitcoin/network"
	"gatewayd/chain/bitcoin/spend"
)

// Batch configures transactions of several payments.
type Batch struct {
	// Most is the number of payments in a transaction, 1 to 100; default 50. 1: each has its own.
	Most int `yaml:"most"`
	// Wait is the time for which the first payment may wait for others; default 30 s.
	Wait time.Duration `yaml:"wait"`
}

const (
	maxMembers   = 100
	maxBatchWait = 10 * time.Minute
	// maxInputs bounds the coins of one transaction. Each takes a signature.
	maxInputs = 200
	// maxRate bounds what may be configured, in satoshi per vbyte: nodes refuse to send more.
	maxRate = 10_000
	// satoshiPerRate converts satoshi per vbyte to a spend.Rate.
	satoshiPerRate = 1_000
)

// The kinds of addresses in the configuration.
const (
	addressesP2WPKH = "p2wpkh"
	addressesP2TR   = "p2tr"
)

func (c Config) withPayDefaults() Config {
	minRate, maxFee := int64(1), int64(2_000_000)
	if n := network.Named(c.Network); n != nil && n.Work == network.Scrypt {
		minRate, maxFee = 10, 20_000_000
	}
	c.Addresses = cmp.Or(c.Addresses, addressesP2WPKH)
	c.Batch.Most = cmp.Or(c.Batch.Most, 50)
	c.Batch.Wait = cmp.Or(c.Batch.Wait, 30*time.Second)
	c.MinFeeRate = cmp.Or(c.MinFeeRate, minRate)
	c.MaxFeeRate = cmp.Or(c.MaxFeeRate, 200)
	c.MaxFee = cmp.Or(c.MaxFee, maxFee)
	c.MergeBelow = cmp.Or(c.MergeBelow, 5*minRate)
	return c
}

// checkPay checks the settings of payments.
func (c Config) checkPay() error {
	switch {
	case c.Addresses != addressesP2WPKH && c.Addresses != addressesP2TR:
		return fmt.Errorf("addresses: %q: must be %s or %s", c.Addresses, addressesP2WPKH, addressesP2TR)
	case c.Batch.Most < 1 || c.Batch.Most > maxMembers:
		return fmt.Errorf("batch.most: must be from 1 to %d", maxMembers)
	case c.Batch.Wait < 0 || c.Batch.Wait > maxBatchWait:
		return fmt.Errorf("batch.wait: must be from 0 to %s", maxBatchWait)
	case c.MinFeeRate < 1 || c.MinFeeRate > maxRate:
		return fmt.Errorf("min_fee_rate: must be from 1 to %d satoshi per vbyte", maxRate)
	case c.MaxFeeRate < c.MinFeeRate || c.MaxFeeRate > maxRate:
		return fmt.Errorf("max_fee_rate: must be from min_fee_rate (%d) to %d satoshi per vbyte", c.MinFeeRate, maxRate)
	case c.MergeBelow < -1 || c.MergeBelow > maxRate:
		return fmt.Errorf("merge_below: must be from 1 to %d satoshi per vbyte, or -1 for never", maxRate)
	case c.MaxFee < 1:
		return errors.New("max_fee: must be above 0 satoshi")
	case len(c.Accounts) > 0 && c.Accounts[0].Kind != c.kind():
		return fmt.Errorf("addresses: %s, but account %s has others", c.Addresses, c.Accounts[0].Path)
	}
	return nil
}

func (c Config) kind() network.Kind {
	if c.Addresses == addressesP2TR {
		return network.P2TR
	}
	return network.P2WPKH
}

// AccountPath returns the derivation path of the chain's account below its seed.
func (c Config) AccountPath() string {
	c = c.withDefaults()
	purpose := 84
	if c.kind() == network.P2TR {
		purpose = 86
	}
	return fmt.Sprintf("m/%d'/%d'/0'", purpose, network.Named(c.Network).CoinType)
}

// Pool returns the address that takes the change of all payments, of the first of Accounts. Its
// text is the name of the paying account.
func (c Config) Pool() (network.Own, error) {
	if len(c.Accounts) == 0 {
		return network.Own{}, errors.New("accounts: there is none")
	}
	return c.Accounts[0].Own(network.Internal, 0)
}

// NewSigningRules are the rules of a signer for the chain, by the accounts and ceilings of its
// configuration. They need no node.
func NewSigningRules(config Config) *spend.Rules {
	return spend.NewRules(network.Named(config.Network), config.Accounts, config.limits())
}

// MaxRate is MaxFeeRate or its default, in satoshi per vbyte.
func (c Config) MaxRate() string { return strconv.FormatInt(c.withDefaults().MaxFeeRate, 10) }

// MostCost returns the maximum fee of one transaction.
func (c Config) MostCost() chain.Amount { return chain.NewAmount(uint64(c.withDefaults().MaxFee)) }

// limits bound the transactions of the chain.
func (c Config) limits() spend.Limits {
	c = c.withDefaults()
	least := spend.Rate(c.MinFeeRate) * satoshiPerRate
	cheap := spend.Rate(max(c.MergeBelow, 0)) * satoshiPerRate
	return spend.Limits{Relay: least, MaxRate: spend.Rate(c.MaxFeeRate) * satoshiPerRate, MaxFee: c.MaxFee, MaxCoins: maxInputs, Cheap: cheap}
}
