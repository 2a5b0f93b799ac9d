package ethereum

import (
	"time"

	"golang.org/x/time/rate"
)

const (
	// acceptedShare of the calls that a node accepted in a second is the rate after it has refused
	// one.
	acceptedShare = 0.7
	// leastRate is the lowest rate, in calls a second. A node that accepts fewer is served by
	// pauses.
	leastRate = 2
	// burstShare is the part of a lowered rate that may be used at once, so that no second has more
	// calls than the node has accepted before.
	burstShare = 3

	// A lowered rate is held for firstHold, twice as long after each refusal that ends its growth,
	// at most lastHold. Then it grows: by a tenth, and after each growthEvery by twice as much as
	// before, at most to the double. Above enoughRate nothing is bounded any more.
	firstHold   = 10 * time.Second
	lastHold    = 2 * time.Minute
	growthEvery = 10 * time.Second
	firstGrowth = 0.1
	enoughRate  = 1000
)

// nodeRate is the rate of calls that a node accepts: the configured one, or what its refusals show.
// Growth is multiplicative and small at first: rates of providers differ by a factor of a hundred.
// The caller locks.
type nodeRate struct {
	bucket     *rate.Limiter
	configured rate.Limit // rate.Inf: none
	fullBurst  int        // at the configured rate

	hold   time.Duration // before the next growth begins
	growAt time.Time     // zero: the rate is not lowered
	growth float64

	second   time.Time // when the current second began
	asked    [2]int    // calls sent in the current second and in the one before
	accepted int       // calls that the node answered in the current second
	peak     int       // most calls that it answered in an earlier second since the last refusal
}

func newNodeRate(perSecond int) *nodeRate {
	r := &nodeRate{configured: rate.Inf, fullBurst: maxBatch, hold: firstHold}
	if perSecond > 0 {
		r.configured, r.fullBurst = rate.Limit(perSecond), max(perSecond, minBurst)
	}
	r.bucket = rate.NewLimiter(r.configured, r.fullBurst)
	return r
}

// most returns the number of calls that may go at once.
func (r *nodeRate) most() int { return min(r.bucket.Burst(), maxBatch) }

// reserve takes room for calls and returns when they may go.
func (r *nodeRate) reserve(now time.Time, calls int) *rate.Reservation {
	r.grow(now)
	r.rollover(now)
	r.asked[0] += calls
	return r.bucket.ReserveN(now, min(calls, r.bucket.Burst()))
}

// accept counts calls that were answered.
func (r *nodeRate) accept(now time.Time, calls int) {
	r.rollover(now)
	r.accepted += calls
}

// rollover begins a new second when the current one is over.
func (r *nodeRate) rollover(now time.Time) {
	passed := now.Sub(r.second)
	if passed >= time.Second {
		r.peak, r.accepted = max(r.peak, r.accepted), 0
	}
	switch {
	case passed < time.Second:
		return
	case passed < 2*time.Second:
		r.asked[1] = r.asked[0]
		r.second = r.second.Add(time.Second)
	default:
		r.asked[1] = 0
		r.second = now
	}
	r.asked[0] = 0
}

// lower answers a refusal: the rate becomes a share of the most that the node has accepted in a
// second since the last refusal; of what it was asked when it accepted nothing.
func (r *nodeRate) lower(now time.Time, pause time.Duration) {
	r.rollover(now)
	shown := rate.Limit(max(r.accepted, r.peak))
	if shown == 0 {
		shown = rate.Limit(max(r.asked[0], r.asked[1]))
	}
	if !r.growAt.IsZero() && r.growth > firstGrowth {
		r.hold = min(2*r.hold, lastHold)
	}
	r.set(now, max(leastRate, acceptedShare*min(shown, r.bucket.Limit())))
	r.growth, r.growAt = firstGrowth, now.Add(pause+r.hold)
	r.asked, r.accepted, r.peak = [2]int{}, 0, 0 // each refusal counts what led to it
}

// grow raises a lowered rate when it is time.
func (r *nodeRate) grow(now time.Time) {
	if r.growAt.IsZero() || now.Before(r.growAt) {
		return
	}
	raised := r.bucket.Limit() * rate.Limit(1+r.growth)
	if raised >= min(r.configured, enoughRate) {
		r.restore(now)
		return
	}
	r.set(now, raised)
	r.growth, r.growAt = min(2*r.growth, 1), now.Add(growthEvery)
}

// restore returns to the configured rate.
func (r *nodeRate) restore(now time.Time) {
	r.bucket.SetLimitAt(now, r.configured)
	r.bucket.SetBurstAt(now, r.fullBurst)
	r.growAt, r.hold = time.Time{}, firstHold
}

// set lowers or raises the rate below the configured one.
func (r *nodeRate) set(now time.Time, limit rate.Limit) {
	limit = min(limit, r.configured)
	r.bucket.SetLimitAt(now, limit)
	r.bucket.SetBurstAt(now, min(r.fullBurst, max(1, int(limit/burstShare))))
}
