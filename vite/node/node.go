// Package node is the embedded exchange chain: one producer, account chains and a snapshot chain
// with the rules of a real Vite node that clients can see (docs/exchange-chain-wire.md 4 and 6).
//
//	Submit ─▶ check (hash, signature, work) ─▶ ledger: check, apply ─▶ log ─▶ disk ─▶ events
//	Run ──── tick: contracts receive ─────────▶    "        "           "
//	    ──── snapshot: confirms ──────────────▶    "        "           "
//	    ──── history: old blocks ──────────────▶ history ─▶ disk
//	New ◀─── state file + rest of the log
//	Read ─── View: data for JSON-RPC, from the state or the history
//
// Memory holds the data that a later block can depend on (balances, unreceived sends, books,
// contracts), and the blocks that can be rolled back: the newest 1000 snapshot blocks, fewer of a
// busy chain. The rest is in the history, a table on disk that follows from the log (docs/adr/019).
// A start loads the newest state file and replays the log from there.
//
// The node owns the order of changes, the clock, the folder and access. It does not own the rules
// and the contracts (vite/ledger), the files and old blocks (vite/store) or
// JSON-RPC (vite/rpc). It has no consensus between several producers.
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
	"github.com/sirupsen/logrus"

	"gatewayd/vite/core"
	"gatewayd/vite/ledger"
	"gatewayd/vite/store"
)

// Config sets the chain's folder and its parameters.
type Config struct {
	// Dir keeps the block log and the state files; empty keeps the chain in memory only. Only one
	// node may have it open.
	Dir     string
	Genesis ledger.Genesis
	// SnapshotInterval is the time between snapshot blocks while Run runs; 0 is one second, below 0
	// none but by Snapshot.
	SnapshotInterval time.Duration
	// StateEvery is the growth of the block log in bytes after which a state file is written; 0 is
	// 16 MiB.
	StateEvery int64
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// Log receives the repairs of a start; nil means standard error.
	Log logrus.FieldLogger
	// disk is the history's file system, for tests; nil is the disk with Dir, memory without.
	disk vfs.FS
	// retention is the usual one unless a test sets it.
	retention ledger.Retention
}

const (
	defaultInterval   = time.Second
	defaultStateEvery = 16 << 20
)

// Files of a chain's folder (docs/exchange-chain.md): the log of all blocks, and the lock against a
// second process.
const (
	LogName  = "blocks.log"
	LockName = "LOCK"
)

// ErrOtherGenesis is the folder of a chain with another genesis: nothing is damaged, and nothing is
// changed.
var ErrOtherGenesis = store.ErrOtherGenesis

// Node is an exchange chain with one producer. Its methods may be called at the same time.
type Node struct {
	config  Config
	genesis ledger.Genesis // normalised
	rules   ledger.Rules
	log     *store.Log
	history *store.History
	dirLock *flock.Flock // nil in memory
	hub     hub
	// woken wakes Run because a contract has something to receive. One waiting wake-up is enough,
	// so its capacity is 1.
	woken   chan struct{}
	callers callers
	// signatures checks those of callers who come at the same time together.
	signatures *signatures

	control   sync.Mutex  // held by whatever is not a Submit or Read: ticks, snapshots, drops, rollbacks, Close
	lastState store.Place // of the newest state file, or where the log began
	stateSize int64       // of the newest state file

	mu     sync.RWMutex // of the rest
	state  *ledger.State
	closed bool
}

// New opens the chain: it makes the genesis, or loads the newest state file and replays the block
// log. It starts nothing. Errors: ErrGenesis, ErrOtherGenesis, ErrCorrupt, and the file system's.
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
	if config.Log == nil {
		config.Log = logrus.New()
	}
	genesis, err := config.Genesis.Normalised()
	if err != nil {
		return nil, err
	}
	r, err := genesis.Rules()
	if err != nil {
		return nil, err
	}
	if config.retention != (ledger.Retention{}) {
		r.Retention = config.retention
	}
	n := &Node{config: config, genesis: genesis, rules: r, woken: make(chan struct{}, 1)}
	n.signatures = newSignatures(&n.callers)
	if err := n.open(); err != nil {
		return nil, fmt.Errorf("opening the exchange chain: %w", err)
	}
	n.wake()
	return n, nil
}

func (n *Node) open() (err error) {
	if n.config.Dir == "" {
		n.log = store.NewMemoryLog(n.callers.yieldToOthers)
		n.state = ledger.NewState(n.genesis, n.rules)
		n.history, err = store.OpenHistory(n.config.disk, "", n.rules.Sealing())
		return err
	}
	if n.config.disk == nil {
		n.config.disk = vfs.Default
	}
	if err := os.MkdirAll(n.config.Dir, 0o700); err != nil {
		return err
	}
	n.dirLock = flock.New(filepath.Join(n.config.Dir, LockName))
	switch locked, err := n.dirLock.TryLock(); {
	case err != nil:
		return fmt.Errorf("locking %s: %w", n.config.Dir, err)
	case !locked:
		return fmt.Errorf("%s is in use by another process", n.config.Dir)
	}
	n.rules.OlderHashes, err = store.HasOlderHashes(n.logPath())
	if err == nil {
		err = n.openDir()
	}
	if err != nil {
		return errors.Join(err, n.dirLock.Unlock())
	}
	return nil
}

