package index

import (
	"errors"
	"maps"
	"sync"
	"time"
)

// Lag is how far the index is behind its node.
type Lag struct {
	For     time.Duration // since when it is not up to date; zero while it is
	Missing uint64        // blocks that the node is known to have and the index has not; more may have come since
}

// How often the log repeats that the index is behind, and how it gets on with catching up.
const (
	remindEvery   = time.Minute
	progressEvery = 10 * time.Second
)

// lagging remembers what Lag tells.
type lagging struct {
	mu    sync.Mutex
	since time.Time // zero while up to date
	tops  map[contract]uint64
	told  time.Time // when the log last heard of it
}

// saw notes the newest heights that the node has told of.
func (l *lagging) saw(t *batch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.tops == nil {
		l.tops = map[contract]uint64{}
	}
	for c, top := range map[contract]uint64{fund: t.funds.top, trade: max(t.trades.top, t.most)} {
		if top > 0 {
			l.tops[c] = top
		}
	}
}

// became notes whether the last look left the index up to date.
func (l *lagging) became(current bool, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case current:
		l.since = time.Time{}
	case l.since.IsZero():
		l.since = now
	}
}

// due tells whether the log should hear of it again, and if so takes it as told.
func (l *lagging) due(every time.Duration, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.since.IsZero() || now.Sub(l.told) < every {
		return false
	}
	l.told = now
	return true
}

// Lag tells how far the index is behind, as far as it knows.
func (x *Index) Lag() Lag {
	at, now := x.allCursors(), x.config.Now()
	x.lag.mu.Lock()
	since, tops := x.lag.since, maps.Clone(x.lag.tops)
	x.lag.mu.Unlock()
	if since.IsZero() {
		return Lag{}
	}
	lag := Lag{For: now.Sub(since)}
	for c, top := range tops {
		if top > at[c].height {
			lag.Missing += top - at[c].height
		}
	}
	return lag
}

// progress tells the log, from time to time, that blocks are being caught up with.
func (x *Index) progress(t *batch) {
	x.lag.saw(t)
	x.reached.Store(true)
	if t.more && x.lag.due(progressEvery, x.config.Now()) {
		lag := x.Lag()
		x.log.WithField("missing", lag.Missing).WithField("for", lag.For.Round(time.Second)).Info("the exchange index catches up with the chain")
	}
}

// judge keeps the outcome of a look for Ready and Lag, and tells the log of changes and, while there is trouble, of it again and again.
func (x *Index) judge(err error) {
	now := x.config.Now()
	x.lag.became(err == nil, now)
	before := x.trouble.Swap(problem(err))
	fresh := err != nil && (before == nil || (*before).Error() != err.Error())
	reminds := x.lag.due(remindEvery, now) && !errors.Is(err, errOther) // to stand by is no trouble
	switch {
	case fresh || err != nil && reminds:
		lag := x.Lag()
		x.log.WithError(err).WithField("missing", lag.Missing).WithField("for", lag.For.Round(time.Second)).Warn("the exchange index is not up to date")
	case err == nil && before != nil:
		x.log.Info("the exchange index is up to date again")
	}
	x.caught.Store(err == nil)
	if err == nil || errors.Is(err, errOther) {
		x.reached.Store(true)
	}
}
