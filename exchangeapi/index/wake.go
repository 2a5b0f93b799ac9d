package index

import (
	"context"
	"strconv"
	"time"

	"gatewayd/internal/database"
)

// wake announces new entries of the outbox to all processes of an index. It carries numbers, no
// data, and may lose some: the next poll reads what was not announced. NOTIFY of PostgreSQL is the
// only one; a message system would be another (docs/adr/025).
type wake interface {
	// Announce runs in the transaction that stores an entry. Processes hear it after the commit.
	Announce(t *tx, seq uint64) error
	// Listen calls heard with the number of each announced entry until ctx ends, its connection
	// breaks or heard fails. It calls heard with 0 as soon as it listens: earlier entries may have
	// been missed.
	Listen(ctx context.Context, heard func(seq uint64) error) error
}

// outboxChannel is the channel of PostgreSQL's NOTIFY, which belongs to one database.
const outboxChannel = "gatewayd_index"

// notifications are PostgreSQL's LISTEN and NOTIFY.
type notifications struct{ db *database.DB }

func (n notifications) Announce(t *tx, seq uint64) error {
	return t.exec("SELECT pg_notify(?, ?)", outboxChannel, strconv.FormatUint(seq, 10))
}

func (n notifications) Listen(ctx context.Context, heard func(seq uint64) error) error {
	return n.db.Listen(ctx, outboxChannel, func(text string) error {
		seq, _ := strconv.ParseUint(text, 10, 64) // 0 for a text that is no number: it is not ours
		return heard(seq)
	})
}

// A lost connection is made again after firstRelisten, and after twice the delay of the last
// attempt, at most lastRelisten. Until then polls find new entries.
const (
	firstRelisten = 100 * time.Millisecond
	lastRelisten  = 10 * time.Second
)

// listenToOutbox takes over the entries of other processes when they are announced, until ctx ends.
func (f *follower) listenToOutbox(ctx context.Context) {
	x := f.index
	if !x.store.shared() {
		return
	}
	delay := firstRelisten
	for ctx.Err() == nil {
		err := x.store.wake.Listen(ctx, func(seq uint64) error {
			if err := x.hear(ctx, seq); err != nil {
				return err
			}
			delay = firstRelisten
			return nil
		})
		if ctx.Err() != nil {
			return
		}
		x.log.WithError(err).Debug("the database does not announce changes of the exchange; polling instead")
		select {
		case <-ctx.Done():
		case <-time.After(delay):
		}
		delay = min(2*delay, lastRelisten)
	}
}

// hear takes over the entries of the outbox up to an announced one, and beyond; 0 means an unknown
// number. What takes long is left to the polls.
func (x *Index) hear(ctx context.Context, seq uint64) error {
	ctx, cancel := context.WithTimeout(ctx, lockTime)
	defer cancel()
	x.commits.Lock()
	defer x.commits.Unlock()
	if known := seq > 0 && seq <= x.seq; known || x.mayLack() {
		return nil
	}
	return x.takeOver(ctx)
}
