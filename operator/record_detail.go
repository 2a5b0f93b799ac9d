package operator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/transfers"
	"gatewayd/view"
)

// RecordDetail is one record with everything that happened to it.
type RecordDetail struct {
	Record   RecordRow             `json:"record"`
	In       Incoming              `json:"in"`
	Payments []PaymentRow          `json:"payments"`
	History  []eventRow            `json:"history"`
	Orders   []transfers.OrderName `json:"orders"`   // that the record's state permits
	Proposed transfers.OrderName   `json:"proposed"` // of these, as in ActionableRecord
	Advice   string                `json:"advice"`   // its code
	Commands []string              `json:"commands"` // of the advice on it; empty: no operator is needed

	advice string // its sentence; empty: no operator is needed

	Stored records.Record    `json:"-"`
	Paid   []records.Payment `json:"-"`
}

// Incoming is the incoming transaction, and its depth in its chain.
type Incoming struct {
	Chain     string `json:"chain"`
	Tx        string `json:"tx"`
	Height    uint64 `json:"height"`
	Block     string `json:"block"`
	At        string `json:"at"`
	Confirmed uint64 `json:"confirmations"` // so far
	Wanted    uint64 `json:"wanted"`        // 0: the chain's own final point decides
	Final     bool   `json:"final"`         // it is deep enough
}

type PaymentRow struct {
	ID       uint64         `json:"id"`
	Purpose  string         `json:"purpose"`
	State    string         `json:"state"`
	Reason   records.Reason `json:"reason"`
	Chain    string         `json:"chain"`
	Account  string         `json:"account"`
	Asset    string         `json:"asset"`
	Amount   string         `json:"amount"`
	Payee    string         `json:"payee"`
	Label    string         `json:"label"`
	Tx       string         `json:"tx"` // that paid it, from a final block; empty until then
	Mined    *MinedIn       `json:"mined,omitempty"`
	Attempts []AttemptRow   `json:"attempts"`
}

// MinedIn is the place of a payment's transaction in its chain: of the newest included attempt.
type MinedIn struct {
	Tx        string `json:"tx"`
	Height    uint64 `json:"height"`
	Confirmed uint64 `json:"confirmations"`
	Final     bool   `json:"final"`
	Fee       string `json:"fee"` // that the transaction took, in native coin: a batch's is for all of its payments
}

type AttemptRow struct {
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

// Details are the records that an id or a hash names, with all that happened to them.
func (d *Session) Details(ctx context.Context, name string) (list []RecordDetail, err error) {
	if name, err = d.named(ctx, name); err != nil {
		return nil, err
	}
	err = d.Store.View(ctx, func(tx *records.Tx) error {
		found, err := d.find(tx, name)
		if err != nil {
			return err
		}
		for _, r := range found {
			s, err := detailOf(tx, r)
			if err != nil {
				return err
			}
			list = append(list, s)
		}
		return nil
	})
	return list, err
}

// named is the id, the hash or the ref that an operator means.
func (d *Session) named(ctx context.Context, name string) (string, error) {
	if _, err := strconv.ParseUint(name, 10, 63); err == nil {
		return name, nil
	}
	var exact []records.Record
	err := d.Store.View(ctx, func(tx *records.Tx) (err error) {
		exact, err = view.FindRecords(tx, name)
		return err
	})
	if err != nil || len(exact) > 0 {
		return name, err
	}
	return d.wholeHash(ctx, name)
}

func (d *Session) find(tx *records.Tx, name string) ([]records.Record, error) {
	if id, err := strconv.ParseUint(name, 10, 63); err == nil {
		r, err := tx.Transfers().Record(id)
		if errors.Is(err, records.ErrNotFound) {
			return nil, plainly(err, "there is no record %d", id)
		}
		if err != nil {
			return nil, err
		}
		return []records.Record{r}, nil
	}
	found, err := view.FindRecords(tx, name)
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("no record has the hash %q", name)
	}
	return found, err
}

