package signer

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"gatewayd/chain"
	"gatewayd/records/signguard"
)

// Ledger reads a chain through the signer's own nodes, to find the outcomes of its signatures.
type Ledger interface {
	Head(ctx context.Context) (chain.Head, error)
	Block(ctx context.Context, height uint64) (chain.Block, error)
	// Describe returns what a transaction of ours asks for, proven by its hash.
	Describe(ctx context.Context, hash string) (chain.Outgoing, error)
}

// ReadOutcomes reads a final block named by the daemon, and stores the outcomes of the signatures
// at the block's numbers. A paid cause is spent permanently, a failed or overtaken payment is void.
// A signer without its own nodes believes the daemon's Free and Release instead.
func (s *Signer) ReadOutcomes(ctx context.Context, id chain.ID, height uint64) error {
	if err := checkNumber("block", height); err != nil {
		return err
	}
	l, ok := s.ledgers[id]
	if !ok {
		return nil
	}
	head, err := s.head(ctx, id, l)
	if err != nil {
		return err
	}
	if height > head.Final.Height {
		return fmt.Errorf("%w: block %d of %s is not final, our nodes are final at %d", chain.ErrNotNow, height, id, head.Final.Height)
	}
	block, err := l.Block(ctx, height)
	if err != nil {
		return fmt.Errorf("reading block %d of %s: %w", height, id, err)
	}
	var list []signguard.Outcome
	for _, tx := range block.OwnTxs {
		some, err := s.outcomes(ctx, id, l, tx)
		if err != nil {
			return err
		}
		list = append(list, some...)
	}
	if err := s.guard.Decide(ctx, list); err != nil {
		return err
	}
	return s.noteSpent(ctx, id, block)
}

// noteSpent stores what deposit addresses have paid in a final block: by it and their balances the
// signer knows what arrived there (package cause).
func (s *Signer) noteSpent(ctx context.Context, id chain.ID, block chain.Block) error {
	accounts := make([]string, len(block.OwnTxs))
	for i, tx := range block.OwnTxs {
		accounts[i] = tx.Account
	}
	given, err := s.guard.Owned(ctx, id, accounts)
	if err != nil {
		return err
	}
	var list []signguard.Spending
	for _, tx := range block.OwnTxs {
		if !given[tx.Account] || len(tx.Spent) > 0 { // coins are in blocks: no balance is needed to see them
			continue
		}
		spent := tx.Fee
		if tx.To != tx.Account { // what it sends to itself is still there
			if spent, err = spent.Add(tx.Value); err != nil {
				return fmt.Errorf("adding up what %s has paid: %w", tx.Account, err)
			}
		}
		list = append(list, signguard.Spending{Chain: id, Address: tx.Account, Number: tx.Number, Amount: spent, Height: block.Height})
	}
	return s.guard.NoteSpent(ctx, list)
}

// SignedAt returns what was signed at a number of an account, whatever became of it.
func (s *Signer) SignedAt(ctx context.Context, id chain.ID, account string, number uint64) ([]signguard.Signed, error) {
	if err := cmp.Or(checkTexts(string(id), account), checkNumber("number", number)); err != nil {
		return nil, err
	}
	return s.guard.SignedAt(ctx, id, account, number)
}

// Anchors returns which coins were signed for as those of numbers.
func (s *Signer) Anchors(ctx context.Context, id chain.ID, coins ...string) ([]signguard.Anchor, error) {
	if len(coins) > maxCoins {
		return nil, fmt.Errorf("%w: %d coins at once, at most %d are allowed", ErrRefused, len(coins), maxCoins)
	}
	if err := checkTexts(append([]string{string(id)}, coins...)...); err != nil {
		return nil, err
	}
	return s.guard.Anchors(ctx, id, coins...)
}

// maxCoins is more than a transaction that nodes relay spends.
const maxCoins = 8192

// outcomes returns a transaction's meaning for each payment that was signed at its number. One that
// moved something else decides nothing.
func (s *Signer) outcomes(ctx context.Context, id chain.ID, l Ledger, tx chain.OwnTx) (list []signguard.Outcome, err error) {
	if len(tx.Spent) == 0 {
		return s.outcomesAt(ctx, id, l, tx)
	}
	// A transaction decides each number whose coin it spends. Only its first coin can be that of
	// the number it was signed for.
	anchors, err := s.guard.Anchors(ctx, id, tx.Spent...)
	for _, a := range anchors {
		if err != nil {
			return nil, err
		}
		one := tx
		one.Account, one.Number, one.Spent = a.Account, a.Number, []string{a.Coin}
		var some []signguard.Outcome
		some, err = s.outcomesAt(ctx, id, l, one)
		list = append(list, some...)
	}
	return list, err
}

// outcomesAt is outcomes at the transaction's number.
func (s *Signer) outcomesAt(ctx context.Context, id chain.ID, l Ledger, tx chain.OwnTx) (list []signguard.Outcome, err error) {
	signed, err := s.guard.SignedAt(ctx, id, tx.Account, tx.Number)
	if err != nil || len(signed) == 0 || !tx.OK && !tx.Void {
		return nil, err
	}
	var did chain.Outgoing
	if tx.OK {
		if did, err = l.Describe(ctx, tx.Tx); err != nil {
			return nil, fmt.Errorf("reading our transaction %s: %w", tx.Tx, err)
		}
	}
	for _, w := range signed {
		did, decided := paid(tx, did, w)
		if !w.Live || !decided {
			continue
		}
		list = append(list, signguard.Outcome{
			Chain: id, Account: tx.Account, Number: tx.Number, Branch: w.Branch, Place: w.Place, Member: len(tx.Members) > 0, Paid: did,
			Receive: paysNobody(w),
		})
	}
	return list, nil
}

// paysNobody reports whether a signature is for a payment without a payee.
func paysNobody(w signguard.Signed) bool {
	purpose, _, _ := strings.Cut(w.Digest, "|")
	return chain.Purpose(purpose).PaysNobody()
}

// paid reports whether a transaction made a payment that was signed at its number. It decides
// nothing about a member of a batch for which something else moved, or whose outcome is not known.
func paid(tx chain.OwnTx, did chain.Outgoing, w signguard.Signed) (paid, decided bool) {
	switch {
	case !tx.OK || !did.Pays(w.Place, w.Digest, w.PaymentID):
		return false, true
	case len(tx.Spent) > 0 && did.Coin != tx.Spent[0]:
		return false, true
	case len(did.Members) == 0:
		return true, true
	case w.Place >= len(tx.Members):
		return false, false
	}
	return tx.Members[w.Place] == chain.MemberPaid, tx.Members[w.Place] != chain.MemberDiffers
}
