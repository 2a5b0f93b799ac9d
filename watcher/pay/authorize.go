package pay

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sirupsen/logrus"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/transfers"
)

// AskHeldEvery is the interval of asking the signer again about held payments: limits roll on,
// people approve.
const AskHeldEvery = time.Minute

// errLater is the reason of a payment that cannot be authorized or refused yet.
var errLater = errors.New("the signer cannot verify it yet")

// authorized asks the signer to authorize payments before they are bound, so that a payment it
// holds does not block those behind it. It defers what the signer does not authorize and returns
// the rest in the same order.
func (p *payer) authorized(ctx context.Context, a records.Account, cur records.Cursor, chosen []records.Payment) ([]records.Payment, error) {
	verdicts, err := p.all.claim(ctx, p.id, chosen)
	if err != nil || len(chosen) == 0 {
		return nil, err
	}
	var list []records.Payment
	var deferrals []deferral
	var stopped []judgement
	var sweepsToRetired []records.Payment
	for i, v := range verdicts {
		switch v.State {
		case chain.Authorized:
			list = append(list, chosen[i])
		case chain.LaterClaim:
			toRetired, err := p.goesToRetired(ctx, chosen[i])
			if err != nil {
				return nil, err
			}
			if toRetired {
				sweepsToRetired = append(sweepsToRetired, chosen[i])
				continue
			}
			deferrals = append(deferrals, deferral{chosen[i], fmt.Errorf("%w: %s", errLater, v.Text)})
		default:
			stopped = append(stopped, judgement{chosen[i], v})
		}
	}
	return list, errors.Join(p.deferAll(ctx, a, cur, deferrals), p.all.applyVerdicts(ctx, stopped), p.voidSweeps(ctx, sweepsToRetired))
}

// claim asks the signer about payments of one chain and returns its verdicts in the same order.
// What pays nobody needs no authorization.
func (ps *Payers) claim(ctx context.Context, id chain.ID, list []records.Payment) ([]chain.Verdict, error) {
	verdicts := make([]chain.Verdict, len(list))
	var at []int
	var claims []chain.Claim
	var answered map[uint64]records.Transfer
	err := ps.deps.Store.View(ctx, func(tx *records.Tx) (err error) {
		if answered, err = tx.Transfers().ByID(records.CausesOf(list)); err != nil {
			return err
		}
		approvals, err := tx.Payments().Approvals(idsOf(list))
		for i, q := range list {
			verdicts[i] = chain.Verdict{State: chain.Authorized}
			if !q.Purpose.PaysNobody() {
				c := transfers.ClaimOf(q, answered[q.TransferID])
				c.Approvals = approvals[q.ID]
				at, claims = append(at, i), append(claims, c)
			}
		}
		return err
	})
	if err != nil || len(claims) == 0 {
		return verdicts, err
	}
	answers, err := ps.askSigner(ctx, id, claims)
	if err != nil {
		return nil, err
	}
	unproven := map[int]records.Transfer{}
	for i, n := range at {
		verdicts[n] = answers[i]
		if answers[i].State == chain.HeldClaim && answers[i].Reason == chain.ReasonUnproven {
			unproven[i] = answered[list[n].TransferID]
		}
	}
	read, err := ps.showSpent(ctx, unproven)
	if err != nil || len(read) == 0 {
		return verdicts, err
	}
	again := make([]chain.Claim, len(read))
	for i, n := range read {
		again[i] = claims[n]
	}
	if answers, err = ps.askSigner(ctx, id, again); err != nil {
		return nil, err
	}
	for i, n := range read {
		verdicts[at[n]] = answers[i]
	}
	return verdicts, nil
}

// askSigner asks the signer for leave to pay.
func (ps *Payers) askSigner(ctx context.Context, id chain.ID, claims []chain.Claim) ([]chain.Verdict, error) {
	answers, err := ps.deps.Signer.Authorize(ctx, id, claims...)
	if err == nil && len(answers) != len(claims) {
		err = fmt.Errorf("%d verdicts for %d payments", len(answers), len(claims))
	}
	if err != nil {
		return nil, fmt.Errorf("asking the signer for authorization: %w", err)
	}
	return answers, nil
}

func idsOf(list []records.Payment) []uint64 {
	ids := make([]uint64, len(list))
	for i, q := range list {
		ids[i] = q.ID
	}
	return ids
}

// judgement is a payment and the signer's verdict on it.
type judgement struct {
	payment records.Payment
	verdict chain.Verdict
}

