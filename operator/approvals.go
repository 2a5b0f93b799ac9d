package operator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/records/control"
	"gatewayd/signer/checks"
	"gatewayd/watcher"
)

// Waiting is a record's payment that waits, as approvers sign it.
type Waiting struct {
	Payment  records.Payment
	Transfer records.Transfer
	Claim    chain.Claim
	Known    []chain.Approval // what was signed of it
}

// WaitingPayment answers the payment of a record that may be approved.
func (d *Session) WaitingPayment(ctx context.Context, record uint64) (w Waiting, err error) {
	err = d.Store.View(ctx, func(tx *records.Tx) error {
		if w.Transfer, err = tx.Transfer(record); err != nil {
			return err
		}
		payments, err := tx.PaymentsOf(record)
		if err != nil {
			return err
		}
		for _, p := range payments {
			if p.Purpose == chain.Receive || p.State != records.HeldPayment && p.State != records.Queued {
				continue
			}
			w.Payment, w.Claim = p, watcher.ClaimOf(p, w.Transfer)
			known, err := tx.Approvals([]uint64{p.ID})
			w.Known = known[p.ID]
			return err
		}
		return fmt.Errorf("no payment of record %d waits: there is nothing to approve", record)
	})
	if errors.Is(err, records.ErrNotFound) {
		return w, plainly(err, "there is no record %d", record)
	}
	return w, err
}

// Approve hands the daemon what an approver has signed.
func (d *Session) Approve(ctx context.Context, w Waiting, a chain.Approval) error {
	return d.Change(ctx, func(tx *records.Tx) error { return watcher.Approve(tx, w.Payment.ID, a) })
}

// Approver is the configured name of a key; false where the configuration names no approvers, as beside a signer of its own.
func (d *Session) Approver(key string) (name string, known bool, err error) {
	approvers := d.Config.Signer.Approvals.Approvers
	if len(approvers) == 0 {
		return "", false, nil
	}
	for _, a := range approvers {
		if a.Key == key {
			return a.Name, true, nil
		}
	}
	return "", false, fmt.Errorf("the key %s is none of signer.approvals.approvers", key)
}

// LimitsReport is the name of the daemon's report of the signer's limits.
const LimitsReport = "limits"

// Limits answers how much of the signer's limits is used, and when that was read.
func (d *Session) Limits(ctx context.Context) (r checks.Report, at time.Time, err error) {
	err = d.Store.View(ctx, func(tx *records.Tx) error {
		r, at, err = LimitsOf(tx)
		return err
	})
	if err == nil && at.IsZero() {
		err = errors.New("no daemon has told of its limits yet: start `gatewayd run`")
	}
	return r, at, err
}

// LimitsOf is what the daemon has told of the signer's limits, and when; never at the zero time.
func LimitsOf(tx *records.Tx) (r checks.Report, at time.Time, err error) {
	at, ever, err := control.ReadReport(tx, LimitsReport, &r)
	if !ever {
		return checks.Report{}, time.Time{}, err
	}
	return r, at, err
}
