package records

import (
	"fmt"

	"gatewayd/chain"
)

// Sheet is what the books say of a token on one network: what our accounts on the source chain must hold, and what the gateway owes. Amounts
// count the asset's units, but for Deposited and Withdrawn, which count the gateway token's.
type Sheet struct {
	Height    uint64       // final block of the source chain
	Came      chain.Amount // of the asset to any account of ours, by Height
	Paid      chain.Amount // out of them to others, by Height
	Lost      chain.Amount // written off by operators
	Opening   chain.Amount // held before the books began
	Opened    bool         // Opening is known
	Above     chain.Amount // deposits that are credited already and stand above Height
	Deposited chain.Amount // credited, or to be
	Withdrawn chain.Amount // given back, with fees
	Unpaid    chain.Amount // payouts and refunds of the source chain that no final block has
}

// Sheet adds up the books of a token at its source chain's final block. It reads all of the token's past.
func (tx *Tx) Sheet(n Network, t Token) (s Sheet, err error) {
	c, err := tx.Cursor(n.Source)
	if err == nil {
		s.Height = c.Final.Height
		err = tx.sheetMoves(&s, n.Source, t.Asset)
	}
	if err == nil {
		err = tx.sheetOpening(&s, n.Source, t.Asset)
	}
	if err == nil {
		err = tx.sheetDebts(&s, n, t)
	}
	if err != nil {
		return Sheet{}, fmt.Errorf("adding up what is held of %s on %s: %w", t.TokenID, n.Name, err)
	}
	return s, nil
}

// sheetMoves adds up what came and went of an asset, and what has come above the final block and counts already.
func (tx *Tx) sheetMoves(s *Sheet, id chain.ID, asset chain.Asset) error {
	err := tx.one(&s.Came, `SELECT COALESCE(amount_sum(m.amount), '0') FROM transfers m WHERE m.chain = ? AND m.asset = ? AND m.failed = 0
		AND m.state <> 'orphaned' AND m.height <= ? AND NOT `+onLeftBlock, string(id), string(asset), s.Height)
	if err == nil {
		err = tx.one(&s.Paid, `SELECT COALESCE(amount_sum(amount), '0') FROM payments
			WHERE chain = ? AND asset = ? AND purpose IN ('credit','refund') AND state = 'paid'`, string(id), string(asset))
	}
	if err == nil {
		err = tx.one(&s.Above, `SELECT COALESCE(amount_sum(amount), '0') FROM transfers
			WHERE chain = ? AND asset = ? AND height > ? AND state = 'final' AND direction = 'deposit'`, string(id), string(asset), s.Height)
	}
	return err
}

func (tx *Tx) sheetOpening(s *Sheet, id chain.ID, asset chain.Asset) error {
	var r struct {
		Opening chain.Amount `db:"opening"`
		Lost    chain.Amount `db:"lost"`
	}
	found, err := tx.get(&r, `SELECT opening, lost FROM token_openings WHERE chain = ? AND asset = ?`, string(id), string(asset))
	s.Opening, s.Lost, s.Opened = r.Opening, r.Lost, found
	return err
}

// sheetDebts adds up what users have of the token, and what they are about to get.
func (tx *Tx) sheetDebts(s *Sheet, n Network, t Token) error {
	totals, err := tx.Totals(n.Name, t.TokenID)
	if err != nil {
		return err
	}
	add := func(sum *chain.Amount, parts ...chain.Amount) {
		for _, p := range parts {
			if err == nil {
				*sum, err = sum.Add(p)
			}
		}
	}
	for _, x := range totals.Transfers {
		switch {
		case x.State != Final:
		case x.Direction == Deposit:
			add(&s.Deposited, x.Net)
		case x.Direction == Withdrawal:
			add(&s.Withdrawn, x.Net, x.Fee)
		}
	}
	for _, p := range totals.Payments {
		user := p.Purpose == chain.Credit || p.Purpose == chain.Refund
		if user && p.Chain == n.Source && p.State != Paid && p.State != VoidPayment {
			add(&s.Unpaid, p.Amount)
		}
	}
	return err
}

// OpenTokenBooks stores what our accounts held of a token before its books began. ErrConflict: that is known already.
func (tx *Tx) OpenTokenBooks(id chain.ID, asset chain.Asset, opening chain.Amount, height uint64) error {
	n, err := tx.exec(`INSERT INTO token_openings (chain, asset, opening, height) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`,
		string(id), string(asset), opening, height)
	if err == nil && n == 0 {
		err = ErrConflict
	}
	if err == nil {
		err = tx.log("chain", string(id), "tokens_counted", fmt.Sprintf("%s of %s from before block %d's books", opening, asset, height))
	}
	if err != nil {
		return fmt.Errorf("opening the books of %s on %s: %w", asset, id, err)
	}
	return nil
}

// WriteOffTokens is an operator's word that our accounts hold so much less of a token than the books say, for good.
func (tx *Tx) WriteOffTokens(id chain.ID, asset chain.Asset, amount chain.Amount, why string) error {
	var lost chain.Amount
	err := tx.one(&lost, `SELECT lost FROM token_openings WHERE chain = ? AND asset = ?`, string(id), string(asset))
	if err == nil {
		lost, err = lost.Add(amount)
	}
	if err == nil {
		err = tx.change(`UPDATE token_openings SET lost = ? WHERE chain = ? AND asset = ?`, lost, string(id), string(asset))
	}
	if err == nil {
		err = tx.log("chain", string(id), "shortage_accepted", fmt.Sprintf("%s of %s: %s", amount, asset, why))
	}
	if err != nil {
		return fmt.Errorf("writing off %s of %s on %s: %w", amount, asset, id, err)
	}
	return nil
}
