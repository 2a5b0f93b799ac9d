package operator

import (
	"context"
	"strconv"
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

// ResumeHaltedChain follows a halted chain again, if its nodes agree with our final blocks.
func (d *Session) ResumeHaltedChain(ctx context.Context, r *recovery.Recovery, id chain.ID, why string) (recovery.Fork, error) {
	fork, err := r.ResumeChain(ctx, id)
	if err != nil {
		return fork, err
	}
	return fork, d.recordOrder(ctx, "chain", string(id), "resume", why)
}
