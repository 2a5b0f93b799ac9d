package gateway

import (
	"crypto/rand"

	"gatewayd/chain"
)

// randomLabel makes a label for a user of a shared address. The store asks again while it is taken.
func randomLabel() string {
	label := make([]byte, 0, chain.LabelLength)
	for one := make([]byte, 1); len(label) < chain.LabelLength; {
		rand.Read(one) // never fails
		if i := one[0] & 31; int(i) < len(chain.LabelLetters) {
			label = append(label, chain.LabelLetters[i])
		}
	}
	return string(label)
}
