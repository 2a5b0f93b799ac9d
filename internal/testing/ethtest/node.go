package ethtest

import (
	"context"
	"crypto/ecdsa"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/ethclient"

	"gatewayd/dev/ethnode"
)

// Kind names a program.
type Kind string

// The programs.
const (
	Anvil Kind = "anvil"
	Geth  Kind = "geth" // geth --dev
)

// ErrNotSupported: this kind of node has no such control.
var ErrNotSupported = errors.New("not supported by this kind of node")

// requestTimeout bounds each control; geth may take a while to make blocks on a busy machine.
const requestTimeout = 30 * time.Second

// Config selects the node to start.
type Config struct {
	Kind Kind
	// Dir is for the node's files and its log; empty means a temporary folder that Close removes.
	// The chain does not outlive the process: neither program brings it back reliably.
	Dir string
	// Hardfork names the rules (anvil only); default prague. "berlin" is a chain without a base fee.
	Hardfork string
	// Period is the time between blocks in full seconds; zero means a block for each transaction
	// and for Mine.
	Period time.Duration
	// Fork is the URL of another anvil whose chain this one continues from its head on, as a branch
	// of its own (anvil only).
	Fork string
	// Bare leaves the node as a newcomer starts it: without the test tokens and without coins for
	// the faucet.
	Bare bool
	// Public leaves out the debug and txpool APIs, as public endpoints do (geth only).
	Public bool
}

// Node is a running child process.
type Node struct {
	kind    Kind
	dir     string
	ownDir  bool
	kill    context.CancelFunc // ends the process; nil before it runs
	exited  chan struct{}      // closed when the process has ended
	ending  error              // how; read after exited
	url     string
	chainID *big.Int
	client  *ethclient.Client

	sending sync.Mutex // guards what follows
	nonce   uint64     // the faucet's next, as far as this process has used it
}

// Start runs the program, waits until it answers, and deploys the contracts. The context bounds the
// start alone; the process lives until Close.
//
// Errors: a program that is not installed (names the script that installs it), one that ends early
// (names its log).
func Start(ctx context.Context, c Config) (*Node, error) {
	if c.Period%time.Second != 0 || c.Period < 0 {
		return nil, fmt.Errorf("period %s: must be whole seconds", c.Period)
	}
	n := &Node{kind: c.Kind, dir: c.Dir}
	if err := n.start(ctx, c); err != nil {
		return nil, errors.Join(fmt.Errorf("starting %s: %w", c.Kind, err), n.Close())
	}
	return n, nil
}

func (n *Node) start(ctx context.Context, c Config) error {
	if err := n.makeDir(); err != nil {
		return err
	}
	if err := n.launch(c); err != nil {
		return err
	}
	address, err := n.awaitAddress(ctx)
	if err != nil {
		return err
	}
	n.url = "http://" + address
	if n.client, err = ethclient.DialContext(ctx, n.url); err != nil {
		return fmt.Errorf("dialling %s: %w", n.url, err)
	}
	if n.chainID, err = n.client.ChainID(ctx); err != nil {
		return fmt.Errorf("reading the chain id: %w", err)
	}
	if c.Fork != "" || c.Bare {
		return nil // the contracts are there, or not wanted
	}
	if n.kind == Anvil {
		if err := n.call("anvil_setBalance", n.faucet(), plenty); err != nil {
			return err
		}
	}
	return n.deploy(ctx)
}

// plenty is 2^100 wei.
const plenty = "0x10000000000000000000000000"

func (n *Node) makeDir() error {
	if n.dir == "" {
		dir, err := os.MkdirTemp("", "gatewayd-"+string(n.kind)+"-")
		if err != nil {
			return fmt.Errorf("making a folder: %w", err)
		}
		n.dir, n.ownDir = dir, true
	}
	if err := os.MkdirAll(n.dir, 0o755); err != nil {
		return fmt.Errorf("making a folder: %w", err)
	}
	return nil
}

// Close ends the process and waits for it. It may be called again.
func (n *Node) Close() error {
	if n.client != nil {
		n.client.Close()
	}
	if n.kill != nil {
		n.kill()
		<-n.exited
	}
	if !n.ownDir {
		return nil
	}
	if err := os.RemoveAll(n.dir); err != nil {
		return fmt.Errorf("removing the node's folder: %w", err)
	}
	return nil
}

// URL returns the HTTP address of JSON-RPC.
func (n *Node) URL() string { return n.url }

// ChainID is the EIP-155 chain id that the node chose.
func (n *Node) ChainID() uint64 { return n.chainID.Uint64() }

// Client speaks to the node. It ends with it.
func (n *Node) Client() *ethclient.Client { return n.client }

// FaucetKey is the key that owns coins and tokens.
func (n *Node) FaucetKey() *ecdsa.PrivateKey { return ethnode.FaucetKey() }

// Contracts are the addresses of what Start put on the chain.
func (n *Node) Contracts() ethnode.Contracts { return ethnode.ContractsOf(n.faucet()) }

// LogFile returns the file of the program's own output.
func (n *Node) LogFile() string { return filepath.Join(n.dir, string(n.kind)+".log") }

// call uses a control of the node whose answer does not matter.
func (n *Node) call(method string, arguments ...any) error {
	ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
	defer cancel()
	if err := n.client.Client().CallContext(ctx, nil, method, arguments...); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	return nil
}

func (n *Node) only(kind Kind) error {
	if n.kind != kind {
		return fmt.Errorf("%s: %w", n.kind, ErrNotSupported)
	}
	return nil
}

// SetHead takes the chain back to a height (geth only); blocks made from then on are another
// branch. The transactions of the blocks that fall away return to the pool, and geth takes some ten
// seconds before it makes the first block again.
func (n *Node) SetHead(height uint64) error {
	if err := n.only(Geth); err != nil {
		return err
	}
	n.sending.Lock()
	defer n.sending.Unlock()
	n.nonce = 0
	return n.call("debug_setHead", hexNumber(height))
}

// Reorg replaces the newest depth blocks with as many others, without the transactions of the old
// ones (anvil only).
func (n *Node) Reorg(depth uint64) error {
	if err := n.only(Anvil); err != nil {
		return err
	}
	return n.call("anvil_reorg", depth, []any{})
}

// Drop makes the node forget a waiting transaction (anvil only).
func (n *Node) Drop(hash common.Hash) error {
	if err := n.only(Anvil); err != nil {
		return err
	}
	return n.call("anvil_dropTransaction", hash)
}

// SetMining turns blocks for each transaction on or off (anvil only). Mine works either way.
func (n *Node) SetMining(on bool) error {
	if err := n.only(Anvil); err != nil {
		return err
	}
	return n.call("anvil_setAutomine", on)
}

// SetPeriod sets the time between blocks in full seconds; zero stops the chain (anvil only, started
// with a period).
func (n *Node) SetPeriod(period time.Duration) error {
	if err := n.only(Anvil); err != nil {
		return err
	}
	return n.call("evm_setIntervalMining", int(period/time.Second))
}

// SetNextBaseFee sets what the next block takes per gas (anvil only).
func (n *Node) SetNextBaseFee(wei uint64) error {
	if err := n.only(Anvil); err != nil {
		return err
	}
	return n.call("anvil_setNextBlockBaseFeePerGas", hexNumber(wei))
}

func hexNumber(number uint64) string { return fmt.Sprintf("0x%x", number) }
