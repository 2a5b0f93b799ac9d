package node

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"gatewayd/chain/vite/core"
)

// Config says where the chain lives and how it runs.
type Config struct {
	// Dir keeps the block log and the state files; empty keeps the chain in memory only. Only one node may have it open.
	Dir     string
	Genesis Genesis
	// SnapshotInterval is the time between snapshot blocks while Run runs; 0 is one second, below 0 none but by Snapshot.
	SnapshotInterval time.Duration
	// StateEvery is the growth of the block log in bytes after which a state file is written; 0 is 64 MiB.
	StateEvery int64
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

const (
	defaultInterval   = time.Second
	defaultStateEvery = 64 << 20
	logName           = "blocks.log"
	lockName          = "LOCK"
)

// Node is an exchange chain with one producer. Its methods may be called at the same time.
type Node struct {
	config  Config
	genesis Genesis // normalised
	rules   rules
	log     *blockLog
	dirLock *flock.Flock // nil in memory
	hub     hub
	// poke wakes Run because a contract has something to receive. One waiting wake-up is enough, so its capacity is 1.
	poke chan struct{}

	control   sync.Mutex // held by whatever is not a Submit or Read: ticks, snapshots, drops, rollbacks, Close
	lastState place      // of the newest state file, or where the log began
	stateSize int64      // of the newest state file

	mu     sync.RWMutex // of the rest
	state  *state
	closed bool
}

// New opens the chain: it makes the genesis, or loads the newest state file and replays the block log. It starts nothing.
// Errors: ErrGenesis, ErrCorrupt, and the file system's.
func New(config Config) (*Node, error) {
	if config.SnapshotInterval == 0 {
		config.SnapshotInterval = defaultInterval
	}
	if config.StateEvery == 0 {
		config.StateEvery = defaultStateEvery
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	genesis, err := config.Genesis.normalised()
	if err != nil {
		return nil, err
	}
	r, err := genesis.rules()
	if err != nil {
		return nil, err
	}
	n := &Node{config: config, genesis: genesis, rules: r, poke: make(chan struct{}, 1)}
	if err := n.open(); err != nil {
		return nil, fmt.Errorf("opening the exchange chain: %w", err)
	}
	n.wake()
	return n, nil
}

func (n *Node) open() (err error) {
	if n.config.Dir == "" {
		n.log = newMemoryLog()
		n.state, err = newChain(n.genesis)
		return err
	}
	if err := os.MkdirAll(n.config.Dir, 0o700); err != nil {
		return err
	}
	n.dirLock = flock.New(filepath.Join(n.config.Dir, lockName))
	switch locked, err := n.dirLock.TryLock(); {
	case err != nil:
		return fmt.Errorf("locking %s: %w", n.config.Dir, err)
	case !locked:
		return fmt.Errorf("%s is in use by another process", n.config.Dir)
	}
	n.state, n.log, n.lastState, err = n.load(math.MaxUint64)
	if err == nil {
		err = syncDir(n.config.Dir)
	}
	if err != nil {
		return errors.Join(err, n.dirLock.Unlock())
	}
	return nil
}

// load takes the newest usable state of at most maxHeight, the genesis at worst, and replays the log from there.
func (n *Node) load(maxHeight uint64) (*state, *blockLog, place, error) {
	s, from, err := n.startingState(maxHeight)
	if err != nil {
		return nil, nil, place{}, err
	}
	log, err := openLog(filepath.Join(n.config.Dir, logName), n.rules.digest, from, s.replay)
	return s, log, from, err
}

func (n *Node) startingState(maxHeight uint64) (*state, place, error) {
	names, err := stateFiles(n.config.Dir)
	if err != nil {
		return nil, place{}, err
	}
	for _, name := range names {
		if heightOf(name) > maxHeight {
			continue
		}
		if s, at := readState(name, n.rules); s != nil {
			return s, at, nil
		}
	}
	s, err := newChain(n.genesis)
	return s, place{}, err
}

// Run lets contracts receive and makes snapshot blocks until ctx ends (nil) or the disk fails.
func (n *Node) Run(ctx context.Context) error {
	var due <-chan time.Time
	if n.config.SnapshotInterval > 0 {
		ticker := time.NewTicker(n.config.SnapshotInterval)
		defer ticker.Stop()
		due = ticker.C
	}
	for {
		var err error
		select {
		case <-ctx.Done():
			return nil
		case <-n.poke:
			err = n.Tick()
		case <-due:
			_, err = n.Snapshot()
		}
		if err != nil {
			return fmt.Errorf("producing the exchange chain: %w", err)
		}
	}
}

// wake pokes Run if contracts have something to receive. It is called with the lock, or before others know the node.
func (n *Node) wake() {
	if len(n.state.pending) == 0 {
		return
	}
	select {
	case n.poke <- struct{}{}:
	default:
	}
}

// Close closes the block log and ends the subscriptions. Run must have ended. It may be called twice.
func (n *Node) Close() error {
	n.control.Lock()
	defer n.control.Unlock()
	n.mu.Lock()
	again := n.closed
	n.closed = true
	n.mu.Unlock()
	if again {
		return nil
	}
	err := n.log.close()
	n.hub.close()
	if n.dirLock != nil {
		err = errors.Join(err, n.dirLock.Unlock())
	}
	if err != nil {
		return fmt.Errorf("closing the exchange chain: %w", err)
	}
	return nil
}

// Submit adds a user's signed block to the chain; it is on disk when Submit returns nil. A refusal is an *Error and
// changes nothing; the same block again is ErrPrevious, as on a real node. Another error leaves the outcome open until the
// node is opened anew. What the block points to belongs to the node from then on.
func (n *Node) Submit(ctx context.Context, b *core.AccountBlock) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := present(b); err != nil {
		return err
	}
	own := *b
	if own.Nonce == nil {
		own.Difficulty = nil // without a nonce the node ignores it
	}
	if err := n.checkToken(&own); err != nil {
		return err
	}
	v, err := checkAlone(&own)
	if err != nil {
		return err
	}
	record, err := n.accept(&own, v, blockRecord(&own))
	if err != nil {
		return err
	}
	return n.log.wait(record)
}

func (n *Node) checkToken(b *core.AccountBlock) error {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.state.checkToken(b)
}

// accept is the part of Submit that only one caller at a time can do.
func (n *Node) accept(b *core.AccountBlock, v verdict, record []byte) (uint64, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.usable(); err != nil {
		return 0, err
	}
	if err := n.state.checkPlace(b, v); err != nil {
		return 0, err
	}
	before := len(n.state.recent)
	if err := n.state.add(b); err != nil {
		return 0, err
	}
	n.wake()
	return n.append(record, func() []Event { return eventsOf(n.state.recent[before:]) }), nil
}

func (n *Node) usable() error {
	if n.closed {
		return ErrClosed
	}
	return n.log.failed()
}

// append puts a record into the log, with the events to publish once it is durable. It is called with the lock, so that
// the log has the order of the changes. events is called at once, and only if someone listens.
func (n *Node) append(record []byte, events func() []Event) uint64 {
	if n.hub.idle() {
		return n.log.add(record, nil)
	}
	list := events()
	return n.log.add(record, func() { n.hub.publish(list) })
}

// Subscribe begins a stream of the events from now on. buffer is the number of changes (each a slice of events) that may
// wait; a subscriber that lets more wait is dropped with ErrSlow.
func (n *Node) Subscribe(buffer int) *Subscription { return n.hub.subscribe(buffer) }
