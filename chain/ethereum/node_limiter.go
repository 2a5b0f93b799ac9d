package ethereum

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"time"

	"gatewayd/chain"
)

const (
	// maxBatch bounds the calls of one request.
	maxBatch = 100
	// minBurst requests may go at once whatever the rate, so that the largest fixed batch fits.
	minBurst = 4
	// firstPause follows a refusal; each further one in a row doubles it, up to lastPause. A node
	// that names a time gets what it names, up to longestPause: a day's allowance may be raised by
	// its owner any minute.
	firstPause   = 500 * time.Millisecond
	lastPause    = 30 * time.Second
	longestPause = 2 * time.Minute
)

// nodeLimiter keeps the requests to one node within what it allows: a rate, and pauses when it
// refuses some for being too many.
type nodeLimiter struct {
	mu       sync.Mutex
	rate     *nodeRate
	till     time.Time // no request before
	streak   int       // refusals in a row
	refusals uint64
}

func newNodeLimiter(perSecond int) *nodeLimiter { return &nodeLimiter{rate: newNodeRate(perSecond)} }

// most returns the number of calls that may go at once.
func (p *nodeLimiter) most() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.rate.most()
}

// wait returns when count calls may go. With patience it also waits for the end of a pause.
// chain.ErrLimited: that is too late for ctx.
func (p *nodeLimiter) wait(ctx context.Context, count int, patience bool) error {
	for {
		if left := p.left(); left > 0 {
			if !patience {
				return chain.ErrLimited
			}
			if err := sleep(ctx, left); err != nil {
				return err
			}
			continue
		}
		p.mu.Lock()
		now := time.Now()
		room := p.rate.reserve(now, count)
		p.mu.Unlock()
		if err := sleep(ctx, room.DelayFrom(now)); err != nil {
			room.Cancel()
			return err
		}
		if p.left() <= 0 { // else a pause has begun meanwhile
			return nil
		}
	}
}

// sleep waits; chain.ErrLimited, at once, if the deadline of ctx comes first.
func sleep(ctx context.Context, length time.Duration) error {
	if deadline, bounded := ctx.Deadline(); bounded && time.Until(deadline) < length {
		return chain.ErrLimited
	}
	if length <= 0 {
		return ctx.Err()
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(length):
		return nil
	}
}

// left returns the rest of a pause.
func (p *nodeLimiter) left() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Until(p.till)
}

// refused notes a refusal, and begins a pause if the node has not named one.
func (p *nodeLimiter) refused() {
	p.mu.Lock()
	p.refusals++
	p.mu.Unlock()
	p.pause(0)
}

// pause begins a pause and lowers the rate. The pause has the length that the node has named, or
// twice that of the last one. Requests that were under way together are refused together, which
// lengthens it once.
func (p *nodeLimiter) pause(named time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if now.Before(p.till) {
		p.till = later(p.till, now.Add(min(named, longestPause)))
		return
	}
	length := min(firstPause<<min(p.streak, 10), lastPause)
	length = length/2 + rand.N(length/2) // so that several daemons do not come back together
	if named > 0 {
		length = min(named, longestPause) + rand.N(firstPause/2)
	}
	p.streak++
	p.till = now.Add(length)
	p.rate.lower(now, length)
}

// accepted counts calls that were answered, and ends a row of refusals.
func (p *nodeLimiter) accepted(count int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	p.rate.accept(now, count)
	if now.After(p.till) {
		p.streak = 0
	}
}

// restore lifts a lowered rate: the refusals had another reason.
func (p *nodeLimiter) restore() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rate.restore(time.Now())
}

// count returns the number of refused requests since the start.
func (p *nodeLimiter) count() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.refusals
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// pauseAsTold begins a pause when an HTTP answer asks for one.
func (p *nodeLimiter) pauseAsTold(response *http.Response) {
	named := retryAfter(response.Header.Get("Retry-After"), time.Now())
	if response.StatusCode == http.StatusTooManyRequests || response.StatusCode == http.StatusServiceUnavailable && named > 0 {
		p.pause(named)
	}
}

// retryAfter reads the header of that name (RFC 9110, 10.2.3): seconds, or a date. Zero for
// anything else.
func retryAfter(text string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}
