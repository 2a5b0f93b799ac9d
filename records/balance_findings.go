package records

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gatewayd/chain"
)

// auditPrefix begins the refs of transfers that only balances show: "audit:<address>:<asset>:<block>".
const auditPrefix = "audit:"

// AuditRef names coin that came to an address by a block, as far as only its balance tells.
func AuditRef(address string, asset chain.Asset, height uint64) string {
	return fmt.Sprintf("%s%s:%s:%d", auditPrefix, address, asset, height)
}

// FoundByAudit tells whether only balances show a transfer. It stands in no block then.
func (t Transfer) FoundByAudit() bool { return isAuditRef(t.Ref) }

func isAuditRef(ref string) bool { return strings.HasPrefix(ref, auditPrefix) }

// BalanceAudit is how far the coin of a chain's accounts was added up and compared.
type BalanceAudit struct {
	Folded  uint64    // the books are those of this final block
	Looked  int64     // every account with Since up to here was compared at least once; -1: none
	Audited int64     // every one with Since up to here was compared at this height or above; -1: none
	At      time.Time // of the last comparison of all
}

type balanceAuditRow struct {
	Folded    uint64 `db:"folded"`
	Looked    int64  `db:"looked"`
	Audited   int64  `db:"audited"`
	AuditedAt int64  `db:"audited_at"`
}

// BalanceAudit answers how far a chain's coin was compared; false when the chain is not followed yet.
func (tx *Tx) BalanceAudit(id chain.ID) (BalanceAudit, bool, error) {
	a, found, err := tx.balanceAudit(id)
	if err != nil {
		return a, false, fmt.Errorf("reading the balance audit of %s: %w", id, err)
	}
	return a, found, nil
}

func (tx *Tx) balanceAudit(id chain.ID) (BalanceAudit, bool, error) {
	var r balanceAuditRow
	found, err := tx.get(&r, `SELECT folded, looked, audited, audited_at FROM balance_audits WHERE chain = ?`, string(id))
	return BalanceAudit{r.Folded, r.Looked, r.Audited, timeOrZero(r.AuditedAt)}, found, err
}

// FindingKind says which way an account's coin differs from the books.
type FindingKind string

// The kinds of findings.
const (
	Surplus  FindingKind = "surplus"
	Shortage FindingKind = "shortage"
)

// Finding is an account whose coin differed from the books when it was compared last.
type Finding struct {
	Chain     chain.ID
	Account   string
	Kind      FindingKind
	Amount    chain.Amount
	Height    uint64 // of the comparison
	Clean     int64  // the account fitted at this height; -1: it was never seen to fit
	Confirmed bool   // a shortage that two final blocks show
	CreatedAt time.Time
}

type findingRow struct {
	Chain     string       `db:"chain"`
	Account   string       `db:"account"`
	Kind      string       `db:"kind"`
	Amount    chain.Amount `db:"amount"`
	Height    uint64       `db:"height"`
	Clean     int64        `db:"clean"`
	Confirmed bool         `db:"confirmed"`
	CreatedAt int64        `db:"created_at"`
}

func (r findingRow) finding() Finding {
	return Finding{chain.ID(r.Chain), r.Account, FindingKind(r.Kind), r.Amount, r.Height, r.Clean, r.Confirmed, fromMillis(r.CreatedAt)}
}

const findingColumns = `chain, account, kind, amount, height, clean, confirmed, created_at`

// Findings answers what differs on a chain, by account.
func (tx *Tx) Findings(id chain.ID) ([]Finding, error) {
	var rows []findingRow
	if err := tx.list(&rows, `SELECT `+findingColumns+` FROM balance_findings WHERE chain = ? ORDER BY account`, string(id)); err != nil {
		return nil, fmt.Errorf("reading the findings on %s: %w", id, err)
	}
	out := make([]Finding, len(rows))
	for i, r := range rows {
		out[i] = r.finding()
	}
	return out, nil
}

func (tx *Tx) finding(id chain.ID, account string) (Finding, bool, error) {
	var r findingRow
	found, err := tx.get(&r, `SELECT `+findingColumns+` FROM balance_findings WHERE chain = ? AND account = ?`, string(id), account)
	return r.finding(), found, err
}

