// Package signer signs orders and nothing else. An order names a payment, the slot that it is bound
// to and the unsigned transaction. The transaction must make exactly the payment, and the
// sign-guard must never have seen another one at that slot.
//
//	claim ─▶ checks: may it be paid? ─▶ sign-guard: its cause's first and only? ─▶ authorization
//	order ─▶ rules of its ledger: does the transaction make the payment?
//	      ─▶ sign-guard: authorized, the slot's first and only? ─▶ key ─▶ signed transaction
//
// It owns the keys and the sign-guard, and is the only part of the program that has them. It asks
// no node itself: its checks prove the cause of a payment, where it has its own nodes (package
// cause). docs/custody.md describes the gaps without.
package signer

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"gatewayd/chain"
	"gatewayd/records/signguard"
	"gatewayd/signer/checks"
)

// ErrRefused means that an order is not signed, with the reason in one line. The sign-guard's
// refusals are signguard.ErrRefused.
var ErrRefused = errors.New("the signer refuses")

// MaxOrders bounds the orders of one call. They cost one durable commit of the sign-guard.
const MaxOrders = 256

// Keys sign with the key at a derivation path. The public key may be left out where a signature
// contains it.
type Keys interface {
	Sign(ctx context.Context, path string, digest []byte) (public, signature []byte, err error)
}

// Signer has the keys and the sign-guard. It is safe for concurrent use.
type Signer struct {
	keys  Keys
	guard *signguard.Guard
	rules map[chain.ID]chain.Rules

	ledgers     map[chain.ID]Ledger
	known       func(id chain.ID, path string) bool
	checks      []Check
	again       []Check
	listed      Check // nil for none
	grants      *grants
	fees        Budget
	now         func() time.Time
	authorized  func(id chain.ID, claims []chain.Claim)
	report      func() checks.Report
	source      func(network string) (chain.ID, bool)
	bindings    *rate.Limiter // of new addresses and labels
	cancels     *rate.Limiter // of numbers that nothing was signed for
	allowances  *rate.Limiter // of tokens that batches may move
	merges      *rate.Limiter // of coins of an account
	headsMu     sync.Mutex
	heads       map[chain.ID]uint64    // the highest block seen of each chain
	unsettled   map[chain.ID]time.Time // when the newest binding without a block was given
	authorizing sync.Mutex             // held while claims are checked: what they count stays true until it is written
}

// Budget bounds what the fees on a ledger may take over time.
type Budget interface {
	// Bounds reports whether a ledger has one.
	Bounds(id chain.ID) bool
	// TakeFees counts the most that transactions at slots may take, in order, and answers how many
	// may be signed and why the next may not.
	TakeFees(ctx context.Context, id chain.ID, slots []chain.Slot, most []chain.Amount) (passed int, why string, err error)
}

// Parts are a Signer's dependencies.
type Parts struct {
	Keys   Keys
	Guard  *signguard.Guard
	Rules  map[chain.ID]chain.Rules // by ledger
	Checks []Check                  // of claims, in order
	Fees   Budget                   // nil for none
	// Again lists the checks that each first signature must pass a second time, of facts that may
	// have changed since the authorization; nil: all of Checks.
	Again []Check
	// Listed is the check that signatures for other fees must pass, which nothing else is known of
	// than the payment; nil for none.
	Listed Check
	// Authorized receives new authorizations before the next claims are checked; may be nil.
	Authorized func(id chain.ID, claims []chain.Claim)
	Now        func() time.Time     // of authorizations; nil means time.Now
	Report     func() checks.Report // of the checks; nil for none

	// Known reports which paths are accounts of the configuration; nil: any. The signer returns no
	// other address.
	Known func(id chain.ID, path string) bool

	// Source returns the source chain of a network of the configuration; nil: bindings are given on
	// any.
	Source func(network string) (chain.ID, bool)

	// Ledgers are the chains as the signer's own nodes show them. With them it believes final
	// blocks, not the daemon; nil: it has none.
	Ledgers map[chain.ID]Ledger
}

