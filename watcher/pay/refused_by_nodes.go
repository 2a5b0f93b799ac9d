package pay

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/status"
)

// tellRefusedAfter is the time for which nodes must refuse a transaction before that is a
// condition: a full pool may have room again in the next block.
const tellRefusedAfter = 15 * time.Second

// refusal is a signed transaction that the nodes refuse.
type refusal struct {
	account records.Account
	slot    records.Slot
	hash    string
	next    bool // nothing of the account comes before it
	since   time.Time
	text    string
}

// slotKey names a slot of a chain.
type slotKey struct {
	account        string
	branch, number uint64
}

func keyOf(s records.Slot) slotKey { return slotKey{s.Account, s.Branch, s.Nonce} }

// stuckSlots are the slots of a chain's accounts that the nodes or the signer refuse. They become
// conditions.
type stuckSlots struct {
	id       chain.ID
	coins    bool // slots do not wait for each other
	now      func() time.Time
	refused  map[string]refusal // by account, what the nodes refuse of it
	unsigned map[slotKey]heldBound
	told     []records.Condition
	hasTold  bool // else conditions of an earlier process may still be stored
}

// noteAnswers stores the nodes' answers to attempts, which are some of the unmined slots of an
// account, in order. It keeps the first refused one: no block can include later ones before it.
func (k *stuckSlots) noteAnswers(a records.Account, unmined []records.OpenSlot, of []records.Slot, list []chain.Attempt, answers []error) {
	for i, err := range answers {
		known, has := k.refused[a.Account]
		same := has && known.slot.Nonce == of[i].Nonce && known.slot.Branch == of[i].Branch
		var said chain.Refusal
		switch {
		case err == nil && same:
			delete(k.refused, a.Account)
		case !errors.As(err, &said), has && known.slot.Nonce < of[i].Nonce:
		default:
			r := refusal{a, of[i], list[i].Hash, unmined[0].Nonce == of[i].Nonce, k.now(), said.Text}
			if same {
				r.since = known.since
			}
			k.refused[a.Account] = r
		}
	}
}

// dropMined deletes the refusal of a slot that is in a block.
func (k *stuckSlots) dropMined(a records.Account, unmined []records.OpenSlot) {
	r, has := k.refused[a.Account]
	waits := func(s records.OpenSlot) bool { return s.Nonce == r.slot.Nonce && s.Branch == r.slot.Branch }
	if has && !slices.ContainsFunc(unmined, waits) {
		delete(k.refused, a.Account)
	}
}

// dropIdle drops those of accounts that have nothing to send, or may not.
func (k *stuckSlots) dropIdle(busy []records.Account) {
	idle := func(account string) bool {
		return !slices.ContainsFunc(busy, func(a records.Account) bool { return a.Account == account && !a.Stopped() })
	}
	maps.DeleteFunc(k.refused, func(account string, _ refusal) bool { return idle(account) })
	maps.DeleteFunc(k.unsigned, func(of slotKey, _ heldBound) bool { return idle(of.account) })
}

// tell stores what is refused for some time as conditions, when that differs from what is
// stored.
func (k *stuckSlots) tell(ctx context.Context, store records.Transactor) error {
	var now []records.Condition
	for _, account := range slices.Sorted(maps.Keys(k.refused)) {
		if r := k.refused[account]; k.now().Sub(r.since) >= tellRefusedAfter {
			now = append(now, r.condition(k.id, k.coins))
		}
	}
	account := ""
	for _, h := range slices.SortedFunc(maps.Values(k.unsigned), firstHeld) {
		if h.slot.Account != account && k.now().Sub(h.since) >= TellUnsignedAfter {
			account, now = h.slot.Account, append(now, h.condition(k.id)) // one for an account
		}
	}
	if k.hasTold && slices.Equal(now, k.told) {
		return nil
	}
	err := store.Update(ctx, func(tx *records.Tx) error { return records.NoteConditions(tx, "refused:"+string(k.id), now) })
	if err != nil {
		return fmt.Errorf("reporting payments that nodes refuse: %w", err)
	}
	k.told, k.hasTold = now, true
	return nil
}

func (r refusal) condition(id chain.ID, coins bool) records.Condition {
	c := records.Condition{Kind: string(status.PaymentRefused), Chain: id, Network: r.account.Network, Subject: r.account.Account}
	if r.account.Kind == records.KindHot {
		c.Direction, c.Stops = records.Withdrawal, r.next && !coins
	}
	c.Detail = fmt.Sprintf("the nodes of %s refuse transaction %s of %s account %s at number %d (payment %d): %s",
		id, r.hash, r.account.Kind, r.account.Account, r.slot.Nonce, r.slot.PaymentID, r.text)
	return c
}
