package index

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"

	"golang.org/x/sync/errgroup"

	"gatewayd/vite/client"
	"gatewayd/vite/core"
)

// batch is stored in one transaction: some blocks of each contract, so that neither contract waits
// for the other while both have many blocks.
type batch struct {
	from          map[contract]cursor
	funds, trades blockRange
	most          uint64 // height of dexTrade before dexFund was read
	more          bool
}

func (t *batch) of(c contract) *blockRange {
	if c == fund {
		return &t.funds
	}
	return &t.trades
}

// ends returns the start of the next batch.
func (t *batch) ends() map[contract]cursor {
	at := maps.Clone(t.from)
	for c := range at {
		if blocks := t.of(c).blocks; len(blocks) > 0 {
			last := &blocks[len(blocks)-1]
			at[c] = cursor{last.height, last.hash}
		}
	}
	return at
}

// batches gives what follows cursors.
type batches func(ctx context.Context, from map[contract]cursor) (batch, error)

// storeAll stores batch after batch until there are no more, and reads the next one while it stores
// one. It answers the last.
func (f *follower) storeAll(ctx context.Context, read batches) (batch, error) {
	t, err := read.retryOnce(ctx, f.index.allCursors())
	for err == nil {
		f.index.progress(&t)
		if t.funds.forked || t.trades.forked {
			if err = f.rollback(ctx, &t); err == nil {
				t, err = read.retryOnce(ctx, f.index.allCursors())
			}
			continue
		}
		if !t.more {
			return t, f.storeBatch(ctx, &t)
		}
		t, err = f.storeAndRead(ctx, &t, read)
	}
	return t, err
}

// retryOnce reads a second time if the chain has moved meanwhile. If it moves again, the next poll
// reads it.
func (read batches) retryOnce(ctx context.Context, from map[contract]cursor) (batch, error) {
	t, err := read(ctx, from)
	if errors.Is(err, errMoved) {
		t, err = read(ctx, from)
	}
	return t, err
}

// allCursors returns the stored heights of the contracts.
func (x *Index) allCursors() map[contract]cursor {
	return map[contract]cursor{fund: x.at(fund), trade: x.at(trade)}
}

// storeAndRead stores a batch and reads the next one meanwhile.
func (f *follower) storeAndRead(ctx context.Context, t *batch, read batches) (next batch, err error) {
	reading, cancel := context.WithCancel(ctx)
	defer cancel()
	var g errgroup.Group
	g.Go(func() (err error) {
		next, err = read.retryOnce(reading, t.ends())
		return err
	})
	err = f.storeBatch(ctx, t)
	if err != nil {
		cancel()
	}
	if failed := g.Wait(); err == nil {
		err = failed
	}
	return next, err
}

// storeBatch stores a batch.
func (f *follower) storeBatch(ctx context.Context, t *batch) error {
	if len(t.funds.blocks)+len(t.trades.blocks) == 0 {
		return nil
	}
	return f.index.write(ctx, map[contract]uint64{fund: t.funds.top, trade: t.trades.top}, func(a *applier) error {
		for _, c := range []contract{fund, trade} {
			blocks := t.of(c).blocks
			if len(blocks) == 0 {
				continue
			}
			if tip, err := a.cursor(c); err != nil || tip != t.from[c] {
				return errors.Join(err, errMovedByOther)
			}
			if err := a.blocks(c, blocks); err != nil {
				return err
			}
		}
		return nil
	})
}

// errMovedByOther marks a database that another process has advanced.
var errMovedByOther = errors.New("another process follows the chain into this index")

// rollback takes back what the chain took back.
func (f *follower) rollback(ctx context.Context, t *batch) error {
	if t.funds.forked {
		return f.takeBack(ctx, fund)
	}
	return f.takeBack(ctx, trade)
}

func (f *follower) reader(c contract) *reader { return &reader{f.index.node, c, f.span} }

