package ethereum

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/holiman/uint256"
	"github.com/sirupsen/logrus"

	"gatewayd/chain"
)

// CoinDecimals is the number of decimals of every EVM chain's coin.
const CoinDecimals = 18

// CoinType is that of SLIP-44 which the keys of every EVM chain are derived with.
const CoinType = 60

// Config describes one EVM chain. Empty fields take the documented defaults.
type Config struct {
	ID      chain.ID `yaml:"id"`       // name of the ledger in configuration, database and logs
	ChainID uint64   `yaml:"chain_id"` // EIP-155; a node of another chain is refused with ErrWrongChain
	// Nodes are URLs (http, https, ws, wss) or the paths of IPC sockets. A majority of them must agree.
	Nodes []string `yaml:"nodes"`
	// Finality is the tag "finalized" (default) or "safe", or a count of confirmations: with "12" a
	// block is final when it is the 12th from the top, itself included.
	Finality string `yaml:"finality"`
	// Traces selects how to find native coin moved by contracts before EIP-7708: "auto" (default)
	// where a node can trace, "on" always (a node that cannot is not used), "off" never.
	Traces string `yaml:"traces"`
	// Balances selects whether our accounts' coin is compared with the books, which finds transfers
	// that neither traces nor EIP-7708 show: "auto" (default) or "off", for chains with fees that
	// receipts omit.
	Balances string `yaml:"balances"`
	// ShowFailed reports whether users are shown transactions that failed and would have paid them;
	// default true.
	ShowFailed *bool `yaml:"show_failed"`
	// Accounts is the number of our accounts that pay withdrawals or did, 1 to 64; default 1.
	// Retired lists the indexes, from 0 on, of accounts that pay no more.
	Accounts int   `yaml:"accounts"`
	Retired  []int `yaml:"retired"`
	// OnDemand means that blocks come only with transactions, as on development nodes: then an old
	// block does not indicate a stalled node.
	OnDemand bool `yaml:"on_demand"`
	// Unverified switches the proof of blocks off, for chains whose blocks go-ethereum cannot hash.
	// The nodes are then trusted.
	Unverified bool `yaml:"unverified"`
	// Tokens are the ERC-20 contracts that are bridged.
	Tokens []chain.Asset `yaml:"tokens"`
	// MaxFeeGwei is the ceiling of the fee per gas; default "300". MinTipGwei is the least tip
	// offered; default "0.01". Both are decimal texts with up to 9 places.
	MaxFeeGwei string `yaml:"max_fee_gwei"`
	MinTipGwei string `yaml:"min_tip_gwei"`
	// MaxGas bounds the gas of a token payment (default 500000), MaxNativeGas of a native one
	// without its data (default 300000: from the Amsterdam fork on, a payment that creates its
	// receiver's account takes more than 150000).
	MaxGas       uint64 `yaml:"max_gas"`
	MaxNativeGas uint64 `yaml:"max_native_gas"`
	// TokenGas is the gas of a token payment in cost estimates before the first one was observed;
	// default 80000.
	TokenGas uint64 `yaml:"token_gas"`
	// Timeout bounds each call of a node; default 10 s. MaxResponse bounds its answer in bytes;
	// default 64 MiB.
	Timeout     time.Duration `yaml:"timeout"`
	MaxResponse int64         `yaml:"max_response"`
	// RequestsPerSecond bounds the calls to each of the nodes, those in a batch counted one by one;
	// default 0, no bound. Below it the rate follows the refusals of the node in any case.
	RequestsPerSecond int `yaml:"requests_per_second"`
	// MaxUnmined bounds the transactions of one account that are in no block yet; default 16, what
	// a node's pool keeps of one account for sure. What is in a block and waits for finality does
	// not count.
	MaxUnmined int `yaml:"max_unmined"`
	// Batch lets payouts share transactions.
	Batch Batch `yaml:"batch"`

	// Timed receives the duration of each request to a node, by the method of its first call; may be
	// nil.
	Timed func(node, method string, took time.Duration) `yaml:"-"`

	Log logrus.FieldLogger `yaml:"-"` // receives changes of nodes that do not answer or are wrong; may be nil
}

