package records

import (
	"fmt"

	"gatewayd/chain"
	"gatewayd/records/sqlstore"
)

// Began returns the block after which a chain has been followed: nothing at or below it was ever
// booked. ErrNotFound when it was never started.
func (tx Chains) Began(id chain.ID) (height uint64, err error) {
	var detail string
	err = tx.one(&detail, `SELECT detail FROM history WHERE subject = 'chain' AND subject_id = ? AND event = 'started' ORDER BY seq LIMIT 1`, string(id))
	if err == nil {
		_, err = fmt.Sscanf(detail, startedAfter, &height)
	}
	return height, sqlstore.Doing(err, "finding the first block of %s", id)
}

// ByRef returns the transfer with a reference, orphaned or not, or ErrNotFound.
func (tx Transfers) ByRef(id chain.ID, ref string) (Transfer, error) {
	found, err := tx.Where(`WHERE chain = ? AND ref = ?`, string(id), ref)
	if err == nil && len(found) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return Transfer{}, fmt.Errorf("reading the transfer %s of %s: %w", ref, id, err)
	}
	return found[0], nil
}

// Has reports whether what an account of ours did is stored as a block shows it. Its number is not
// compared: the hash covers it, and a ledger of coins shows none.
func (tx OwnTxs) Has(e OwnTx) (bool, error) {
	found, err := tx.exists(`SELECT 1 FROM effects WHERE chain = ? AND height = ? AND tx = ? AND account = ? AND block_hash = ?`,
		string(e.Chain), e.Height, e.Tx, e.Account, e.BlockHash)
	return found, sqlstore.Doing(err, "finding our transaction %s", e.Tx)
}

// EnsureBlock checks that a block which is read again belongs to the followed chain, and stores it
// where it was pruned, so that its content can be settled. ErrConflict: the chain was not followed
// there. ErrParent: our chain has another block. ErrNotFinal: our block was pruned and this one is
// not final.
func (tx Chains) EnsureBlock(id chain.ID, b chain.Block) error {
	return sqlstore.Doing(tx.ensureBlock(id, b), "reading block %d of %s again", b.Height, id)
}

func (tx Chains) ensureBlock(id chain.ID, b chain.Block) error {
	if err := tx.keepBlock(id, b); err != nil {
		return err
	}
	return tx.Coins().Store(id, b)
}

func (tx Chains) keepBlock(id chain.ID, b chain.Block) error {
	c, err := tx.runningCursor(id)
	if err != nil {
		return err
	}
	began, err := tx.Began(id)
	if err != nil {
		return err
	}
	if b.Height <= began || b.Height > c.Height {
		return fmt.Errorf("%w: the records have followed blocks %d to %d", ErrConflict, began+1, c.Height)
	}
	ours, found, err := tx.BlockAt(id, b.Height)
	switch {
	case err != nil:
		return err
	case found && ours != b.Hash:
		return fmt.Errorf("%w: block %d is %s here and %s there", ErrParent, b.Height, ours, b.Hash)
	case !found && b.Height > c.FinalHeight:
		return ErrNotFinal
	case found:
		return nil
	}
	return tx.putBlock(id, b)
}

// SeeLate is SeeOwnTx for a block that is read again: its coin is added to the books of the
// accounts when these are past the block. fresh reports whether it was not stored before.
func (tx OwnTxs) SeeLate(e OwnTx) (fresh bool, err error) {
	known, err := tx.Has(e)
	if err != nil || known {
		return false, err
	}
	if err := tx.See(e); err != nil {
		return false, err
	}
	a, found, err := tx.Balances().balanceAudit(e.Chain)
	if err != nil || !found || e.Height > a.Folded {
		return true, err
	}
	out, err := e.Fee.Add(e.Value)
	if err != nil {
		return false, err
	}
	moves := []CoinMove{{Account: e.Account, Height: e.Height, Went: out}}
	if !e.Value.IsZero() {
		moves = append(moves, CoinMove{Account: e.To, Height: e.Height, Came: e.Value})
	}
	return true, tx.Balances().addMoves(e.Chain, moves)
}

// BeforeAddress reports whether a block was followed before an account was stored: its transfers
// there belonged to no user then.
func (tx Chains) BeforeAddress(id chain.ID, account string, height uint64) (bool, error) {
	held, err := tx.Balances().HoldingsOf(id, []string{account})
	if err != nil || len(held) == 0 {
		return false, err
	}
	h := held[0]
	return h.Kind == KindDeposit && h.Since >= 0 && height <= uint64(h.Since), nil
}
