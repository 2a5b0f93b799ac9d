package httpserver

import (
	"context"
	"maps"
	"sync"
	"time"
)

// A load balancer takes a server out of service after some refusals of its readiness. A client
// that has not asked for a while is none.
const (
	stopRefusals = 3
	askerAge     = 30 * time.Second
	stopPoll     = 50 * time.Millisecond
	maxAskers    = 64
)

// StopLimit is the longest that Stop waits.
const StopLimit = 8 * time.Second

// Readiness lets load balancers send clients to another process before this one stops. All
// listeners of a process share it. It is safe for concurrent use; nil is always ready.
type Readiness struct {
	mu       sync.Mutex
	stopping bool
	askers   map[string]*asker
}

// asker is a client of the readiness.
type asker struct {
	last    time.Time
	refused int
}

// NewReadiness returns the readiness of a process that runs.
func NewReadiness() *Readiness { return &Readiness{askers: map[string]*asker{}} }

// Ready reports whether a client should send requests: false once the process stops. who names the
// client, the listener that it asks, and the query: backends of one load balancer that check apart
// ask with different ones.
func (r *Readiness) Ready(who string) bool {
	if r == nil {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.askers[who]
	if a == nil {
		maps.DeleteFunc(r.askers, func(_ string, a *asker) bool { return time.Since(a.last) > askerAge })
		if a = new(asker); len(r.askers) < maxAskers {
			r.askers[who] = a
		}
	}
	a.last = time.Now()
	if r.stopping {
		a.refused++
	}
	return !r.stopping
}

// Stop makes the process not ready, and waits until the load balancers have noticed, or StopLimit
// or ctx ends. Without a load balancer it does not wait.
func (r *Readiness) Stop(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, StopLimit)
	defer cancel()
	begun := time.Now()
	r.mu.Lock()
	r.stopping = true
	r.mu.Unlock()
	for !r.noticed(begun) {
		select {
		case <-ctx.Done():
			return
		case <-time.After(stopPoll):
		}
	}
}

// noticed reports whether each load balancer has seen enough refusals.
func (r *Readiness) noticed(begun time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range r.askers {
		if begun.Sub(a.last) < askerAge && a.refused < stopRefusals {
			return false
		}
	}
	return true
}
