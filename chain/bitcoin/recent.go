package bitcoin

import "sync"

const (
	// rememberCoins is the number of coins that are remembered at least. The records know them when
	// they have stored the block, and blocks are read ahead of that.
	rememberCoins = 1 << 15
	// rememberOwn is the number of our transactions that are remembered at least.
	rememberOwn = 1 << 10
)

// recent remembers what was found last.
type recent[V any] struct {
	keep int // so many at least, and twice as many at most

	mu         sync.Mutex
	newer, old map[string]V
}

func newRecent[V any](keep int) *recent[V] {
	return &recent[V]{keep: keep, newer: make(map[string]V)}
}

func (r *recent[V]) put(key string, value V) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.newer[key] = value; len(r.newer) > r.keep {
		r.old, r.newer = r.newer, make(map[string]V)
	}
}

func (r *recent[V]) get(key string) (value V, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if value, ok = r.newer[key]; !ok {
		value, ok = r.old[key]
	}
	return value, ok
}
