package signer

import (
	"cmp"
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

// maxPayments bounds the payments of one call's orders.
const maxPayments = 4096

// checkSlots refuses orders at numbers that no ledger has, and more payments than one call may
// have.
func checkSlots(orders []chain.Order) error {
	payments := 0
	for _, o := range orders {
		for _, n := range []struct {
			what string
			n    uint64
		}{{"branch", o.Slot.Branch}, {"number", o.Slot.Nonce}} {
			if err := checkNumber(n.what, n.n); err != nil {
				return err
			}
		}
		if err := checkTexts(o.Slot.Account, o.Slot.Prev, o.Slot.Coin); err != nil {
			return err
		}
		for _, p := range append([]chain.Payment{o.Payment}, o.Payment.Members...) {
			if err := cmp.Or(checkNumber("payment", p.ID), checkTexts(p.To, p.Label, p.Source, string(p.Asset))); err != nil {
				return err
			}
		}
		payments += len(o.Payment.All())
	}
	if payments > maxPayments {
		return fmt.Errorf("%w: %d payments at once, at most %d are allowed", ErrRefused, payments, maxPayments)
	}
	return nil
}
