package records

import (
	"encoding/base64"
	"fmt"

	"gatewayd/chain"
)

// AddCancel stores a signed cancellation of a number that no slot of ours has, before it is sent. Seq counts from 0 without gaps. Only an account
// that is recovering has some; ErrConflict otherwise.
func (tx *Tx) AddCancel(id chain.ID, account string, number uint64, a chain.Attempt) error {
	if err := tx.addCancel(id, account, number, a); err != nil {
		return fmt.Errorf("storing cancellation %d of number %d of %s on %s: %w", a.Seq, number, account, id, err)
	}
	return nil
}

func (tx *Tx) addCancel(id chain.ID, account string, number uint64, a chain.Attempt) error {
	of, err := tx.Account(id, account)
	if err != nil {
		return err
	}
	if of.State != AccountRecovering || of.Lineage != 0 || number < of.Next {
		return fmt.Errorf("%w: the account is %s and its next number %d", ErrConflict, of.State, of.Next)
	}
	known, err := tx.Cancels(id, account, number)
	if err != nil {
		return err
	}
	if a.Seq != len(known) {
		return fmt.Errorf("%w: cancellation %d is next", ErrConflict, len(known))
	}
	c, err := tx.Cursor(id)
	if err != nil {
		return err
	}
	_, err = tx.exec(`INSERT INTO cancels (chain, account, number, seq, hash, raw, tip, cap, head, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		string(id), account, number, a.Seq, a.Hash, base64.StdEncoding.EncodeToString(a.Raw), a.Tip, a.Cap, c.Height, tx.millis())
	if err == nil {
		_, err = tx.know(id, a.Hash)
	}
	if err != nil {
		return err
	}
	return tx.log("account", account, "cancels", fmt.Sprintf("number %d on %s by %s", number, id, a.Hash))
}

// Cancels answers the cancellations signed at a number, in order.
func (tx *Tx) Cancels(id chain.ID, account string, number uint64) ([]Attempt, error) {
	var rows []attemptRow
	err := tx.list(&rows, `SELECT chain, account, 0 AS lineage, number, seq, 'cancel' AS kind, hash, raw, tip, cap, head, created_at
		FROM cancels WHERE chain = ? AND account = ? AND number = ? ORDER BY seq`, string(id), account, number)
	if err != nil {
		return nil, fmt.Errorf("reading the cancellations of number %d of %s on %s: %w", number, account, id, err)
	}
	out := make([]Attempt, len(rows))
	for i, r := range rows {
		if out[i], err = r.attempt(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// IsCancel tells whether a transaction is a stored cancellation.
func (tx *Tx) IsCancel(id chain.ID, hash string) (bool, error) {
	return tx.exists(`SELECT 1 FROM cancels WHERE chain = ? AND hash = ?`, string(id), hash)
}