// New is a signer for the ledgers whose rules it is given.
func New(p Parts) *Signer {
	if p.Now == nil {
		p.Now = time.Now
	}
	if p.Again == nil {
		p.Again = p.Checks
	}
	return &Signer{
		again: p.Again, listed: p.Listed, grants: newGrants(),
		keys: p.Keys, guard: p.Guard, rules: p.Rules, checks: p.Checks, fees: p.Fees, now: p.Now, authorized: p.Authorized, report: p.Report, known: p.Known,
		source: p.Source, ledgers: p.Ledgers, heads: map[chain.ID]uint64{}, unsettled: map[chain.ID]time.Time{}, bindings: rate.NewLimiter(rate.Every(time.Hour/bindingsPerHour), bindingsAtOnce),
		cancels:    rate.NewLimiter(rate.Every(time.Hour/freshCancelsPerHour), freshCancelsAtOnce),
		allowances: rate.NewLimiter(rate.Every(time.Hour/allowancesPerHour), allowancesAtOnce),
		merges:     rate.NewLimiter(rate.Every(time.Hour/mergesPerHour), mergesAtOnce),
	}
}

// Sign signs orders of one ledger whose payments are authorized, in order, as far as the rules pass
// them: fewer than were asked for come with an error that is ErrRefused, or
// signguard.ErrUnauthorized when the next has no authorization and was not signed before. The
// sign-guard passes all of those or none.
func (s *Signer) Sign(ctx context.Context, id chain.ID, orders ...chain.Order) ([]chain.SignedTx, error) {
	rules, ok := s.rules[id]
	switch {
	case !ok:
		return nil, fmt.Errorf("%w: it knows no chain %q", ErrRefused, id)
	case len(orders) > MaxOrders:
		return nil, fmt.Errorf("%w: %d orders at once, at most %d are allowed", ErrRefused, len(orders), MaxOrders)
	}
	if err := checkSlots(orders); err != nil {
		return nil, err
	}
	digests, refused := digests(rules, orders)
	orders = orders[:len(digests)]
	if len(orders) == 0 {
		return nil, refused
	}
	may, later, err := s.mayBeSigned(ctx, id, orders)
	if err != nil {
		return nil, err
	}
	if orders = orders[:may]; later != nil {
		refused = later
	}
	may, later, err = s.mayTakeNumbers(ctx, id, orders)
	if err != nil {
		return nil, err
	}
	if orders = orders[:may]; later != nil {
		refused = later
	}
	if len(orders) == 0 {
		return nil, refused
	}
	may, later, err = s.takeFees(ctx, id, rules, orders)
	if err != nil {
		return nil, err
	}
	if orders = orders[:may]; later != nil {
		refused = later
	}
	if len(orders) == 0 {
		return nil, refused
	}
	wanted := s.signatures(orders, digests)
	if err := s.guard.Allow(ctx, id, wanted...); err != nil {
		return nil, err
	}
	s.grants.sign(id, orders)
	signed := make([]chain.SignedTx, len(orders))
	for i, o := range orders {
		var err error
		if signed[i], err = s.seal(ctx, rules, o, digests[i]); err != nil {
			return signed[:i], fmt.Errorf("signing payment %d at %d of %s: %w", o.Payment.ID, o.Slot.Nonce, o.Slot.Account, err)
		}
	}
	return signed, refused
}

// signatures are the payments of orders, as the sign-guard is asked for them.
func (s *Signer) signatures(orders []chain.Order, digests [][]chain.Digest) (list []signguard.Signature) {
	for i, o := range orders {
		for place, p := range o.Payment.All() {
			list = append(list, signguard.Signature{
				Slot: o.Slot, Place: place, Digest: Fingerprint(p), PaymentID: p.ID, Cancel: p.Purpose == chain.Cancel,
				Hash:    hex.EncodeToString(digests[i][0].Hash), // of a linked block, which is signed by its hash
				Receive: p.Purpose.PaysNobody(), Evidence: s.ledgers != nil,
			})
		}
	}
	return list
}

