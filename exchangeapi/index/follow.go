package index

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"sync"
	"time"

	"gatewayd/vite/core"
)

// retainedBlocks is the number of blocks of each contract that are kept, for rollbacks and for
// finding the outcome of a send. A node whose chain diverges further back belongs to another chain,
// or needs a new index.
const retainedBlocks = 10_000

// ErrForked marks a node whose chain has nothing in common with the stored blocks.
var ErrForked = errors.New("the last common block of the node's chain and the index is too old: wrong node, or delete the index to rebuild it")

// Maintenance runs once per this many polls of the chain.
const (
	pruneEvery      = 1000
	checkSendsEvery = 200
)

// agingEvery is the interval at which subscribers receive tickers that time has changed.
const agingEvery = 10 * time.Second

// follower brings the index up to date with the node's chain: it reads blocks, stores them with
// Index.write, and takes back what the chain took back. One goroutine uses it.
type follower struct {
	index   *Index
	head    nodeHead
	shorter map[contract]*shorterChains
	leader  leaderWatch
	span    uint64 // the constant, but for tests
}

func newFollower(x *Index) *follower {
	return &follower{index: x, shorter: map[contract]*shorterChains{fund: {}, trade: {}}, span: span}
}

// Run follows the chain until ctx ends, which is no error. What the node or the database refuses is
// logged and tried again.
func (x *Index) Run(ctx context.Context) error {
	woken := make(chan struct{}, 1) // one is enough: a poll reads everything
	var listeners sync.WaitGroup
	defer listeners.Wait()
	defer x.store.stopLeading(ctx)
	listeners.Go(func() { x.follower.listen(ctx, woken) })
	listeners.Go(func() { x.follower.listenToOutbox(ctx) })
	tick, aging := time.NewTicker(x.config.Poll), time.NewTicker(agingEvery)
	defer tick.Stop()
	defer aging.Stop()
	for n := 0; ctx.Err() == nil; n++ {
		x.follower.poll(ctx, n)
		for due := false; !due; {
			select {
			case <-ctx.Done():
				due = true
			case <-tick.C:
				due = true
			case <-woken:
				due = true
			case <-aging.C:
				x.announceAged()
			}
		}
	}
	return nil
}

// listen is woken by new blocks where the node announces them. Other nodes are polled by the clock
// alone, so nothing is lost.
func (f *follower) listen(ctx context.Context, woken chan<- struct{}) {
	node, ok := f.index.node.(noticeNode)
	if !ok {
		return
	}
	listenForNotices(ctx, node, f.index.log, [2]core.Address{fund.address(), trade.address()}, func(removed bool) {
		if removed {
			f.shorter[fund].Removed(f.index.config.Now())
			f.shorter[trade].Removed(f.index.config.Now())
		}
		select {
		case woken <- struct{}{}:
		default: // it is awake already
		}
	})
}

// poll brings the index up to date. It is the loop's body.
func (f *follower) poll(ctx context.Context, n int) {
	err := f.catchUp(ctx)
	if err == nil && n%checkSendsEvery == 0 {
		err = f.upkeep(ctx, n)
	}
	if err == nil {
		err = f.judgeHead(ctx)
	}
	if ctx.Err() != nil {
		return
	}
	f.index.recordOutcome(err)
}

// judgeHead returns an error while the node's chain does not advance: a complete copy of a stalled
// chain is not up to date.
func (f *follower) judgeHead(ctx context.Context) error {
	if now := f.index.config.Now(); f.head.Due(now) {
		newest, err := f.index.node.LatestSnapshotBlock(ctx)
		if err == nil && newest == nil {
			err = errors.New("there is none")
		}
		if err != nil {
			return fmt.Errorf("reading the newest snapshot block: %w", err)
		}
		f.head.See(newest.Height, newest.Time, now)
	}
	return f.head.Standstill(f.index.config.Now())
}

func pointerTo(err error) *error {
	if err == nil {
		return nil
	}
	return &err
}

// catchUp stores all blocks of the node. Events of dexTrade depend on those of dexFund. So of
// dexTrade it stores only blocks that existed before dexFund was read to its end. Later blocks wait
// for the next poll: their block of dexFund may not be stored yet, and an order would be open
// before it was received. It reads at most twice when several nodes answer and one lags behind.
func (f *follower) catchUp(ctx context.Context) error {
	leads, err := f.index.store.lead(ctx)
	if err != nil {
		return err
	}
	if err := f.readChanges(ctx); err != nil {
		return err
	}
	if !leads {
		return f.standBy(ctx)
	}
	for range 2 {
		last, err := f.storeAll(ctx, f.both())
		if err != nil {
			return err
		}
		f.index.loadTokens(ctx)
		if _, err = f.storeAll(ctx, f.trades(last.most)); !errors.Is(err, errAhead) {
			return err
		}
	}
	return errAhead
}

