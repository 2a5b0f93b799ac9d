package pay

import (
	"context"
	"errors"
	"fmt"

	"gatewayd/chain"
	"gatewayd/records"
)

// On a ledger of coins an account brings coins together by payments to itself: many small ones
// while fees are low, and the change of a stuck payout with a fee for both, where no node replaces
// that. Such a payment has a number and a coin of its own, as any other, and no payee.

// orderMerges orders merges of small coins for accounts of which no user's payment waits. Each
// account is asked about once per block.
func orderMerges(ctx context.Context, p *payer, accounts []records.Account, cur records.Cursor) (faults error) {
	ledger := chain.CapabilitiesOf(p.chain).Merges
	for _, a := range accounts {
		if ledger == nil || !paysUsers(a) || a.State != records.AccountOK || p.all.retired(a) || p.merged[a.Account] == cur.Height {
			continue
		}
		var waiting []chain.Asset
		err := p.deps.Store.View(ctx, func(tx *records.Tx) (err error) {
			waiting, err = tx.Payments().QueuedAssets(p.id, a.Account, records.ClassUser)
			return err
		})
		if err == nil && len(waiting) == 0 {
			var worth bool
			if worth, err = ledger.WorthMerging(ctx, a.Account); worth && err == nil {
				err = queueMerge(ctx, p, a, "")
			}
		}
		if err != nil {
			faults = errors.Join(faults, fmt.Errorf("merging coins of %s: %w", a.Account, err))
			continue
		}
		p.merged[a.Account] = cur.Height
	}
	return faults
}

// orderChild orders a merge that pays for a stuck slot too, once for each of its attempts.
func orderChild(ctx context.Context, p *payer, a records.Account, at chain.Slot, s signing) error {
	ledger := chain.CapabilitiesOf(p.chain).Merges
	if ledger == nil || s.slot.Payment.Purpose == chain.Merge {
		return nil
	}
	source, err := ledger.Parent(ctx, at, s.prev)
	if err == nil && source != "" {
		err = queueMerge(ctx, p, a, source)
	}
	if err != nil {
		return fmt.Errorf("bringing payment %d into a block: %w", s.slot.PaymentID, err)
	}
	return nil
}

func queueMerge(ctx context.Context, p *payer, a records.Account, source string) error {
	err := p.deps.Store.Update(ctx, func(tx *records.Tx) error {
		_, err := tx.Payments().Queue(records.Payment{
			Purpose: chain.Merge, Network: a.Network, Chain: p.id, Account: a.Account, Asset: chain.Native, Payee: a.Account, Source: source,
		})
		return err
	})
	if errors.Is(err, records.ErrConflict) { // it is on its way
		return nil
	}
	if err == nil {
		p.deps.Wake()
	}
	return err
}
