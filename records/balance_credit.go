package records

import (
	"fmt"

	"gatewayd/chain"
)

// CreditSurplus turns a surplus that two final blocks show into the transfers that the caller has made of it, which add up to it, and books
// them, in one step: a second call finds the finding gone. look is the second comparison, at a height above the finding's; what it shows
// beyond the finding becomes a finding of its own. ErrConflict: the finding or the books are not those that the caller compared with.
func (tx *Tx) CreditSurplus(f Finding, height uint64, look Look, transfers []Transfer) error {
	err := tx.checkSurplus(f, height, look)
	if err == nil {
		err = tx.bookFound(f, transfers)
	}
	if err == nil {
		err = tx.keepRest(f, height, look)
	}
	if err != nil {
		return fmt.Errorf("crediting %s found at %s on %s: %w", f.Amount, f.Account, f.Chain, err)
	}
	return nil
}

func (tx *Tx) checkSurplus(f Finding, height uint64, look Look) error {
	known, found, err := tx.finding(f.Chain, f.Account)
	if err != nil {
		return err
	}
	if !found || known.Kind != Surplus || known.Amount != f.Amount || known.Height != f.Height || height <= f.Height {
		return fmt.Errorf("%w: the finding is another now", ErrConflict)
	}
	books, err := tx.HoldingsAt(f.Chain, height, []string{f.Account})
	if err != nil {
		return err
	}
	if len(books) != 1 || books[0] != look.Holding {
		return fmt.Errorf("%w: the books are others now", ErrConflict)
	}
	surplus, _, err := look.Compare(look.Have)
	if err == nil && surplus.Less(f.Amount) {
		err = fmt.Errorf("%w: the second block shows %s", ErrConflict, surplus)
	}
	return err
}

// HoldingsAt is HoldingsOf at an earlier final block.
func (tx *Tx) HoldingsAt(id chain.ID, height uint64, accounts []string) ([]Holding, error) {
	out, err := tx.HoldingsOf(id, accounts)
	if err != nil {
		return nil, err
	}
	a, _, err := tx.BalanceAudit(id)
	if err != nil {
		return nil, err
	}
	moves, err := tx.CoinMoves(id, height, a.Folded, accounts)
	if err != nil {
		return nil, err
	}
	for i := range out {
		for _, m := range moves {
			if m.Account == out[i].Account && int64(m.Height) > out[i].Since {
				if out[i], err = out[i].Without(m); err != nil {
					return nil, fmt.Errorf("holding of %s at block %d: %w", m.Account, height, err)
				}
			}
		}
	}
	return out, nil
}

// Without is the holding before a movement.
func (h Holding) Without(m CoinMove) (Holding, error) {
	in, err := h.In.Sub(m.Came)
	if err != nil {
		return h, err
	}
	out, err := h.Out.Sub(m.Went)
	h.In, h.Out = in, out
	return h, err
}

// bookFound stores the transfers and adds them to what came.
func (tx *Tx) bookFound(f Finding, transfers []Transfer) error {
	sum := chain.Amount{}
	for _, t := range transfers {
		if t.Chain != f.Chain || t.To != f.Account || t.Asset != chain.Native || !t.FoundByAudit() {
			return fmt.Errorf("%w: a transfer of something else", ErrConflict)
		}
		_, changed, err := tx.SeeTransfer(t)
		if err == nil && !changed {
			err = fmt.Errorf("%w: %s is stored already", ErrConflict, t.Ref)
		}
		if err != nil {
			return err
		}
		if sum, err = sum.Add(t.Amount); err != nil {
			return err
		}
	}
	if sum != f.Amount {
		return fmt.Errorf("%w: the transfers add up to %s", ErrConflict, sum)
	}
	return tx.addCame(f.Chain, f.Account, sum)
}

// keepRest replaces the finding by what the second block shows beyond it.
func (tx *Tx) keepRest(f Finding, height uint64, look Look) error {
	surplus, _, err := look.Compare(look.Have)
	if err != nil {
		return err
	}
	rest, err := surplus.Sub(f.Amount)
	if err != nil {
		return err
	}
	if rest.IsZero() {
		return tx.dropFinding(f.Chain, f.Account)
	}
	return tx.putFinding(Finding{Chain: f.Chain, Account: f.Account, Kind: Surplus, Amount: rest, Height: height, Clean: int64(f.Height)})
}

