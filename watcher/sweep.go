package watcher

import (
	"context"
	"fmt"

	"github.com/sirupsen/logrus"

	"gatewayd/chain"
	"gatewayd/records"
)

// sweeper is what a chain with one address per user offers besides the port.
type sweeper interface {
	// SweepCost is the native coin to leave behind when everything else of an address is sent away.
	SweepCost(ctx context.Context) (chain.Amount, error)
	// TokenSweepCost is the native coin an address needs to send one token transfer.
	TokenSweepCost(ctx context.Context) (chain.Amount, error)
}

// sweepFactor is how many times the cost a deposit must be worth before native coin is swept (facts/reliability.md 2.2).
const sweepFactor = 3

// Sweep queues the transfers that bring final deposits from their addresses to the hot account, and the gas that token transfers
// need. It pays nothing itself.
func (w *Watcher) Sweep(ctx context.Context) error {
	for _, n := range w.Networks {
		c, ok := w.Chains[n.Source].(sweeper)
		if !ok {
			continue
		}
		var list []records.SweepCandidate
		err := w.Store.View(ctx, func(tx *records.Tx) (err error) {
			list, err = tx.SweepCandidates(n.Source)
			return err
		})
		if err != nil {
			return fmt.Errorf("finding deposits to sweep: %w", err)
		}
		for _, s := range list {
			if err := w.sweepOne(ctx, n, c, s); err != nil {
				return fmt.Errorf("sweeping %s of %s: %w", s.Asset, s.Account.Account, err)
			}
		}
	}
	w.poke()
	return nil
}

// sweepOne queues what one address needs next: gas for a token transfer, or the sweep itself.
func (w *Watcher) sweepOne(ctx context.Context, n records.Network, c sweeper, s records.SweepCandidate) error {
	source := w.Chains[n.Source]
	coins, err := source.Balance(ctx, s.Account.Account, chain.Native)
	if err != nil {
		return err
	}
	p := records.Payment{Purpose: chain.Sweep, Network: n.Name, Chain: n.Source, Account: s.Account.Account, Asset: s.Asset, Payee: n.Hot}
	if s.Asset == chain.Native {
		cost, err := c.SweepCost(ctx)
		if err != nil {
			return err
		}
		return w.sweepCoins(ctx, p, smaller(coins, s.Booked), cost)
	}
	need, err := c.TokenSweepCost(ctx)
	if err != nil {
		return err
	}
	if coins.Less(need) {
		p.Purpose, p.Account, p.Asset, p.Payee = chain.Gas, n.Gas, chain.Native, s.Account.Account
		p.Amount, err = need.Sub(coins)
	} else {
		p.Amount, err = source.Balance(ctx, s.Account.Account, s.Asset)
		p.Amount = smaller(p.Amount, s.Booked)
	}
	if err != nil || p.Amount.IsZero() {
		return err
	}
	return w.queueSweep(ctx, p)
}

// sweepCoins sends native coin away but for the cost of doing so, when it is worth that.
func (w *Watcher) sweepCoins(ctx context.Context, p records.Payment, coins, cost chain.Amount) error {
	worth, err := cost.Mul(sweepFactor)
	if err != nil || coins.Less(worth) {
		return err
	}
	if p.Amount, err = coins.Sub(cost); err != nil {
		return err
	}
	return w.queueSweep(ctx, p)
}

func smaller(a, b chain.Amount) chain.Amount {
	if a.Less(b) {
		return a
	}
	return b
}

// queueSweep adds the payment unless one of its kind is under way.
func (w *Watcher) queueSweep(ctx context.Context, p records.Payment) error {
	return w.Store.Update(ctx, func(tx *records.Tx) error {
		busy, err := tx.SweepUnderWay(p)
		if err != nil || busy {
			return err
		}
		id, err := tx.QueuePayment(p)
		if err == nil {
			w.Log.WithFields(logrus.Fields{"payment": id, "account": p.Account, "asset": p.Asset, "amount": p.Amount}).Info(string(p.Purpose) + " queued")
		}
		return err
	})
}