// next reads the blocks after a cursor. It waits for a chain that does not reach the cursor: of
// several nodes behind one address one may lag. Blocks were removed if the newest one differs from
// the stored one, or if Shorter reports it.
func (f *follower) next(ctx context.Context, c contract, at cursor, most uint64) (blockRange, error) {
	p, err := f.reader(c).next(ctx, at, most)
	if err != nil {
		return p, err
	}
	if f.shorter[c].TookBack(p.shorter, f.index.config.Now()) {
		p.forked = true
	} else if p.shorter && p.newest != nil {
		p.forked, err = f.differs(ctx, c, p.newest)
	}
	return p, err
}

// differs reports whether another block is stored in the place of one.
func (f *follower) differs(ctx context.Context, c contract, b *client.AccountBlock) (bool, error) {
	var stored string
	err := f.index.store.read(ctx, func(t *tx) error {
		_, err := t.one(&stored, "SELECT hash FROM ex_blocks WHERE contract = ? AND height = ?", c, b.Height)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("reading block %d of dex %s: %w", b.Height, c, err)
	}
	return stored != "" && stored != b.Hash.String(), nil
}

// trades reads blocks of dexTrade up to a height.
func (f *follower) trades(most uint64) batches {
	return func(ctx context.Context, from map[contract]cursor) (t batch, err error) {
		t.from = from
		t.trades, err = f.next(ctx, trade, from[trade], most)
		t.more = t.trades.more
		return t, err
	}
}

// both reads blocks of dexFund, and as long as that has more than one batch takes, blocks of
// dexTrade with them.
func (f *follower) both() batches {
	var w waiting // nil: not known
	return func(ctx context.Context, from map[contract]cursor) (t batch, err error) {
		t.from = from
		top, err := f.index.node.LatestAccountBlock(ctx, trade.address())
		if err != nil {
			return t, fmt.Errorf("reading the newest block of dex %s: %w", trade, err)
		}
		if top != nil {
			t.most = top.Height
		}
		t.funds, err = f.next(ctx, fund, from[fund], math.MaxUint64)
		if t.more = t.funds.more; t.funds.forked {
			w = nil
		}
		if err != nil || !t.more {
			return t, err
		}
		if t.trades, err = f.next(ctx, trade, from[trade], t.most); err != nil || t.trades.forked {
			w = nil
			return t, err
		}
		if w == nil {
			if w, err = f.waiting(ctx); err != nil {
				return t, err
			}
		}
		w.add(t.funds.blocks)
		t.trades.blocks = w.take(t.trades.blocks)
		return t, nil
	}
}

// waiting holds the sends of dexFund that no block of dexTrade in the index has received.
type waiting map[core.Hash]struct{}

// relaysWaiting lists them.
const relaysWaiting = `SELECT relay FROM ex_blocks f WHERE contract = 'fund' AND relay <> ''
	AND NOT EXISTS (SELECT 1 FROM ex_blocks t WHERE t.contract = 'trade' AND t.send = f.relay)`

func (f *follower) waiting(ctx context.Context) (waiting, error) {
	var relays []string
	err := f.index.store.view(ctx, func(t *tx) error { return t.list(&relays, relaysWaiting) })
	if err != nil {
		return nil, fmt.Errorf("reading what waits for dex %s: %w", trade, err)
	}
	w := make(waiting, len(relays))
	for _, relay := range relays {
		h, err := core.ParseHash(relay)
		if err != nil {
			return nil, fmt.Errorf("reading what waits for dex %s: %w", trade, err)
		}
		w[h] = struct{}{}
	}
	return w, nil
}

func (w waiting) add(blocks []block) {
	for i := range blocks {
		if !blocks[i].relay.IsZero() {
			w[blocks[i].relay] = struct{}{}
		}
	}
}

// take gives the blocks of dexTrade up to the first that rests on a block of dexFund which is not
// there yet.
func (w waiting) take(blocks []block) []block {
	for i := range blocks {
		b := &blocks[i]
		_, passed := w[b.send]
		if rests := b.from == core.DexFundContract && (!b.ok || len(b.logs) > 0); rests && !passed {
			return blocks[:i]
		}
		delete(w, b.send)
	}
	return blocks
}
