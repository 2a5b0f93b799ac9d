package books

import (
	"fmt"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/records/sqlstore"
)

// Sheet is the books' account of a token on one network: the required holdings of our accounts on
// the source chain, and the gateway's liabilities. Amounts count the asset's units, except
// Deposited, Withdrawn and GivenAway, which count the gateway token's.
type Sheet struct {
	Height     uint64       // final block of the source chain
	Came       chain.Amount // of the asset to any account of ours, by Height
	Paid       chain.Amount // out of them to others and to the cold address, by Height
	Lost       chain.Amount // written off by operators
	Opening    chain.Amount // held before the books began
	Opened     bool         // Opening is known
	Above      chain.Amount // deposits that are credited already and are above Height
	Deposited  chain.Amount // credited, or to be
	Withdrawn  chain.Amount // given back, with fees
	WrittenOff chain.Amount // paid on the source chain for transfers that have left their chain, and written off
	GivenAway  chain.Amount // the same on the exchange chain, in the gateway token's units
	Unpaid     chain.Amount // payouts and refunds of the source chain that no final block has
}

// SheetOf adds up the books of a token at its source chain's final block. It reads all of the
// token's past.
func SheetOf(tx *records.Tx, n records.Network, t records.Token) (s Sheet, err error) {
	c, err := tx.Chains().Cursor(n.Source)
	if err == nil {
		s.Height = c.Final.Height
		err = sheetMoves(tx, &s, n.Source, t.Asset)
	}
	if err == nil {
		err = sheetOpening(tx, &s, n.Source, t.Asset)
	}
	if err == nil {
		err = sheetDebts(tx, &s, n, t)
	}
	if err == nil {
		err = sheetLosses(tx, &s, n, t)
	}
	return s, sqlstore.Doing(err, "adding up the holdings of %s on %s", t.TokenID, n.Name)
}

// sheetMoves adds up what came and went of an asset, and what has come above the final block and
// counts already.
func sheetMoves(tx *records.Tx, s *Sheet, id chain.ID, asset chain.Asset) error {
	err := tx.SQL().One(&s.Came, `SELECT COALESCE(amount_sum(m.amount), '0') FROM transfers m WHERE m.chain = ? AND m.asset = ? AND m.failed = 0 AND m.incident = ''
		AND m.state <> 'orphaned' AND m.height <= ? AND NOT `+records.OnLeftBlock, string(id), string(asset), s.Height)
	if err == nil {
		err = tx.SQL().One(&s.Paid, `SELECT COALESCE(amount_sum(amount), '0') FROM payments
			WHERE chain = ? AND asset = ? AND purpose IN ('credit','refund','cold') AND state = 'paid'`, string(id), string(asset))
	}
	if err == nil {
		err = tx.SQL().One(&s.Above, `SELECT COALESCE(amount_sum(amount), '0') FROM transfers
			WHERE chain = ? AND asset = ? AND height > ? AND state = 'final' AND direction = 'deposit'`, string(id), string(asset), s.Height)
	}
	return err
}

func sheetOpening(tx *records.Tx, s *Sheet, id chain.ID, asset chain.Asset) error {
	var r struct {
		Opening chain.Amount `db:"opening"`
		Lost    chain.Amount `db:"lost"`
	}
	found, err := tx.SQL().Get(&r, `SELECT opening, lost FROM token_openings WHERE chain = ? AND asset = ?`, string(id), string(asset))
	s.Opening, s.Lost, s.Opened = r.Opening, r.Lost, found
	return err
}

// sheetLosses adds up what operators wrote off of transfers that have left their chains.
func sheetLosses(tx *records.Tx, s *Sheet, n records.Network, t records.Token) error {
	const of = `SELECT COALESCE(amount_sum(amount), '0') FROM write_offs WHERE network = ? AND token = ? AND chain = ?`
	err := tx.SQL().One(&s.WrittenOff, of, n.Name, t.TokenID, string(n.Source))
	if err == nil {
		err = tx.SQL().One(&s.GivenAway, of, n.Name, t.TokenID, string(n.Exchange))
	}
	return err
}

// sheetDebts adds up what users have of the token, and what they are about to get.
func sheetDebts(tx *records.Tx, s *Sheet, n records.Network, t records.Token) error {
	totals, err := TotalsOf(tx, n.Name, t.TokenID)
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
		case x.State != records.Final:
		case x.Direction == records.Deposit:
			add(&s.Deposited, x.Net)
		case x.Direction == records.Withdrawal:
			add(&s.Withdrawn, x.Net, x.Fee)
		}
	}
	for _, p := range totals.Payments {
		user := p.Purpose == chain.Credit || p.Purpose == chain.Refund
		if user && p.Chain == n.Source && p.State != records.Paid && p.State != records.VoidPayment {
			add(&s.Unpaid, p.Amount)
		}
	}
	return err
}

// OpenToken stores what our accounts held of a token before its books began. ErrConflict: that is
// known already.
func OpenToken(tx *records.Tx, id chain.ID, asset chain.Asset, opening chain.Amount, height uint64) error {
	n, err := tx.SQL().Exec(`INSERT INTO token_openings (chain, asset, opening, height) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`,
		string(id), string(asset), opening, height)
	if err == nil && n == 0 {
		err = records.ErrConflict
	}
	if err == nil {
		err = tx.SQL().LogEvent("chain", string(id), "tokens_counted", fmt.Sprintf("%s of %s from before block %d's books", opening, asset, height))
	}
	return sqlstore.Doing(err, "opening the books of %s on %s", asset, id)
}

// WriteOffTokens records an operator's statement that our accounts permanently hold less of a token
// than the books.
func WriteOffTokens(tx *records.Tx, id chain.ID, asset chain.Asset, amount chain.Amount, why string) error {
	var lost chain.Amount
	err := tx.SQL().One(&lost, `SELECT lost FROM token_openings WHERE chain = ? AND asset = ?`, string(id), string(asset))
	if err == nil {
		lost, err = lost.Add(amount)
	}
	if err == nil {
		err = tx.SQL().Change(`UPDATE token_openings SET lost = ? WHERE chain = ? AND asset = ?`, lost, string(id), string(asset))
	}
	if err == nil {
		err = tx.SQL().LogEvent("chain", string(id), "shortage_accepted", fmt.Sprintf("%s of %s: %s", amount, asset, why))
	}
	return sqlstore.Doing(err, "writing off %s of %s on %s", amount, asset, id)
}
