package records

import (
	"fmt"

	"gatewayd/chain"
)

// BusyAccounts answers the accounts of a chain that have something to do: queued payments, slots in no block yet, or a recovery; by account.
// Accounts are found by stepping from one to the next in the indexes of what is queued and what is unmined, not by reading all of it.
func (tx *Tx) BusyAccounts(id chain.ID) ([]Account, error) {
	var rows []accountRow
	err := tx.list(&rows, `WITH RECURSIVE
		queued (account) AS (SELECT * FROM (SELECT account FROM payments WHERE chain = ? AND state = 'queued' ORDER BY account LIMIT 1) q
			UNION ALL SELECT (SELECT p.account FROM payments p WHERE p.chain = ? AND p.state = 'queued' AND p.account > queued.account
				ORDER BY p.account LIMIT 1) FROM queued WHERE queued.account IS NOT NULL),
		unmined (account) AS (SELECT * FROM (SELECT account FROM slots WHERE chain = ? AND state = 'open' AND mined_in = '' ORDER BY account LIMIT 1) s
			UNION ALL SELECT (SELECT s.account FROM slots s WHERE s.chain = ? AND s.state = 'open' AND s.mined_in = '' AND s.account > unmined.account
				ORDER BY s.account LIMIT 1) FROM unmined WHERE unmined.account IS NOT NULL)
		SELECT `+accountColumns+` FROM accounts WHERE chain = ? AND account IN (
			SELECT account FROM queued UNION SELECT account FROM unmined UNION
			SELECT account FROM accounts WHERE chain = ? AND state IN ('halted','recovering') AND state = 'recovering')
		ORDER BY account`, string(id), string(id), string(id), string(id), string(id), string(id))
	if err != nil {
		return nil, fmt.Errorf("reading the busy accounts of %s: %w", id, err)
	}
	out := make([]Account, len(rows))
	for i, r := range rows {
		out[i] = r.account()
	}
	return out, nil
}

// ForeignEffect answers a transaction of an adopted account that stands in a block of the line, final or not, and that we never signed:
// somebody else has the key, or this database is behind its chain.
func (tx *Tx) ForeignEffect(id chain.ID, account string) (hash string, found bool, err error) {
	found, err = tx.get(&hash, `SELECT e.tx FROM effects e
		WHERE e.chain = ? AND e.account = ? AND e.known = 0 AND e.settled = 0
		AND EXISTS (SELECT 1 FROM blocks b WHERE b.chain = e.chain AND b.hash = e.block_hash AND b.canonical = 1)
		AND EXISTS (SELECT 1 FROM accounts a WHERE a.chain = e.chain AND a.account = e.account AND a.state <> 'new' AND e.number >= a.base)
		LIMIT 1`, string(id), account)
	if err != nil {
		return "", false, fmt.Errorf("looking for foreign transactions of %s on %s: %w", account, id, err)
	}
	return hash, found, nil
}

// TransfersFrom answers the transfers that stand in blocks of a chain at or above a height, by height and id; of that height only those with ids
// above after.
func (tx *Tx) TransfersFrom(id chain.ID, height, after uint64, limit int) ([]Transfer, error) {
	out, err := tx.transfers(`WHERE chain = ? AND height >= ? AND (height > ? OR id > ?) AND state <> 'orphaned' ORDER BY height, id LIMIT ? + 0`,
		string(id), height, height, after, limit)
	if err != nil {
		return nil, fmt.Errorf("reading the transfers of %s from block %d: %w", id, height, err)
	}
	return out, nil
}

// EffectsFrom answers what our accounts did in final blocks of a chain at or above a height, by height, account and number; of that height only
// what comes after a row of it. A zero row but for its height begins there.
func (tx *Tx) EffectsFrom(id chain.ID, after Effect, limit int) ([]Effect, error) {
	var rows []effectRow
	err := tx.list(&rows, `SELECT chain, tx, block_hash, height, account, number, ok, fee FROM effects
		WHERE chain = ? AND settled = 1 AND height >= ? AND (height > ? OR account > ? OR (account = ? AND number > ?))
		ORDER BY height, account, number LIMIT ? + 0`, string(id), after.Height, after.Height, after.Account, after.Account, after.Number, limit)
	if err != nil {
		return nil, fmt.Errorf("reading the effects of %s from block %d: %w", id, after.Height, err)
	}
	out := make([]Effect, len(rows))
	for i, r := range rows {
		out[i] = r.effect()
	}
	return out, nil
}

// SlotAttempt is an attempt with the number of its slot.
type SlotAttempt struct {
	Attempt
	Number uint64
}

// AttemptsOf answers every attempt made for a payment, in the order they were made.
func (tx *Tx) AttemptsOf(paymentID uint64) ([]SlotAttempt, error) {
	slots, err := tx.Slots(paymentID)
	if err != nil {
		return nil, err
	}
	var out []SlotAttempt
	for _, s := range slots {
		attempts, err := tx.Attempts(s)
		if err != nil {
			return nil, err
		}
		for _, a := range attempts {
			out = append(out, SlotAttempt{Attempt: a, Number: s.Number})
		}
	}
	return out, nil
}
