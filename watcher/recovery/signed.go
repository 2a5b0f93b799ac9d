package recovery

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/records/signguard"
)

// trace is the sign-guard's list of signatures for a transaction that is not in our records: at its
// number, with exactly its effect. There may be several where blocks link: one in each branch.
type trace []signguard.Signed

// trace asks the sign-guard for the payment at a place of a transaction. It is empty for a
// transaction that we have not signed.
func (r *Recovery) trace(ctx context.Context, e records.OwnTx, out chain.Outgoing, place int) (trace, error) {
	list, err := r.Guard.SignedAt(ctx, e.Chain, e.Account, e.Number)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list, func(s signguard.Signed) bool { return s.Place != place || !out.Is(s.Digest, s.PaymentID) }), nil
}

// exact reports whether all of it names its cause: then it was signed for nothing else. What was
// signed before there were authorizations names a number only, and records that were restored give
// numbers again.
func (s trace) exact() bool {
	return len(s) > 0 && !slices.ContainsFunc(s, func(one signguard.Signed) bool { return one.Cause == "" })
}

// allows reports whether it was signed to let batches move a token.
func (s trace) allows() bool {
	return slices.ContainsFunc(s, func(one signguard.Signed) bool { return strings.HasPrefix(one.Digest, string(chain.Allow)+"|") })
}

// pick selects those of identical payments that the transaction was signed for. ok is false without
// the sign-guard's data: then they are all the same.
func (s trace) pick(tx *records.Tx, alike []records.Payment) (list []records.Payment, ok bool, err error) {
	for _, p := range alike {
		key, err := keyOf(tx, p)
		if err != nil {
			return nil, false, err
		}
		if slices.ContainsFunc(s, func(one signguard.Signed) bool {
			return one.Cause == key || one.Cause == "" && one.PaymentID == p.ID && strings.HasPrefix(one.Digest, string(p.Purpose)+"|")
		}) {
			list = append(list, p)
		}
	}
	switch {
	case len(list) > 0:
		return list, true, nil
	case !s.exact():
		return alike, false, nil
	}
	// What moves between our own accounts has no other owner: one payment alike is as good as
	// another, but none of a user's is.
	return slices.DeleteFunc(slices.Clone(alike), func(p records.Payment) bool { return p.TransferID != 0 || !s.purpose(p.Purpose) }), false, nil
}

func (s trace) purpose(p chain.Purpose) bool {
	return slices.ContainsFunc(s, func(one signguard.Signed) bool { return strings.HasPrefix(one.Cause, string(p)+"|") })
}

// of leaves those transfers that the transaction was signed for, to credit or to refund them.
func (s trace) of(tx *records.Tx, transfers []uint64) (list []uint64, err error) {
	if !s.exact() {
		return transfers, nil
	}
	for _, id := range transfers {
		t, err := tx.Transfers().Get(id)
		if err != nil {
			return nil, err
		}
		if s.transfer(t) {
			list = append(list, id)
		}
	}
	return list, nil
}

func (s trace) transfer(t records.Transfer) bool {
	key := refundKey(t)
	return slices.ContainsFunc(s, func(one signguard.Signed) bool { return one.Cause == key })
}

// users reports whether it was signed for a transfer of a user's.
func (s trace) users() bool { return s.exact() && strings.HasPrefix(s[0].Cause, transferKind) }

// String names the signed payment; empty without the sign-guard's data.
func (s trace) String() string {
	if !s.exact() {
		return ""
	}
	kind, rest, _ := strings.Cut(s[0].Cause, "|")
	if kind+"|" != transferKind {
		return fmt.Sprintf("%s payment %d", kind, s[0].PaymentID)
	}
	id, ref, _ := strings.Cut(rest, "|")
	return fmt.Sprintf("transfer %s of %s", ref, id)
}

// transferKind begins the keys of transfers.
const transferKind = "transfer|"

// keyOf returns the sign-guard's name of a payment's cause.
func keyOf(tx *records.Tx, p records.Payment) (string, error) {
	if p.TransferID != 0 {
		t, err := tx.Transfers().Get(p.TransferID)
		return refundKey(t), err
	}
	c := chain.Claim{Account: p.Account, Payment: chain.Payment{ID: p.ID, Purpose: p.Purpose}, Cause: chain.Cause{Mark: p.Mark}}
	return c.Key(p.Chain), nil
}

// refundKey is the cause of all that a transfer asks for.
func refundKey(t records.Transfer) string {
	c := chain.Claim{Payment: chain.Payment{Purpose: chain.Refund}, Cause: chain.Cause{Chain: t.Chain, Ref: t.Ref}}
	return c.Key(t.Chain)
}
