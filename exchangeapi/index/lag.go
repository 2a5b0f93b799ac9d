package index

import (
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/sirupsen/logrus"
)

// Lag is the distance of the index from its node.
type Lag struct {
	For     time.Duration // since when it is not up to date; zero while it is
	Missing uint64        // blocks that the node is known to have and the index has not; more may have come since
}

// How often the log repeats that the index is behind, and how it gets on with catching up.
const (
	remindEvery   = time.Minute
	progressEvery = 10 * time.Second
)

// warnAfter is the duration of a first catch-up after which the log warns.
const warnAfter = time.Minute

// lagging stores the state for Lag.
type lagging struct {
	mu       sync.Mutex
	since    time.Time // zero while up to date
	tops     map[contract]uint64
	reported time.Time // when it was last logged
	// confirmed is when a poll last found it up to date, heard when there was last any news.
	confirmed, heard time.Time
	opened           time.Time
	once             bool // it has been up to date since it was opened
}

// open sets when the index was opened: it is behind from then until its first poll.
func (l *lagging) open(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.since, l.opened, l.confirmed, l.heard = now, now, now, now
}

// hear records news of the chain.
func (l *lagging) hear(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.heard = now
}

// silent is the time since the last news.
func (l *lagging) silent(now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return now.Sub(l.heard)
}

// unconfirmed is the time since a poll last found the index up to date.
func (l *lagging) unconfirmed(now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return now.Sub(l.confirmed)
}

// starting reports whether the index may still catch up for the first time, as it does at every
// start.
func (l *lagging) starting(now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.once && now.Sub(l.opened) < warnAfter
}

// setTops sets the newest heights that the node is known to have.
func (l *lagging) setTops(tops map[contract]uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.tops == nil {
		l.tops = map[contract]uint64{}
	}
	for c, top := range tops {
		if top > 0 {
			l.tops[c] = top
		}
	}
}

// setUpToDate sets whether the last poll left the index up to date, and if not, since when at the
// latest.
func (l *lagging) setUpToDate(current bool, since, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case current:
		l.since, l.once, l.confirmed = time.Time{}, true, now
	case l.since.IsZero(), since.Before(l.since):
		l.since = since
	}
}

// reminderDue reports whether the lag is to be logged again, and if so takes it as logged.
func (l *lagging) reminderDue(every time.Duration, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.since.IsZero() || now.Sub(l.reported) < every {
		return false
	}
	l.reported = now
	return true
}

// Lag returns the known distance of the index from its node.
func (x *Index) Lag() Lag {
	at, now := x.allCursors(), x.config.Now()
	x.lag.mu.Lock()
	since, confirmed, tops := x.lag.since, x.lag.confirmed, maps.Clone(x.lag.tops)
	x.lag.mu.Unlock()
	if since.IsZero() {
		if now.Sub(confirmed) <= x.pollPatience() {
			return Lag{}
		}
		since = confirmed
	}
	lag := Lag{For: now.Sub(since)}
	for c, top := range tops {
		if top > at[c].height {
			lag.Missing += top - at[c].height
		}
	}
	return lag
}

// progress records that the index is catching up when the node has more than one batch, and logs it
// from time to time. recordOutcome records the end.
func (x *Index) progress(t *batch) {
	x.lag.setTops(map[contract]uint64{fund: t.funds.top, trade: max(t.trades.top, t.most)})
	x.lag.hear(x.config.Now())
	x.reached.Store(true)
	if !t.more {
		return
	}
	now := x.config.Now()
	x.lag.setUpToDate(false, now, now)
	x.caught.Store(false)
	if x.lag.reminderDue(progressEvery, now) {
		lag := x.Lag()
		x.log.WithField("missing", lag.Missing).WithField("for", lag.For.Round(time.Second)).Info("the exchange index catches up with the chain")
	}
}

// recordOutcome records the outcome of a poll for Ready and Lag. It logs changes, and repeats an
// error while it lasts.
func (x *Index) recordOutcome(err error) {
	now := x.config.Now()
	since := now
	if s := standstill(err); s != nil {
		since = s.Since
	}
	x.lag.setUpToDate(err == nil, since, now)
	if err == nil || standstill(err) != nil {
		x.lag.hear(now)
	}
	before := x.trouble.Swap(pointerTo(err))
	fresh := err != nil && (before == nil || (*before).Error() != err.Error())
	reminds := x.lag.reminderDue(remindEvery, now)
	switch {
	case fresh || (err != nil && reminds):
		lag, level := x.Lag(), logrus.WarnLevel
		if x.lag.starting(now) {
			level = logrus.InfoLevel
		}
		x.log.WithError(err).WithFields(logrus.Fields{"missing": lag.Missing, "for": lag.For.Round(time.Second)}).Log(level, "the exchange index is not up to date")
	case err == nil && before != nil:
		x.log.Info("the exchange index is up to date again")
	}
	x.caught.Store(err == nil)
	if err == nil {
		x.reached.Store(true)
	}
}

// standstill returns the StandstillError in an error, or nil.
func standstill(err error) (s *StandstillError) {
	_ = errors.As(err, &s)
	return s
}
