package bitcoin

import (
	"cmp"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sirupsen/logrus"

	"gatewayd/chain"
	"gatewayd/chain/bitcoin/network"
)

// CoinDecimals is the number of decimals of the coin on all networks.
const CoinDecimals = 8

// Config describes one chain. Empty fields take the documented defaults.
type Config struct {
	ID chain.ID `yaml:"id"` // name of the ledger in configuration, database and logs
	// Network is one of network.Names. A node of another network is refused with ErrWrongChain.
	Network string `yaml:"network"`
	// Nodes are URLs (http, https) of JSON-RPC, with user and password where the node wants them. A
	// majority of them must answer.
	Nodes []string `yaml:"nodes"`
	// CookieFile is the file with user and password that a node on this machine writes at its
	// start. It is for nodes on loopback addresses whose URL has none.
	CookieFile string `yaml:"cookie_file"`
	// CAFile has the certificates, in PEM, that a node's own must be signed by or equal; empty for
	// those of the system.
	CAFile string `yaml:"ca_file"`
	// Confirmations is the depth of final blocks, 1 to 100; default 6. With 6 a block is final when
	// it is the 6th from the top, itself included.
	Confirmations uint64 `yaml:"confirmations"`
	// OnDemand means that blocks are mined on request, as on development nodes: then an old block
	// indicates neither a stalled node nor one that is syncing.
	OnDemand bool `yaml:"on_demand"`
	// Timeout bounds each call of a node; default 10 s. MaxResponse bounds its answer in bytes;
	// default 32 MiB, a block of 4 MB needs 8.
	Timeout     time.Duration `yaml:"timeout"`
	MaxResponse int64         `yaml:"max_response"`

	// Addresses is the kind of our own addresses: "p2wpkh" (default) or "p2tr".
	Addresses string `yaml:"addresses"`
	Batch     Batch  `yaml:"batch"`
	// MaxFeeRate is the ceiling of what payments offer, in satoshi per vbyte; default 200.
	// MinFeeRate is the floor, which is also offered where no node estimates; default 1, for
	// Litecoin 10. A replacement offers as much more at least.
	MaxFeeRate int64 `yaml:"max_fee_rate"`
	MinFeeRate int64 `yaml:"min_fee_rate"`
	// MaxFee is the ceiling of one transaction's fee in satoshi; default 2,000,000, for Litecoin
	// 20,000,000.
	MaxFee int64 `yaml:"max_fee"`

	// MergeBelow is the fee in satoshi per vbyte up to which small coins are merged when there are
	// many; default 5, for Litecoin 50; -1: never.
	MergeBelow int64 `yaml:"merge_below"`

	// Accounts are those whose coins are spent. The change of all payments goes to the first
	// address of the first one's internal branch; the others are of earlier seeds. Without any, the
	// chain is only read.
	Accounts []network.Account `yaml:"-"`

	// Timed receives the duration of each request to a node, by the method of its first call; may
	// be nil.
	Timed func(node, method string, took time.Duration) `yaml:"-"`

	Log logrus.FieldLogger `yaml:"-"` // receives changes of nodes that do not answer or are wrong; may be nil
}

const (
	// maxNodes bounds the calls that one question makes.
	maxNodes = 16
	// maxConfirmations is within the headers that are kept (line.go).
	maxConfirmations = 100
)

func (c Config) withDefaults() Config {
	c.Confirmations = cmp.Or(c.Confirmations, 6)
	c.Timeout = cmp.Or(c.Timeout, 10*time.Second)
	c.MaxResponse = cmp.Or(c.MaxResponse, 32<<20)
	return c.withPayDefaults()
}

// Judges returns the settings that decide which transfers are final, with their defaults.
func (c Config) Judges() []any {
	c = c.withDefaults()
	return []any{c.Network, c.Confirmations}
}

// Check names the first field that cannot be used, and why.
func (c Config) Check() error {
	c = c.withDefaults()
	if c.ID == "" {
		return errors.New("id: must not be empty")
	}
	if network.Named(c.Network) == nil {
		return fmt.Errorf("network: %q: must be one of %s", c.Network, strings.Join(network.Names(), ", "))
	}
	if err := c.checkNodes(); err != nil {
		return err
	}
	switch {
	case c.CookieFile != "" && !filepath.IsAbs(c.CookieFile):
		return errors.New("cookie_file: must be an absolute path")
	case c.Confirmations > maxConfirmations:
		return fmt.Errorf("confirmations: must be from 1 to %d", maxConfirmations)
	case c.Timeout < 10*time.Millisecond || c.Timeout > 10*time.Minute:
		return errors.New("timeout: must be from 10 ms to 10 min")
	case c.MaxResponse < 1<<16 || c.MaxResponse > 1<<30:
		return errors.New("max_response: must be from 64 KiB to 1 GiB")
	}
	if err := c.checkPay(); err != nil {
		return err
	}
	_, err := c.authorities()
	return err
}

func (c Config) checkNodes() error {
	if len(c.Nodes) == 0 || len(c.Nodes) > maxNodes {
		return fmt.Errorf("nodes: must be 1 to %d", maxNodes)
	}
	for i, address := range c.Nodes {
		if err := checkNodeURL(address); err != nil {
			return fmt.Errorf("nodes[%d]: %w", i, err)
		}
		if slices.Contains(c.Nodes[:i], address) {
			return fmt.Errorf("nodes[%d]: the same node twice would be its own majority", i)
		}
	}
	return nil
}

// checkNodeURL never shows the address: it may hold a password.
func checkNodeURL(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return errors.New("is not a URL")
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("scheme %q: must be http or https", u.Scheme)
	case u.Host == "":
		return errors.New("names no host")
	}
	return nil
}

// authorities are the certificates of CAFile; nil for those of the system.
func (c Config) authorities() (*x509.CertPool, error) {
	if c.CAFile == "" {
		return nil, nil
	}
	text, err := os.ReadFile(c.CAFile)
	if err != nil {
		return nil, fmt.Errorf("ca_file: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, errors.New("ca_file: has no certificate in PEM")
	}
	return pool, nil
}
