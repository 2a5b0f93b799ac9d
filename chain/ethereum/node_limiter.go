package ethereum

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// errLimited is a node that has had enough of our requests for now. It works, so it is not counted as broken.
var errLimited = errors.New("the node's limit of requests is reached")

const (
	// maxBatch is how many calls go in one request at most.
	maxBatch = 100
	// minBurst requests may go at once whatever the rate, so that the largest fixed batch fits.
	minBurst = 4
	// firstPause follows a refusal; each further one in a row doubles it, up to lastPause. A node that names a time gets what it names, up to
	// longestPause: a day's allowance may be raised by its owner any minute.
	firstPause   = 500 * time.Millisecond
	lastPause    = 30 * time.Second
	longestPause = 2 * time.Minute
)

// nodeLimiter keeps the requests to one node within what it allows: the configured rate, and pauses when it says that they were too many.
type nodeLimiter struct {
	rate *rate.Limiter // nil: as fast as they come

	mu       sync.Mutex
	till     time.Time // no request before
	streak   int       // refusals in a row
	refusals uint64
}

func newNodeLimiter(perSecond int) *nodeLimiter {
	p := new(nodeLimiter)
	if perSecond > 0 {
		p.rate = rate.NewLimiter(rate.Limit(perSecond), max(perSecond, minBurst))
	}
	return p
}

// most is how many requests may go at once.
func (p *nodeLimiter) most() int {
	if p.rate == nil {
		return maxBatch
	}
	return min(p.rate.Burst(), maxBatch)
}

// wait lets count requests go when their time has come. With patience it also waits for the end of a pause. errLimited: it would be too late
// for ctx.
func (p *nodeLimiter) wait(ctx context.Context, count int, patience bool) error {
	if left := p.left(); left > 0 {
		deadline, bounded := ctx.Deadline()
		if !patience || bounded && time.Until(deadline) < left {
			return errLimited
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(left):
		}
	}
	if p.rate == nil {
		return nil
	}
	if err := p.rate.WaitN(ctx, min(count, p.rate.Burst())); err != nil && ctx.Err() == nil {
		return errLimited
	}
	return ctx.Err()
}

// left is how long a pause still lasts.
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

// pause begins a pause: of the length that the node has named, or twice as long as the last one. Requests that were under way together are
// refused together, which lengthens it once.
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
}

// accepted ends a row of refusals.
func (p *nodeLimiter) accepted() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Now().After(p.till) {
		p.streak = 0
	}
}

// count is how many requests were refused since the beginning.
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

// retryAfter reads the header of that name (RFC 9110, 10.2.3): seconds, or a date. Zero for anything else.
func retryAfter(text string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}
