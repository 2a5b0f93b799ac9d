package ethnode

import (
	"cmp"
	"crypto/ecdsa"
	"errors"
	"fmt"
	"math/big"
	"net"
	"strconv"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
)

// Settings of a chain that its user does not choose.
const (
	DefaultPeriod        = time.Second // between blocks, for a chain that people watch
	DefaultChainID       = 1337
	DefaultFinalityDepth = 3
	defaultListen        = "127.0.0.1:0"
	gasLimit             = 30_000_000
)

// Config describes the chain to start. Its zero value is an on-demand chain in memory on a free
// loopback port.
type Config struct {
	// Dir keeps the chain: a block log in it is replayed by the next start. Empty means that the
	// chain ends with the process.
	Dir string
	// Listen is the host and port of HTTP and WebSocket; default 127.0.0.1 and a free port.
	Listen string
	// ChainID is the EIP-155 chain id; default 1337.
	ChainID uint64
	// Period is the time between blocks, empty ones included. Zero means that only Mine makes
	// blocks. Block times are full seconds and always rise, so blocks faster than one a second run
	// ahead of the clock.
	Period time.Duration
	// FinalityDepth is the distance of "finalized" from the head in blocks; default 3. "safe" has
	// half the distance.
	FinalityDepth uint64
	// FaucetKey owns the test tokens and nearly all coins; default FaucetKey().
	FaucetKey *ecdsa.PrivateKey
	// Alloc gives accounts coins (in wei) at the beginning. It is part of the chain's identity,
	// like ChainID.
	Alloc map[common.Address]*big.Int
	// Amsterdam switches on the rules of that fork from the first block (among them EIP-7708: a log
	// for each movement of native coin). Without it the rules are those of Osaka.
	Amsterdam bool
	// Public leaves out what public nodes do not offer: the debug API.
	Public bool
	// Legacy makes a chain without a base fee, with the rules of Berlin: blocks are of the kind
	// before proof of stake, and only transactions with a gas price are taken. London is then the
	// first block with a base fee (the fork of that name); zero for never. Such a chain's blocks
	// bear the time of an hour ago, for there blocks of the future are refused.
	Legacy bool
	London uint64
}

// Check names a field that cannot be used.
func (c Config) Check() error {
	if c.Period < 0 {
		return errors.New("period: must not be negative")
	}
	if _, _, err := c.endpoint(); err != nil {
		return err
	}
	if c.Legacy && c.Amsterdam || !c.Legacy && c.London > 0 {
		return errors.New("legacy: goes with london and without amsterdam")
	}
	for address, wei := range c.Alloc {
		if wei == nil || wei.Sign() < 0 || wei.BitLen() > 192 {
			return fmt.Errorf("alloc: %s: the amount must be from 0 to 2^192 wei", address)
		}
	}
	return nil
}

func (c Config) withDefaults() Config {
	c.Listen = cmp.Or(c.Listen, defaultListen)
	c.ChainID = cmp.Or(c.ChainID, DefaultChainID)
	c.FinalityDepth = cmp.Or(c.FinalityDepth, DefaultFinalityDepth)
	c.FaucetKey = cmp.Or(c.FaucetKey, FaucetKey())
	return c
}

// endpoint splits Listen.
func (c Config) endpoint() (host string, port int, err error) {
	host, portText, err := net.SplitHostPort(cmp.Or(c.Listen, defaultListen))
	if err != nil {
		return "", 0, fmt.Errorf("listen: %w", err)
	}
	if host == "" {
		return "", 0, errors.New("listen: the host must be named, such as 127.0.0.1")
	}
	number, err := strconv.ParseUint(portText, 10, 16)
	if err != nil {
		return "", 0, fmt.Errorf("listen: port %q is not from 0 to 65535", portText)
	}
	return host, int(number), nil
}

// FaucetKey is the key of every development chain's faucet. It is public.
func FaucetKey() *ecdsa.PrivateKey { return publicKeyPair("faucet") }

// burnerKey pays for the transactions that fill blocks in SetBaseFee.
func burnerKey() *ecdsa.PrivateKey { return publicKeyPair("burner") }

func publicKeyPair(purpose string) *ecdsa.PrivateKey {
	key, err := crypto.ToECDSA(crypto.Keccak256([]byte("gatewayd development chain " + purpose)))
	if err != nil {
		panic(err) // the hash of a constant is not a valid scalar: chance 2^-128, and then always
	}
	return key
}
