package chain

import (
	"fmt"
	"strings"
)

// Outgoing is the request in a transaction of an account of ours, according to its signed bytes. An
// adapter reads it for the operators' recovery (Describe). The OwnTx in its block shows whether it
// was executed.
type Outgoing struct {
	Asset  Asset
	To     string // empty without a payee: a receive, or a call that is no payment
	Amount Amount
	Label  string
	Source string // of a receive: hash of the transfer that it takes in; everything else is empty then

	// of a transaction that makes several payments: each of them, in its order. To is the payee of
	// the transaction itself then, and Amount the sum
	Members []Outgoing

	Payment uint64 // number of the payment, where the transaction carries it; 0: it does not
	Coin    string // of a ledger of coins: what it spends first, which decides its slot
}

// Did reports whether the transaction matches a signed digest without the purpose, which no block
// contains. A sweep may have moved less.
func (o Outgoing) Did(digest string) bool {
	purpose, rest, _ := strings.Cut(digest, "|")
	switch Purpose(purpose) {
	case Receive:
		return o.Source != "" && strings.HasSuffix(rest, "|"+o.Source)
	case Merge: // it has no payee, as a cancellation
		return o.Coin != "" && o.To == "" && o.Amount.IsZero()
	case Sweep:
		return strings.HasPrefix(rest, fmt.Sprintf("%s|%s|", o.Asset, o.To))
	}
	return rest == fmt.Sprintf("%s|%s|%s|%s|", o.Asset, o.To, o.Amount, o.Label)
}

// Pays reports whether the payment at a place of the transaction was signed for a payment.
func (o Outgoing) Pays(place int, digest string, payment uint64) bool {
	if len(o.Members) == 0 {
		return place == 0 && o.Is(digest, payment)
	}
	return place < len(o.Members) && o.Members[place].Is(digest, payment)
}

// Is reports whether the transaction was signed for the payment.
func (o Outgoing) Is(digest string, payment uint64) bool {
	return o.Did(digest) && (o.Payment == 0 || o.Payment == payment)
}