// openDir loads the folder. If the history is damaged, it is rebuilt.
func (n *Node) openDir() error {
	err := n.openHistory()
	if err != nil && n.history != nil && n.history.Damaged.Load() {
		err = n.openHistory()
	}
	if err != nil {
		return err
	}
	return syncDir(n.config.Dir)
}

func (n *Node) openHistory() (err error) {
	if n.history, err = store.OpenHistory(n.config.disk, n.config.Dir, n.rules.Sealing()); err != nil {
		return err
	}
	if err = n.load(); err != nil {
		return errors.Join(err, n.history.Close())
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
		case <-n.woken: // again after the step, if there is more to do
			_, err = n.tick()
		case <-due:
			_, err = n.Snapshot()
		}
		if err != nil {
			return fmt.Errorf("producing the exchange chain: %w", err)
		}
	}
}

// wake wakes Run if contracts have something to receive. It is called with the lock, or before
// others know the node.
func (n *Node) wake() {
	if len(n.state.Pending) == 0 {
		return
	}
	select {
	case n.woken <- struct{}{}:
	default:
	}
}

// Close closes the block log and ends the subscriptions. Run must have ended. It may be called
// twice.
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
	err := n.log.Err()
	if err == nil {
		err = n.saveAtEnd()
	}
	err = errors.Join(err, n.log.Close(), n.history.Close())
	n.hub.close()
	if n.dirLock != nil {
		err = errors.Join(err, n.dirLock.Unlock())
	}
	if err != nil {
		return fmt.Errorf("closing the exchange chain: %w", err)
	}
	return nil
}

// Submit adds a user's signed block to the chain; it is on disk when Submit returns nil. A refusal
// is an *Error and changes nothing; the same block again is ErrPrevious, as on a real node. After
// any other error the outcome is open until the node is reopened. The node owns the block's memory
// from then on.
func (n *Node) Submit(ctx context.Context, b *core.AccountBlock) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := ledger.CheckParts(b); err != nil {
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
	v, err := ledger.CheckBlock(&own, n.signatures.good)
	if err != nil {
		return err
	}
	if v.Send, err = n.oldSend(&own); err != nil {
		return err
	}
	record, err := n.accept(&own, v, ledger.BlockRecord(&own))
	if err != nil {
		return err
	}
	return n.log.Wait(record)
}

// Batch runs f, in which Submit, Tick and Snapshot do not wait for the disk. All their changes
// are durable in one write when Batch returns. Other callers must not use the node meanwhile.
func (n *Node) Batch(f func() error) error {
	n.log.Hold()
	return errors.Join(f(), n.log.Release())
}

func (n *Node) checkToken(b *core.AccountBlock) error {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.state.CheckToken(b)
}

// oldSend returns the send of a receive if memory no longer has it; nil otherwise.
func (n *Node) oldSend(b *core.AccountBlock) (e *ledger.Entry, err error) {
	if !b.IsReceive() || n.remembers(b.SendBlockHash) {
		return nil, nil
	}
	err = n.history.Read(func(h *store.History) (err error) { e, err = h.Block(b.SendBlockHash); return err })
	return e, err
}

func (n *Node) remembers(h core.Hash) bool {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.state.Blocks[h] != nil
}

// accept is the part of Submit that only one caller at a time can do.
func (n *Node) accept(b *core.AccountBlock, v ledger.Verdict, record []byte) (uint64, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.usable(); err != nil {
		return 0, err
	}
	if err := n.state.CheckPlace(b, v); err != nil {
		return 0, err
	}
	before := len(n.state.Recent)
	if err := n.state.Apply(b); err != nil {
		return 0, err
	}
	n.wake()
	added := n.append(record, func() []Event { return eventsOf(n.state.Recent[before:]) })
	if n.state.Full() {
		_, snapshot, events := n.seal()
		added = n.append(snapshot, events)
	}
	return added, nil
}

func (n *Node) usable() error {
	if n.closed {
		return ErrClosed
	}
	return n.log.Err()
}

// append puts a record into the log, with the events to publish once it is durable. It is called
// with the lock, so that the log has the order of the changes. events is called at once, and only
// if someone listens.
func (n *Node) append(record []byte, events func() []Event) uint64 {
	if n.hub.idle() {
		return n.log.Add(record, nil)
	}
	list := events()
	return n.log.Add(record, func() { n.hub.publish(list) })
}

// Subscribe begins a stream of the events from now on. buffer is the number of changes (each a
// slice of events) that may wait; a subscriber that lets more wait is dropped with ErrSlow.
func (n *Node) Subscribe(buffer int) *Subscription { return n.hub.subscribe(buffer) }

var (
	// ErrClosed is the error of a closed node.
	ErrClosed = store.ErrClosed
	// ErrSlow ends a subscription whose buffer was full when an event came.
	ErrSlow = errors.New("subscriber is too slow")
)
