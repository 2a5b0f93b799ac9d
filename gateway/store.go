package gateway

import (
	"context"
	"fmt"
	"time"

	"gatewayd/records"
)

// maxCalls bounds the requests that are with the store at one time; the others wait within their
// own time.
const maxCalls = 256

type transaction func(context.Context, func(*records.Tx) error) error

// callStore runs f in a transaction and answers in ctx's time even when the store hangs; Run waits
// for calls that were left behind so.
func callStore[T any](ctx context.Context, s *Server, in transaction, f func(*records.Tx) (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	if err := s.slots.Acquire(ctx, 1); err != nil {
		return *new(T), fmt.Errorf("waiting for the store: %w", err)
	}
	done := make(chan result, 1) // one result, which may never be read
	s.call(func() {
		defer s.slots.Release(1)
		var r result
		defer func() {
			if p := recover(); p != nil { // a broken invariant of ours must not end the daemon
				r.err = fmt.Errorf("panic in a transaction: %v", p)
			}
			done <- r
		}()
		r.err = in(ctx, func(tx *records.Tx) (err error) {
			r.value, err = f(tx)
			return err
		})
	})
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		return *new(T), fmt.Errorf("asking the store: %w", ctx.Err())
	}
}

// idleCallTimeout is the time for which a worker goroutine waits for its next call.
const idleCallTimeout = 100 * time.Millisecond

// call runs f in a goroutine, rather in one that made a call before: its stack has grown to what
// the store needs, which costs more than a call.
func (s *Server) call(f func()) {
	select {
	case s.next <- f:
	default:
		s.calls.Go(func() { s.makeCalls(f) })
	}
}

func (s *Server) makeCalls(f func()) {
	wait := time.NewTimer(idleCallTimeout)
	defer wait.Stop()
	for {
		f()
		wait.Reset(idleCallTimeout)
		select {
		case f = <-s.next:
		case <-wait.C:
			return
		}
	}
}