func (tx *Tx) putFinding(f Finding) error {
	_, err := tx.exec(`INSERT INTO balance_findings (`+findingColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (chain, account) DO UPDATE SET kind = excluded.kind, amount = excluded.amount, height = excluded.height,
		clean = excluded.clean, confirmed = excluded.confirmed, created_at = excluded.created_at`,
		string(f.Chain), f.Account, string(f.Kind), f.Amount, f.Height, f.Clean, bit(f.Confirmed), tx.millis())
	return err
}

func (tx *Tx) dropFinding(id chain.ID, account string) error {
	_, err := tx.exec(`DELETE FROM balance_findings WHERE chain = ? AND account = ?`, string(id), account)
	return err
}

// HoldingsAfter answers a page of what the accounts of a chain must hold at the block that BalanceAudit calls folded: those after an account,
// in order of accounts. Accounts that are younger than that block are left out.
func (tx *Tx) HoldingsAfter(id chain.ID, account string, limit int) ([]Holding, error) {
	return tx.holdings(`WHERE h.chain = ? AND h.account > ? AND h.since <= (SELECT folded FROM balance_audits WHERE chain = h.chain)
		ORDER BY h.account LIMIT ? + 0`, string(id), account, limit)
}

// NewHoldings is HoldingsAfter for accounts that were never compared, in order of Since and account; after is the last of the page before.
func (tx *Tx) NewHoldings(id chain.ID, looked int64, after Holding, limit int) ([]Holding, error) {
	return tx.holdings(`WHERE h.chain = ? AND h.since > ? AND (h.since, h.account) > (?, ?)
		AND h.since <= (SELECT folded FROM balance_audits WHERE chain = h.chain) ORDER BY h.since, h.account LIMIT ? + 0`,
		string(id), looked, after.Since, after.Account, limit)
}

func (tx *Tx) holdings(where string, args ...any) ([]Holding, error) {
	var rows []holdingRow
	if err := tx.list(&rows, holdingQuery+where, args...); err != nil {
		return nil, fmt.Errorf("reading holdings: %w", err)
	}
	return holdingsOf(rows)
}

func holdingsOf(rows []holdingRow) (out []Holding, err error) {
	out = make([]Holding, len(rows))
	for i, r := range rows {
		if out[i], err = r.holding(); err != nil {
			return nil, fmt.Errorf("holding of %s: %w", r.Account, err)
		}
	}
	return out, nil
}

// HoldingsOf answers what some accounts must hold, in order of accounts.
func (tx *Tx) HoldingsOf(id chain.ID, accounts []string) ([]Holding, error) {
	accounts = slices.Sorted(slices.Values(accounts))
	rows, err := tx.holdingRows(id, accounts)
	if err != nil {
		return nil, fmt.Errorf("reading holdings: %w", err)
	}
	return holdingsOf(rows)
}

// Look is an account compared at a final block: what the books had then, and what was there.
type Look struct {
	Holding
	Have chain.Amount
}

// NoteLooks stores what comparing accounts at a final block has shown: what an account held before its books began, which accounts differ
// and which fit again. A shortage that an earlier block showed too is confirmed by it. A surplus that is known keeps its first height, so
// that CreditSurplus can tell that two blocks show it.
func (tx *Tx) NoteLooks(id chain.ID, height uint64, looks []Look) error {
	known, err := tx.Findings(id)
	if err != nil {
		return err
	}
	of := make(map[string]Finding, len(known))
	for _, f := range known {
		of[f.Account] = f
	}
	a, _, err := tx.BalanceAudit(id)
	if err != nil {
		return err
	}
	for _, l := range looks {
		f, found := of[l.Account]
		if err := tx.noteLook(id, height, l, f, found, a); err != nil {
			return fmt.Errorf("noting the coin of %s on %s: %w", l.Account, id, err)
		}
	}
	return nil
}

func (tx *Tx) noteLook(id chain.ID, height uint64, l Look, f Finding, found bool, a BalanceAudit) error {
	if !l.Opened {
		if err := tx.open(id, height, &l); err != nil {
			return err
		}
	}
	surplus, shortage, err := l.Compare(l.Have)
	switch {
	case err != nil:
		return err
	case surplus.IsZero() && shortage.IsZero():
		if found {
			err = tx.dropFinding(id, l.Account)
		}
		return err
	case found && height <= f.Height: // nothing newer
		return nil
	case !shortage.IsZero():
		return tx.noteShortage(id, height, l, f, found, shortage)
	case found && f.Kind == Surplus && !surplus.Less(f.Amount):
		return nil
	}
	next := Finding{Chain: id, Account: l.Account, Kind: Surplus, Amount: surplus, Height: height, Clean: cleanSince(l.Holding, a)}
	if found && f.Kind == Surplus {
		next.Clean = f.Clean
	}
	return tx.putFinding(next)
}

// cleanSince is the height up to which an account without a finding is known to fit.
func cleanSince(h Holding, a BalanceAudit) int64 {
	switch since := h.Since; {
	case since <= a.Audited:
		return max(since, a.Audited)
	case since <= a.Looked:
		return since
	}
	return -1
}

// open notes what an account held before its books began: whatever is there now and did not come since.
func (tx *Tx) open(id chain.ID, height uint64, l *Look) error {
	opening, _, err := l.Compare(l.Have)
	if err != nil {
		return err
	}
	err = tx.change(`UPDATE holdings SET opening = ? WHERE chain = ? AND account = ? AND opening = ''`, opening.String(), string(id), l.Account)
	if err == nil {
		l.In, err = l.In.Add(opening)
	}
	if err == nil {
		err = tx.log("account", l.Account, "coin_counted", fmt.Sprintf("on %s: %s from before block %d's books", id, opening, height))
	}
	return err
}

func (tx *Tx) noteShortage(id chain.ID, height uint64, l Look, f Finding, found bool, shortage chain.Amount) error {
	again := found && f.Kind == Shortage
	err := tx.putFinding(Finding{Chain: id, Account: l.Account, Kind: Shortage, Amount: shortage, Height: height, Clean: -1, Confirmed: again})
	if err == nil && again && !f.Confirmed {
		err = tx.log("account", l.Account, "coin_short", fmt.Sprintf("on %s: %s less than the books say at block %d", id, shortage, height))
	}
	return err
}

// NoteLooked records that every account that was there at a height has been compared once.
func (tx *Tx) NoteLooked(id chain.ID, height uint64) error {
	_, err := tx.exec(`UPDATE balance_audits SET looked = ? WHERE chain = ? AND looked < ?`, height, string(id), height)
	if err != nil {
		return fmt.Errorf("noting the first look at accounts of %s: %w", id, err)
	}
	return nil
}

// NoteAudited records that every account that was there at a height has been compared at that height or above.
func (tx *Tx) NoteAudited(id chain.ID, height uint64) error {
	_, err := tx.exec(`UPDATE balance_audits SET audited = ?, audited_at = ?, looked = CASE WHEN looked < ? THEN ? ELSE looked END WHERE chain = ? AND audited <= ?`,
		height, tx.millis(), height, height, string(id), height)
	if err != nil {
		return fmt.Errorf("noting the balance audit of %s: %w", id, err)
	}
	return nil
}
