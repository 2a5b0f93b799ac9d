package operator

import (
	"cmp"
	"context"
	"slices"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/status"
	"gatewayd/transfers"
	"gatewayd/view"
)

// Attention is everything on which an operator can act: conditions, and records with an order that
// their state permits.
type Attention struct {
	Conditions []status.Condition `json:"conditions"`
	Records    []ActionableRecord `json:"records"` // newest first
	Total      uint64             `json:"total"`   // of the records
	Next       uint64             `json:"next"`    // value of before for the following page; 0 for none
}

// ActionableRecord is a record with its cause, the orders that its state permits, and the one that
// fits best.
type ActionableRecord struct {
	RecordRow
	Cause    records.Reason        `json:"cause"`  // of the transfer or of its held payment
	Advice   string                `json:"advice"` // its code
	Orders   []transfers.OrderName `json:"orders"`
	Proposed transfers.OrderName   `json:"proposed"` // empty: none fits best
}

// Attention reads a page of what needs attention, of records older than before; 0 for the newest.
func (d *Session) Attention(ctx context.Context, before uint64) (a Attention, err error) {
	a = Attention{Conditions: []status.Condition{}, Records: []ActionableRecord{}}
	err = d.Store.View(ctx, func(tx *records.Tx) error {
		networks, err := Networks(tx, d.Config)
		if err != nil {
			return err
		}
		report, err := status.Read(tx, networks)
		if err != nil {
			return err
		}
		a.Conditions = append(a.Conditions, report.Conditions...)
		settings, err := settingConditions(tx)
		if err != nil {
			return err
		}
		a.Conditions = append(a.Conditions, settings...)
		f := view.Filter{NeedsOperator: true, Limit: DefaultLimit, BeforeID: before}
		if a.Total, err = view.CountRecords(tx, f); err != nil {
			return err
		}
		list, err := view.Records(tx, f)
		if err != nil {
			return err
		}
		for _, r := range list {
			one, err := actionable(tx, r)
			if err != nil {
				return err
			}
			a.Records = append(a.Records, one)
		}
		if len(list) == f.Limit {
			a.Next = list[len(list)-1].ID
		}
		return nil
	})
	return a, err
}

func actionable(tx *records.Tx, r records.Record) (a ActionableRecord, err error) {
	payments, err := tx.Payments().Of(r.ID)
	if err != nil {
		return a, err
	}
	code, advice := adviceOn(r, payments)
	a.RecordRow, a.Cause, a.Advice, a.Orders = RowOf(r), causeOf(r, payments), code, transfers.Permitted(r, payments)
	a.Proposed = proposed(advice, a.Orders)
	return a, nil
}

// causeOf returns why a record waits: its held payment's reason, or its own.
func causeOf(r records.Record, payments []records.Payment) records.Reason {
	for _, p := range []*records.Payment{r.Credit, r.Refund} {
		if p != nil && p.State == records.HeldPayment {
			return p.Reason
		}
	}
	cause := r.Reason
	for _, p := range payments { // the block to receive, too
		if p.State == records.HeldPayment {
			cause = cmp.Or(cause, p.Reason)
		}
	}
	return cause
}

// proposed returns the first order of the advice on a record, where the record's state permits it.
func proposed(a records.Advice, permitted []transfers.OrderName) transfers.OrderName {
	for _, advised := range a.Orders {
		order := transfers.OrderName(advised)
		switch {
		case advised == records.Approve:
			continue
		case slices.Contains(permitted, order):
			return order
		}
		return ""
	}
	return ""
}

// adviceOn returns the advice on a record with its payments, and its code in the console's table. A
// held refund has its own, unless a transaction may have paid it.
func adviceOn(r records.Record, payments []records.Payment) (code string, a records.Advice) {
	heldRefund := func(p records.Payment) bool { return p.Purpose == chain.Refund && p.State == records.HeldPayment }
	cause := causeOf(r, payments)
	switch {
	case r.Incident != "" && r.Loss == nil:
		return "incident", records.IncidentAdvice
	case cause != records.ReasonPayoutDiffers && slices.ContainsFunc(payments, heldRefund):
		return "heldRefund", records.HeldRefundAdvice(cause)
	}
	return string(cause), records.AdviceOf(cause)
}
