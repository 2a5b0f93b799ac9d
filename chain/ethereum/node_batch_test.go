package ethereum

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ethereum/go-ethereum/rpc"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
)

// TestBatchesGrowAgain: a refused size is not tried again for a while. Then batches grow back in
// steps.
func TestBatchesGrowAgain(t *testing.T) {
	var b batchSize
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	require.Equal(t, maxBatch, b.most(now))
	b.tooLarge(now, 100)
	b.tooLarge(now, 50)
	require.Equal(t, 25, b.most(now))
	now = now.Add(batchRetry - 1)
	require.Equal(t, 25, b.most(now))
	for _, want := range []int{50, maxBatch, maxBatch} {
		now = now.Add(batchGrowth)
		require.Equal(t, want, b.most(now))
		require.Equal(t, want, b.most(now))
	}
	b.tooLarge(now, 1)
	require.Equal(t, 1, b.most(now))
}

// TestRefusalsOfBatchesForTheirNumber: three refused batches in a row are followed by a single
// call, whose answer shows what was refused.
func TestRefusalsOfBatchesForTheirNumber(t *testing.T) {
	var b batchSize
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	for range limitedBatches {
		require.Equal(t, maxBatch, b.most(now))
		require.False(t, b.accepted(now, 1))
		b.refused(100)
	}
	b.refused(1)
	require.Equal(t, 1, b.most(now))
	require.True(t, b.accepted(now, 1))
	require.False(t, b.accepted(now, 1))
	require.Equal(t, 1, b.most(now.Add(batchRetry-1)))
	require.Equal(t, 2, b.most(now.Add(batchRetry)))

	var rare batchSize
	for range 2 * limitedBatches {
		rare.refused(100)
		require.False(t, rare.accepted(now, 100), "an answered batch ends the row")
	}
	require.Equal(t, maxBatch, rare.most(now))
}

// TestBatchesRefusedAsTooFrequent: a node answers HTTP 429 to each batch and has no limit of single
// calls. After the first refusals nothing is slow.
func TestBatchesRefusedAsTooFrequent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := behindProviders(t, newProvider(8000, atMost(1, refused(http.StatusTooManyRequests, `{}`))))
		defer c.Close()
		read, failed := follow(t, c, true, 3)
		require.Zero(t, failed)
		require.Greater(t, read[1], 500, "%v", read)
	})
}

// TestARateFollowsThePeak: a single refusal in a quiet second does not slow down a node that has
// accepted much more before.
func TestARateFollowsThePeak(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newNodeLimiter(0)
		for range 100 {
			require.NoError(t, p.wait(t.Context(), 1, true))
			p.accepted(1)
		}
		synctestAdvance(time.Minute)
		require.NoError(t, p.wait(t.Context(), 1, true))
		p.refused()
		require.EqualValues(t, 70, p.rate.bucket.Limit())
	})
}

// TestOurLimitIsNotTheNodesFault: the configured rate leaves a caller too little time for an
// answer. The node is not recorded as one that does not answer.
func TestOurLimitIsNotTheNodesFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := behindProviders(t, newProvider(10, honest))
		defer c.Close()
		n := c.nodes[0]
		require.NoError(t, n.ready(t.Context()))
		n.limiter.rate = newNodeRate(1)
		require.NoError(t, n.limiter.wait(t.Context(), minBurst, true))
		ctx, cancel := context.WithTimeout(t.Context(), 1020*time.Millisecond)
		defer cancel()
		var id string
		err := n.call(ctx, &id, "eth_chainId")
		require.ErrorIs(t, err, chain.ErrLimited)
		require.ErrorIs(t, ctx.Err(), context.DeadlineExceeded)
		require.True(t, n.State().Up, n.State().Why)

		short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		n.limiter.restore()
		n.limiter.rate = newNodeRate(0)
		require.ErrorIs(t, n.call(short, &id, "eth_chainId"), context.DeadlineExceeded)
		require.False(t, n.State().Up, "without a wait the missing answer is the node's")
	})
}

// TestCutOfLimitedBatch: the only node refuses batches as too frequent. The same batch is then
// requested call by call.
func TestCutOfLimitedBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := behindProviders(t, newProvider(100, atMost(1, refused(http.StatusTooManyRequests, `{}`))))
		defer c.Close()
		elems := make([]rpc.BatchElem, 20)
		ids := make([]string, len(elems))
		for i := range elems {
			elems[i] = rpc.BatchElem{Method: "eth_chainId", Result: &ids[i]}
		}
		require.NoError(t, c.nodes[0].batch(t.Context(), elems))
		for i := range elems {
			require.NoError(t, elems[i].Error)
			require.Equal(t, "0x1", ids[i])
		}
	})
}