// readChanges reads what other processes have stored. After an error it reads everything again: the
// database may contain changes that the cache lacks.
func (f *follower) readChanges(ctx context.Context) error {
	x := f.index
	x.commits.Lock()
	defer x.commits.Unlock()
	if x.mayLack() {
		if err := x.resync(ctx); err != nil {
			return fmt.Errorf("reading the index: %w", err)
		}
		return nil
	}
	if !x.store.shared() {
		return nil
	}
	return x.takeOver(ctx)
}

// mayLack reports whether the last poll met an error after which the cache may lack stored changes.
func (x *Index) mayLack() bool {
	before := x.trouble.Load()
	return before != nil && standstill(*before) == nil && !errors.Is(*before, errLeaderBehind) && !errors.Is(*before, errNotCompared)
}

// takeOver is replay with its news recorded. It is called under commits.
func (x *Index) takeOver(ctx context.Context) error {
	moved, err := x.replay(ctx)
	if moved && err == nil {
		x.lag.hear(x.config.Now())
	}
	return err
}

const tookBackMessage = "the exchange chain reverted blocks"

// takeBack finds the last block that the index and the node have in common and undoes what came
// after.
func (f *follower) takeBack(ctx context.Context, c contract) error {
	common, err := f.lastCommon(ctx, c)
	if err != nil {
		return err
	}
	f.index.log.WithField("contract", string(c)).WithField("height", common.height).Info(tookBackMessage)
	return f.index.write(ctx, nil, func(a *applier) error { return a.undo(c, common.height) })
}

// lastCommon returns the newest stored block that is in the node's chain. It returns the zero
// cursor if the chain has restarted and all blocks are still stored. A block names its predecessor,
// so all blocks below a common block are common.
func (f *follower) lastCommon(ctx context.Context, c contract) (cursor, error) {
	var rows []blockRow
	err := f.index.store.view(ctx, func(t *tx) error {
		return t.list(&rows, "SELECT "+blockColumns+" FROM ex_blocks WHERE contract = ? ORDER BY height DESC LIMIT ? + 0", c, f.index.retainedBlocks)
	})
	if err != nil {
		return cursor{}, fmt.Errorf("reading stored blocks: %w", err)
	}
	rows = gapless(rows)
	var failed error
	i := sort.Search(len(rows), func(i int) bool {
		if failed != nil {
			return true
		}
		b, err := f.index.node.AccountBlockByHeight(ctx, c.address(), rows[i].Height)
		failed = err
		return b != nil && b.Hash.String() == rows[i].Hash
	})
	if failed != nil {
		return cursor{}, fmt.Errorf("finding the last common block of dex %s: %w", c, failed)
	}
	if i < len(rows) {
		hash, err := core.ParseHash(rows[i].Hash)
		return cursor{rows[i].Height, hash}, err
	}
	if len(rows) == 0 || rows[len(rows)-1].Height > 1 {
		return cursor{}, fmt.Errorf("dex %s: %w", c, ErrForked)
	}
	return cursor{}, nil
}

// gapless cuts rows, newest first, at the first block that is missing: what is older cannot be
// taken back.
func gapless(rows []blockRow) []blockRow {
	for i := range rows {
		if rows[i].Height+uint64(i) != rows[0].Height {
			return rows[:i]
		}
	}
	return rows
}

// upkeep deletes blocks that are too old for a rollback, and checks orders without a receive.
func (f *follower) upkeep(ctx context.Context, n int) error {
	if n%pruneEvery == 0 {
		if err := f.prune(ctx); err != nil {
			return fmt.Errorf("pruning the index: %w", err)
		}
	}
	f.index.reloadTokens(ctx)
	return f.index.checkUnreceived(ctx)
}

func (f *follower) prune(ctx context.Context) error {
	return f.index.store.update(ctx, func(t *tx) error {
		for _, c := range []contract{fund, trade} {
			floor := int64(f.index.at(c).height) - int64(f.index.retainedBlocks)
			if floor <= 0 {
				continue
			}
			if err := t.exec("DELETE FROM ex_blocks WHERE contract = ? AND height < ?", c, floor); err != nil {
				return err
			}
			if c == trade {
				if err := t.exec("DELETE FROM ex_undo WHERE height < ?", floor); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
