package transfers

import (
	"gatewayd/internal/tracing"
	"gatewayd/records"
)

// PaymentTrace names a payment in its trace.
func PaymentTrace(s records.Slot, tx string) tracing.Payment {
	return tracing.Payment{Chain: string(s.Chain), Account: s.Account, ID: s.PaymentID, Number: s.Nonce, Tx: tx}
}
