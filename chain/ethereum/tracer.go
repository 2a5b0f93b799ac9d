package ethereum

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/sirupsen/logrus"

	"gatewayd/chain"
)

const (
	// traceFailures calls in a row, for at least tracePatience, must fail before a node counts as
	// one that does not trace.
	traceFailures = 2
	tracePatience = 15 * time.Second
	// A node that does not trace is asked again after firstRetrace, then after twice the pause, at
	// most lastRetrace.
	firstRetrace = 5 * time.Second
	lastRetrace  = time.Minute
)

// optionalCall is the key of calls that the adapter can do without: their failure does not count
// against the node.
type optionalCall struct{}

func optional(ctx context.Context) context.Context {
	return context.WithValue(ctx, optionalCall{}, true)
}

// tracer remembers whether one node traces. Providers withdraw the method, restrict it to a plan,
// or serve it by some machines of a pool only, so the answer is never permanent: a node that does
// not trace is asked again after a pause.
type tracer struct {
	log logrus.FieldLogger // nil: no log

	mu       sync.Mutex
	worked   bool // it has traced a block since the start
	why      error
	till     time.Time // it is not asked before; used while why is set
	pause    time.Duration
	failures int       // calls in a row without an answer
	since    time.Time // when the first of them began
}

// absent returns why the node is not to be asked now; nil when it is.
func (t *tracer) absent(now time.Time) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.why != nil && now.Before(t.till) {
		return t.why
	}
	return nil
}

// works records a trace.
func (t *tracer) works() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.why != nil && t.log != nil {
		t.log.Info("the node traces blocks again")
	}
	t.worked, t.why, t.pause, t.failures = true, nil, 0, 0
}

// answered records an answer that concerns one block only.
func (t *tracer) answered() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failures = 0
}

// lose records that the node does not trace. Calls that were under way together lengthen the pause
// once.
func (t *tracer) lose(now time.Time, why error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.loseLocked(now, why)
}

func (t *tracer) loseLocked(now time.Time, why error) {
	if t.why != nil && now.Before(t.till) {
		return
	}
	if t.why == nil && t.log != nil {
		log := t.log.WithError(why)
		if t.worked {
			log.Warn("the node no longer traces blocks")
		} else {
			log.Info("the node does not trace blocks")
		}
	}
	t.pause = min(max(2*t.pause, firstRetrace), lastRetrace)
	t.why, t.till, t.failures = why, now.Add(t.pause), 0
}

// failed records a call without a usable answer, and reports whether the node counts as one that
// does not trace.
func (t *tracer) failed(begin, now time.Time, why error) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.why == nil {
		if t.failures == 0 {
			t.since = begin
		}
		t.failures++
		if t.failures < traceFailures || now.Sub(t.since) < tracePatience {
			return false
		}
		why = fmt.Errorf("tracing has failed for %s: %w", now.Sub(t.since).Truncate(time.Second), why)
	}
	t.loseLocked(now, why)
	return true
}

// traceLoss remembers the last block that needed a trace and got none.
type traceLoss struct {
	mu     sync.Mutex
	height uint64
	why    error     // nil: nothing is lost
	probe  time.Time // when a block that needs no trace is traced to see whether the nodes trace again
}

func (l *traceLoss) begin(height uint64, why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.height, l.why = height, why
	l.probe = time.Now().Add(firstRetrace)
}

func (l *traceLoss) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.why = nil
}

// mayProbe reports whether a block that needs no trace should be traced now, and counts that as
// done.
func (l *traceLoss) mayProbe(now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.why == nil || now.Before(l.probe) {
		return false
	}
	l.probe = now.Add(lastRetrace)
	return true
}

// TracingLoss reports why the last block that needed a trace got none.
func (c *Chain) TracingLoss() chain.TracingLoss {
	c.loss.mu.Lock()
	defer c.loss.mu.Unlock()
	if c.loss.why == nil {
		return chain.TracingLoss{}
	}
	return chain.TracingLoss{Height: c.loss.height, Why: c.loss.why.Error(), Required: c.config.Traces == tracesOn}
}