const (
	tracesAuto = "auto"
	tracesOn   = "on"
	tracesOff  = "off"

	balancesAuto = "auto"
	balancesOff  = "off"

	tagFinalized = "finalized"
	tagSafe      = "safe"

	// maxNodes bounds the calls that one question makes.
	maxNodes = 16
	// maxConfirmations is far above what any chain needs and keeps a typing error from stopping all
	// credits for ever.
	maxConfirmations = 100_000
	// minGas is the cost of any transaction on existing chains.
	minGas = 21_000
	// maxGasBound is the maximum gas of any transaction (EIP-7825).
	maxGasBound = 1 << 24

	gweiDecimals = 9

	defaultMaxFee = "300" // gwei per gas
)

// MaxFee returns the ceiling of the fee per gas, in gwei.
func (c Config) MaxFee() string { return cmp.Or(c.MaxFeeGwei, defaultMaxFee) }

// MostCost returns the maximum network cost of one payment of an asset. Chains that settle on
// another one may add its fee, which no setting bounds.
func (c Config) MostCost(asset chain.Asset) (chain.Amount, error) {
	c = c.withDefaults()
	price, err := parseGwei(c.MaxFeeGwei)
	if err != nil {
		return chain.Amount{}, fmt.Errorf("max_fee_gwei: %w", err)
	}
	gas := c.MaxGas
	if asset == chain.Native {
		gas = c.MaxNativeGas
	}
	return chain.AmountOf(price).Mul(gas)
}

func (c Config) withDefaults() Config {
	c.Finality = cmp.Or(c.Finality, tagFinalized)
	c.Traces = cmp.Or(c.Traces, tracesAuto)
	c.Balances = cmp.Or(c.Balances, balancesAuto)
	c.MaxFeeGwei = c.MaxFee()
	c.MinTipGwei = cmp.Or(c.MinTipGwei, "0.01")
	c.MaxGas = cmp.Or(c.MaxGas, 500_000)
	c.MaxNativeGas = cmp.Or(c.MaxNativeGas, 300_000)
	c.TokenGas = cmp.Or(c.TokenGas, 80_000)
	c.Timeout = cmp.Or(c.Timeout, 10*time.Second)
	c.MaxResponse = cmp.Or(c.MaxResponse, 64<<20)
	c.MaxUnmined = cmp.Or(c.MaxUnmined, 16)
	return c
}

// Judges returns the settings that decide which payments are valid, with their defaults.
func (c Config) Judges() []any {
	c = c.withDefaults()
	return []any{c.ChainID, c.Finality, c.MaxFeeGwei, c.MaxGas, c.MaxNativeGas}
}

