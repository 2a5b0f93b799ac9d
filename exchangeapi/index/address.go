package index

import "gatewayd/chain/vite/core"

// ValidAddress tells whether text is an account's address in the form that updates name it by: small letters, and the checksum right.
func ValidAddress(text string) bool {
	a, err := core.ParseAddress(text)
	return err == nil && a.String() == text
}
