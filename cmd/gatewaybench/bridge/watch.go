package bridge

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"gatewayd/cmd/gatewaybench/bench"
	"gatewayd/records"
	"gatewayd/records/watch"
)

// watchCase is about the set of a million addresses that every block is searched for.
func watchCase() bench.Case {
	return bench.Case{
		Name: "watched", Unit: "block", Prepare: fillWatched, Ours: searchWatched,
		About: "1,000,000 watched addresses: memory of the set, and the time that asking it adds to a block of 250 transactions, two of which are deposits",
		Goals: []bench.Goal{
			{Of: bench.Wall, Budget: 5e6, Limit: 1e6, Absolute: true},
			{Of: "set", Budget: 120 << 20, Limit: 60 << 20, Absolute: true},
		},
	}
}

const (
	watchedAddresses = 1_000_000
	candidatesABlock = 500 // receivers of 250 transactions and of the payments in their logs
	blocksSearched   = 2_000
)

// watchedAddress is an address of ours below watchedAddresses, somebody else's above.
func watchedAddress(i int) string { return fmt.Sprintf("0x%040x", 1<<40+i*7) }

// fillWatched makes a store with the addresses.
func fillWatched(ctx context.Context, r *bench.Run) error {
	file := storeFile(r.Data)
	store, err := records.Open(ctx, records.Config{URL: "sqlite:" + file})
	if err != nil {
		return err
	}
	if err := store.Close(); err != nil {
		return err
	}
	db, err := sql.Open("sqlite3", file+"?_journal_mode=OFF&_synchronous=OFF&_foreign_keys=off")
	if err != nil {
		return fmt.Errorf("opening the store for filling: %w", err)
	}
	_, err = db.ExecContext(ctx, `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?)
		INSERT INTO accounts (chain, account, kind, network, key_path, state, seq, created_at)
		SELECT 'eth', printf('0x%040x', (1 << 40) + i * 7), 'deposit', 'eth', 'm/' || i, 'new', i + 1, 0 FROM n`, r.N(watchedAddresses))
	if err != nil {
		err = fmt.Errorf("filling the addresses: %w", err)
	}
	return errors.Join(err, db.Close())
}

func searchWatched(ctx context.Context, r *bench.Run) (f bench.Figure, err error) {
	store, err := records.Open(ctx, records.Config{URL: "sqlite:" + storeFile(r.Data)})
	if err != nil {
		return bench.Figure{}, err
	}
	watch, before := watch.New(store), bench.LiveHeap()
	ask := func(block int) error {
		owned, err := watch.Owned(ctx, "eth", candidates(r.N(watchedAddresses), block))
		if err == nil && len(owned) != 2 {
			err = fmt.Errorf("%d of the block's addresses are ours, not 2", len(owned))
		}
		return err
	}
	if err := ask(0); err != nil { // loads the set
		return bench.Figure{}, errors.Join(err, store.Close())
	}
	set := bench.LiveHeap() - before
	n := r.UpTo(blocksSearched)
	f, err = r.Measure(n, func() error {
		for i := range n {
			if err := ask(i); err != nil {
				return err
			}
		}
		return nil
	})
	f.Note("set", float64(set), "B")
	return f, errors.Join(err, store.Close())
}

// candidates are the addresses of a block: two of ours, the others strangers'.
func candidates(ours, block int) []string {
	list := make([]string, candidatesABlock)
	for i := range list {
		list[i] = watchedAddress(ours + block*candidatesABlock + i)
	}
	list[100], list[300] = watchedAddress(block%ours), watchedAddress((block*31+1)%ours)
	return list
}
