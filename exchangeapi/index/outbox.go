package index

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"gatewayd/vite/core"
)

// outboxLength is the number of transactions in the outbox. A process that misses more reads the
// tables again.
const outboxLength = 1000

// maxEntry bounds the bytes of an entry. Other processes read the tables again after a larger
// change, such as a batch of a first catch-up.
const maxEntry = 1 << 20

// outboxRow is the entry of one transaction.
type outboxRow struct {
	Seq  uint64 `db:"seq"`
	Data string `db:"data"`
}

// entry contains changes as the outbox stores them.
type entry struct {
	Orders, Final []orderRow
	Trades        []tradeRow
	Bars          []barRow
	Accounts      []core.Address
	Ends          map[contract]end
	NewRules      bool
}

// end is a cursor.
type end struct {
	Height uint64
	Hash   core.Hash
}

// addToOutbox stores changes for the other processes and announces them. It returns the number of
// the entry.
func (t *tx) addToOutbox(e *changes, w wake) (seq uint64, err error) {
	text, err := e.encode()
	if err == nil {
		_, err = t.one(&seq, "SELECT COALESCE(MAX(seq), 0) + 1 FROM ex_outbox")
	}
	if err == nil {
		err = t.exec("INSERT INTO ex_outbox (seq, data) VALUES (?, ?)", seq, text)
	}
	if err == nil && seq > outboxLength {
		err = t.exec("DELETE FROM ex_outbox WHERE seq <= ?", seq-outboxLength)
	}
	if err == nil {
		err = w.Announce(t, seq)
	}
	if err != nil {
		return 0, fmt.Errorf("storing changes for other processes: %w", err)
	}
	return seq, nil
}

// lastEntry returns the number of the newest entry, 0 for none.
func (t *tx) lastEntry() (seq uint64, err error) {
	_, err = t.one(&seq, "SELECT COALESCE(MAX(seq), 0) FROM ex_outbox")
	return seq, err
}

func (e *changes) encode() (string, error) {
	if e.undone {
		return "", nil
	}
	out := entry{
		Orders: e.orders, Trades: e.trades, Bars: sortedBars(e.bars), Accounts: slices.Collect(maps.Keys(e.accounts)),
		Ends: map[contract]end{}, NewRules: e.newRules,
	}
	for o := range e.final {
		out.Final = append(out.Final, *o)
	}
	for c, at := range e.cursors {
		out.Ends[c] = end{at.height, at.hash}
	}
	text, err := json.Marshal(&out)
	if len(text) > maxEntry {
		return "", err
	}
	return string(text), err
}

// decode returns the changes of an entry. Rules come from the tables when they have changed.
func (x *Index) decode(ctx context.Context, data string) (*changes, error) {
	var in entry
	if err := json.Unmarshal([]byte(data), &in); err != nil {
		return nil, err
	}
	e := newChanges(x.cache.current())
	e.orders, e.trades, e.final = in.Orders, in.Trades, map[*orderRow]struct{}{}
	for i := range in.Final {
		e.final[&in.Final[i]] = struct{}{}
	}
	for _, bar := range in.Bars {
		e.bars[barKey{bar.Market, bar.Span, bar.Start}] = bar
	}
	e.touch(in.Accounts...)
	for c, at := range in.Ends {
		e.cursors[c] = cursor{at.Height, at.Hash}
	}
	if !in.NewRules {
		return e, nil
	}
	return e, x.store.view(ctx, func(t *tx) (err error) {
		e.rules, err = t.readRules(x.config.Precisions)
		return err
	})
}

// replay brings the changes of other processes to the cache and the subscribers, and reports
// whether there were any. Without the entries between it reads the tables again. It is called under
// commits.
func (x *Index) replay(ctx context.Context) (moved bool, err error) {
	for {
		n, err := x.replaySome(ctx)
		if moved = moved || n > 0; err != nil || n < replayRows {
			return moved, err
		}
	}
}

// replayRows bounds the entries in memory at once.
const replayRows = 50

// replaySome is replay of at most replayRows entries. It returns how many were new.
func (x *Index) replaySome(ctx context.Context) (n int, err error) {
	var rows []outboxRow
	err = x.store.view(ctx, func(t *tx) error {
		return t.list(&rows, "SELECT seq, data FROM ex_outbox WHERE seq >= ? ORDER BY seq LIMIT ? + 0", x.seq, replayRows+1)
	})
	if err != nil {
		return 0, fmt.Errorf("reading the changes of other processes: %w", err)
	}
	if x.seq > 0 && (len(rows) == 0 || rows[0].Seq != x.seq) {
		return 1, x.resync(ctx)
	}
	for _, row := range rows {
		switch {
		case row.Seq == x.seq:
			continue
		case row.Seq != x.seq+1 || row.Data == "":
			return 1, x.resync(ctx)
		}
		e, err := x.decode(ctx, row.Data)
		if err != nil {
			return n, fmt.Errorf("reading change %d of another process: %w", row.Seq, err)
		}
		if err := x.publishChanges(ctx, e, row.Seq); err != nil {
			return n, err
		}
		x.seq = row.Seq
		n++
	}
	return n, nil
}