// applyVerdicts moves payments to the states of their verdicts and stores the reasons, also in the
// history.
func (ps *Payers) applyVerdicts(ctx context.Context, list []judgement) error {
	if len(list) == 0 {
		return nil
	}
	err := ps.deps.Store.Update(ctx, func(tx *records.Tx) error {
		for _, j := range list {
			if err := j.apply(tx); err != nil && !errors.Is(err, records.ErrConflict) { // an operator was faster
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("noting the signer's verdicts on %d payments: %w", len(list), err)
	}
	for _, j := range list {
		log := ps.deps.Log.WithFields(logrus.Fields{"payment": j.payment.ID, "reason": j.verdict.Reason})
		if j.verdict.State == chain.RefusedClaim {
			log.Error("refused by the signer, needs an operator: " + j.verdict.Text)
			continue
		}
		log.Info("payment " + string(j.verdict.State) + " by the signer")
	}
	return nil
}

// apply changes nothing for a payment that is held for the same reason.
func (j judgement) apply(tx *records.Tx) error {
	q, v := j.payment, j.verdict
	if err := checkHeld(tx, q); err != nil {
		return err
	}
	switch {
	case v.State == chain.Authorized && q.State == records.HeldPayment:
		return tx.Payments().Move(q.ID, records.HeldPayment, records.Queued, "")
	case v.State == chain.Authorized || v.State == chain.LaterClaim || q.State == records.HeldPayment && q.Reason == records.Reason(v.Reason):
		return nil
	}
	if v.Text != "" {
		if err := tx.Log(records.Event{Subject: "payment", SubjectID: fmt.Sprint(q.ID), Event: "signer", Detail: v.Text}); err != nil {
			return err
		}
	}
	if q.State == records.HeldPayment {
		return tx.Payments().NoteHeld(q.ID, records.Reason(v.Reason))
	}
	return tx.Payments().Move(q.ID, records.Queued, records.HeldPayment, records.Reason(v.Reason))
}

// checkHeld is records.ErrConflict when a held payment is not held for the reason any more with
// which it was read: an operator may hold it now.
func checkHeld(tx *records.Tx, q records.Payment) error {
	if q.State != records.HeldPayment {
		return nil
	}
	now, err := tx.Payments().Get(q.ID)
	if err == nil && (now.State != q.State || now.Reason != q.Reason) {
		err = fmt.Errorf("%w: payment %d is %s: %s", records.ErrConflict, q.ID, now.State, now.Reason)
	}
	return err
}

// AskHeld asks the signer again about held payments: authorized ones are queued. Run calls it
// automatically.
func (ps *Payers) AskHeld(ctx context.Context) error {
	for id, p := range ps.byID {
		if !ps.deps.Owns(id) {
			continue
		}
		if err := p.handOverHeld(ctx); err != nil {
			return fmt.Errorf("handing over what is held on %s: %w", id, err)
		}
	}
	for _, reason := range records.AskedAgain() {
		if err := ps.askHeldFor(ctx, reason); err != nil {
			return fmt.Errorf("asking about what is held for %q: %w", reason, err)
		}
	}
	return nil
}

func (ps *Payers) askHeldFor(ctx context.Context, reason records.Reason) error {
	for after := uint64(0); ; {
		var list []records.Payment
		err := ps.deps.Store.View(ctx, func(tx *records.Tx) (err error) {
			list, err = tx.Payments().HeldFor(reason, after, MaxGroup)
			return err
		})
		if err != nil || len(list) == 0 {
			return err
		}
		after = list[len(list)-1].ID
		for id := range ps.deps.Chains {
			if !ps.deps.Owns(id) {
				continue
			}
			if err := ps.AskAgain(ctx, id, slices.DeleteFunc(slices.Clone(list), func(q records.Payment) bool { return q.Chain != id })); err != nil {
				return err
			}
		}
	}
}

func (ps *Payers) AskAgain(ctx context.Context, id chain.ID, list []records.Payment) error {
	verdicts, err := ps.claim(ctx, id, list)
	if err != nil || len(list) == 0 {
		return err
	}
	changed := make([]judgement, 0, len(list))
	for i, q := range list {
		if v := verdicts[i]; v.State == chain.Authorized || v.State != chain.LaterClaim && records.Reason(v.Reason) != q.Reason {
			changed = append(changed, judgement{q, v})
		}
	}
	if len(changed) > 0 {
		defer ps.deps.Wake()
	}
	return ps.applyVerdicts(ctx, changed)
}
