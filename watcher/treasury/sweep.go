package treasury

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sirupsen/logrus"

	"gatewayd/chain"
	"gatewayd/records"
)

// heldPage bounds the held payments of one read.
const heldPage = 256

// SweepFactor is the minimum value of a deposit in multiples of the cost for a sweep of native coin
// (docs/payment-rules.md 6).
const SweepFactor = 3

// SweepPause is the time for which a sweep or its gas stays held after a failure on its chain,
// before it is recomputed: it may fail for a fee again.
const SweepPause = 6 * time.Hour

// Sweep queues the transfers that bring final deposits from their addresses to the hot account, and
// the gas that token transfers need. It pays nothing itself.
func (tr *Treasury) Sweep(ctx context.Context) error {
	var faults []error
	for _, n := range tr.Networks() {
		c := chain.CapabilitiesOf(tr.Chains[n.Source]).Sweeps
		if c == nil || !tr.Owns(n.Source) {
			continue
		}
		var list []records.SweepCandidate
		var listed map[string]bool
		err := tr.Store.View(ctx, func(tx *records.Tx) (err error) {
			if list, err = tx.Treasury().Candidates(n.Source); err == nil {
				listed, err = notToSweep(tx, n)
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("finding deposits to sweep: %w", err)
		}
		for _, s := range list {
			if listed[s.Account.Account] {
				continue
			}
			if err := tr.sweepOne(ctx, n, c, s); err != nil {
				faults = append(faults, fmt.Errorf("sweeping %s of %s: %w", s.Asset, s.Account.Account, err))
			}
		}
	}
	tr.Wake()
	return errors.Join(faults...)
}

// notToSweep returns the accounts that hold money of senders on the blocklist, or of senders that
// were not checked yet. It is not mixed with other money before it is credited.
func notToSweep(tx *records.Tx, n records.Network) (map[string]bool, error) {
	accounts := map[string]bool{}
	for _, reason := range []records.Reason{records.HeldListed, records.HeldUnproven} {
		if err := addHeldFor(tx, reason, accounts); err != nil {
			return nil, err
		}
	}
	paying, err := tx.Accounts().List(n.Exchange, records.KindGateway)
	for _, a := range paying {
		if err != nil {
			break
		}
		var unjudged []string
		unjudged, err = tx.Treasury().Unjudged(n.Exchange, a.Account)
		for _, account := range unjudged {
			accounts[account] = true
		}
	}
	return accounts, err
}

// addHeldFor adds the accounts to which deposits came whose credits are held for a reason.
func addHeldFor(tx *records.Tx, reason records.Reason, accounts map[string]bool) error {
	for after := uint64(0); ; {
		held, err := tx.Payments().HeldFor(reason, after, heldPage)
		if err != nil || len(held) == 0 {
			return err
		}
		after = held[len(held)-1].ID
		transfers, err := tx.Transfers().ByID(records.CausesOf(held))
		if err != nil {
			return err
		}
		for _, t := range transfers {
			if t.Direction == records.Deposit {
				accounts[t.To] = true
			}
		}
	}
}

// sweepOne queues what one address needs next: gas for a token transfer, or the sweep itself.
func (tr *Treasury) sweepOne(ctx context.Context, n records.Network, c chain.Sweeper, s records.SweepCandidate) error {
	p := records.Payment{Purpose: chain.Sweep, Network: n.Name, Chain: n.Source, Account: s.Account.Account, Asset: s.Asset, Payee: n.Hot}
	if s.Asset == chain.Native {
		return tr.sweepCoins(ctx, c, p, s.Booked)
	}
	return tr.sweepToken(ctx, n, c, p, s.Booked)
}

// sweepCoins sends native coin away but for the cost of doing so, when it is worth that. What an
// earlier sweep left is not even looked at.
func (tr *Treasury) sweepCoins(ctx context.Context, c chain.Sweeper, p records.Payment, booked chain.Amount) error {
	cost, err := c.SweepCost(ctx)
	if err != nil {
		return err
	}
	worth, err := cost.Mul(SweepFactor)
	if err != nil || booked.Less(worth) {
		return err
	}
	coins, err := tr.Chains[p.Chain].Balance(ctx, p.Account, chain.Native)
	if err != nil {
		return err
	}
	if !coins.Less(worth) {
		if p.Amount, err = smaller(coins, booked).Sub(cost); err != nil {
			return err
		}
	}
	return tr.queueSweep(ctx, p)
}

// sweepToken sends a token away, or first the coins that its transfer needs.
func (tr *Treasury) sweepToken(ctx context.Context, n records.Network, c chain.Sweeper, p records.Payment, booked chain.Amount) error {
	need, err := c.TokenSweepCost(ctx)
	if err != nil {
		return err
	}
	least, err := leastSweep(ctx, n, c, p.Asset, need)
	if err != nil || booked.Less(least) {
		return err
	}
	coins, err := tr.Chains[p.Chain].Balance(ctx, p.Account, chain.Native)
	if err != nil {
		return err
	}
	if coins.Less(need) {
		if p.Account == n.Gas { // only the operators top it up
			return nil
		}
		p.Purpose, p.Payee, p.Account, p.Asset = chain.Gas, p.Account, n.Gas, chain.Native
		p.Amount, err = need.Sub(coins)
	} else {
		p.Amount, err = tr.Chains[p.Chain].Balance(ctx, p.Account, p.Asset)
		p.Amount = smaller(p.Amount, booked)
	}
	if err != nil {
		return err
	}
	return tr.queueSweep(ctx, p)
}

// leastSweep is the least of an asset that is worth its transfer, which takes need, and its gas.
func leastSweep(ctx context.Context, n records.Network, c chain.Sweeper, asset chain.Asset, need chain.Amount) (chain.Amount, error) {
	cost, err := c.SweepCost(ctx)
	if err == nil {
		cost, err = cost.Add(need)
	}
	if err == nil {
		cost, err = cost.Mul(SweepFactor)
	}
	if err != nil {
		return chain.Amount{}, err
	}
	return n.LeastSweep(asset, cost)
}

func smaller(a, b chain.Amount) chain.Amount {
	if a.Less(b) {
		return a
	}
	return b
}

// queueSweep adds the payment, if there is anything to pay, unless one of its kind is under way.
// Coin stays while a token's sweep of the address needs some of it.
func (tr *Treasury) queueSweep(ctx context.Context, p records.Payment) error {
	var refused []records.Payment
	err := tr.Store.Update(ctx, func(tx *records.Tx) error {
		under, busy, err := tx.Treasury().SweepUnderWay(p)
		if err == nil && busy && under.State == records.HeldPayment && under.Reason == records.HeldRefused {
			refused = append(refused, under)
		}
		if err == nil && busy {
			busy, err = tr.keepSweep(tx, under, p)
		}
		if err == nil && !busy && p.Asset == chain.Native && p.Purpose == chain.Sweep {
			busy, err = tx.Treasury().TokenSweepUnderWay(p.Chain, p.Account)
		}
		if err != nil || busy || p.Amount.IsZero() {
			return err
		}
		id, err := tx.Payments().Queue(p)
		if err == nil {
			tr.Log.WithFields(logrus.Fields{"payment": id, "account": p.Account, "asset": p.Asset, "amount": p.Amount}).Info(string(p.Purpose) + " queued")
		}
		return err
	})
	if errors.Is(err, records.ErrConflict) { // an older line of ours may still carry it out
		return nil
	}
	if err != nil || len(refused) == 0 {
		return err
	}
	return tr.AskAgain(ctx, p.Chain, refused) // its refusal rests on its configuration, which may be another one by now
}

// keepSweep voids the payment in progress, and reports false, when it waits and asks for more than
// the balance, or has provably failed long ago. A payment held by people or the signer, or one that
// may have moved something, stays.
func (tr *Treasury) keepSweep(tx *records.Tx, under, want records.Payment) (bool, error) {
	provable := []records.Reason{records.ReasonPayoutFailed, records.ReasonPayeeRefuses, records.ReasonPayeeGas} // of these nothing can have moved
	failed := under.State == records.HeldPayment && slices.Contains(provable, under.Reason) && tr.Now().Sub(under.ChangedAt) >= SweepPause
	if !failed && (under.State != records.Queued || !want.Amount.Less(under.Amount)) {
		return true, nil
	}
	if _, differs, err := tx.Orders().DifferingTx(under.ID); err != nil || differs {
		return true, err
	}
	return false, tx.Payments().Move(under.ID, under.State, records.VoidPayment, "recounted")
}