func detailOf(tx *records.Tx, r records.Record) (RecordDetail, error) {
	s := RecordDetail{Record: RowOf(r), In: incomingOf(r), Stored: r}
	payments, err := tx.Payments().Of(r.ID)
	if err != nil {
		return s, err
	}
	s.Paid, s.Orders = payments, transfers.Permitted(r, payments)
	code, advice := adviceOn(r, payments)
	s.Advice, s.Proposed = code, proposed(advice, s.Orders)
	if s.advice, s.Commands, err = advise(tx, r, payments); err != nil {
		return s, err
	}
	events, err := tx.History("transfer", strconv.FormatUint(r.ID, 10))
	if err != nil {
		return s, err
	}
	heads, err := tx.Chains().Heads()
	if err != nil {
		return s, err
	}
	for _, p := range payments {
		row, err := paymentOf(tx, p, heads[p.Chain])
		if err != nil {
			return s, err
		}
		s.Payments = append(s.Payments, row)
		more, err := tx.History("payment", strconv.FormatUint(p.ID, 10))
		if err != nil {
			return s, err
		}
		events = append(events, more...)
	}
	for _, e := range inOrder(events) {
		s.History = append(s.History, eventRow{At: Stamp(e.At), Actor: e.Actor, What: e.Subject + " " + e.SubjectID + " " + e.Event, Detail: e.Detail})
	}
	return s, nil
}

func incomingOf(r records.Record) Incoming {
	in := Incoming{Chain: string(r.Chain), Tx: r.Tx, Height: r.Height, Block: r.BlockHash, At: Stamp(r.BlockAt), Final: r.State != records.Seen && r.State != records.Orphaned}
	in.Confirmed, in.Wanted = view.Confirmations(&r)
	if r.State != records.Orphaned && r.Head >= r.Height {
		in.Confirmed = r.Head - r.Height + 1
	}
	return in
}

// paymentOf is a payment with its attempts, as far as its chain has been followed.
func paymentOf(tx *records.Tx, p records.Payment, at records.Cursor) (PaymentRow, error) {
	row := PaymentRow{
		ID: p.ID, Purpose: string(p.Purpose), State: string(p.State), Reason: p.Reason, Chain: string(p.Chain), Account: p.Account,
		Asset: string(p.Asset), Amount: p.Amount.String(), Payee: p.Payee, Label: p.PayeeLabel, Tx: p.Tx, Attempts: []AttemptRow{},
	}
	attempts, err := view.AttemptsOf(tx, p.ID)
	if err != nil {
		return row, err
	}
	for _, a := range attempts {
		row.Attempts = append(row.Attempts, AttemptRow{
			Number: a.Number, Seq: a.Seq, Kind: a.Kind, Hash: a.Hash, Tip: a.TipCap.String(), Cap: a.FeeCap.String(), At: Stamp(a.CreatedAt),
		})
		height, fee, found, err := tx.OwnTxs().MinedAt(p.Chain, p.Account, a.Number, a.Hash)
		if err != nil {
			return row, err
		}
		if found && at.Head >= height {
			row.Mined = &MinedIn{Tx: a.Hash, Height: height, Confirmed: at.Head - height + 1, Final: height <= at.Final.Height, Fee: fee.String()}
		}
	}
	return row, nil
}

// Stamp is a moment as the history shows it, in UTC.
func Stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.000") }

// inOrder sorts events as they happened.
func inOrder(events []records.Event) []records.Event {
	slices.SortFunc(events, func(a, b records.Event) int { return cmp.Compare(a.Seq, b.Seq) })
	return events
}

// Note is the sender's note to the value, with its fault.
func (r RecordRow) Note() string {
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

// Moves are payments of a purpose that no transfer asks for, such as sweeps, newest first and older
// than before; 0 for the newest.
func (d *Session) Moves(ctx context.Context, purpose string, before uint64, limit int) (list []PaymentRow, err error) {
	if err := oneOf("purpose", purpose, []string{string(chain.Sweep), string(chain.Gas), string(chain.Cold)}); err != nil || purpose == "" {
		return nil, cmp.Or(err, Usagef("purpose: must be sweep, gas or cold"))
	}
	list = []PaymentRow{}
	err = d.Store.View(ctx, func(tx *records.Tx) error {
		found, err := tx.Payments().Moves(chain.Purpose(purpose), before, limit)
		if err != nil {
			return err
		}
		heads, err := tx.Chains().Heads()
		if err != nil {
			return err
		}
		for _, p := range found {
			row, err := paymentOf(tx, p, heads[p.Chain])
			if err != nil {
				return err
			}
			list = append(list, row)
		}
		return nil
	})
	return list, err
}