// AcceptShortage is an operator's word that a confirmed shortage is right as it stands on the ledger: the books take it over, and the history
// keeps who said so, and why. ErrNotFound: there is none.
func (tx *Tx) AcceptShortage(id chain.ID, account, why string) (chain.Amount, error) {
	f, found, err := tx.finding(id, account)
	if err == nil && (!found || f.Kind != Shortage || !f.Confirmed) {
		err = ErrNotFound
	}
	if err == nil {
		err = tx.writeOff(f, why)
	}
	if err != nil {
		return chain.Amount{}, fmt.Errorf("accepting the shortage of %s on %s: %w", account, id, err)
	}
	return f.Amount, nil
}

func (tx *Tx) writeOff(f Finding, why string) error {
	rows, err := tx.holdingRows(f.Chain, []string{f.Account})
	if err != nil || len(rows) != 1 {
		return err
	}
	went, err := rows[0].Went.Add(f.Amount)
	if err == nil {
		err = tx.setHolding(f.Chain, f.Account, rows[0].Came, went)
	}
	if err == nil {
		err = tx.dropFinding(f.Chain, f.Account)
	}
	if err == nil {
		err = tx.log("account", f.Account, "shortage_accepted", fmt.Sprintf("%s on %s: %s", f.Amount, f.Chain, why))
	}
	return err
}

// LineBlock answers number, hash and time of the block of our line at a height, if it is still stored.
func (tx *Tx) LineBlock(id chain.ID, height uint64) (b chain.Block, found bool, err error) {
	var r struct {
		Hash string `db:"hash"`
		At   int64  `db:"at"`
	}
	found, err = tx.get(&r, `SELECT hash, at FROM blocks WHERE chain = ? AND height = ? AND canonical = 1`, string(id), height)
	if err != nil {
		return b, false, fmt.Errorf("reading block %d of %s: %w", height, id, err)
	}
	return chain.Block{Point: chain.Point{Height: height, Hash: r.Hash}, Time: timeOrZero(r.At)}, found, nil
}

// late answers the transfer that credited a movement of coin before a block showed it: somebody had blocks read again that were added up
// already. 0 means that nothing did; the movement is booked now.
func (tx *Tx) late(r transferRow) (by uint64, err error) {
	if r.Asset != string(chain.Native) || r.Failed || isAuditRef(r.Ref) {
		return 0, nil
	}
	a, found, err := tx.balanceAudit(chain.ID(r.Chain))
	if err != nil || !found || r.Height > a.Folded {
		return 0, err
	}
	if by, err = tx.creditedAs(r); err != nil || by != 0 {
		return by, err
	}
	return 0, tx.addCame(chain.ID(r.Chain), r.Account, r.Amount)
}

// creditedAs is the transfer found by balances, at the same account and not earlier, that has room for a movement; 0 if there is none.
func (tx *Tx) creditedAs(r transferRow) (uint64, error) {
	var found []struct {
		ID     uint64       `db:"id"`
		Amount chain.Amount `db:"amount"`
		Shown  chain.Amount `db:"shown"`
	}
	err := tx.list(&found, `SELECT t.id, t.amount, (SELECT amount_sum(x.amount) FROM audit_matches x WHERE x.found_by = t.id) AS shown FROM transfers t
		WHERE t.chain = ? AND t.account = ? AND t.height >= ? AND t.ref LIKE 'audit:%' AND t.asset = 'native' AND t.failed = 0 ORDER BY t.height`,
		r.Chain, r.Account, r.Height)
	if err != nil {
		return 0, err
	}
	for _, t := range found {
		if left, err := t.Amount.Sub(t.Shown); err == nil && !left.Less(r.Amount) {
			return t.ID, nil
		}
	}
	return 0, nil
}

// addMatched stores a movement that was credited as another transfer: for operators to see, and nobody's.
func (tx *Tx) addMatched(r transferRow, by uint64) (Transfer, bool, error) {
	r.State, r.Reason = string(Held), ReasonFoundByAudit
	r.Token, r.Owner, r.Payee, r.PayeeLabel, r.Net = "", "", "", "", chain.Amount{}
	out, err := tx.addTransfer(r)
	if err == nil {
		_, err = tx.exec(`INSERT INTO audit_matches (transfer_id, found_by, amount) VALUES (?, ?, ?)`, out.ID, by, r.Amount)
	}
	return out, err == nil, err
}
