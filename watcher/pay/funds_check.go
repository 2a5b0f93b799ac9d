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
	"gatewayd/watcher/frozen"
)

const (
	// maxWaiting bounds how many payments that wait are stepped over to find one that need not.
	maxWaiting = 1024
	// TryAgain is after how many blocks a payment that waited is tried again.
	TryAgain = 3
)

// fundsCheck finds out which queued payments of an account can be paid now.
type fundsCheck struct {
	funds     *spendable
	ceilings  map[uint64]chain.Amount // by payment, see Payers.ceilings
	refuser   func(context.Context, records.Payment, error) error
	short     map[chain.Asset]bool
	noCoin    bool
	deferrals []deferral
	faults    []error // of single assets, while the chain answers
}

// errAsset is the reason why payments of one asset wait: the nodes answer, but cannot return its
// balance or fee, or it is no longer configured.
var errAsset = errors.New("the asset cannot be paid now")

// deferral is a payment that is not bound now, and why.
type deferral struct {
	payment records.Payment
	why     error
}

// affordable returns the payments that can be paid now. Once an asset falls short, all later
// payments of it wait, and once coin for fees falls short, all later payments wait: otherwise small
// payments would overtake a large one forever. A payment that waits for another reason is
// overtaken. If every balance query for an asset fails, the asset counts as short in this round,
// and other assets are not affected. While the chain does not answer at all, nothing can be paid.
func (t *fundsCheck) affordable(ctx context.Context, list []records.Payment) (out []records.Payment, err error) {
	t.estimateGroup(ctx, list)
	for _, q := range list {
		if t.short[q.Asset] || t.noCoin {
			continue
		}
		fee, err := t.funds.checkPayment(ctx, q, transfers.ChainPayment(q, t.ceilings[q.ID]))
		if err != nil {
			err = t.refuser(ctx, q, err)
		}
		switch {
		case err == nil:
			t.funds.countPayment(q, fee)
			out = append(out, q)
		case errors.Is(err, errShort):
			t.short[q.Asset] = true
			if q.Reason == records.WaitsAsset {
				t.deferrals = append(t.deferrals, deferral{q, err})
			}
		case errors.Is(err, errNoCoin):
			t.noCoin = true
			t.deferrals = append(t.deferrals, deferral{q, err})
		case errors.Is(err, frozen.ErrFrozen):
			t.short[q.Asset] = true
			t.deferrals = append(t.deferrals, deferral{q, err})
		case waitsOrFails(err):
			t.deferrals = append(t.deferrals, deferral{q, err})
		case !t.funds.answers(ctx):
			return nil, err
		default:
			t.short[q.Asset] = true
			t.deferrals = append(t.deferrals, deferral{q, fmt.Errorf("%w: %w", errAsset, err)})
			t.faults = append(t.faults, fmt.Errorf("asset %s: %w", q.Asset, err))
		}
	}
	return out, nil
}

// estimateGroup asks for the fees of the payments that the account may hold enough for.
func (t *fundsCheck) estimateGroup(ctx context.Context, list []records.Payment) {
	var pays []chain.Payment
	for _, q := range list {
		if q.Purpose == chain.Receive || t.short[q.Asset] || t.noCoin {
			continue
		}
		if t.funds.checkBalance(ctx, q.Asset, q.Amount, errShort) == nil {
			pays = append(pays, transfers.ChainPayment(q, t.ceilings[q.ID]))
		}
	}
	t.funds.estimateGroup(ctx, pays)
}

// overtaken reports whether there may be payments behind what waits.
func (t *fundsCheck) overtaken() bool {
	return !t.noCoin && slices.ContainsFunc(t.deferrals, deferral.steppedOver)
}

// waitsOrFails reports whether an error concerns one payment only; others, as the fault of a node,
// concern all.
func waitsOrFails(err error) bool {
	return slices.ContainsFunc([]error{chain.ErrRefused, chain.ErrGasLimit, chain.ErrFeeCeiling, chain.ErrNotNow, frozen.ErrTokenLimit}, func(why error) bool { return errors.Is(err, why) })
}