// takeFees returns how many orders may be signed within the budget of fees of their ledger, and why
// the next one may not be signed now.
func (s *Signer) takeFees(ctx context.Context, id chain.ID, rules chain.Rules, orders []chain.Order) (passed int, why, err error) {
	if s.fees == nil || !s.fees.Bounds(id) {
		return len(orders), nil, nil
	}
	slots, most := make([]chain.Slot, len(orders)), make([]chain.Amount, len(orders))
	for i, o := range orders {
		slots[i] = o.Slot
		if most[i], err = rules.Fee(o); err != nil {
			return 0, nil, fmt.Errorf("%w payment %d: its fee: %w", ErrRefused, o.Payment.ID, err)
		}
	}
	passed, text, err := s.fees.TakeFees(ctx, id, slots, most)
	if err != nil || passed == len(orders) {
		return len(orders), nil, err
	}
	return passed, fmt.Errorf("%w: %s", chain.ErrNotNow, text), nil
}

// Each cancellation of a number that nothing was signed for costs a fee that no payment needs, and
// so does each allowance and each merge. An allowance is made once for each account and token.
const (
	freshCancelsPerHour = 12
	freshCancelsAtOnce  = 16
	allowancesPerHour   = 12
	allowancesAtOnce    = MaxOrders
	mergesPerHour       = 12
	mergesAtOnce        = 16
)

// freshLimit bounds signatures of a purpose at numbers that nothing was signed for: their rate, how
// far behind the last signature the number may be, and how many an hour.
func (s *Signer) freshLimit(p chain.Purpose) (limit *rate.Limiter, most, perHour int) {
	switch p {
	case chain.Cancel:
		return s.cancels, freshCancelsAtOnce, freshCancelsPerHour
	case chain.Allow:
		return s.allowances, allowancesAtOnce, allowancesPerHour
	case chain.Merge:
		return s.merges, MaxOrders, mergesPerHour
	}
	return nil, 0, 0
}

// mayTakeNumbers returns how many orders may be signed, and the reason for the next one. A
// cancellation takes a number with a signature, or one of the first after those, because a bound
// payment that no longer passes the checks would block all later ones. Another party may have used
// the numbers between. Each number after the signatures counts for the limit per hour. An allowance
// or a merge at a number without a signature counts once. On a ledger of coins each number without
// a signature counts, also before signed ones. A signer without its own nodes believes the daemon
// and refuses none.
func (s *Signer) mayTakeNumbers(ctx context.Context, id chain.ID, orders []chain.Order) (passed int, why, err error) {
	for i, o := range orders {
		limit, most, perHour := s.freshLimit(o.Payment.Purpose)
		if s.ledgers == nil || limit == nil {
			continue
		}
		_, next, signed, err := s.guard.Next(ctx, id, o.Slot.Account)
		if err != nil {
			return 0, nil, err
		}
		if !signed {
			next = o.Slot.Nonce
		}
		if o.Slot.Nonce < next && o.Slot.Coin != "" { // numbers with coins do not depend on each other
			earlier, err := s.guard.SignedAt(ctx, id, o.Slot.Account, o.Slot.Nonce)
			if err != nil {
				return 0, nil, err
			}
			if len(earlier) == 0 {
				next = o.Slot.Nonce
			}
		}
		if o.Slot.Nonce < next {
			continue
		}
		count := 1
		if o.Payment.Purpose == chain.Cancel {
			count += int(o.Slot.Nonce - next)
		}
		switch {
		case o.Slot.Nonce-next >= uint64(most):
			return 0, nil, fmt.Errorf("%w a %s at number %d of %s: its signatures end before %d", ErrRefused, o.Payment.Purpose, o.Slot.Nonce, o.Slot.Account, next)
		case !limit.AllowN(s.now(), count):
			return i, fmt.Errorf("%w: for %d numbers without a signature a %s is signed in an hour", chain.ErrNotNow, perHour, o.Payment.Purpose), nil
		}
	}
	return len(orders), nil, nil
}

