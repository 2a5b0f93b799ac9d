package pay

import (
	"context"
	"errors"
	"fmt"

	"github.com/sirupsen/logrus"

	"gatewayd/chain"
	"gatewayd/records"
)

// recover is the round of a recovering account. It signs and sends the payments bound in our
// records, and cancels the numbers at which only the sign-guard has a signature. After that each
// transaction that our records lost is either mined or never will be. It binds nothing new
// (docs/payment-rules.md 5), and signs nothing while the ledger shows an unexplained transaction of
// the account.
func (p *payer) recover(ctx context.Context, a records.Account, cur records.Cursor) error {
	tip, err := p.chain.AccountHead(ctx, a.Account)
	if err != nil {
		return fmt.Errorf("reading the account's state: %w", err)
	}
	_, end, _, err := p.deps.Signer.Next(ctx, p.id, a.Account)
	if err == nil && p.coins {
		tip, err = usedNumbers(ctx, p.deps.Store, a, end)
	}
	if err != nil {
		return err
	}
	if tip.Hash != "" || tip.Next > max(a.Next, end) {
		return nil // a new branch will exclude the old one; or another party signs
	}
	if unknown, err := p.unknown(ctx, a); err != nil || unknown {
		return err
	}
	unmined, err := p.unmined(ctx, a)
	if err != nil {
		return err
	}
	return errors.Join(p.signAndSend(ctx, a, cur, unmined), p.cancel(ctx, a, max(tip.Next, a.Next), end, cur))
}

// usedNumbers is the state of an account on a ledger of coins, which counts no numbers.
func usedNumbers(ctx context.Context, store records.Transactor, a records.Account, end uint64) (tip chain.AccountHead, err error) {
	err = store.View(ctx, func(tx *records.Tx) error {
		tip, err = tx.Coins().Head(a, end)
		return err
	})
	return tip, err
}

// unknown reports whether blocks show transactions of the account that are not in our records and
// are unexplained.
func (p *payer) unknown(ctx context.Context, a records.Account) (found bool, err error) {
	err = p.deps.Store.View(ctx, func(tx *records.Tx) error {
		final, err := tx.Recovery().UnknownTxs(p.id, a.Account)
		if err != nil || len(final) > 0 {
			found = true
			return err
		}
		_, found, err = tx.Recovery().UnknownTx(p.id, a.Account)
		return err
	})
	return found, err
}

// cancel sends a cancellation for each number from, up to end: signed and stored first, replaced
// when it stays unmined too long.
func (p *payer) cancel(ctx context.Context, a records.Account, from, end uint64, cur records.Cursor) error {
	for n := from; n < min(end, from+uint64(p.chain.MaxUnmined())); n++ {
		newest, err := p.cancellation(ctx, a, n, cur)
		if errors.Is(err, chain.ErrNotNow) || errors.Is(err, chain.ErrFeeCeiling) || errors.Is(err, errNoCoin) {
			if p.coins {
				continue
			}
			return nil
		}
		if err != nil {
			return fmt.Errorf("cancelling number %d: %w", n, err)
		}
		if last, ok := p.sent[newest.Hash]; ok && last == cur.Height {
			continue
		}
		if err := p.chain.Broadcast(ctx, []chain.Attempt{newest.Attempt})[0]; err != nil {
			p.log.WithField("tx", newest.Hash).WithError(err).Debug("node's answer to a cancellation")
			continue
		}
		p.sent[newest.Hash] = cur.Height
	}
	return nil
}

// cancellation is the newest of a number, as the database has it.
func (p *payer) cancellation(ctx context.Context, a records.Account, number uint64, cur records.Cursor) (records.Attempt, error) {
	known, err := p.cancellations(ctx, a, number)
	if err != nil {
		return records.Attempt{}, err
	}
	if len(known) > 0 && cur.Height < known[len(known)-1].Head+p.deps.ReplaceAfter {
		return known[len(known)-1], nil
	}
	err = p.signCancel(ctx, a, number, known)
	if len(known) > 0 && keepsAttempt(err) {
		return known[len(known)-1], nil
	}
	if err != nil {
		return records.Attempt{}, err
	}
	known, err = p.cancellations(ctx, a, number)
	if err != nil || len(known) == 0 {
		return records.Attempt{}, fmt.Errorf("reading a cancellation back: %w", errors.Join(err, records.ErrNotFound))
	}
	return known[len(known)-1], nil
}

func (p *payer) cancellations(ctx context.Context, a records.Account, number uint64) (known []records.Attempt, err error) {
	err = p.deps.Store.View(ctx, func(tx *records.Tx) error {
		known, err = tx.Recovery().Cancels(p.id, a.Account, number)
		return err
	})
	return known, err
}

// lostSlot is the slot of a number that only the sign-guard knows.
func lostSlot(ctx context.Context, p *payer, a records.Account, number uint64) (chain.Slot, error) {
	slot := chain.Slot{Account: a.Account, Key: a.KeyPath, Nonce: number}
	if !p.coins {
		return slot, nil
	}
	signed, err := p.deps.Signer.SignedAt(ctx, p.id, a.Account, number)
	if err == nil && len(signed) == 0 {
		err = fmt.Errorf("%w: nothing was signed there", chain.ErrNotNow)
	}
	if err == nil {
		slot.Coin = signed[0].Coin
	}
	return slot, err
}

func (p *payer) signCancel(ctx context.Context, a records.Account, number uint64, known []records.Attempt) error {
	slot, err := lostSlot(ctx, p, a, number)
	if err != nil {
		return err
	}
	prev := make([]chain.Attempt, len(known))
	for i, k := range known {
		prev[i] = k.Attempt
	}
	funds, err := newSpendable(p.chain, a.Account, nil)
	if err != nil {
		return err
	}
	cancelled := records.OpenSlot{Payment: records.Payment{Purpose: chain.Cancel, Asset: chain.Native, Payee: a.Account}}
	want := signing{chain: p.chain, slot: cancelled, prev: prev}
	att, err := p.prepareOne(ctx, slot, want, funds)
	if err != nil {
		return err
	}
	signed, err := p.deps.Signer.Sign(ctx, p.id, prepared{signing: want, at: slot, attempt: att}.order())
	if err != nil {
		return fmt.Errorf("asking the signer: %w", err)
	}
	att.Seq, att.Hash, att.Raw = len(known), signed[0].Hash, signed[0].Raw
	p.log.WithFields(logrus.Fields{"account": a.Account, "number": number, "tx": att.Hash}).Warn("cancelling numbers unknown to the records")
	return p.deps.Store.Update(ctx, func(tx *records.Tx) error { return tx.Recovery().AddCancel(p.id, a.Account, number, att) })
}
