package operator

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/signer/checks"
	"gatewayd/transfers"
)

// Waiting is a record's payment that waits, as approvers sign it.
type Waiting struct {
	Payment  records.Payment
	Transfer records.Transfer
	Claim    chain.Claim
	Known    []chain.Approval // what was signed of it
	Verdict  string           // the signer's last answer: its rule, and how many approvals it has and wants
}

// ErrNothingWaits means that no payment of a record may be approved.
var ErrNothingWaits = errors.New("no payment waits for approval")

// WaitingPayment returns the payment of a record that may be approved.
func (d *Session) WaitingPayment(ctx context.Context, record uint64) (w Waiting, err error) {
	err = d.Store.View(ctx, func(tx *records.Tx) error {
		payments, err := tx.Payments().Of(record)
		if err != nil {
			return err
		}
		for _, p := range payments {
			may, err := tx.Slots().MayApprove(p)
			if err != nil {
				return err
			}
			if may && p.Purpose != chain.Receive {
				w, err = waitingOf(tx, p)
				return err
			}
		}
		if _, err := tx.Transfers().Get(record); err != nil {
			return err
		}
		return fmt.Errorf("record %d has no pending payment: %w", record, ErrNothingWaits)
	})
	if errors.Is(err, records.ErrNotFound) {
		return w, plainly(err, "there is no record %d", record)
	}
	return w, err
}

func waitingOf(tx *records.Tx, p records.Payment) (w Waiting, err error) {
	if w.Transfer, err = tx.Transfers().Get(p.TransferID); err != nil {
		return w, err
	}
	w.Payment, w.Claim = p, transfers.ClaimOf(p, w.Transfer)
	known, err := tx.Payments().Approvals([]uint64{p.ID})
	if err != nil {
		return w, err
	}
	w.Known = known[p.ID]
	history, err := tx.History("payment", strconv.FormatUint(p.ID, 10))
	for _, e := range history {
		if e.Event == "signer" {
			w.Verdict = e.Detail
		}
	}
	return w, err
}

// WaitingPayments are those that people's approvals would let go, oldest first: at most limit for
// each reason that holds them.
func (d *Session) WaitingPayments(ctx context.Context, limit int) (list []Waiting, err error) {
	err = d.Store.View(ctx, func(tx *records.Tx) error {
		for _, reason := range []records.Reason{records.HeldApproval, records.HeldUnproven} {
			held, err := tx.Payments().HeldFor(reason, 0, limit)
			if err != nil {
				return err
			}
			for _, p := range held {
				if p.TransferID == 0 {
					continue
				}
				w, err := waitingOf(tx, p)
				if err != nil {
					return err
				}
				list = append(list, w)
			}
		}
		return nil
	})
	return list, err
}

// ApproveAs hands the daemon what an approver has signed, under the actor of ctx.
func (d *Session) ApproveAs(ctx context.Context, w Waiting, a chain.Approval) error {
	return d.Store.Update(ctx, func(tx *records.Tx) error { return transfers.Approve(tx, w.Payment.ID, a) })
}

// Approve hands the daemon what an approver has signed.
func (d *Session) Approve(ctx context.Context, w Waiting, a chain.Approval) error {
	return d.ApproveAs(AsOperator(ctx), w, a)
}

// Approver returns the configured name of a key; false where the configuration names no approvers,
// as with a separate signer.
func (d *Session) Approver(key string) (name string, known bool, err error) {
	approvers := d.Config.Signer.Approvals.Approvers
	if len(approvers) == 0 {
		return "", false, nil
	}
	for _, a := range approvers {
		if a.PublicKey() == key {
			return a.Name, true, nil
		}
	}
	return "", false, fmt.Errorf("the key %s is not in signer.approvals.approvers", key)
}

// LimitsReport is the name of the daemon's report of the signer's limits.
const LimitsReport = "limits"

// Limits returns how much of the signer's limits is used, and when that was read.
func (d *Session) Limits(ctx context.Context) (r checks.Report, at time.Time, err error) {
	err = d.Store.View(ctx, func(tx *records.Tx) error {
		r, at, err = LimitsOf(tx)
		return err
	})
	if err == nil && at.IsZero() {
		err = errors.New("no daemon has reported its limits yet: start `gatewayd run`")
	}
	return r, at, err
}

// LimitsOf returns the daemon's last report of the signer's limits, and its time; the zero time
// without one.
func LimitsOf(tx *records.Tx) (r checks.Report, at time.Time, err error) {
	at, ever, err := records.ReadReport(tx, LimitsReport, &r)
	if !ever {
		return checks.Report{}, time.Time{}, err
	}
	return r, at, err
}
