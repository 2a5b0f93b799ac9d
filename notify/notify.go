package notify

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/sirupsen/logrus"
	"golang.org/x/sync/errgroup"

	"gatewayd/records"
	"gatewayd/status"
)

const (
	poll      = 2 * time.Second
	linesRead = 1000 // of the history at a time
	// silentAfter is the time without success after which a receiver is a condition of its own.
	silentAfter = time.Minute
	firstPause  = 2 * time.Second
	longPause   = 10 * time.Minute
)

// Parts are a Notifier's dependencies.
type Parts struct {
	Config Config
	Store  *records.Store           // fenced by the daemon's lease
	Row    func(records.Record) any // a record as webhooks get it
	Log    logrus.FieldLogger
}

// Notifier follows the history for each receiver.
type Notifier struct{ Parts }

// New starts nothing.
func New(p Parts) *Notifier { return &Notifier{p} }

// pause is the delay after so many failed attempts.
func pause(attempts int) time.Duration {
	return min(firstPause<<min(attempts, 20), longPause)
}

// Run sends to all receivers until ctx ends. One that does not answer does not delay the others.
func (n *Notifier) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return n.dropRemoved(ctx) })
	for _, r := range n.Config.receivers() {
		g.Go(func() error { return n.follow(ctx, r) })
	}
	return g.Wait()
}

// source is the prefix of a receiver's conditions.
const source = "notify:"

// dropRemoved deletes the conditions of receivers that are no longer configured: no other code ends
// them. It returns when that is done.
func (n *Notifier) dropRemoved(ctx context.Context) error {
	var keep []string
	for _, name := range Names(n.Config) {
		keep = append(keep, source+name)
	}
	for {
		err := n.Store.Update(ctx, func(tx *records.Tx) error { return records.DropSources(tx, source, keep) })
		switch {
		case err == nil || ctx.Err() != nil:
			return nil
		case errors.Is(err, records.ErrFenced):
			return err
		}
		n.Log.WithError(err).Debug("dropping the conditions of removed receivers")
		select {
		case <-ctx.Done():
		case <-time.After(poll):
		}
	}
}

// follow ends with ctx, or when the lease is lost.
func (n *Notifier) follow(ctx context.Context, r receiver) error {
	for {
		more, err := n.step(ctx, r)
		if errors.Is(err, records.ErrNotFound) {
			err = n.Store.Update(ctx, func(tx *records.Tx) error { return records.AddSubscriber(tx, r.name()) })
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, records.ErrFenced):
			return err
		case err != nil: // the database's, which shows elsewhere
			n.Log.WithError(err).WithField("receiver", r.name()).Debug("sending events")
		}
		if more && err == nil {
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(poll):
		}
	}
}

// due reports whether a receiver is to be tried again. What is further away than any pause was
// noted by a clock that was ahead.
func due(next, now time.Time) bool { return !now.Before(next) || next.Sub(now) > longPause }

// step delivers what comes next, and answers whether there may be more.
func (n *Notifier) step(ctx context.Context, r receiver) (more bool, err error) {
	place, events, upTo, err := n.next(ctx, r)
	if err != nil || upTo == place.Seq || !due(place.NextAt, time.Now()) {
		return false, err
	}
	var failed error
	if len(events) > 0 {
		sending, cancel := context.WithTimeout(ctx, sendTime)
		failed = r.send(sending, n.Config.gateway(), events)
		cancel()
	}
	if ctx.Err() != nil {
		return false, nil
	}
	if failed != nil {
		n.Log.WithError(failed).WithFields(logrus.Fields{"receiver": r.name(), "attempts": place.Attempts + 1}).Info("an event was not accepted")
	}
	return failed == nil, n.Store.Update(ctx, func(tx *records.Tx) error {
		if failed != nil {
			return errors.Join(records.SubscriberRefused(tx, r.name(), failed.Error(), time.Now().Add(pause(place.Attempts))), records.NoteConditions(tx, source+r.name(), silentCondition(r, place, failed)))
		}
		if place.Attempts > 0 {
			err = records.NoteConditions(tx, source+r.name(), nil)
		}
		return errors.Join(err, records.SubscriberTook(tx, r.name(), upTo))
	})
}

// silentCondition is the condition of a receiver that has accepted nothing for a while.
func silentCondition(r receiver, place records.Subscriber, failed error) []records.Condition {
	if place.Attempts == 0 || place.For < silentAfter {
		return nil
	}
	return []records.Condition{{Kind: string(status.NotTold), Subject: r.name(), Detail: fmt.Sprintf("%s does not accept events: %v", r.name(), failed)}}
}

// next reads from a receiver's place on: the events for it, as many as it takes at a time, and the
// line that it is done with then.
func (n *Notifier) next(ctx context.Context, r receiver) (place records.Subscriber, events []Event, upTo uint64, err error) {
	err = n.Store.View(ctx, func(tx *records.Tx) error {
		if place, err = records.SubscriberOf(tx, r.name()); err != nil {
			return err
		}
		upTo = place.Seq
		lines, err := tx.HistoryAfter(place.Seq, linesRead)
		if err != nil {
			return err
		}
		for _, line := range lines {
			e, err := eventOf(tx, line, r.topics())
			if err != nil {
				return err
			}
			if e != nil {
				if e.record != nil {
					e.Record = n.Row(*e.record)
				}
				events = append(events, *e)
			}
			if upTo = line.Seq; len(events) == r.most() {
				break
			}
		}
		return nil
	})
	return place, events, upTo, err
}

// Result is the outcome of a test.
type Result struct {
	Receiver string `json:"receiver"`
	Took     string `json:"took"`            // time
	Fault    string `json:"fault,omitempty"` // why it was not taken
}

// Test sends every receiver one event that is marked as a test.
func Test(ctx context.Context, cfg Config) (list []Result) {
	for _, r := range cfg.receivers() {
		begin := time.Now()
		sending, cancel := context.WithTimeout(ctx, sendTime)
		err := r.send(sending, cfg.gateway(), []Event{{ID: fmt.Sprintf("test-%d", begin.UnixNano()), Type: "test", At: begin.UTC()}})
		cancel()
		result := Result{Receiver: r.name(), Took: time.Since(begin).Round(time.Millisecond).String()}
		if err != nil {
			result.Fault = err.Error()
		}
		list = append(list, result)
	}
	return list
}

// Names are the receivers of a configuration, as the records know them.
func Names(cfg Config) (list []string) {
	for _, r := range cfg.receivers() {
		list = append(list, r.name())
	}
	return list
}

// NewSecret is a webhook's key as its file holds it.
func NewSecret() (string, error) {
	key := make([]byte, 32)
	if _, err := rand.Read(key); err != nil {
		return "", err
	}
	return secretPrefix + base64.StdEncoding.EncodeToString(key), nil
}
