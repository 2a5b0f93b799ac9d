package operator

import (
	"fmt"
	"slices"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/transfers"
)

// NextStep is the advice for a record or, where no operator is needed, what its state permits;
// empty for one that is decided.
func (s RecordDetail) NextStep() string {
	if advice := s.Advice(); advice != "" {
		return advice
	}
	if slices.Contains(s.Orders, transfers.OrderHold) {
		return fmt.Sprintf("nothing: the payment is sent automatically; `gatewayd records hold %d --why …` stops it", s.Record.ID)
	}
	return ""
}

// PaymentAdvice names the commands that fit a held payment, as they are to be typed; empty for one
// that needs none.
func PaymentAdvice(tx *records.Tx, p records.Payment) (string, error) {
	if p.State != records.HeldPayment {
		return "", nil
	}
	e, differs, err := tx.Orders().DifferingTx(p.ID)
	if err != nil {
		return "", err
	}
	if differs {
		return differingAdvice(p, e.Tx), nil
	}
	return heldAdvice(p), nil
}

// differingAdvice is for a payment whose transaction moved something other than its fields.
func differingAdvice(p records.Payment, hash string) string {
	settle := fmt.Sprintf("check %s: `gatewayd records settle %d %[1]s` if it paid, whatever it moved", hash, p.TransferID)
	switch {
	case p.TransferID == 0:
		return settle
	case p.Purpose != chain.Credit:
		return settle + fmt.Sprintf("; if it provably moved no funds `gatewayd records retry %d --nothing-moved`", p.TransferID)
	}
	return settle + fmt.Sprintf("; if it provably moved no funds `gatewayd records retry %d --nothing-moved` or `gatewayd records refund %[1]d --nothing-moved`", p.TransferID)
}

// heldAdvice is for a payment that cannot have been paid. A payment without a record is recomputed
// automatically.
func heldAdvice(p records.Payment) string {
	if p.TransferID == 0 {
		return ""
	}
	retry := fmt.Sprintf("`gatewayd records retry %d`", p.TransferID)
	reject := ""
	if p.Purpose == chain.Credit {
		reject = fmt.Sprintf(", or `gatewayd records reject %d --why …` to refund it", p.TransferID)
	}
	approve := fmt.Sprintf("`gatewayd approve %d --key FILE`", p.TransferID)
	switch p.Reason {
	case records.HeldApproval, records.HeldUnproven:
		return approve + reject
	case records.HeldLimit:
		return "it is sent when the limit frees: `gatewayd limits`" + reject
	case records.HeldListed:
		return "remove the address from the list named in the history" + reject
	}
	return retry + " once the cause is resolved" + reject
}
