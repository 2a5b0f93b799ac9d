package operator

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/transfers"
)

// NextStep is the advice for a record or, where no operator is needed, what its state permits;
// empty for one that is decided.
func (s RecordDetail) NextStep() string {
	if s.advice == "" && slices.Contains(s.Orders, transfers.OrderHold) {
		return fmt.Sprintf("nothing: the payment is sent automatically; `gatewayd records hold %d --why …` stops it", s.Record.ID)
	}
	return withCommands(s.advice, s.Commands)
}

func withCommands(sentence string, commands []string) string {
	if len(commands) == 0 {
		return sentence
	}
	return sentence + " `" + strings.Join(commands, "` or `") + "`"
}

// PaymentAdvice is the advice for a held payment's record; empty for a payment without one, which
// is recomputed automatically.
func PaymentAdvice(tx *records.Tx, p records.Payment) (string, error) {
	if p.TransferID == 0 {
		return "", nil
	}
	r, err := tx.Transfers().Record(p.TransferID)
	if err != nil {
		return "", err
	}
	payments, err := tx.Payments().Of(p.TransferID)
	if err != nil {
		return "", err
	}
	sentence, commands, err := advise(tx, r, payments)
	return withCommands(sentence, commands), err
}

// advise returns the sentence of the table of reasons for a record, and its orders that the
// record's state permits, as commands; nothing for a record without either a held payment or such
// an order. The console has the same sentence, and buttons.
func advise(tx *records.Tx, r records.Record, payments []records.Payment) (sentence string, list []string, err error) {
	c, list := commands{record: r}, []string{}
	held := false
	for _, p := range payments {
		if p.State != records.HeldPayment {
			continue
		}
		held = true
		c.heldRefund = c.heldRefund || p.Purpose == chain.Refund
		e, differs, err := tx.Orders().DifferingTx(p.ID)
		if err != nil {
			return "", nil, err
		}
		if differs {
			c.differing = e.Tx
		}
	}
	_, advice := adviceOn(r, payments)
	permitted := transfers.Permitted(r, payments)
	for _, order := range advice.Orders {
		if order == records.Approve || slices.Contains(permitted, transfers.OrderName(order)) {
			list = append(list, c.of(order))
		}
	}
	if !held && len(list) == 0 {
		return "", list, nil
	}
	return advice.English, list, nil
}

// commands are the commands of orders for a record, as they are to be typed.
type commands struct {
	record     records.Record
	heldRefund bool
	differing  string // hash of the transaction of a held payment that moved something else
}

func (c commands) of(order string) string {
	if order == records.Approve {
		return fmt.Sprintf("gatewayd approve %d --key FILE", c.record.ID)
	}
	words := fmt.Sprintf("gatewayd records %s %d", order, c.record.ID)
	switch transfers.OrderName(order) {
	case transfers.OrderSettle:
		return words + " " + cmp.Or(c.differing, "HASH")
	case transfers.OrderCredit:
		if c.record.Owner == "" {
			words += " --wallet ADDR"
		}
	case transfers.OrderRefund:
		if c.heldRefund || c.record.From == "" || c.record.Reason == records.ReasonUnknownSender {
			words += " --to ADDR"
		}
	default:
	}
	if moves := order == "retry" || order == "refund" || order == "reject"; moves && c.differing != "" {
		words += " --nothing-moved"
	}
	return words + " --why …"
}
