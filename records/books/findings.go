package books

import (
	"fmt"
	"time"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/records/sqlstore"
)

// FindingKind is the direction in which an account's coin differs from the books.
type FindingKind string

// The kinds of findings.
const (
	Surplus  FindingKind = "surplus"
	Shortage FindingKind = "shortage"
)

// Finding is an account whose coin differed from the books when it was compared last.
type Finding struct {
	Chain     chain.ID     `db:"chain"`
	Account   string       `db:"account"`
	Kind      FindingKind  `db:"kind"`
	Amount    chain.Amount `db:"amount"`
	Height    uint64       `db:"height"`    // of the comparison
	Clean     int64        `db:"clean"`     // the account fitted at this height; -1: it was never seen to fit
	Confirmed bool         `db:"confirmed"` // a shortage that two final blocks show
	CreatedAt time.Time
}

type findingRow struct {
	Finding
	CreatedAt int64 `db:"created_at"`
}

func (r findingRow) finding() Finding {
	r.Finding.CreatedAt = sqlstore.FromMillis(r.CreatedAt)
	return r.Finding
}

const findingColumns = `chain, account, kind, amount, height, clean, confirmed, created_at`

// Findings returns what differs on a chain, by account.
func Findings(tx *records.Tx, id chain.ID) ([]Finding, error) {
	var rows []findingRow
	err := tx.SQL().List(&rows, `SELECT `+findingColumns+` FROM balance_findings WHERE chain = ? ORDER BY account`, string(id))
	return sqlstore.Each(rows, findingRow.finding), sqlstore.Doing(err, "reading the findings on %s", id)
}

func findingOf(tx *records.Tx, id chain.ID, account string) (Finding, bool, error) {
	var r findingRow
	found, err := tx.SQL().Get(&r, `SELECT `+findingColumns+` FROM balance_findings WHERE chain = ? AND account = ?`, string(id), account)
	return r.finding(), found, err
}

func putFinding(tx *records.Tx, f Finding) error {
	_, err := tx.SQL().ExecNamed(`INSERT INTO balance_findings (`+findingColumns+`) `+sqlstore.NamedValues(findingColumns)+`
		ON CONFLICT (chain, account) DO UPDATE SET kind = excluded.kind, amount = excluded.amount, height = excluded.height,
		clean = excluded.clean, confirmed = excluded.confirmed, created_at = excluded.created_at`,
		map[string]any{
			"chain": f.Chain, "account": f.Account, "kind": f.Kind, "amount": f.Amount, "height": f.Height,
			"clean": f.Clean, "confirmed": sqlstore.Bit(f.Confirmed), "created_at": tx.SQL().Millis(),
		})
	return err
}

func dropFinding(tx *records.Tx, id chain.ID, account string) error {
	_, err := tx.SQL().Exec(`DELETE FROM balance_findings WHERE chain = ? AND account = ?`, string(id), account)
	return err
}

// Look is the comparison of an account at a final block: the books' balance and the ledger's.
type Look struct {
	records.Holding
	Have chain.Amount
}

// NoteLooks stores the results of comparing accounts at a final block. They are an account's
// balance before its books began, the accounts that differ, and those that match again. A shortage
// that an earlier block showed too is confirmed by it. A known surplus keeps its first height, so
// that CreditSurplus can detect that two blocks show it.
func NoteLooks(tx *records.Tx, id chain.ID, height uint64, looks []Look) error {
	known, err := Findings(tx, id)
	if err != nil {
		return err
	}
	of := make(map[string]Finding, len(known))
	for _, f := range known {
		of[f.Account] = f
	}
	a, _, err := tx.Balances().BalanceAudit(id)
	if err != nil {
		return err
	}
	for _, l := range looks {
		f, found := of[l.Account]
		if err := noteLook(tx, id, height, l, f, found, a); err != nil {
			return fmt.Errorf("noting the coin of %s on %s: %w", l.Account, id, err)
		}
	}
	return nil
}

func noteLook(tx *records.Tx, id chain.ID, height uint64, l Look, f Finding, found bool, a records.BalanceAudit) error {
	if !l.Opened {
		if err := openBooks(tx, id, height, &l); err != nil {
			return err
		}
	}
	surplus, shortage, err := l.Compare(l.Have)
	switch {
	case err != nil:
		return err
	case surplus.IsZero() && shortage.IsZero():
		if found {
			err = dropFinding(tx, id, l.Account)
		}
		return err
	case found && height <= f.Height: // nothing newer
		return nil
	case !shortage.IsZero():
		return noteShortage(tx, id, height, l, f, found, shortage)
	case found && f.Kind == Surplus && !surplus.Less(f.Amount):
		return nil
	}
	next := Finding{Chain: id, Account: l.Account, Kind: Surplus, Amount: surplus, Height: height, Clean: cleanSince(l.Holding, a)}
	if found && f.Kind == Surplus {
		next.Clean = f.Clean
	}
	return putFinding(tx, next)
}

// cleanSince is the height up to which an account without a finding is known to fit.
func cleanSince(h records.Holding, a records.BalanceAudit) int64 {
	switch since := h.Since; {
	case since <= a.Audited:
		return max(since, a.Audited)
	case since <= a.Looked:
		return since
	}
	return -1
}

// openBooks stores what an account held before its books began: what it holds now, less what came
// since.
func openBooks(tx *records.Tx, id chain.ID, height uint64, l *Look) error {
	opening, _, err := l.Compare(l.Have)
	if err != nil {
		return err
	}
	err = tx.SQL().Change(`UPDATE holdings SET opening = ? WHERE chain = ? AND account = ? AND opening = ''`, opening.String(), string(id), l.Account)
	if err == nil {
		l.In, err = l.In.Add(opening)
	}
	if err == nil {
		err = tx.SQL().LogEvent("account", l.Account, "coin_counted", fmt.Sprintf("on %s: %s from before block %d's books", id, opening, height))
	}
	return err
}

func noteShortage(tx *records.Tx, id chain.ID, height uint64, l Look, f Finding, found bool, shortage chain.Amount) error {
	again := found && f.Kind == Shortage
	err := putFinding(tx, Finding{Chain: id, Account: l.Account, Kind: Shortage, Amount: shortage, Height: height, Clean: -1, Confirmed: again})
	if err == nil && again && !f.Confirmed {
		err = tx.SQL().LogEvent("account", l.Account, "coin_short", fmt.Sprintf("on %s: %s less than the books show at block %d", id, shortage, height))
	}
	return err
}

// NoteLooked records that every account that was there at a height has been compared once.
func NoteLooked(tx *records.Tx, id chain.ID, height uint64) error {
	_, err := tx.SQL().Exec(`UPDATE balance_audits SET looked = ? WHERE chain = ? AND looked < ?`, height, string(id), height)
	return sqlstore.Doing(err, "noting the first check of accounts of %s", id)
}

// NoteAudited records that every account that was there at a height has been compared at that
// height or above.
func NoteAudited(tx *records.Tx, id chain.ID, height uint64) error {
	_, err := tx.SQL().Exec(`UPDATE balance_audits SET audited = ?, audited_at = ?, looked = CASE WHEN looked < ? THEN ? ELSE looked END WHERE chain = ? AND audited <= ?`,
		height, tx.SQL().Millis(), height, height, string(id), height)
	if err != nil {
		return sqlstore.Doing(err, "noting the balance audit of %s", id)
	}
	return tx.Chains().CoverUntraced(id, height)
}
