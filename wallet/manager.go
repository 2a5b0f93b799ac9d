// Package wallet holds keys: the daemon's own, and those of the stores that people manage.
//
//	Keys     one seed, from which every account of the gateway is derived on both ledgers
//	Manager  entropy stores of a directory and others: locked or unlocked, addresses, derivation
//
// Keys returns addresses and signatures and never discloses a key, so that a separate signer can
// replace it. It does not interpret transactions: the adapters build the signed data. Mnemonics and
// store files are in wallet/keystore, the wallet's JSON-RPC in wallet/rpc.
package wallet

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"gatewayd/wallet/keystore"
)

const (
	defaultAutoLock = 10 * time.Minute
	defaultMemory   = 512 << 20
	defaultQueue    = 64
)

// Faults of a call, in the words of the exchange chain's node where it has some.
var (
	ErrUnknownStore    = errors.New("error given store not found ")
	ErrLocked          = errors.New("the crypto store is locked")
	ErrAddressNotFound = errors.New("not found the given address in the crypto store file")
	ErrBusy            = errors.New("too many calls wait for a password to be checked")
)

// Manager keeps entropy stores and which of them are unlocked. A store is named by its absolute
// path, or by its file name when it is in the standard directory; the standard file name is the
// primary address. Only stores that are known are found: those of the standard directory at start,
// configured, created, imported and added ones. It is safe for concurrent use and logs nothing.
type Manager struct {
	cfg Config
	dir keystore.Dir
	kdf *kdfLimiter

	mu     sync.Mutex
	stores map[string]*store // by absolute path
	wake   chan struct{}     // capacity 1, no data: a store was unlocked, so Run checks the clock again
}

// NewManager reads the standard directory and the configured stores, all of them locked. It starts
// nothing; Run locks idle stores.
func NewManager(cfg Config) (*Manager, error) {
	if err := cfg.Check(); err != nil {
		return nil, fmt.Errorf("wallet: %w", err)
	}
	cfg = cfg.withDefaults()
	dir, err := keystore.OpenDir(cfg.Dir)
	if err != nil {
		return nil, fmt.Errorf("wallet: %w", err)
	}
	m := &Manager{cfg: cfg, dir: dir, kdf: newKDFLimiter(cfg.Memory, cfg.Queue), stores: map[string]*store{}, wake: make(chan struct{}, 1)}
	if err := m.Refresh(); err != nil {
		return nil, fmt.Errorf("wallet: %w", err)
	}
	for _, path := range cfg.Stores {
		if _, err := m.Add(path); err != nil {
			return nil, fmt.Errorf("wallet: store %s: %w", path, err)
		}
	}
	return m, nil
}

// Dir is the standard directory, absolute.
func (m *Manager) Dir() string { return m.dir.Path() }

// Standard lists the stores of the standard directory, absolute paths in name order. It reads the
// directory each time.
func (m *Manager) Standard() ([]string, error) { return m.dir.List() }

// Known lists the absolute paths of all known stores: those of the standard directory first, each
// part in name order.
func (m *Manager) Known() []string {
	known := m.known()
	paths := make([]string, len(known))
	for i, s := range known {
		paths[i] = s.path
	}
	return paths
}

// known is also the order in which stores are asked for an address, so that answers do not depend
// on chance.
func (m *Manager) known() []*store {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.SortedFunc(maps.Values(m.stores), func(a, b *store) int {
		if a.standard != b.standard {
			if a.standard {
				return -1
			}
			return 1
		}
		return strings.Compare(a.path, b.path)
	})
}

// Add makes a store known and returns its absolute path; a known one stays as it is. Errors are
// keystore.ErrStore and those of the file system.
func (m *Manager) Add(name string) (path string, err error) {
	if path, err = m.dir.File(name); err != nil {
		return "", err
	}
	file, err := keystore.ReadFile(path)
	if err != nil {
		return "", err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stores[path] == nil {
		s := newStore(path, m.dir.Path(), file.PrimaryAddress())
		for _, other := range m.stores {
			if other.primary == s.primary {
				s.tries = other.tries
			}
		}
		m.stores[path] = s
	}
	return path, nil
}

// Refresh makes the stores known that have come into the standard directory, and locks and forgets
// those everywhere whose file has gone.
func (m *Manager) Refresh() error {
	paths, err := m.dir.List()
	if err != nil {
		return err
	}
	for _, path := range paths {
		if _, err := m.Add(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("store %s: %w", path, err)
		}
	}
	for _, s := range m.known() {
		if _, err := os.Lstat(s.path); errors.Is(err, fs.ErrNotExist) {
			m.removeStore(s)
		}
	}
	return nil
}

func (m *Manager) removeStore(s *store) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s.lock()
	delete(m.stores, s.path)
}

// find is the known store of a name, else ErrUnknownStore.
func (m *Manager) find(name string) (*store, error) {
	path, err := m.dir.File(name)
	if err != nil {
		return nil, ErrUnknownStore
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.stores[path]; s != nil {
		return s, nil
	}
	return nil, ErrUnknownStore
}

// Lock wipes a store's keys; locking a locked store is no error. The error is ErrUnknownStore.
func (m *Manager) Lock(name string) error {
	s, err := m.find(name)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s.lock()
	return nil
}

// LockAll wipes all keys.
func (m *Manager) LockAll() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.stores {
		s.lock()
	}
}

// Run locks stores that are not used, until ctx ends; then it locks them all.
func (m *Manager) Run(ctx context.Context) error {
	defer m.LockAll()
	for {
		timer := time.NewTimer(m.expire())
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-m.wake:
			timer.Stop()
		case <-timer.C:
		}
	}
}

// expire locks idle stores and returns the time until the next check.
func (m *Manager) expire() time.Duration {
	if m.cfg.AutoLock < 0 {
		return time.Hour // nothing expires
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now, next := m.cfg.Now(), m.cfg.AutoLock
	for _, s := range m.stores {
		if s.open == nil {
			continue
		}
		left := m.cfg.AutoLock - now.Sub(s.used)
		if left <= 0 {
			s.lock()
			continue
		}
		next = min(next, left)
	}
	return next
}
