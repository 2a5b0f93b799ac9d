package signer

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"gatewayd/chain"
)

// maxNumber bounds every number that a caller names: the sign-guard's databases count up to 2^63 -
// 1, and what follows a number must fit as well.
const maxNumber = math.MaxInt64 - 1

// checkNumber refuses a number that the sign-guard cannot keep.
func checkNumber(what string, n uint64) error {
	if n > maxNumber {
		return fmt.Errorf("%w: %s %d is above the maximum %d", ErrRefused, what, n, uint64(maxNumber))
	}
	return nil
}

// checkTexts refuses texts that the sign-guard cannot store or search for.
func checkTexts(list ...string) error {
	for _, text := range list {
		if len(text) > maxText {
			return fmt.Errorf("%w: a text of %d bytes is too long", ErrRefused, len(text))
		}
		if !utf8.ValidString(text) || strings.Contains(text, "\x00") {
			return fmt.Errorf("%w: %q is not text", ErrRefused, text)
		}
	}
	return nil
}

// checkSlots refuses orders at numbers that no ledger has.
func checkSlots(orders []chain.Order) error {
	for _, o := range orders {
		for _, n := range []struct {
			what string
			n    uint64
		}{{"payment", o.Payment.ID}, {"branch", o.Slot.Branch}, {"number", o.Slot.Nonce}} {
			if err := checkNumber(n.what, n.n); err != nil {
				return err
			}
		}
		if err := checkTexts(o.Slot.Account, o.Slot.Prev, o.Payment.To, o.Payment.Label, o.Payment.Source, string(o.Payment.Asset)); err != nil {
			return err
		}
	}
	return nil
}