// NoteLaterAfter is the time for which the signer may be behind the chain, or an asset without an
// answer, before the payments show it.
const NoteLaterAfter = time.Minute

// passes reports whether the payment waits for a cause that mostly ends automatically, and not long
// yet.
func (a deferral) passes(now time.Time) bool {
	return (errors.Is(a.why, errLater) || errors.Is(a.why, errAsset)) && now.Sub(a.payment.ChangedAt) < NoteLaterAfter
}

// steppedOver reports whether the payment alone waits: later ones continue, and it is tried again
// after TryAgain blocks. The cause of a complete asset or account is tried in each round.
func (a deferral) steppedOver() bool { return waitsOrFails(a.why) || errors.Is(a.why, errLater) }

// reason returns the reason for the wait in the records' terms; empty for one that ends
// automatically.
func (a deferral) reason() records.Reason {
	switch {
	case errors.Is(a.why, chain.ErrRefused):
		return records.ReasonPayeeRefuses
	case errors.Is(a.why, chain.ErrGasLimit):
		return records.ReasonPayeeGas
	case errors.Is(a.why, chain.ErrFeeCeiling):
		return records.WaitsFeeCeiling
	case errors.Is(a.why, errNoCoin):
		return records.WaitsNoCoin
	case errors.Is(a.why, errLater):
		return records.WaitsSigner
	case errors.Is(a.why, errAsset):
		return records.WaitsAsset
	case errors.Is(a.why, frozen.ErrFrozen):
		return records.WaitsFrozen
	case errors.Is(a.why, frozen.ErrTokenLimit):
		return records.WaitsTokenLimit
	}
	return ""
}

// fails reports whether the payment is given up: it was never bound, and its payee takes nothing.
// What we send ourselves is tried again instead.
func (a deferral) fails() bool {
	return (errors.Is(a.why, chain.ErrRefused) || errors.Is(a.why, chain.ErrGasLimit)) &&
		(a.payment.Purpose == chain.Credit || a.payment.Purpose == chain.Refund)
}

// stepOver returns the payments that were tried less than TryAgain blocks ago and wait. Those that
// lack coin are not among them: they are tried in each round.
func (p *payer) stepOver(cur records.Cursor) map[uint64]uint64 {
	for id, height := range p.waiting {
		if cur.Height >= height+TryAgain || cur.Height < height {
			delete(p.waiting, id)
		}
	}
	return p.waiting
}

