package records

import (
	"encoding/base64"
	"fmt"

	"gatewayd/chain"
)

// Kinds of an attempt.
const (
	AttemptPay     = "pay"
	AttemptReplace = "replace"
	AttemptCancel  = "cancel"
)

type attemptRow struct {
	Chain     string       `db:"chain"`
	Account   string       `db:"account"`
	Lineage   uint64       `db:"lineage"`
	Number    uint64       `db:"number"`
	Seq       int          `db:"seq"`
	Kind      string       `db:"kind"`
	Hash      string       `db:"hash"`
	Raw       string       `db:"raw"`
	Tip       chain.Amount `db:"tip"`
	Cap       chain.Amount `db:"cap"`
	Head      uint64       `db:"head"`
	CreatedAt int64        `db:"created_at"`
}

const attemptColumns = `chain, account, lineage, number, seq, kind, hash, raw, tip, cap, head, created_at`

func (r attemptRow) attempt() (Attempt, error) {
	raw, err := base64.StdEncoding.DecodeString(r.Raw)
	if err != nil {
		return Attempt{}, fmt.Errorf("the bytes of attempt %s: %w", r.Hash, err)
	}
	return Attempt{
		Attempt: chain.Attempt{Seq: r.Seq, Hash: r.Hash, Raw: raw, Tip: r.Tip, Cap: r.Cap},
		Kind:    r.Kind, Head: r.Head, CreatedAt: fromMillis(r.CreatedAt),
	}, nil
}

// AddAttempt stores a signed transaction of an open slot, before it is sent. Seq counts from 0 without gaps. Attempts are never changed and never
// deleted. Head is filled in from the chain's cursor. ErrConflict: the slot is not open, the seq is not the next, or the hash is known.
func (tx *Tx) AddAttempt(s Slot, a Attempt) error {
	if err := tx.addAttempt(s, a); err != nil {
		return fmt.Errorf("storing attempt %d of slot %s: %w", a.Seq, s.name(), err)
	}
	return nil
}

func (tx *Tx) addAttempt(s Slot, a Attempt) error {
	open, err := tx.exists(`SELECT 1 FROM slots WHERE chain = ? AND account = ? AND lineage = ? AND number = ? AND state = 'open' AND payment_id = ?`,
		string(s.Chain), s.Account, s.Lineage, s.Number, s.PaymentID)
	if err != nil {
		return err
	}
	var next int
	err = tx.one(&next, `SELECT COALESCE(MAX(seq) + 1, 0) FROM attempts WHERE chain = ? AND account = ? AND lineage = ? AND number = ?`,
		string(s.Chain), s.Account, s.Lineage, s.Number)
	if err != nil {
		return err
	}
	known, err := tx.exists(`SELECT 1 FROM attempts WHERE chain = ? AND hash = ?`, string(s.Chain), a.Hash)
	switch {
	case err != nil:
		return err
	case !open:
		return fmt.Errorf("%w: the slot is not open", ErrConflict)
	case a.Seq != next:
		return fmt.Errorf("%w: attempt %d is next", ErrConflict, next)
	case known:
		return fmt.Errorf("%w: the hash %s is stored already", ErrConflict, a.Hash)
	}
	c, err := tx.Cursor(s.Chain)
	if err != nil {
		return err
	}
	_, err = tx.exec(`INSERT INTO attempts (`+attemptColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		string(s.Chain), s.Account, s.Lineage, s.Number, a.Seq, a.Kind, a.Hash, base64.StdEncoding.EncodeToString(a.Raw), a.Tip, a.Cap, c.Height, tx.millis())
	if err == nil {
		err = tx.seenBefore(s, a.Hash)
	}
	if err != nil {
		return err
	}
	return tx.logPayment(s.PaymentID, "attempt_"+a.Kind, fmt.Sprintf("%s in slot %s", a.Hash, s.name()))
}

// seenBefore links an attempt with the blocks that have shown it already: a restored database signs the same bytes again. A final block
// that was passed over then is looked at once more.
func (tx *Tx) seenBefore(s Slot, hash string) error {
	seen, err := tx.know(s.Chain, hash)
	if err != nil || !seen || s.Lineage == operatorLine {
		return err
	}
	if _, err = tx.exec(`UPDATE effects SET settled = 0 WHERE chain = ? AND tx = ? AND settled = 1`, string(s.Chain), hash); err != nil {
		return err
	}
	var block string
	found, err := tx.get(&block, `SELECT e.block_hash FROM effects e WHERE e.chain = ? AND e.tx = ?
		AND EXISTS (SELECT 1 FROM blocks b WHERE b.chain = e.chain AND b.hash = e.block_hash AND b.canonical = 1)`, string(s.Chain), hash)
	if err != nil || !found {
		return err
	}
	return tx.mine(s.Chain, hash, block)
}

// Attempts answers the attempts of a slot in order.
func (tx *Tx) Attempts(s Slot) ([]Attempt, error) {
	var rows []attemptRow
	err := tx.list(&rows, `SELECT `+attemptColumns+` FROM attempts WHERE chain = ? AND account = ? AND lineage = ? AND number = ? ORDER BY seq`,
		string(s.Chain), s.Account, s.Lineage, s.Number)
	if err != nil {
		return nil, fmt.Errorf("reading the attempts of slot %s: %w", s.name(), err)
	}
	out := make([]Attempt, len(rows))
	for i, r := range rows {
		if out[i], err = r.attempt(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// AttemptByHash answers the attempt with a hash and its slot; false when the hash is none of ours.
func (tx *Tx) AttemptByHash(id chain.ID, hash string) (Slot, Attempt, bool, error) {
	var r attemptRow
	found, err := tx.get(&r, `SELECT `+attemptColumns+` FROM attempts WHERE chain = ? AND hash = ?`, string(id), hash)
	if err != nil || !found {
		return Slot{}, Attempt{}, false, err
	}
	var s slotRow
	err = tx.one(&s, `SELECT `+slotColumns+` FROM slots WHERE chain = ? AND account = ? AND lineage = ? AND number = ?`, r.Chain, r.Account, r.Lineage, r.Number)
	if err != nil {
		return Slot{}, Attempt{}, false, fmt.Errorf("reading the slot of attempt %s: %w", hash, err)
	}
	a, err := r.attempt()
	return s.slot(), a, err == nil, err
}
