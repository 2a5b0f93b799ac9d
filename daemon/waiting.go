package daemon

import (
	"context"
	"time"

	"github.com/sirupsen/logrus"
	"golang.org/x/sync/errgroup"
)

// dependency is something outside that the program needs and starts without.
type dependency struct {
	name string                      // as the log calls it
	ask  func(context.Context) error // nil once it is there
}

// How often what is awaited is asked for, how long it may take to answer, and how often the log repeats that it is waited for.
const (
	awaitEvery  = time.Second
	awaitTime   = 10 * time.Second
	awaitRemind = time.Minute
)

// tellWaiting tells the log what the program waits for at its start, again from time to time, and when each is there. It ends when all are, or with ctx.
func tellWaiting(ctx context.Context, log logrus.FieldLogger, all []dependency) error {
	var g errgroup.Group
	for _, d := range all {
		g.Go(func() error {
			d.follow(ctx, log)
			return nil
		})
	}
	return g.Wait()
}

func (d dependency) follow(ctx context.Context, log logrus.FieldLogger) {
	var told time.Time // zero until the log knows of the waiting
	for ctx.Err() == nil {
		err := d.once(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil && told.IsZero():
			return
		case err == nil:
			log.Infof("%s: there now", d.name)
			return
		case time.Since(told) >= awaitRemind:
			log.WithError(err).Warnf("waiting for %s", d.name)
			told = time.Now()
		}
		select {
		case <-ctx.Done():
		case <-time.After(awaitEvery):
		}
	}
}

func (d dependency) once(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, awaitTime)
	defer cancel()
	return d.ask(ctx)
}
