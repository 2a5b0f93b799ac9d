package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
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
	// StateEvery is the growth of the block log in bytes after which a state file is written; 0 is 16 MiB.
	StateEvery int64
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// disk is where the history is, for tests; nil is the disk with Dir, memory without.
	disk vfs.FS
	// memory is the usual one unless a test sets it.
	memory memory
}

const (
	defaultInterval   = time.Second
	defaultStateEvery = 16 << 20
	logName           = "blocks.log"
	lockName          = "LOCK"
)

// Node is an exchange chain with one producer. Its methods may be called at the same time.
type Node struct {
	config  Config
	genesis Genesis // normalised
	rules   rules
	log     *blockLog
	history *history
	dirLock *flock.Flock // nil in memory
	hub     hub
	// poke wakes Run because a contract has something to receive. One waiting wake-up is enough, so its capacity is 1.
	poke    chan struct{}
	callers callers
	// signatures checks those of callers who come at the same time together.
	signatures *signatures

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
	if config.memory != (memory{}) {
		r.memory = config.memory
	}
	n := &Node{config: config, genesis: genesis, rules: r, poke: make(chan struct{}, 1)}
	n.signatures = newSignatures(&n.callers)
	if err := n.open(); err != nil {
		return nil, fmt.Errorf("opening the exchange chain: %w", err)
	}
	n.wake()
	return n, nil
}

func (n *Node) open() (err error) {
	if n.config.Dir == "" {
		n.log = newMemoryLog(&n.callers)
		n.state = newChain(n.genesis, n.rules)
		n.history, err = openHistory(n.config.disk, "", n.rules.sealing())
		return err
	}
	if n.config.disk == nil {
		n.config.disk = vfs.Default
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
	n.rules.olderHashes, err = hasOlderHashes(n.logPath())
	if err == nil {
		err = n.openDir()
	}
	if err != nil {
		return errors.Join(err, n.dirLock.Unlock())
	}
	return nil
}

// openDir loads what is in the folder. If the history turns out to be damaged, it is made anew.
func (n *Node) openDir() error {
	err := n.openHistory()
	if err != nil && n.history != nil && n.history.damaged.Load() {
		err = n.openHistory()
	}
	if err != nil {
		return err
	}
	return syncDir(n.config.Dir)
}

func (n *Node) openHistory() (err error) {
	if n.history, err = openHistory(n.config.disk, n.config.Dir, n.rules.sealing()); err != nil {
		return err
	}
	if err = n.load(); err != nil {
		return errors.Join(err, n.history.close())
	}
	return nil
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
		case <-n.poke: // again after the step, if there is more to do
			_, err = n.tick()
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
	err := n.log.failed()
	if err == nil {
		err = n.saveAtEnd()
	}
	err = errors.Join(err, n.log.close(), n.history.close())
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
	n.callers.inside.Add(1)
	defer n.callers.inside.Add(-1)
	own := *b
	if own.Nonce == nil {
		own.Difficulty = nil // without a nonce the node ignores it
	}
	if err := n.checkToken(&own); err != nil {
		return err
	}
	v, err := checkAlone(&own, n.signatures.good)
	if err != nil {
		return err
	}
	if v.send, err = n.oldSend(&own); err != nil {
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

// oldSend is what a receive names, if that is so old that memory has forgotten it; nil otherwise.
func (n *Node) oldSend(b *core.AccountBlock) (e *entry, err error) {
	if !b.IsReceive() || n.remembers(b.SendBlockHash) {
		return nil, nil
	}
	err = n.history.read(func(h *history) (err error) { e, err = h.find(b.SendBlockHash); return err })
	return e, err
}

func (n *Node) remembers(h core.Hash) bool {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.state.blocks[h] != nil
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
