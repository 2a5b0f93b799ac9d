package wallet

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"gatewayd/vite/core"
	"gatewayd/wallet/keystore"
)

// SearchWindow is the number of addresses of a store, from index 0, that a search covers, as on the
// exchange chain's node.
const SearchWindow = 100

// store is a known store file. Its open keys and their last use are guarded by Manager.mu.
type store struct {
	path     string
	standard bool         // in the standard directory
	primary  core.Address // as the file states it

	*tries

	open *unlocked // nil while locked
	used time.Time // when the keys served last
}

// tries are those of passwords. Stores of one address share them: a file has many paths, and
// copies.
type tries struct {
	checking chan struct{} // capacity 1: held by the one password check at a time; guards guesses
	guesses  guesses
}

func newStore(path, standardDir string, primary core.Address) *store {
	return &store{path: path, standard: filepath.Dir(path) == standardDir, primary: primary, tries: &tries{checking: make(chan struct{}, 1)}}
}

func (s *store) lock() {
	if s.open != nil {
		s.open.wipe()
		s.open = nil
	}
}

// acquire waits until no other password of the store is checked; release ends it.
func (s *tries) acquire(ctx context.Context) error {
	select {
	case s.checking <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *tries) release() { <-s.checking }

// unlocked are a store's keys in memory, with the addresses that it is asked for.
type unlocked struct {
	index map[core.Address]uint32 // of the search window

	mu    sync.RWMutex // readers derive, the writer wipes
	keys  keystore.Keys
	wiped bool
}

// newUnlocked derives the search window. It takes over the keys.
func newUnlocked(keys keystore.Keys) (*unlocked, error) {
	u := &unlocked{index: make(map[core.Address]uint32, SearchWindow), keys: keys}
	for i := range uint32(SearchWindow) {
		key, err := keys.ByIndex(i)
		if err != nil {
			return nil, err
		}
		u.index[key.Address()] = i
	}
	return u, nil
}

// derive takes a key; the keys are not wiped meanwhile. ErrLocked if they are wiped already.
func (u *unlocked) derive(by func(keystore.Keys) (core.PrivateKey, error)) (core.PrivateKey, error) {
	u.mu.RLock()
	defer u.mu.RUnlock()
	if u.wiped {
		return core.PrivateKey{}, ErrLocked
	}
	return by(u.keys)
}

func (u *unlocked) wipe() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.wiped = true
	u.keys.Wipe()
}

// Wrong passwords in a row that cost nothing, and how long the pause after many grows.
const (
	freeGuesses = 5
	maxPause    = 5 * time.Minute
)

// guesses slows down who tries passwords: after the free ones each wrong one doubles the pause, in
// which even the right one is not looked at. The count is in memory: who can restart the process
// can read the file and guess without it.
type guesses struct {
	wrong int // in a row
	next  time.Time
}

// ThrottledError means that a store accepts no password for a while, because too many were wrong.
type ThrottledError struct{ Wait time.Duration }

func (e *ThrottledError) Error() string {
	return fmt.Sprintf("too many wrong passwords: try again in %d s", int64((e.Wait+time.Second-1)/time.Second))
}

func (g *guesses) check(now time.Time) error {
	if wait := g.next.Sub(now); wait > 0 {
		return &ThrottledError{wait}
	}
	return nil
}

func (g *guesses) miss(now time.Time) {
	g.wrong++
	if over := g.wrong - freeGuesses; over >= 0 {
		g.next = now.Add(min(time.Second<<min(over, 20), maxPause))
	}
}

// kdfLimiter bounds what scrypt takes: memory by weight, and how many callers may be inside or
// wait.
type kdfLimiter struct {
	size    int64
	memory  *semaphore.Weighted
	callers chan struct{} // one per caller
}

func newKDFLimiter(memory int64, places int) *kdfLimiter {
	return &kdfLimiter{memory, semaphore.NewWeighted(memory), make(chan struct{}, places)}
}

// enter takes a place or is ErrBusy.
func (l *kdfLimiter) enter() (leave func(), err error) {
	select {
	case l.callers <- struct{}{}:
		return func() { <-l.callers }, nil
	default:
		return nil, ErrBusy
	}
}

// work runs act once its memory is free; what is larger than all of it runs alone.
func (l *kdfLimiter) work(ctx context.Context, c keystore.Cost, act func() error) error {
	weight := min(c.Memory(), l.size)
	if err := l.memory.Acquire(ctx, weight); err != nil {
		return err
	}
	defer l.memory.Release(weight)
	return act()
}
