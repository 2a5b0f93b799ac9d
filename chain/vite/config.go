package vite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/sirupsen/logrus"

	"gatewayd/chain"
)

// Bounds and defaults of Config.
const (
	defaultConfirmations = 180 // what the chain's public guide for exchanges recommends (docs/exchange-chain-wire.md 4.8)
	defaultTimeout       = 20 * time.Second
	defaultPoWTimeout    = 5 * time.Minute
	defaultTag           = "gate"
	defaultMaxUnmined    = 256
	defaultMaxResponse   = 64 << 20

	defaultProof  = "auto"
	proofRequired = "required"
	proofOff      = "off"

	maxNodes         = 16
	maxMaxUnmined    = 4096
	maxConfirmations = 100_000
	maxTimeout       = 10 * time.Minute
	maxPoWTimeout    = time.Hour
)

// Config describes one exchange chain and how far its nodes are believed. Zero values mean the
// defaults.
type Config struct {
	ID            chain.ID      `yaml:"id"`
	Nodes         []string      `yaml:"nodes"`         // http(s)://, ws(s):// or the path of a Unix socket; each one node, not a balancer. More than half must agree
	Confirmations uint64        `yaml:"confirmations"` // a snapshot block with this many blocks from itself to the latest is final; 180
	Timeout       time.Duration `yaml:"timeout"`       // of one call to a node; 20s
	// number of our accounts that pay deposits or did, 1 to 64, each with its own quota; 1
	Accounts int   `yaml:"accounts"`
	Retired  []int `yaml:"retired"` // the indexes, from 0 on, of those that pay no more
	// bytes of one answer of a node; 64 MiB. A snapshot block is read with all the blocks that it
	// confirms
	MaxResponse int64         `yaml:"max_response"`
	PoW         bool          `yaml:"pow"`         // grind for blocks that the account's stake does not pay for
	PoWTimeout  time.Duration `yaml:"pow_timeout"` // of one grinding; 5m
	Proof       string        `yaml:"proof"`       // of what a node shows of the line: auto (where it can be had), required, off; auto
	MaxUnmined  int           `yaml:"max_unmined"` // blocks of one account that no snapshot block holds yet; 256
	// four characters in the data of our payments that distinguish this gateway from others; "gate"
	Tag string `yaml:"tag"`

	// Dial makes the connections to nodes where not the network does: to one in the same process.
	// It is given the address in the node's URL.
	Dial func(ctx context.Context, network, address string) (net.Conn, error) `yaml:"-"`
	// Timed receives the duration of each request to a node, by the method of its first call; may be
	// nil.
	Timed func(node, method string, took time.Duration) `yaml:"-"`
	// receives a message when a node needs another transport; may be nil
	Log logrus.FieldLogger `yaml:"-"`
}

// Judges returns the settings that decide which payments are valid, with their defaults.
func (c Config) Judges() []any {
	c = c.withDefaults()
	return []any{c.Confirmations, c.Tag}
}

// Check returns the first invalid setting, by its name in the configuration file. It never shows a
// node's address, which may contain a provider's key.
func (c Config) Check() error {
	if c.ID == "" {
		return errors.New("id: missing")
	}
	if err := checkNodes(c.Nodes); err != nil {
		return err
	}
	switch {
	case c.Confirmations > maxConfirmations:
		return fmt.Errorf("confirmations: %d is over %d", c.Confirmations, maxConfirmations)
	case c.Timeout < 0 || c.Timeout > maxTimeout:
		return fmt.Errorf("timeout: must be from 0s to %s", maxTimeout)
	case c.MaxResponse != 0 && (c.MaxResponse < 1<<16 || c.MaxResponse > 1<<30):
		return errors.New("max_response: must be from 64 KiB to 1 GiB")
	case c.PoWTimeout < 0 || c.PoWTimeout > maxPoWTimeout:
		return fmt.Errorf("pow_timeout: must be from 0s to %s", maxPoWTimeout)
	}
	switch c.Proof {
	case "", defaultProof, proofRequired, proofOff:
	default:
		return fmt.Errorf("proof: %q: must be auto, required or off", c.Proof)
	}
	if c.MaxUnmined < 0 || c.MaxUnmined > maxMaxUnmined {
		return fmt.Errorf("max_unmined: must be from 1 to %d, or 0 for %d", maxMaxUnmined, defaultMaxUnmined)
	}
	if c.Tag == "" {
		return nil
	}
	return checkTag(c.Tag)
}

func checkNodes(nodes []string) error {
	if len(nodes) == 0 || len(nodes) > maxNodes {
		return fmt.Errorf("nodes: must be 1 to %d, not %d", maxNodes, len(nodes))
	}
	seen := make(map[string]bool, len(nodes))
	for i, target := range nodes {
		if seen[target] {
			return fmt.Errorf("nodes[%d]: is listed twice, which would give one node two votes", i)
		}
		seen[target] = true
		if err := checkTarget(target); err != nil {
			return fmt.Errorf("nodes[%d]: %w", i, err)
		}
	}
	return nil
}

func checkTarget(target string) error {
	if target == "" {
		return errors.New("empty")
	}
	if !strings.Contains(target, "://") {
		return nil // the path of a Unix socket
	}
	u, err := url.Parse(target)
	if err != nil {
		return errors.New("not a URL")
	}
	switch u.Scheme {
	case "http", "https", "ws", "wss":
	default:
		return fmt.Errorf("scheme %q: must be http, https, ws or wss", u.Scheme)
	}
	if u.Host == "" {
		return errors.New("no host")
	}
	return nil
}

func checkTag(tag string) error {
	if len(tag) != tagSize {
		return fmt.Errorf("tag: %d characters, must be %d", len(tag), tagSize)
	}
	for _, char := range []byte(tag) {
		if char < '!' || char > '~' {
			return errors.New("tag: visible ASCII characters only")
		}
	}
	return nil
}

func (c Config) withDefaults() Config {
	c.Confirmations = cmp.Or(c.Confirmations, defaultConfirmations)
	c.Timeout = cmp.Or(c.Timeout, defaultTimeout)
	c.MaxResponse = cmp.Or(c.MaxResponse, defaultMaxResponse)
	c.PoWTimeout = cmp.Or(c.PoWTimeout, defaultPoWTimeout)
	c.Proof = cmp.Or(c.Proof, defaultProof)
	c.MaxUnmined = cmp.Or(c.MaxUnmined, defaultMaxUnmined)
	c.Tag = cmp.Or(c.Tag, defaultTag)
	return c
}

// BlockInterval returns the usual time between two snapshot blocks, from the newest ones. The time
// of the genesis is artificial and does not count. chain.ErrNotFound: there are too few blocks.
func (c *Chain) BlockInterval(ctx context.Context) (time.Duration, error) {
	c = c.current()
	latest, err := c.latest(ctx)
	if err != nil {
		return 0, fmt.Errorf("time between snapshot blocks: %w", err)
	}
	return chain.UsualInterval(genesisHeight+1, latest.Height, func(height uint64) (time.Time, error) {
		if height == latest.Height {
			return latest.time, nil
		}
		h, err := c.headerAt(ctx, height)
		return h.time, err
	})
}
