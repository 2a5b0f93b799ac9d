package watcher

import (
	"gatewayd/internal/tracing"
	"gatewayd/records"
)

// paymentTrace names a payment in its trace.
func paymentTrace(s records.Slot, tx string) tracing.Payment {
	return tracing.Payment{Chain: string(s.Chain), Account: s.Account, ID: s.PaymentID, Number: s.Nonce, Tx: tx}
}
