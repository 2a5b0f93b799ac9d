package books

import (
	"fmt"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/records/sqlstore"
)

// CreditSurplus converts a surplus that two final blocks show into the caller's transfers, which
// add up to it. It books them in one step: a second call finds the finding gone. look is the second
// comparison, at a height above the finding's; an excess over the finding becomes a finding of its
// own. ErrConflict: the finding or the books are not those of the caller's comparison.
func CreditSurplus(tx *records.Tx, f Finding, height uint64, look Look, transfers []records.Transfer) error {
	err := checkSurplus(tx, f, height, look)
	if err == nil {
		err = bookFound(tx, f, transfers)
	}
	if err == nil {
		err = keepRest(tx, f, height, look)
	}
	return sqlstore.Doing(err, "crediting %s found at %s on %s", f.Amount, f.Account, f.Chain)
}

func checkSurplus(tx *records.Tx, f Finding, height uint64, look Look) error {
	known, found, err := findingOf(tx, f.Chain, f.Account)
	if err != nil {
		return err
	}
	if !found || known.Kind != Surplus || known.Amount != f.Amount || known.Height != f.Height || height <= f.Height {
		return fmt.Errorf("%w: the finding has changed", records.ErrConflict)
	}
	books, err := HoldingsAt(tx, f.Chain, height, []string{f.Account})
	if err != nil {
		return err
	}
	if len(books) != 1 || books[0] != look.Holding {
		return fmt.Errorf("%w: the books have changed", records.ErrConflict)
	}
	surplus, _, err := look.Compare(look.Have)
	if err == nil && surplus.Less(f.Amount) {
		err = fmt.Errorf("%w: the second block shows %s", records.ErrConflict, surplus)
	}
	return err
}

// HoldingsAt is HoldingsOf at an earlier final block.
func HoldingsAt(tx *records.Tx, id chain.ID, height uint64, accounts []string) ([]records.Holding, error) {
	out, err := tx.Balances().HoldingsOf(id, accounts)
	if err != nil {
		return nil, err
	}
	a, _, err := tx.Balances().BalanceAudit(id)
	if err != nil {
		return nil, err
	}
	moves, err := tx.Balances().CoinMoves(id, height, a.Folded, accounts)
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

// bookFound stores the transfers and adds them to what came.
func bookFound(tx *records.Tx, f Finding, transfers []records.Transfer) error {
	sum := chain.Amount{}
	for _, t := range transfers {
		if t.Chain != f.Chain || t.To != f.Account || t.Asset != chain.Native || !t.FoundByAudit() {
			return fmt.Errorf("%w: a transfer of something else", records.ErrConflict)
		}
		_, changed, err := tx.Transfers().See(t)
		if err == nil && !changed {
			err = fmt.Errorf("%w: %s is stored already", records.ErrConflict, t.Ref)
		}
		if err != nil {
			return err
		}
		if sum, err = sum.Add(t.Amount); err != nil {
			return err
		}
	}
	if sum != f.Amount {
		return fmt.Errorf("%w: the transfers add up to %s", records.ErrConflict, sum)
	}
	return tx.Balances().AddCoin(f.Chain, f.Account, sum, chain.Amount{})
}

// keepRest replaces the finding by what the second block shows beyond it.
func keepRest(tx *records.Tx, f Finding, height uint64, look Look) error {
	surplus, _, err := look.Compare(look.Have)
	if err != nil {
		return err
	}
	rest, err := surplus.Sub(f.Amount)
	if err != nil {
		return err
	}
	if rest.IsZero() {
		return dropFinding(tx, f.Chain, f.Account)
	}
	return putFinding(tx, Finding{Chain: f.Chain, Account: f.Account, Kind: Surplus, Amount: rest, Height: height, Clean: int64(f.Height)})
}

// AcceptShortage removes a confirmed shortage from the books by an operator's order, so that they
// match the ledger. The history contains the operator and the reason. ErrNotFound: there is none.
func AcceptShortage(tx *records.Tx, id chain.ID, account, why string) (chain.Amount, error) {
	f, found, err := findingOf(tx, id, account)
	if err == nil && (!found || f.Kind != Shortage || !f.Confirmed) {
		err = records.ErrNotFound
	}
	if err == nil {
		err = writeOff(tx, f, why)
	}
	return f.Amount, sqlstore.Doing(err, "accepting the shortage of %s on %s", account, id)
}

func writeOff(tx *records.Tx, f Finding, why string) error {
	err := tx.Balances().AddCoin(f.Chain, f.Account, chain.Amount{}, f.Amount)
	if err == nil {
		err = dropFinding(tx, f.Chain, f.Account)
	}
	if err == nil {
		err = tx.SQL().LogEvent("account", f.Account, "shortage_accepted", fmt.Sprintf("%s on %s: %s", f.Amount, f.Chain, why))
	}
	return err
}
