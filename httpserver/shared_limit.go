package httpserver

import (
	"context"
	"sync/atomic"
	"time"
)

// taker counts what a client takes from a limit in all processes: so many at once, then one in
// each period.
type taker interface {
	Take(ctx context.Context, limit, client string, period time.Duration, burst int) (wait time.Duration, err error)
}

// SharedLimit bounds what each client takes from all processes on one database together. It is for
// what costs money or work that all of them share. It is safe for concurrent use.
type SharedLimit struct {
	name  string
	own   *Limit // of this process: a client that has used it up costs no query
	bound atomic.Pointer[bound]
}

type bound struct {
	period time.Duration
	burst  int
}

// NewSharedLimit lets a client take burst at once, and one in each period. Limits on one database
// have names of their own.
func NewSharedLimit(name string, period time.Duration, burst int, now func() time.Time) *SharedLimit {
	l := &SharedLimit{name: name, own: NewLimit(1/period.Seconds(), burst, now)}
	l.bound.Store(&bound{period, burst})
	return l
}

// Change takes another bound. Then this process forgets what was taken before.
func (l *SharedLimit) Change(period time.Duration, burst int) {
	l.own.Change(1/period.Seconds(), burst)
	l.bound.Store(&bound{period, burst})
}

// Take counts one and returns the client's waiting time; 0 when it may continue. This machine ("")
// is not counted.
func (l *SharedLimit) Take(ctx context.Context, all taker, client string) (wait time.Duration, err error) {
	if wait := l.own.Take(client); wait > 0 || client == "" {
		return wait, nil
	}
	b := l.bound.Load()
	return all.Take(ctx, l.name, client, b.period, b.burst)
}
