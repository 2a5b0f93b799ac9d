package records

import (
	"fmt"

	"gatewayd/chain"
)

// Owed sums per asset what an account still has to pay to users: credits and refunds that are queued, held, or bound and not standing in a
// block of the line.
func (tx *Tx) Owed(id chain.ID, account string) (map[chain.Asset]chain.Amount, error) {
	var rows []struct {
		Asset  string       `db:"asset"`
		Amount chain.Amount `db:"amount"`
	}
	err := tx.list(&rows, `SELECT p.asset, amount_sum(p.amount) AS amount FROM payments p
		WHERE p.chain = ? AND p.account = ? AND p.purpose IN ('credit','refund') AND p.state IN ('queued','held','bound')
		AND NOT EXISTS (SELECT 1 FROM slots s WHERE s.payment_id = p.id AND s.state = 'open' AND s.mined_in <> '')
		GROUP BY p.asset`, string(id), account)
	if err != nil {
		return nil, fmt.Errorf("summing what %s owes on %s: %w", account, id, err)
	}
	owed := make(map[chain.Asset]chain.Amount, len(rows))
	for _, r := range rows {
		owed[chain.Asset(r.Asset)] = r.Amount
	}
	return owed, nil
}

// SweepUnderWay tells whether a sweep of the same account and asset, or a gas payment to the same address, is queued, bound or held.
func (tx *Tx) SweepUnderWay(p Payment) (busy bool, err error) {
	if p.Purpose == chain.Gas {
		busy, err = tx.gasUnderWay(p)
	} else {
		busy, err = tx.sweepUnderWay(p)
	}
	if err != nil {
		return false, fmt.Errorf("looking for a %s under way: %w", p.Purpose, err)
	}
	return busy, nil
}

func (tx *Tx) sweepUnderWay(p Payment) (bool, error) {
	return tx.exists(`SELECT 1 FROM payments WHERE chain = ? AND account = ? AND asset = ? AND purpose = 'sweep' AND state IN ('queued','bound','held')`,
		string(p.Chain), p.Account, string(p.Asset))
}

func (tx *Tx) gasUnderWay(p Payment) (bool, error) {
	return tx.exists(`SELECT 1 FROM payments WHERE chain = ? AND payee = ? AND purpose = 'gas' AND state IN ('queued','bound','held')`, string(p.Chain), p.Payee)
}