// Check names the first field that cannot be used, and why.
func (c Config) Check() error {
	c = c.withDefaults()
	if c.ID == "" {
		return errors.New("id: must not be empty")
	}
	if c.ChainID == 0 || c.ChainID > math.MaxInt64 {
		return errors.New("chain_id: must be the chain's EIP-155 number")
	}
	for _, check := range []func() error{c.checkNodes, c.checkReading, c.checkTokens, c.checkFees, c.checkBounds, c.Batch.check} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (c Config) checkNodes() error {
	if len(c.Nodes) == 0 || len(c.Nodes) > maxNodes {
		return fmt.Errorf("nodes: must be 1 to %d", maxNodes)
	}
	seen := make(map[string]bool)
	for i, address := range c.Nodes {
		if err := checkNodeURL(address); err != nil {
			return fmt.Errorf("nodes[%d]: %w", i, err)
		}
		if seen[address] {
			return fmt.Errorf("nodes[%d]: the same node twice would be its own majority", i)
		}
		seen[address] = true
	}
	return nil
}

// checkNodeURL never shows the address: it may hold a key.
func checkNodeURL(address string) error {
	if !strings.Contains(address, "://") {
		if !filepath.IsAbs(address) {
			return errors.New("must be a URL or the absolute path of an IPC socket")
		}
		return nil
	}
	u, err := url.Parse(address)
	if err != nil {
		return errors.New("is not a URL")
	}
	switch u.Scheme {
	case "http", "https", "ws", "wss":
	default:
		return fmt.Errorf("scheme %q: must be http, https, ws or wss", u.Scheme)
	}
	if u.Host == "" {
		return errors.New("names no host")
	}
	return nil
}

func (c Config) checkReading() error {
	if _, _, err := c.finality(); err != nil {
		return fmt.Errorf("finality: %w", err)
	}
	if c.Balances != balancesAuto && c.Balances != balancesOff {
		return fmt.Errorf("balances: %q: must be auto or off", c.Balances)
	}
	switch c.Traces {
	case tracesAuto, tracesOn, tracesOff:
		return nil
	}
	return fmt.Errorf("traces: %q: must be auto, on or off", c.Traces)
}

// finality is the tag to ask for, or the count of confirmations.
func (c Config) finality() (tag string, confirmations uint64, err error) {
	if c.Finality == tagFinalized || c.Finality == tagSafe {
		return c.Finality, 0, nil
	}
	n, err := strconv.ParseUint(c.Finality, 10, 64)
	if err != nil || n == 0 || n > maxConfirmations {
		return "", 0, fmt.Errorf("%q: must be finalized, safe or a count from 1 to %d", c.Finality, maxConfirmations)
	}
	return "", n, nil
}

func (c Config) checkTokens() error {
	seen := make(map[common.Address]bool)
	for i, asset := range c.Tokens {
		token, err := parseAddress(string(asset))
		if err != nil {
			return fmt.Errorf("tokens[%d]: %w", i, err)
		}
		if seen[token] {
			return fmt.Errorf("tokens[%d]: %s is named twice", i, token)
		}
		seen[token] = true
	}
	return nil
}

func (c Config) checkFees() error {
	ceiling, err := parseGwei(c.MaxFeeGwei)
	if err != nil {
		return fmt.Errorf("max_fee_gwei: %w", err)
	}
	floor, err := parseGwei(c.MinTipGwei)
	if err != nil {
		return fmt.Errorf("min_tip_gwei: %w", err)
	}
	if ceiling.IsZero() {
		return errors.New("max_fee_gwei: must be above zero")
	}
	if floor.Gt(ceiling) {
		return errors.New("min_tip_gwei: must not be above max_fee_gwei")
	}
	return nil
}

func (c Config) checkBounds() error {
	switch {
	case c.MaxGas < minGas || c.MaxGas > maxGasBound:
		return fmt.Errorf("max_gas: must be from %d to %d", minGas, maxGasBound)
	case c.MaxNativeGas < minGas || c.MaxNativeGas > maxGasBound:
		return fmt.Errorf("max_native_gas: must be from %d to %d", minGas, maxGasBound)
	case c.TokenGas < minGas || c.TokenGas > c.MaxGas:
		return fmt.Errorf("token_gas: must be from %d to max_gas", minGas)
	case c.Timeout < 10*time.Millisecond || c.Timeout > 10*time.Minute:
		return errors.New("timeout: must be from 10 ms to 10 min")
	case c.MaxUnmined < 1 || c.MaxUnmined > 1024:
		return errors.New("max_unmined: must be from 1 to 1024")
	case c.RequestsPerSecond < 0 || c.RequestsPerSecond > 100_000:
		return errors.New("requests_per_second: must be from 0 (no bound) to 100000")
	case c.MaxResponse < 1<<16 || c.MaxResponse > 1<<30:
		return errors.New("max_response: must be from 64 KiB to 1 GiB")
	}
	return nil
}

// parseGwei reads "12.5" as wei, exactly. A million gwei is the limit.
func parseGwei(text string) (*uint256.Int, error) {
	whole, places, point := strings.Cut(text, ".")
	if len(places) > gweiDecimals || point && places == "" {
		return nil, fmt.Errorf("%q must have 1 to %d decimal places or no point", text, gweiDecimals)
	}
	if len(whole) == 0 || len(whole) > 7 {
		return nil, fmt.Errorf("%q must be a number from 0 to 9999999", text)
	}
	wei, err := chain.ParseAmount(whole + places + strings.Repeat("0", gweiDecimals-len(places)))
	if err != nil {
		return nil, fmt.Errorf("%q: %w", text, err)
	}
	return wei.Uint256(), nil
}
