package ethereum

import (
	"sync"
	"time"
)

const (
	// A refused size of batches is not tried again for batchRetry. Then batches grow again, at most
	// once in batchGrowth.
	batchRetry  = 10 * time.Minute
	batchGrowth = 10 * time.Second
	// limitedBatches refusals of batches in a row, all for the number of requests, cause a single
	// call next. If the node answers that, it refuses batches.
	limitedBatches = 3
)

// batchSize is the number of calls that a node takes in a request. The zero value means maxBatch.
type batchSize struct {
	mu      sync.Mutex
	bound   int       // 0: none was refused lately
	growAt  time.Time // with a bound
	limited int       // batches refused in a row for the number of requests
}

// most returns the number of calls that the next request may have.
func (b *batchSize) most(now time.Time) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.limited >= limitedBatches {
		return 1
	}
	if b.bound > 0 && !now.Before(b.growAt) {
		b.bound, b.growAt = 2*b.bound, now.Add(batchGrowth)
		if b.bound >= maxBatch {
			b.bound = 0
		}
	}
	if b.bound == 0 {
		return maxBatch
	}
	return b.bound
}

// tooLarge notes that a batch was refused for its size.
func (b *batchSize) tooLarge(now time.Time, size int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.set(now, max(1, size/2))
}

// set is called with mu held.
func (b *batchSize) set(now time.Time, bound int) {
	if b.bound == 0 || bound < b.bound {
		b.bound = bound
	}
	b.growAt = now.Add(batchRetry)
}

// refused notes a request that was refused for the number of requests.
func (b *batchSize) refused(calls int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if calls > 1 {
		b.limited++
	}
}

// accepted notes a request that was answered. It reports whether that shows that the refusals
// before it concerned batches, and not the rate of calls.
func (b *batchSize) accepted(now time.Time, calls int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	shown := calls == 1 && b.limited >= limitedBatches
	if shown {
		b.set(now, 1)
	}
	if shown || calls > 1 {
		b.limited = 0
	}
	return shown
}
