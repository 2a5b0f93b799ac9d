package records

import (
	"fmt"

	"gatewayd/chain"
)

type effectRow struct {
	Chain     string       `db:"chain"`
	Tx        string       `db:"tx"`
	BlockHash string       `db:"block_hash"`
	Height    uint64       `db:"height"`
	Account   string       `db:"account"`
	Number    uint64       `db:"number"`
	OK        bool         `db:"ok"`
	Void      bool         `db:"void"`
	Fee       chain.Amount `db:"fee"`
	Payee     string       `db:"payee"` // where it is asked for
	Value     chain.Amount `db:"value"`
}

func (r effectRow) effect() Effect {
	return Effect{
		Chain: chain.ID(r.Chain), BlockHash: r.BlockHash, Height: r.Height,
		Effect: chain.Effect{Account: r.Account, Number: r.Number, Tx: r.Tx, OK: r.OK, Void: r.Void, Fee: r.Fee, To: r.Payee, Value: r.Value},
	}
}

// SeeEffect stores what one of our accounts did, as a block of the line shows it: the block at the cursor. The same effect in the same block
// is stored once. The slot that it stands for counts as mined until the block leaves the line.
func (tx *Tx) SeeEffect(e Effect) error {
	if err := tx.seeEffect(e); err != nil {
		return fmt.Errorf("storing the effect %s on %s: %w", e.Tx, e.Chain, err)
	}
	return nil
}

func (tx *Tx) seeEffect(e Effect) error {
	_, err := tx.exec(`INSERT INTO effects (chain, tx, block_hash, height, account, number, ok, void, fee, payee, value, known)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, CASE WHEN EXISTS (SELECT 1 FROM attempts a WHERE a.chain = ? AND a.hash = ?)
		OR EXISTS (SELECT 1 FROM cancels c WHERE c.chain = ? AND c.hash = ?) THEN 1 ELSE 0 END) ON CONFLICT DO NOTHING`,
		string(e.Chain), e.Tx, e.BlockHash, e.Height, e.Account, e.Number, bit(e.OK), bit(e.Void), e.Fee, e.To, e.Value,
		string(e.Chain), e.Tx, string(e.Chain), e.Tx)
	if err != nil {
		return err
	}
	return tx.mine(e.Chain, e.Tx, e.BlockHash)
}

// know marks the effects of a transaction as ours, because it is about to be stored as an attempt or a cancellation. It tells whether there are any.
func (tx *Tx) know(id chain.ID, hash string) (bool, error) {
	n, err := tx.exec(`UPDATE effects SET known = 1 WHERE chain = ? AND tx = ?`, string(id), hash)
	return n > 0, err
}

// UnsettledEffects answers the effects in final blocks of the line that were not acted on yet, by account and number: at most limit.
func (tx *Tx) UnsettledEffects(id chain.ID, limit int) ([]Effect, error) {
	c, err := tx.Cursor(id)
	if err != nil {
		return nil, err
	}
	var rows []effectRow
	err = tx.list(&rows, `SELECT e.chain, e.tx, e.block_hash, e.height, e.account, e.number, e.ok, e.void, e.fee FROM effects e
		WHERE e.chain = ? AND e.settled = 0 AND e.height <= ?
		AND EXISTS (SELECT 1 FROM blocks b WHERE b.chain = e.chain AND b.hash = e.block_hash AND b.canonical = 1)
		ORDER BY e.height, e.account, e.number LIMIT ? + 0`, string(id), c.Final.Height, limit)
	if err != nil {
		return nil, fmt.Errorf("reading the unsettled effects of %s: %w", id, err)
	}
	out := make([]Effect, len(rows))
	for i, r := range rows {
		out[i] = r.effect()
	}
	return out, nil
}

// MarkSettled records that an effect was acted on. ErrConflict: it was already, or it is not stored.
func (tx *Tx) MarkSettled(e Effect) error {
	err := tx.change(`UPDATE effects SET settled = 1 WHERE chain = ? AND tx = ? AND block_hash = ? AND settled = 0`, string(e.Chain), e.Tx, e.BlockHash)
	if err != nil {
		return fmt.Errorf("marking the effect %s on %s: %w", e.Tx, e.Chain, err)
	}
	return nil
}

// PaidBefore adds up what the account's transactions before an effect moved of an asset in the same block, by the payments that they carried out.
func (tx *Tx) PaidBefore(e Effect, asset chain.Asset) (sum chain.Amount, err error) {
	var rows []struct {
		Amount chain.Amount `db:"amount"`
	}
	err = tx.list(&rows, `SELECT p.amount FROM effects e JOIN attempts a ON a.hash = e.tx AND a.chain = e.chain
		JOIN slots s ON s.chain = a.chain AND s.account = a.account AND s.lineage = a.lineage AND s.number = a.number
		JOIN payments p ON p.id = s.payment_id
		WHERE e.chain = ? AND e.height = ? AND e.block_hash = ? AND e.account = ? AND e.number < ? AND e.ok = 1 AND p.asset = ? AND a.kind <> 'cancel'`,
		string(e.Chain), e.Height, e.BlockHash, e.Account, e.Number, string(asset))
	for _, r := range rows {
		if err == nil {
			sum, err = sum.Add(r.Amount)
		}
	}
	if err != nil {
		return chain.Amount{}, fmt.Errorf("adding up what was paid before %s on %s: %w", e.Tx, e.Chain, err)
	}
	return sum, nil
}
