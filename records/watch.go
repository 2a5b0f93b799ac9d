package records

import (
	"context"
	"database/sql/driver"
	"hash/maphash"
	"slices"
	"sync"

	"gatewayd/chain"
	"gatewayd/records/sqlstore"
)

// confirmBatch bounds the parameters of one query.
const confirmBatch = 500

// Watch finds our own accounts among addresses. It keeps one 64-bit hash per account in memory, and
// asks the database about hits only: a million addresses take some 20 MB (docs/payment-rules.md 6).
// It is safe for use by many goroutines.
type Watch struct {
	store *Store
	seed  maphash.Seed
	mu    sync.Mutex
	sets  map[chain.ID]*watchSet
}

type watchSet struct {
	seq    uint64 // of the newest row loaded
	hashes map[uint64]struct{}
}

// New makes an empty watch; accounts are loaded when they are first asked for.
func NewWatch(s *Store) *Watch {
	return &Watch{store: s, seed: maphash.MakeSeed(), sets: make(map[chain.ID]*watchSet)}
}

// Owned returns which of the candidates are accounts of ours on a chain. Accounts stored before the
// call count: whoever fetches a block first and asks then misses no deposit to an address shown
// before the block.
func (w *Watch) Owned(ctx context.Context, id chain.ID, candidates []string) (map[string]bool, error) {
	owned := make(map[string]bool)
	err := w.store.View(ctx, func(tx *Tx) error {
		hits, err := w.hits(tx, id, candidates)
		if err != nil {
			return err
		}
		for batch := range slices.Chunk(hits, confirmBatch) {
			var found []string
			if err := tx.SQL().ListIn(&found, `SELECT account FROM accounts WHERE chain = ? AND account IN (?)`, string(id), batch); err != nil {
				return err
			}
			for _, a := range found {
				owned[a] = true
			}
		}
		return nil
	})
	return owned, sqlstore.Doing(err, "finding our accounts on %s", id)
}

// hits loads what is new and answers the candidates whose hash is in the set.
func (w *Watch) hits(tx *Tx, id chain.ID, candidates []string) ([]string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	set := w.sets[id]
	if set == nil {
		set = &watchSet{hashes: make(map[uint64]struct{})}
		w.sets[id] = set
	}
	if err := w.load(tx, id, set); err != nil {
		return nil, err
	}
	var hits []string
	for _, c := range candidates {
		if _, ok := set.hashes[maphash.String(w.seed, c)]; ok && sqlstore.Storable(c) {
			hits = append(hits, c)
		}
	}
	return hits, nil
}

// load adds the rows that were stored since the last load. seq is given by one writer at a time, so
// no lower one appears later.
func (w *Watch) load(tx *Tx, id chain.ID, set *watchSet) error {
	return tx.SQL().Rows(`SELECT seq, account FROM accounts WHERE chain = ? AND seq > ? ORDER BY seq`, []any{string(id), set.seq}, func(row []driver.Value) error {
		set.seq = uint64(row[0].(int64))
		set.hashes[maphash.String(w.seed, row[1].(string))] = struct{}{}
		return nil
	})
}

// Accounts returns our accounts on a chain that are not deposit addresses: the few that every block
// is searched for.
func (w *Watch) Accounts(ctx context.Context, id chain.ID) ([]string, error) {
	var out []string
	err := w.store.View(ctx, func(tx *Tx) error {
		return tx.SQL().List(&out, `SELECT account FROM accounts WHERE chain = ? AND kind <> 'deposit' ORDER BY seq`, string(id))
	})
	return out, sqlstore.Doing(err, "reading our accounts on %s", id)
}
