package ethnode

import (
	"context"
	"crypto/ecdsa"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/eth"
	"github.com/ethereum/go-ethereum/ethclient"
	"github.com/ethereum/go-ethereum/node"
)

// Node is a running development chain. Its methods may be called from several goroutines; those
// that change the chain take turns.
type Node struct {
	config    Config
	stack     *node.Node
	backend   *eth.Ethereum
	client    *ethclient.Client
	contracts Contracts

	quit    chan struct{} // closed by Close
	stopped chan struct{} // closed when the producer has ended
	failure error         // why it ended; read after stopped
	closing sync.Once
	closed  error

	mu        sync.Mutex // guards the line of blocks, the log and what follows
	log       *blockLog  // nil without Dir
	paused    bool       // StopMining
	holdFinal bool       // HoldFinality

	tips        common.Address    // PayTips
	withdrawals types.Withdrawals // of the block that Withdraw makes
}

// Start builds the chain, replays its block log or puts the test contracts on it, serves JSON-RPC
// and begins to make blocks. It answers requests when Start returns. Close it.
//
// Errors: a setting that cannot be used; ErrOtherChain or ErrDamaged for the log in Dir; a port
// that is taken.
func Start(c Config) (*Node, error) {
	if err := c.Check(); err != nil {
		return nil, fmt.Errorf("devnode config: %w", err)
	}
	c = c.withDefaults()
	stack, backend, err := newStack(c)
	if err != nil {
		return nil, err
	}
	n := &Node{config: c, stack: stack, backend: backend, quit: make(chan struct{}), stopped: make(chan struct{})}
	if err := n.open(); err != nil {
		close(n.stopped)
		return nil, errors.Join(err, n.Close())
	}
	go n.produce()
	return n, nil
}

// open brings the chain to its head before anybody can ask.
func (n *Node) open() error {
	if err := n.replay(); err != nil {
		return err
	}
	n.backend.SetSynced()
	if err := n.stack.Start(); err != nil {
		return fmt.Errorf("starting the node: %w", err)
	}
	n.client = ethclient.NewClient(n.stack.Attach())
	n.contracts = ContractsOf(n.faucet())
	if n.head().Number.Sign() == 0 {
		if err := n.deploy(); err != nil {
			return err
		}
	}
	return n.awaitIndex()
}

// indexLimit is far above what go-ethereum takes to index the transactions of a line that was just
// replayed.
const indexLimit = 5 * time.Minute

// awaitIndex waits until transactions are found by their hashes: until then go-ethereum answers
// that indexing is in progress.
func (n *Node) awaitIndex() error {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	late := time.NewTimer(indexLimit)
	defer late.Stop()
	for !n.backend.BlockChain().TxIndexDone() {
		select {
		case <-tick.C:
		case <-late.C:
			return errors.New("the transactions of the line are not indexed in time")
		}
	}
	return nil
}

// replay imports the log's line of blocks, checked like blocks of a stranger.
func (n *Node) replay() error {
	chain := n.backend.BlockChain()
	final := chain.Genesis().Hash()
	if n.config.Dir != "" {
		log, past, err := openLog(n.config.Dir, n.config.ChainID, final)
		if err != nil {
			return err
		}
		n.log = log
		line, err := past.line(final)
		if err != nil {
			return fmt.Errorf("reading the block log: %w", err)
		}
		if at, err := chain.InsertChain(line); err != nil {
			return fmt.Errorf("replaying block %d of the log: %w", at+1, err)
		}
		if len(line) > 0 {
			final = past.tip.Final
		}
	}
	header := chain.GetHeaderByHash(final)
	if header == nil {
		return fmt.Errorf("final block %s is not in the log: %w", final, ErrDamaged)
	}
	n.publishTags(header)
	return nil
}

// produce makes a block each period until Close. A block that cannot be made or stored ends it: see
// Run.
func (n *Node) produce() {
	defer close(n.stopped)
	if n.config.Period == 0 {
		<-n.quit
		return
	}
	ticker := time.NewTicker(n.config.Period)
	defer ticker.Stop()
	for {
		select {
		case <-n.quit:
			return
		case <-ticker.C:
			if err := n.tick(); err != nil {
				n.failure = fmt.Errorf("making a block: %w", err)
				return
			}
		}
	}
}

func (n *Node) tick() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.paused {
		return nil
	}
	_, err := n.mineOne(content{pool: true})
	return err
}

// Run watches over a started node until ctx ends, then closes it. It returns early if blocks can no
// longer be made, for example because the disk is full.
func (n *Node) Run(ctx context.Context) error {
	select {
	case <-ctx.Done():
	case <-n.stopped:
	}
	return errors.Join(n.Close(), n.failure)
}

// Close ends block making and serving, and waits for both. It may be called again.
func (n *Node) Close() error {
	n.closing.Do(func() { n.closed = n.shut() })
	return n.closed
}

func (n *Node) shut() error {
	close(n.quit)
	<-n.stopped
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.client != nil {
		n.client.Close()
	}
	err := n.stack.Close()
	if n.log != nil {
		err = errors.Join(err, n.log.close())
	}
	return err
}

// URL returns the HTTP address of JSON-RPC.
func (n *Node) URL() string { return n.stack.HTTPEndpoint() }

// WSURL returns the WebSocket address of JSON-RPC.
func (n *Node) WSURL() string { return n.stack.WSEndpoint() }

// ChainID is the EIP-155 chain id.
func (n *Node) ChainID() uint64 { return n.config.ChainID }

// FaucetKey is the key that owns the coins and tokens.
func (n *Node) FaucetKey() *ecdsa.PrivateKey { return n.config.FaucetKey }

// Client speaks to the node without a network. It ends with the node.
func (n *Node) Client() *ethclient.Client { return n.client }

// Contracts are the addresses of what Start put on the chain.
func (n *Node) Contracts() Contracts { return n.contracts }

func (n *Node) head() *types.Header { return n.backend.BlockChain().CurrentBlock() }
