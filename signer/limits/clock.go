package limits

import (
	"fmt"
	"sync"
	"time"
)

// A clock that is ahead by at most maxStep is believed after a start: the signer was off for so
// long. While it runs, the monotonic clock of time.Now shows what has passed, and only small
// corrections are taken over.
const (
	maxStep       = 31 * 24 * time.Hour
	maxCorrection = time.Minute
)

// Clock is the time by which limits are counted. It never goes back. A jump of the system's clock
// neither frees what is used nor keeps it used: from then on the clock advances by the time that
// passes, until a day later nothing is left that the jump could free. It is safe for concurrent
// use.
type Clock struct {
	now func() time.Time

	mu       sync.Mutex
	last     time.Time     // the last reading
	time     time.Time     // without a monotonic part
	jumped   string        // how the system's clock differs; empty: it does not, or for more than a day
	passed   time.Duration // since it jumped
	accepted time.Duration // how far behind the system's clock may stay: it was reported for a day
}

// NewClock has read nothing yet.
func NewClock(now func() time.Time) *Clock { return &Clock{now: now} }

// Restore takes the time of what was counted before: the clock is never before that.
func (c *Clock) Restore(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.time.Before(at) {
		c.time = at.Round(0)
	}
}

// Wall is the system's time.
func (c *Clock) Wall() time.Time { return c.now().Round(0) }

// Now is the time to count by.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.read()
}

// Jump describes a jump of the system's clock for a day; empty: there was none.
func (c *Clock) Jump() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read()
	return c.jumped
}

// Shown is a time of this clock as the system's clock will show it, where the two are far apart.
func (c *Clock) Shown(at time.Time) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ahead := c.last.Round(0).Sub(c.time); !at.IsZero() && ahead.Abs() > maxStep {
		return at.Add(ahead)
	}
	return at
}

func (c *Clock) read() time.Time {
	reading := c.now()
	passed, tolerance := c.step(reading)
	c.last = reading
	if c.time.IsZero() {
		c.time = reading.Round(0)
	}
	c.time = c.time.Add(passed)
	c.passed += passed
	ahead := reading.Round(0).Sub(c.time)
	if ahead >= 0 && ahead <= tolerance {
		c.time, c.accepted, ahead = c.time.Add(ahead), 0, 0
	}
	c.compare(ahead)
	return c.time
}

// step returns how much time has passed since the last reading, and how far ahead a clock may be
// that is believed.
func (c *Clock) step(reading time.Time) (passed, tolerance time.Duration) {
	if c.last.IsZero() {
		return 0, maxStep
	}
	passed = max(reading.Sub(c.last), 0)
	if reading != reading.Round(0) && c.last != c.last.Round(0) { // both have the monotonic clock
		return passed, maxCorrection
	}
	if passed > maxStep {
		passed = 0
	}
	return passed, maxStep
}

// compare notes a jump, and ends it a day later.
func (c *Clock) compare(ahead time.Duration) {
	differs := ahead > 0 || ahead < c.accepted-maxCorrection
	if differs && c.jumped == "" {
		c.passed = 0
	}
	if differs {
		how := "ahead of"
		if ahead < 0 {
			how = "behind"
		}
		c.jumped = fmt.Sprintf("the system's clock is %s %s what the limits have counted: it has jumped, and limits are counted by the time that passes", ahead.Abs().Round(time.Second), how)
	}
	if c.jumped == "" || c.passed < Past {
		return
	}
	c.jumped, c.accepted = "", min(ahead, 0)
	if ahead > 0 {
		c.time = c.time.Add(ahead)
	}
}