// deferAll records which payments wait and why, and gives up those that their payee refuses. None
// of them has a slot, so none was ever signed.
func (p *payer) deferAll(ctx context.Context, a records.Account, cur records.Cursor, list []deferral) error {
	p.logShortOfCoin(a.Account, list)
	var changed []deferral
	for _, s := range list {
		if errors.Is(s.why, frozen.ErrFrozen) {
			p.frozen[paidFrom{a.Account, s.payment.Asset}] = cur.Height
		}
		if s.steppedOver() && len(p.waiting) < maxWaiting {
			p.waiting[s.payment.ID] = cur.Height
		}
		if s.fails() || errors.Is(s.why, frozen.ErrFrozen) || !s.passes(p.deps.Now()) && (s.reason() != "" || errors.Is(s.why, errShort)) && s.reason() != s.payment.Reason {
			changed = append(changed, s)
		}
	}
	if len(changed) == 0 {
		return nil
	}
	err := p.deps.Store.Update(ctx, func(tx *records.Tx) error {
		if err := p.closeFrozenOf(tx, a, changed); err != nil {
			return err
		}
		gate := newGate(tx)
		for _, s := range changed {
			ok, err := gate.mayLeave(s.payment)
			ok = ok || errors.Is(s.why, frozen.ErrFrozen) // its channel has just been stopped, and the note contains the reason
			if err == nil && ok {
				err = p.deferOne(tx, s)
			}
			if err != nil && !errors.Is(err, records.ErrConflict) { // an operator was faster
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("setting %d payments aside: %w", len(changed), err)
	}
	for _, s := range changed {
		p.log.WithFields(logrus.Fields{"payment": s.payment.ID, "reason": s.reason()}).WithError(s.why).Info("payment set aside")
	}
	return nil
}

// stillFrozen are the assets that were refused to an account less than TryAgain blocks ago.
func (p *payer) stillFrozen(a records.Account, cur records.Cursor) map[chain.Asset]bool {
	still := map[chain.Asset]bool{}
	for from, height := range p.frozen {
		switch {
		case cur.Height >= height+TryAgain || cur.Height < height:
			delete(p.frozen, from)
		case from.account == a.Account:
			still[from.asset] = true
		}
	}
	return still
}

// closeFrozenOf stops the channels of the assets that deferrals show to be frozen.
func (p *payer) closeFrozenOf(tx *records.Tx, a records.Account, list []deferral) error {
	for _, s := range list {
		if !errors.Is(s.why, frozen.ErrFrozen) {
			continue
		}
		if err := p.deps.Tokens.Close(tx, p.deps.Rules().Network(a.Network), s.payment.Asset, a.Account, s.why); err != nil {
			return err
		}
	}
	return nil
}

func (p *payer) deferOne(tx *records.Tx, s deferral) error {
	q := s.payment
	if errors.Is(s.why, errLater) || errors.Is(s.why, errAsset) {
		if err := tx.Log(records.Event{Subject: "payment", SubjectID: fmt.Sprint(q.ID), Event: string(s.reason()), Detail: s.why.Error()}); err != nil {
			return err
		}
	}
	if !s.fails() && s.reason() == q.Reason {
		return nil
	}
	if !s.fails() {
		return tx.Payments().NoteWaiting(q.ID, s.reason())
	}
	t, err := tx.Transfers().Get(q.TransferID)
	if err != nil {
		return err
	}
	switch {
	case q.Purpose != chain.Credit || t.Direction != records.Withdrawal:
	case q.Gen > 0: // it has failed once, for a fee
		return p.deps.Rules().GiveUp(tx, q, t, records.ReasonPayoutFailed, t.Net)
	default:
		return p.deps.Rules().GiveUp(tx, q, t, s.reason(), t.Amount)
	}
	return tx.Payments().Move(q.ID, records.Queued, records.HeldPayment, s.reason())
}

// logShortOfCoin logs when an account comes to have too little coin for its fees, and when it has
// enough again.
func (p *payer) logShortOfCoin(account string, list []deferral) {
	short := false
	for _, s := range list {
		short = short || errors.Is(s.why, errNoCoin)
	}
	if short == p.short[account] {
		return
	}
	p.short[account] = short
	if short {
		p.log.WithField("account", account).Warn("too little coin for fees: the account pays nothing until it is topped up")
		return
	}
	p.log.WithField("account", account).Info("coin for fees is sufficient again")
}

// refuser distinguishes the refusal of a payee from that of the paying account: why comes from the
// estimate of a payment. It returns why if no token refuses, or the refuser is unknown.
func (p *payer) refuser(ctx context.Context, a records.Account, q records.Payment, why error) error {
	final := errors.Is(why, chain.ErrRefused) || errors.Is(why, chain.ErrGasLimit)
	if chain.CapabilitiesOf(p.chain).Tries == nil || !final || q.Asset == chain.Native || a.Kind != records.KindHot {
		return why
	}
	head, err := p.chain.Head(ctx)
	if err != nil {
		return err
	}
	if err := p.deps.Tokens.WhoRefuses(ctx, head.Latest.Height, a.Account, q); !errors.Is(err, chain.ErrRefused) {
		return err
	}
	return why
}
