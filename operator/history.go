package operator

import (
	"context"
	"errors"

	"gatewayd/records"
)

// HistoryLine is a line of the history. Its digest covers it and, by the digest of the line before,
// all before it.
type HistoryLine struct {
	Seq     uint64 `json:"seq"`
	At      string `json:"at"`
	Actor   string `json:"actor"`
	Subject string `json:"subject"`
	ID      string `json:"id"`
	Event   string `json:"event"`
	Detail  string `json:"detail"`
	Digest  string `json:"digest"`
}

// HistoryPage returns lines, newest first, older than before (0: from the end on), or, with after,
// those that follow it, oldest first. people leaves out the daemon's automatic actions.
func (d *Session) HistoryPage(ctx context.Context, before, after uint64, people bool, limit int) (list []HistoryLine, err error) {
	if limit < 1 || limit > MaxLimit {
		return nil, Usagef("--limit %d: must be from 1 to %d", limit, MaxLimit)
	}
	var lines []records.Event
	err = d.Store.View(ctx, func(tx *records.Tx) error {
		if after > 0 {
			lines, err = tx.HistoryAfter(after, limit)
		} else {
			lines, err = tx.HistoryBefore(before, people, limit)
		}
		return err
	})
	list = make([]HistoryLine, len(lines))
	for i, e := range lines {
		list[i] = HistoryLine{e.Seq, Stamp(e.At), e.Actor, e.Subject, e.SubjectID, e.Event, e.Detail, e.Digest}
	}
	return list, err
}

// HistoryState is the result of a verification: the newest line, which can be stored elsewhere for
// a later comparison.
type HistoryState struct {
	Lines  uint64 `json:"lines"`
	Digest string `json:"digest"` // of the newest
	At     string `json:"at"`
}

// VerifyHistory recomputes the chain of digests over all lines. Lines cut off at the end look like
// lines never written. So a line that was stored elsewhere may be named: its number and its digest,
// which must be unchanged. 0 names none.
func (d *Session) VerifyHistory(ctx context.Context, kept uint64, digest string) (s HistoryState, err error) {
	err = d.Store.View(ctx, func(tx *records.Tx) error {
		if err := tx.VerifyHistory(); err != nil {
			return err
		}
		newest, err := tx.HistoryBefore(0, false, 1)
		if err != nil || len(newest) == 0 {
			return errors.Join(err, missing(kept, digest, nil))
		}
		s = HistoryState{newest[0].Seq, newest[0].Digest, Stamp(newest[0].At)}
		if kept == 0 {
			return nil
		}
		line, err := tx.HistoryBefore(kept+1, false, 1)
		return errors.Join(err, missing(kept, digest, line))
	})
	return s, err
}

// missing is an error unless a line is the one that was kept.
func missing(kept uint64, digest string, line []records.Event) error {
	if kept == 0 || len(line) == 1 && line[0].Seq == kept && line[0].Digest == digest {
		return nil
	}
	return plainly(records.ErrConflict, "line %d of the history does not have the digest %s: lines were removed or rewritten", kept, digest)
}
