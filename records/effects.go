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
}

func (r effectRow) effect() Effect {
	return Effect{
		Chain: chain.ID(r.Chain), BlockHash: r.BlockHash, Height: r.Height,
		Effect: chain.Effect{Account: r.Account, Number: r.Number, Tx: r.Tx, OK: r.OK, Void: r.Void, Fee: r.Fee},
	}
}

// SeeEffect stores what one of our accounts did, as a block shows it. The same effect in the same block is stored once.
func (tx *Tx) SeeEffect(e Effect) error {
	_, err := tx.exec(`INSERT INTO effects (chain, tx, block_hash, height, account, number, ok, void, fee, payee, value) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT DO NOTHING`,
		string(e.Chain), e.Tx, e.BlockHash, e.Height, e.Account, e.Number, bit(e.OK), bit(e.Void), e.Fee, e.To, e.Value)
	if err != nil {
		return fmt.Errorf("storing the effect %s on %s: %w", e.Tx, e.Chain, err)
	}
	return nil
}

// UnsettledEffects answers the effects in final blocks of the line that were not acted on yet, by account and number.
func (tx *Tx) UnsettledEffects(id chain.ID) ([]Effect, error) {
	var rows []effectRow
	err := tx.list(&rows, `SELECT e.chain, e.tx, e.block_hash, e.height, e.account, e.number, e.ok, e.void, e.fee FROM effects e
		JOIN cursors c ON c.chain = e.chain
		JOIN blocks b ON b.chain = e.chain AND b.hash = e.block_hash AND b.canonical = 1
		WHERE e.chain = ? AND e.settled = 0 AND e.height <= c.final_height ORDER BY e.account, e.number`, string(id))
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
