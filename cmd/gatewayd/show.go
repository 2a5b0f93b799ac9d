package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"gatewayd/records"
)

// story is one record with everything that happened to it.
type story struct {
	Record   recordRow    `json:"record"`
	Payments []paymentRow `json:"payments"`
	History  []eventRow   `json:"history"`

	record   records.Record
	payments []records.Payment
}

type paymentRow struct {
	ID       uint64       `json:"id"`
	Purpose  string       `json:"purpose"`
	State    string       `json:"state"`
	Reason   string       `json:"reason"`
	Chain    string       `json:"chain"`
	Account  string       `json:"account"`
	Asset    string       `json:"asset"`
	Amount   string       `json:"amount"`
	Payee    string       `json:"payee"`
	Tx       string       `json:"tx"`
	Attempts []attemptRow `json:"attempts"`
}

type attemptRow struct {
	Number uint64 `json:"number"`
	Seq    int    `json:"seq"`
	Kind   string `json:"kind"`
	Hash   string `json:"hash"`
	Tip    string `json:"tip"`
	Cap    string `json:"cap"`
	At     string `json:"at"`
}

type eventRow struct {
	At     string `json:"at"`
	Actor  string `json:"actor"`
	What   string `json:"what"`
	Detail string `json:"detail"`
}

// show prints the records that an id or a hash names.
func (d *desk) show(ctx context.Context, w io.Writer, f format, name string) error {
	var stories []story
	name, err := d.named(ctx, name)
	if err != nil {
		return err
	}
	err = d.store.View(ctx, func(tx *records.Tx) error {
		found, err := d.find(tx, name)
		if err != nil {
			return err
		}
		for _, r := range found {
			s, err := tell(tx, r)
			if err != nil {
				return err
			}
			stories = append(stories, s)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if f.json {
		return printJSON(w, stories)
	}
	for _, s := range stories {
		s.print(w, d.cfg)
	}
	return nil
}

// named is the id, the hash or the ref that an operator means.
func (d *desk) named(ctx context.Context, name string) (string, error) {
	if _, err := strconv.ParseUint(name, 10, 63); err == nil {
		return name, nil
	}
	var exact []records.Record
	err := d.store.View(ctx, func(tx *records.Tx) (err error) {
		exact, err = tx.FindRecords(name)
		return err
	})
	if err != nil || len(exact) > 0 {
		return name, err
	}
	return d.wholeHash(ctx, name)
}

func (d *desk) find(tx *records.Tx, name string) ([]records.Record, error) {
	if id, err := strconv.ParseUint(name, 10, 63); err == nil {
		r, err := tx.Record(id)
		if errors.Is(err, records.ErrNotFound) {
			return nil, plainly(err, "there is no record %d", id)
		}
		if err != nil {
			return nil, err
		}
		return []records.Record{r}, nil
	}
	found, err := tx.FindRecords(name)
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("no record has the hash %q", name)
	}
	return found, err
}

func tell(tx *records.Tx, r records.Record) (story, error) {
	s := story{Record: rowOf(r), record: r}
	payments, err := tx.PaymentsOf(r.ID)
	s.payments = payments
	if err != nil {
		return s, err
	}
	events, err := tx.History("transfer", strconv.FormatUint(r.ID, 10))
	if err != nil {
		return s, err
	}
	for _, p := range payments {
		row := paymentRow{
			ID: p.ID, Purpose: string(p.Purpose), State: string(p.State), Reason: p.Reason, Chain: string(p.Chain), Account: p.Account,
			Asset: string(p.Asset), Amount: p.Amount.String(), Payee: p.Payee, Tx: p.Tx,
		}
		attempts, err := tx.AttemptsOf(p.ID)
		if err != nil {
			return s, err
		}
		for _, a := range attempts {
			row.Attempts = append(row.Attempts, attemptRow{
				Number: a.Number, Seq: a.Seq, Kind: a.Kind, Hash: a.Hash, Tip: a.Tip.String(), Cap: a.Cap.String(), At: stamp(a.CreatedAt),
			})
		}
		s.Payments = append(s.Payments, row)
		more, err := tx.History("payment", strconv.FormatUint(p.ID, 10))
		if err != nil {
			return s, err
		}
		events = append(events, more...)
	}
	for _, e := range inOrder(events) {
		s.History = append(s.History, eventRow{At: stamp(e.At), Actor: e.Actor, What: e.Subject + " " + e.SubjectID + " " + e.Event, Detail: e.Detail})
	}
	return s, nil
}

func (s story) print(w io.Writer, cfg Config) {
	r := s.Record
	fmt.Fprintf(w, "Record %d: %s on %s, %s", r.ID, r.Direction, r.Network, r.Public)
	if r.Reason != "" {
		fmt.Fprintf(w, " (%s)", r.Reason)
	}
	fmt.Fprintf(w, "\n  amount %s", cfg.assetAmount(s.record.Chain, s.record.Asset, s.record.Amount))
	if r.Token != "" && s.record.Direction != records.Funding {
		fmt.Fprintf(w, " = net %s + fee %s", cfg.tokenAmount(r.Token, s.record.Net), cfg.tokenAmount(r.Token, s.record.Fee))
	}
	fmt.Fprintln(w)
	fmt.Fprintf(w, "  in     %s\n  from   %s\n  wallet %s\n  payee  %s %s\n", r.InTx, cmp.Or(r.From, "nobody knows: balances alone show it, and the hash is its block's"), r.Wallet, r.Payee, r.Label)
	fmt.Fprintf(w, "  to     %s\n", r.To)
	if r.Incident != "" {
		fmt.Fprintf(w, "  INCIDENT %s\n", r.Incident)
	}
	if note := r.note(); note != "" {
		fmt.Fprintf(w, "  note   %s\n", note)
	}
	if advice := r.advice(); advice != "" {
		fmt.Fprintf(w, "  next   %s\n", advice)
	}
	if r.OutTx != "" {
		fmt.Fprintf(w, "  out    %s\n", r.OutTx)
	}
	if r.RefundTx != "" {
		fmt.Fprintf(w, "  refund %s\n", r.RefundTx)
	}
	for i, p := range s.Payments {
		amount := cfg.assetAmount(s.payments[i].Chain, s.payments[i].Asset, s.payments[i].Amount)
		fmt.Fprintf(w, "Payment %d: %s of %s to %s on %s, %s %s\n", p.ID, p.Purpose, amount, p.Payee, p.Chain, p.State, p.Reason)
		for _, a := range p.Attempts {
			fmt.Fprintf(w, "  %s  number %d attempt %d %s %s\n", a.At, a.Number, a.Seq, a.Kind, a.Hash)
		}
	}
	fmt.Fprintln(w, "History")
	for _, e := range s.History {
		fmt.Fprintf(w, "  %s  %-10s %s %s\n", e.At, e.Actor, e.What, cfg.inWholeUnits(e.Detail))
	}
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.000") }

// inOrder sorts events as they happened.
func inOrder(events []records.Event) []records.Event {
	slices.SortFunc(events, func(a, b records.Event) int { return cmp.Compare(a.Seq, b.Seq) })
	return events
}

// note is what the sender wrote beside the value, and what is wrong with it.
func (r recordRow) note() string {
	var parts []string
	if r.MemoText != "" {
		parts = append(parts, strconv.Quote(r.MemoText))
	}
	if r.Memo != "" {
		parts = append(parts, "hex "+r.Memo)
	}
	switch {
	case r.Reason == records.ReasonUnknownLabel && r.Memo == "":
		parts = append(parts, "no label came with it")
	case r.Fault != "":
		parts = append(parts, "cannot be read: "+strings.ReplaceAll(r.Fault, "_", " "))
	case r.Reason == records.ReasonUnknownLabel:
		parts = append(parts, "no user has this label")
	}
	return strings.Join(parts, ", ")
}

// advice is the order that fits a held record.
func (r recordRow) advice() string {
	if r.State != string(records.Held) {
		return ""
	}
	refund := fmt.Sprintf("`gatewayd records refund %d`", r.ID)
	credit := fmt.Sprintf("`gatewayd records credit %d --wallet ADDR --why …`", r.ID)
	switch r.Reason {
	case records.ReasonUnknownLabel, records.ReasonUnbound, records.ReasonBeforeAddress:
		return "find the owner, then " + credit + ", or " + refund
	case records.ReasonUnknownToken:
		return refund + ", if it can be sent back"
	case records.ReasonWrongType, records.ReasonUnproven:
		return fmt.Sprintf("`gatewayd records credit %d --why …` credits it to its owner, %s sends it back", r.ID, refund)
	case records.ReasonUnknownSender:
		return fmt.Sprintf("ask the contract's owner, then `gatewayd records refund %d --to ADDR`", r.ID)
	}
	return ""
}
