package watcher

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/chaintest"
	"gatewayd/records"
)

// flaky is a ledger whose node fails to show some blocks. It counts how often each was asked for.
type flaky struct {
	*chaintest.Chain
	fails func(height uint64) bool

	mu    sync.Mutex
	reads map[uint64]int
}

func (c *flaky) Block(ctx context.Context, height uint64) (chain.Block, error) {
	c.mu.Lock()
	c.reads[height]++
	failed := c.fails(height)
	c.mu.Unlock()
	if failed {
		return chain.Block{}, fmt.Errorf("block %d: %w", height, chain.ErrUnavailable)
	}
	return c.Chain.Block(ctx, height)
}

// flakyRanges also answers ranges, without the blocks that fail.
type flakyRanges struct{ *flaky }

func (c flakyRanges) Blocks(ctx context.Context, from, to uint64) (blocks []chain.Block, failure error) {
	for height := from; height <= to; height++ {
		b, err := c.Block(ctx, height)
		if err != nil {
			failure = err
			continue
		}
		blocks = append(blocks, b)
	}
	return blocks, failure
}

// behind is a rig whose source chain is some blocks ahead, read through a node that fails.
func behind(t *testing.T, blocks int, ranges bool, fails func(height uint64) bool) (*rig, *flaky) {
	t.Helper()
	r := setup(t)
	f := &flaky{Chain: r.eth, fails: fails, reads: map[uint64]int{}}
	r.parts.Chains = map[chain.ID]chain.Chain{"eth": f, "vite": r.vite}
	if ranges {
		r.parts.Chains["eth"] = flakyRanges{f}
	}
	w, err := New(Config{FetchAhead: 8}, r.parts)
	require.NoError(t, err)
	r.w = w
	r.eth.Mine(blocks)
	return r, f
}

func bothWays(t *testing.T, test func(t *testing.T, ranges bool)) {
	t.Helper()
	for name, ranges := range map[string]bool{"blocks": false, "ranges": true} {
		t.Run(name, func(t *testing.T) { test(t, ranges) })
	}
}

// TestOneFailedCallCostsOneCall has one call of 200 fail: the round ends well, and no other block
// is read twice.
func TestOneFailedCallCostsOneCall(t *testing.T) {
	bothWays(t, func(t *testing.T, ranges bool) {
		failed := false
		r, f := behind(t, 200, ranges, func(height uint64) bool {
			fails := height == 100 && !failed
			failed = failed || fails
			return fails
		})
		r.step()
		require.EqualValues(t, 200, r.cursor("eth").Height)
		for height := uint64(1); height <= 200; height++ {
			want := 1
			if height == 100 {
				want = 2
			}
			require.Equal(t, want, f.reads[height], "block %d", height)
		}
	})
}

// TestBlocksBeyondAGapAreKept has one block fail for some rounds. The blocks below it are applied
// at once and those above it are not read again.
func TestBlocksBeyondAGapAreKept(t *testing.T) {
	bothWays(t, func(t *testing.T, ranges bool) {
		open := false
		r, f := behind(t, 60, ranges, func(height uint64) bool { return height == 50 && !open })
		r.step() // it made progress, so that it reports no failure
		require.EqualValues(t, 49, r.cursor("eth").Height)
		for range 3 {
			require.ErrorIs(t, r.w.Step(t.Context()), chain.ErrUnavailable, "without progress it fails")
		}
		open = true
		r.step()
		require.EqualValues(t, 60, r.cursor("eth").Height)
		for height, n := range f.reads {
			if height != 50 {
				require.Equal(t, 1, n, "block %d", height)
			}
		}
	})
}

// TestProgressWhileCallsFail reads 600 blocks though three calls of ten fail for as long as it
// takes.
func TestProgressWhileCallsFail(t *testing.T) {
	bothWays(t, func(t *testing.T, ranges bool) {
		random := rand.New(rand.NewPCG(1, 2))
		r, f := behind(t, 600, ranges, func(uint64) bool { return random.IntN(10) < 3 })
		rounds := 0
		for ; r.cursor("eth").Height < 600; rounds++ {
			require.Less(t, rounds, 200)
			_ = r.w.Step(t.Context()) // it fails when its first call does
		}
		calls := 0
		for _, n := range f.reads {
			calls += n
		}
		require.Less(t, calls, 2*600, "each failed call costs about one call")
	})
}

// TestKeptBlocksOfALeftBranchAreReadAgain keeps blocks above a gap while the chain changes below
// it.
func TestKeptBlocksOfALeftBranchAreReadAgain(t *testing.T) {
	bothWays(t, func(t *testing.T, ranges bool) {
		open := false
		r, _ := behind(t, 20, ranges, func(height uint64) bool { return height == 18 && !open })
		_, address := r.user()
		hash := r.deposit(address, 50_000)
		r.eth.Mine(1)
		r.step()
		require.EqualValues(t, 17, r.cursor("eth").Height)
		r.eth.Reorg(3, true) // 19, 20 and 21 are kept, if they were read
		open = true
		r.step()
		cur := r.cursor("eth")
		head, err := r.eth.Head(t.Context())
		require.NoError(t, err)
		require.Equal(t, head.Latest, cur.Point)
		r.rest()
		r.requireState(hash, records.Final, "")
		r.requireSound()
	})
}
