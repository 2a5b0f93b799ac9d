package operator

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/watcher/recovery"
)

// recordOrder writes an operator's order into the history, once it is done.
func (d *Session) recordOrder(ctx context.Context, subject, id, what, why string) error {
	return d.Store.Update(ctx, func(tx *records.Tx) error {
		return tx.Log(records.Event{Subject: subject, SubjectID: id, Event: "ordered", Detail: because(what, why)})
	})
}

// because is an order with its reason, where one is given.
func because(what, why string) string {
	if why == "" {
		return what
	}
	return what + ": " + why
}

// SettleRecord states that a final transaction of ours, which is not in the records, paid a record,
// under the actor of ctx.
func (d *Session) SettleRecord(ctx context.Context, r *recovery.Recovery, record uint64, hash, why string) error {
	if err := r.Settle(ctx, record, hash); err != nil {
		return err
	}
	return d.recordOrder(ctx, "transfer", strconv.FormatUint(record, 10), "settle by "+hash, why)
}

// StopAccount halts an account: nothing is signed with its key until it is resumed.
func (d *Session) StopAccount(ctx context.Context, id chain.ID, account, why string) error {
	return d.Store.Update(ctx, func(tx *records.Tx) error { return tx.Accounts().SetState(id, account, records.AccountHalted, why) })
}

// ResumeAccount lets a stopped account sign again, once everything it ever signed is decided and
// explained.
func (d *Session) ResumeAccount(ctx context.Context, r *recovery.Recovery, id chain.ID, account, why string, patience time.Duration) error {
	if err := r.Resume(ctx, id, account, patience); err != nil {
		return err
	}
	return d.recordOrder(ctx, "account", account, "resume on "+string(id), why)
}

// ResumeHaltedChain follows a halted chain again, if its nodes agree with our final block.
func (d *Session) ResumeHaltedChain(ctx context.Context, r *recovery.Recovery, id chain.ID, why string) (recovery.Fork, error) {
	fork, err := r.ResumeChain(ctx, id)
	if err != nil {
		return fork, err
	}
	return fork, d.recordOrder(ctx, "chain", string(id), "resume", why)
}

// ErrNotVerified means that an operator has verified another block than the one from which a halted
// chain would continue.
var ErrNotVerified = errors.New("the verified block is another one")

// ResumeVerifiedChain is ResumeHaltedChain, if our final block has the hash that an operator has
// verified. A halted chain continues from that block only: the nodes must have it too. The refusal
// does not have our hash, so that it cannot be copied from there.
func (d *Session) ResumeVerifiedChain(ctx context.Context, r *recovery.Recovery, id chain.ID, hash, why string) (recovery.Fork, error) {
	var cur records.Cursor
	err := d.Store.View(ctx, func(tx *records.Tx) (err error) {
		cur, err = tx.Chains().Cursor(id)
		return err
	})
	if err != nil {
		return recovery.Fork{}, err
	}
	if ours := bareHash(cur.Final.Hash); cur.Halted && (ours == "" || bareHash(hash) != ours) {
		return recovery.Fork{}, plainly(ErrNotVerified, "block %d of %s has another hash in our records than the one that you verified: the chain stays halted", cur.Final.Height, id)
	}
	return d.ResumeHaltedChain(ctx, r, id, why)
}

// bareHash has no prefix and no capital letters: explorers write hashes differently.
func bareHash(hash string) string { return strings.TrimPrefix(strings.ToLower(hash), "0x") }