// digests returns the hashes to sign for each order, up to the first refused one.
func digests(rules chain.Rules, orders []chain.Order) (list [][]chain.Digest, refused error) {
	for _, o := range orders {
		digests, err := rules.Digests(o)
		if err == nil {
			err = checkPayments(o.Payment)
		}
		if err != nil {
			return list, fmt.Errorf("%w payment %d at %d of %s: %w", ErrRefused, o.Payment.ID, o.Slot.Nonce, o.Slot.Account, err)
		}
		list = append(list, digests)
	}
	return list, nil
}

// checkPayments refuses a batch that names a payment twice or makes other payments than payouts,
// and a payment whose source could be mistaken for its label.
func checkPayments(all chain.Payment) error {
	seen := map[uint64]bool{}
	for _, p := range all.All() {
		switch {
		case hasSource(p):
			return fmt.Errorf("source: a %s takes nothing in", p.Purpose)
		case all.Purpose != chain.Batch:
		case p.Purpose != chain.Credit && p.Purpose != chain.Refund:
			return fmt.Errorf("members: a %s is not paid in a batch", p.Purpose)
		case seen[p.ID]:
			return fmt.Errorf("members: payment %d is in the batch twice", p.ID)
		}
		seen[p.ID] = true
	}
	if len(all.All()) == 0 {
		return errors.New("members: the batch has no payments")
	}
	return nil
}

func (s *Signer) seal(ctx context.Context, rules chain.Rules, o chain.Order, digests []chain.Digest) (chain.SignedTx, error) {
	signatures := make([]chain.Signature, len(digests))
	for i, d := range digests {
		var err error
		if signatures[i].Public, signatures[i].Bytes, err = s.keys.Sign(ctx, d.Key, d.Hash); err != nil {
			return chain.SignedTx{}, err
		}
	}
	return rules.Seal(o, signatures...)
}

// Fingerprint returns the text by which the sign-guard distinguishes payments at a slot. It is not
// the signed data.
func Fingerprint(p chain.Payment) string {
	return p.Fingerprint()
}

// Free informs the sign-guard that a payment lost its slot. A signer with its own nodes must have
// seen that by ReadOutcomes; otherwise it is signguard.ErrRefused.
func (s *Signer) Free(ctx context.Context, paymentID uint64) error {
	if err := checkNumber("payment", paymentID); err != nil {
		return err
	}
	if s.ledgers == nil {
		return s.guard.Free(ctx, paymentID)
	}
	undecided, err := s.guard.Undecided(ctx, paymentID)
	if err == nil && undecided {
		err = fmt.Errorf("%w to free payment %d: %w: no final block that it has read shows that it lost its slot", ErrRefused, paymentID, signguard.ErrRefused)
	}
	return err
}

// Next returns where the signatures of an account end.
func (s *Signer) Next(ctx context.Context, id chain.ID, account string) (branch, number uint64, ok bool, err error) {
	if err := checkTexts(string(id), account); err != nil {
		return 0, 0, false, err
	}
	return s.guard.Next(ctx, id, account)
}

// Release informs the sign-guard that final blocks have used up an account's numbers below next. A
// signer with its own nodes learns it by ReadOutcomes.
func (s *Signer) Release(ctx context.Context, id chain.ID, account string, next uint64) error {
	if err := cmp.Or(checkTexts(string(id), account), checkNumber("number", next)); err != nil {
		return err
	}
	if s.ledgers != nil {
		return nil
	}
	return s.guard.Release(ctx, id, account, next)
}

// Report returns the use of the limits, and the faults of the checks.
func (s *Signer) Report(context.Context) (checks.Report, error) {
	if s.report == nil {
		return checks.Report{}, nil
	}
	return s.report(), nil
}
