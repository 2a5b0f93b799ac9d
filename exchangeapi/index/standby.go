package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/sirupsen/logrus"

	"gatewayd/internal/database"
)

// maxStandbyLag bounds the age of what a standby gives: this process must have compared itself with
// the primary within it, and the standby must have all that this process has shown.
const maxStandbyLag = 2 * time.Second

// maxStandbyPoll is the longest interval of polls that leaves room for a late one.
const maxStandbyPoll = time.Second

// A standby must give a connection and its newest entry within standbyPatience. After an error it
// is left alone for standbyPause. Then one list tries it again.
const (
	standbyPatience = 500 * time.Millisecond
	standbyPause    = 5 * time.Second
)

// A standby that works, but cannot give a list: it lacks something that this process has shown, or
// it reads as many wide lists as it may.
var (
	errStandbyBehind = errors.New("the standby is behind")
	errStandbyBusy   = errors.New("the standby reads other wide lists")
)

// lists runs the queries of a list: the store, or a standby of its server.
type lists interface {
	read(ctx context.Context, f func(*tx) error) error
	readWide(ctx context.Context, f func(*tx) error) error
}

// standby reads from a standby of the database's server.
type standby struct {
	db    *sqlx.DB
	wide  chan struct{} // as in store
	shown *atomic.Uint64
	log   logrus.FieldLogger
	away  atomic.Int64 // until when it is left alone, in Unix nanoseconds; 0: it works
}

// openStandby prepares connections to a standby, which may be away; nil for no URL.
func openStandby(ctx context.Context, s *store, url string, shown *atomic.Uint64, log logrus.FieldLogger) (*standby, error) {
	if url == "" {
		return nil, nil
	}
	db, err := s.db.OpenStandby(ctx, url, database.Postgres{Readers: readers, Params: sessionParams(s.sessions)})
	if err != nil {
		return nil, database.Of("exchange.index.read_url", err)
	}
	return &standby{db: db, wide: make(chan struct{}, wideReaders), shown: shown, log: log}, nil
}

func (s *standby) close() error {
	if s == nil {
		return nil
	}
	return s.db.Close()
}

// history runs the reading of a list that need not contain what its client has just ordered. It
// runs read on the standby, and on the primary if there is no standby, or one that is behind, slow
// or away. So read may run twice, and starts from nothing.
func (x *Index) history(ctx context.Context, read func(ctx context.Context, from lists) error) error {
	s := x.standby
	if s == nil || x.lag.unconfirmed(x.config.Now()) > maxStandbyLag || !s.usable() {
		return read(ctx, x.store)
	}
	if err := s.try(ctx, read); err == nil || ctx.Err() != nil {
		return err
	}
	return read(ctx, x.store)
}

// usable reports whether a list may try the standby.
func (s *standby) usable() bool {
	away, now := s.away.Load(), time.Now()
	return away == 0 || (now.UnixNano() >= away && s.away.CompareAndSwap(away, now.Add(standbyPause).UnixNano()))
}

// try runs read on the standby. It leaves the primary half of the time until ctx ends.
func (s *standby) try(ctx context.Context, read func(ctx context.Context, from lists) error) error {
	half := ctx
	if end, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		half, cancel = context.WithTimeout(ctx, time.Until(end)/2)
		defer cancel()
	}
	err := read(half, s)
	switch {
	case err == nil || errors.Is(err, errStandbyBehind) || errors.Is(err, errStandbyBusy):
		if s.away.Swap(0) != 0 {
			s.log.Info("the standby of the exchange's index answers again")
		}
	case ctx.Err() != nil: // the client is gone
	case s.away.Swap(time.Now().Add(standbyPause).UnixNano()) == 0:
		s.log.WithError(err).Warn("the standby of the exchange's index does not work: lists are read from the primary")
	}
	return err
}

// readWide does not wait for other wide lists: the primary has permits of its own.
func (s *standby) readWide(ctx context.Context, f func(*tx) error) error {
	select {
	case s.wide <- struct{}{}:
	default:
		return errStandbyBusy
	}
	defer func() { <-s.wide }()
	return s.read(ctx, f)
}

// read runs f on one snapshot that has all that this process had shown before.
func (s *standby) read(ctx context.Context, f func(*tx) error) error {
	shown := s.shown.Load()
	conn, err := s.connect(ctx, shown)
	if err != nil {
		return fmt.Errorf("asking the standby: %w", err)
	}
	defer conn.Close()
	t, err := conn.BeginTxx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return fmt.Errorf("beginning a snapshot on the standby: %w", err)
	}
	defer t.Rollback()
	return f(&tx{ctx, t})
}

// connect takes a connection to a standby that has the outbox's entry shown. Its state never goes
// back.
func (s *standby) connect(ctx context.Context, shown uint64) (*sqlx.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, standbyPatience)
	defer cancel()
	conn, err := s.db.Connx(ctx)
	if err != nil {
		return nil, err
	}
	has, err := (&tx{ctx, conn}).lastEntry()
	if err == nil && has < shown {
		err = errStandbyBehind
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}
