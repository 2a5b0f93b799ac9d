package dev

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"gatewayd/daemon"
)

// AwaitDaemon finds the development environment and puts URLs over those of its description; one
// that was started just now gets half a minute to answer.
func AwaitDaemon(ctx context.Context, infoPath string, over Info) (info Info, err error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	waited := Poll(ctx, func() (bool, error) {
		if info, err = ReadInfo(infoPath); err == nil {
			info.Gateway, info.Source = cmp.Or(over.Gateway, info.Gateway), cmp.Or(over.Source, info.Source)
			info.API, info.Exchange = cmp.Or(over.API, info.API), cmp.Or(over.Exchange, info.Exchange)
			err = daemon.AskWell(ctx, RootOf(info.Gateway)+"/health")
		}
		if err != nil && info.Gateway != "" {
			err = fmt.Errorf("the gateway at %s does not answer (%w)", info.Gateway, err)
		}
		return err == nil, nil
	})
	if waited != nil {
		return info, fmt.Errorf("no daemon answers: %w (start one with `make run` in another terminal)", err)
	}
	return info, nil
}

// Poll asks five times a second until the answer is yes.
func Poll(ctx context.Context, done func() (bool, error)) error {
	for {
		ok, err := done()
		if err != nil || ok {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting: %w", ctx.Err())
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// Soon bounds one action on the exchange chain; it takes a second or two, and more on a machine
// with other work.
const Soon = time.Minute

// ErrLate means that an action took too long.
var ErrLate = errors.New("timed out")

// Within polls until the answer is yes, but at most for limit; what names the subject in the error.
func Within(ctx context.Context, limit time.Duration, what string, done func() (bool, error)) error {
	asking, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := Poll(asking, done)
	if asking.Err() != nil && ctx.Err() == nil {
		return fmt.Errorf("waiting for %s: %w (%s)", what, ErrLate, limit)
	}
	if err != nil {
		return fmt.Errorf("waiting for %s: %w", what, err)
	}
	return nil
}

// burstWorkers bounds the users that act at the same time.
const burstWorkers = 16

// Each does something for every one of n, several at a time.
func Each(ctx context.Context, n int, act func(ctx context.Context, i int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(burstWorkers)
	for i := range n {
		g.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return act(ctx, i)
		})
	}
	return g.Wait()
}
