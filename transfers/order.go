package transfers

import (
	"errors"
	"fmt"
	"slices"

	"gatewayd/chain"
	"gatewayd/records"
)

// OrderName is an operator's order for a record, as commands, API and history name it.
type OrderName string

const (
	OrderRetry      OrderName = "retry"
	OrderCredit     OrderName = "credit"
	OrderRefund     OrderName = "refund"
	OrderReject     OrderName = "reject"
	OrderHold       OrderName = "hold"
	OrderReclassify OrderName = "reclassify"
	OrderWriteOff   OrderName = "write-off"
	OrderSettle     OrderName = "settle" // watcher/recovery carries it out
)

// orders are all orders, in the sequence in which they are offered: what a record must be for the
// order, and its effect.
var orders = []struct {
	name    OrderName
	permits func(subject) error
	do      func(Rules, *records.Tx, Order, subject) error
}{
	{OrderRetry, mayRetry, Rules.retry},
	{OrderCredit, mayCredit, Rules.credit},
	{OrderRefund, mayRefund, Rules.refund},
	{OrderReject, mayReject, Rules.refund},
	{OrderHold, mayHold, Rules.hold},
	{OrderReclassify, mayReclassify, Rules.reclassify},
	{OrderWriteOff, mayWriteOff, Rules.writeOff},
}

// OrderNames returns the names of all orders.
func OrderNames() []OrderName {
	list := []OrderName{OrderSettle}
	for _, o := range orders {
		list = append(list, o.name)
	}
	return list
}

// ErrNoOrder is returned for an unknown name of an order.
var ErrNoOrder = errors.New("unknown order: must be retry, hold, credit, refund, reject, reclassify or write-off")

// Order is an operator's order for one record. The history stores it under the operator's name.
type Order struct {
	Record uint64
	To     string // the wallet to credit, or whom to refund; empty: the owner, or the sender
	Why    string
	Small  bool // credit even what is below the minimum

	NothingMoved bool // of a payment whose transaction differs from it: it moved nothing, provably
}

// log writes an order into the record's history before it is carried out.
func (o Order) log(tx *records.Tx, name OrderName) error {
	what := string(name)
	if o.To != "" {
		what += " to " + o.To
	}
	if o.Why != "" {
		what += ": " + o.Why
	}
	return tx.Log(records.Event{Subject: "transfer", SubjectID: fmt.Sprint(o.Record), Event: "ordered", Detail: what})
}

// Order carries out an order. ErrNothingToDo: it does not fit the record. ErrNoOrder: no order has
// this name.
func (r Rules) Order(tx *records.Tx, name OrderName, o Order) error {
	for _, k := range orders {
		if k.name != name {
			continue
		}
		s, err := subjectOf(tx, o.Record)
		if err != nil {
			return err
		}
		if err := k.permits(s); err != nil {
			return err
		}
		return k.do(r, tx, o, s)
	}
	return ErrNoOrder
}

// Permitted returns the orders that a record's state permits. Arguments and the configuration
// decide in addition when the order is given. settle fits where a transaction that the records do
// not know may have paid: while a payment waits, or none exists.
func Permitted(r records.Record, payments []records.Payment) []OrderName {
	list, s := []OrderName{}, subject{r.Transfer, payments}
	for _, k := range orders {
		writtenOff := k.name == OrderWriteOff && r.Loss != nil
		if !writtenOff && k.permits(s) == nil {
			list = append(list, k.name)
		}
	}
	if s.State == records.Held || slices.ContainsFunc(payments, unsigned) {
		list = append(list, OrderSettle)
	}
	return list
}

// subject is what an order is for: a record with its payments.
type subject struct {
	records.Transfer
	payments []records.Payment
}

func subjectOf(tx *records.Tx, id uint64) (s subject, err error) {
	if s.Transfer, err = tx.Transfers().Get(id); err != nil {
		return s, err
	}
	s.payments, err = tx.Payments().Of(id)
	return s, err
}

// held returns the first held payment.
func (s subject) held() (records.Payment, bool) {
	return s.first(func(p records.Payment) bool { return p.State == records.HeldPayment })
}

// heldRefund returns the held refund.
func (s subject) heldRefund() (records.Payment, bool) {
	return s.first(func(p records.Payment) bool { return p.State == records.HeldPayment && p.Purpose == chain.Refund })
}

// waiting returns the first unsigned payment that no operator holds.
func (s subject) waiting() (records.Payment, bool) {
	return s.first(func(p records.Payment) bool {
		operators := p.State == records.HeldPayment && p.Reason == records.ReasonOperator
		return p.Purpose != chain.Receive && unsigned(p) && !operators
	})
}

func (s subject) first(is func(records.Payment) bool) (p records.Payment, found bool) {
	if i := slices.IndexFunc(s.payments, is); i >= 0 {
		return s.payments[i], true
	}
	return p, false
}

// unsigned reports whether a payment is not signed and may still be.
func unsigned(p records.Payment) bool {
	return p.State == records.Queued || p.State == records.HeldPayment
}

// creditableToOwner reports whether a deposit of a known owner was not credited, for its size or
// its unknown time.
func (s subject) creditableToOwner() bool {
	small := s.State == records.Refused && s.Reason == records.ReasonBelowMinimum
	undated := s.State == records.Held && s.Reason == records.ReasonUnproven && s.Owner != ""
	return s.Direction == records.Deposit && (small || undated) && !s.Net.IsZero()
}

// tooSmall reports whether a transfer was kept for its size: a withdrawal too small for a refund,
// or a deposit below the minimum.
func (s subject) tooSmall() bool {
	small := s.Direction == records.Deposit && s.Reason == records.ReasonBelowMinimum
	return s.State == records.Refused && (small || s.Reason == records.ReasonDust)
}

// classified reports whether the records know whose the transfer is, or its token.
func (s subject) classified() bool { return s.Owner != "" || s.Token != "" }
