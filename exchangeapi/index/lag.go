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
	opened   time.Time
	once     bool // it has been up to date since it was opened
}

// open sets when the index was opened: it is behind from then until its first poll.
func (l *lagging) open(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.since, l.opened = now, now
}

// starting reports whether the index may still catch up for the first time, as it does at every
// start.
func (l *lagging) starting(now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.once && now.Sub(l.opened) < warnAfter
}

// setTops sets the newest heights that the node is known to have.
func (l *lagging) setTops(t *batch) {
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

// setUpToDate sets whether the last poll left the index up to date, and if not, since when at the
// latest.
func (l *lagging) setUpToDate(current bool, since time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case current:
		l.since, l.once = time.Time{}, true
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

// progress records that the index is catching up when the node has more than one batch, and logs it
// from time to time. recordOutcome records the end.
func (x *Index) progress(t *batch) {
	x.lag.setTops(t)
	x.reached.Store(true)
	if !t.more {
		return
	}
	now := x.config.Now()
	x.lag.setUpToDate(false, now)
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
	x.lag.setUpToDate(err == nil, since)
	before := x.trouble.Swap(pointerTo(err))
	fresh := err != nil && (before == nil || (*before).Error() != err.Error())
	reminds := x.lag.reminderDue(remindEvery, now) && !errors.Is(err, errMovedByOther) // a standby process is not a fault
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
	if err == nil || errors.Is(err, errMovedByOther) {
		x.reached.Store(true)
	}
}

// standstill returns the StandstillError in an error, or nil.
func standstill(err error) (s *StandstillError) {
	_ = errors.As(err, &s)
	return s
}
