package daemon

import (
	"context"
	"time"

	"github.com/sirupsen/logrus"
	"golang.org/x/sync/errgroup"
)

// awaitedService is a service that the program needs, but starts without.
type awaitedService struct {
	name string                      // as the log calls it
	ask  func(context.Context) error // nil once it is there
}

// The interval of the checks while waiting, the timeout of each, and the interval of the log's
// reminders.
const (
	awaitEvery  = time.Second
	awaitTime   = 10 * time.Second
	awaitRemind = time.Minute
)

// logWaiting logs what the program waits for at its start, warns while that lasts, and logs when
// each is there. It returns when all are, or with ctx.
func logWaiting(ctx context.Context, log logrus.FieldLogger, all []awaitedService) error {
	var g errgroup.Group
	for _, d := range all {
		g.Go(func() error {
			d.waitAndLog(ctx, log)
			return nil
		})
	}
	return g.Wait()
}

func (d awaitedService) waitAndLog(ctx context.Context, log logrus.FieldLogger) {
	var told time.Time // zero until the log contains the first line
	level := logrus.InfoLevel
	for ctx.Err() == nil {
		err := d.askOnce(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil && told.IsZero():
			return
		case err == nil:
			log.Infof("%s: available", d.name)
			return
		case time.Since(told) >= awaitRemind:
			log.WithError(err).Log(level, "waiting for "+d.name)
			told, level = time.Now(), logrus.WarnLevel
		}
		select {
		case <-ctx.Done():
		case <-time.After(awaitEvery):
		}
	}
}

func (d awaitedService) askOnce(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, awaitTime)
	defer cancel()
	return d.ask(ctx)
}
