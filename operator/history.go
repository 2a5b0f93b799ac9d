package operator

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"gatewayd/chain"
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

// HistoryFilter chooses lines of the history. An empty field chooses all.
type HistoryFilter struct {
	Before uint64 // older than this line
	People bool   // without the daemon's automatic actions
	Actor  string // of this person
	Record uint64 // about this record and its payments
	Limit  int
}

// AuditLine is a line of the history with its amounts in whole units, and with the record or the
// payment that it is about.
type AuditLine struct {
	HistoryLine
	About *LineSubject `json:"about,omitempty"`
}

// LineSubject is a record, or a payment for one.
type LineSubject struct {
	Record    uint64            `json:"record,omitempty"` // 0: a payment between our own accounts
	Direction records.Direction `json:"direction,omitempty"`
	Purpose   chain.Purpose     `json:"purpose,omitempty"` // of a payment
	Network   string            `json:"network"`
	Asset     chain.Asset       `json:"asset"`
	Amount    chain.Amount      `json:"amount"`
	Payee     string            `json:"payee,omitempty"` // of a payment
}

// AuditLog returns the lines that a filter chooses, newest first.
func (d *Session) AuditLog(ctx context.Context, f HistoryFilter) (list []AuditLine, err error) {
	if f.Limit < 1 || f.Limit > MaxLimit {
		return nil, Usagef("limit: must be from 1 to %d", MaxLimit)
	}
	list = []AuditLine{}
	err = d.Store.View(ctx, func(tx *records.Tx) error {
		lines, err := historyOf(tx, f)
		if err != nil {
			return err
		}
		for _, e := range lines {
			about, err := subjectOf(tx, e)
			if err != nil {
				return err
			}
			line := HistoryLine{e.Seq, Stamp(e.At), e.Actor, e.Subject, e.SubjectID, e.Event, d.Config.InWholeUnits(e.Detail), e.Digest}
			list = append(list, AuditLine{line, about})
		}
		return nil
	})
	return list, err
}

func historyOf(tx *records.Tx, f HistoryFilter) ([]records.Event, error) {
	switch {
	case f.Record > 0:
		return historyOfRecord(tx, f)
	case f.Actor != "":
		return tx.HistoryOfActor(f.Actor, f.Before, f.Limit)
	}
	return tx.HistoryBefore(f.Before, f.People, f.Limit)
}

// historyOfRecord returns the lines of a record and of its payments.
func historyOfRecord(tx *records.Tx, f HistoryFilter) ([]records.Event, error) {
	all, err := tx.History("transfer", strconv.FormatUint(f.Record, 10))
	if err != nil {
		return nil, err
	}
	payments, err := tx.Payments().Of(f.Record)
	if err != nil {
		return nil, err
	}
	for _, p := range payments {
		some, err := tx.History("payment", strconv.FormatUint(p.ID, 10))
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	all = slices.DeleteFunc(all, func(e records.Event) bool {
		return f.Before > 0 && e.Seq >= f.Before || f.People && e.Actor == "daemon" || f.Actor != "" && e.Actor != f.Actor
	})
	slices.Reverse(inOrder(all))
	return all[:min(len(all), f.Limit)], nil
}

// subjectOf returns what a line is about; nil for what is neither a record nor a payment.
func subjectOf(tx *records.Tx, e records.Event) (*LineSubject, error) {
	id, err := strconv.ParseUint(e.SubjectID, 10, 63)
	if err != nil {
		return nil, nil //nolint:nilerr // the subject has a name instead of a number
	}
	switch e.Subject {
	case "transfer":
		t, err := tx.Transfers().Get(id)
		if errors.Is(err, records.ErrNotFound) {
			return nil, nil
		}
		return &LineSubject{Record: id, Direction: t.Direction, Network: t.Network, Asset: t.Asset, Amount: t.Amount}, err
	case "payment":
		p, err := tx.Payments().Get(id)
		if errors.Is(err, records.ErrNotFound) {
			return nil, nil
		}
		return &LineSubject{Record: p.TransferID, Purpose: p.Purpose, Network: p.Network, Asset: p.Asset, Amount: p.Amount, Payee: p.Payee}, err
	}
	return nil, nil
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
