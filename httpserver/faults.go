package httpserver

import (
	"sync/atomic"
	"time"

	"github.com/sirupsen/logrus"
	"golang.org/x/time/rate"
)

// Bounds of a FaultLog, of each level.
const (
	faultsAtOnce    = 10
	faultsPerMinute = 10
)

// FaultLog writes into a log why requests failed: errors and warnings ten at once and ten a minute
// from then on, so that clients that ask again and again do not fill it. It is safe for concurrent
// use.
type FaultLog struct {
	now    func() time.Time
	levels map[logrus.Level]*faultLevel
}

type faultLevel struct {
	lines *rate.Limiter
	left  atomic.Int64 // out since the last line
}

// NewFaultLog makes one.
func NewFaultLog(now func() time.Time) *FaultLog {
	l := &FaultLog{now: now, levels: map[logrus.Level]*faultLevel{}}
	for _, level := range []logrus.Level{logrus.ErrorLevel, logrus.WarnLevel} {
		l.levels[level] = &faultLevel{lines: rate.NewLimiter(faultsPerMinute/rate.Limit(time.Minute.Seconds()), faultsAtOnce)}
	}
	return l
}

// Write writes one entry, or counts it: the next line of its level contains the number of omitted
// lines in the field more.
func (l *FaultLog) Write(e *logrus.Entry, level logrus.Level, text string) {
	if f := l.levels[level]; f != nil {
		if !f.lines.AllowN(l.now(), 1) {
			f.left.Add(1)
			return
		}
		if more := f.left.Swap(0); more > 0 {
			e = e.WithField("more", more)
		}
	}
	e.Log(level, text)
}
