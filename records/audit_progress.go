package records

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gatewayd/chain"
	"gatewayd/records/sqlstore"
)

// auditPrefix begins the refs of transfers that only balances show:
// "audit:<address>:<asset>:<block>".
const auditPrefix = "audit:"

// AuditRef names coin that arrived at an address with a block, where only its balance shows it.
func AuditRef(address string, asset chain.Asset, height uint64) string {
	return fmt.Sprintf("%s%s:%s:%d", auditPrefix, address, asset, height)
}

// FoundByAudit reports whether only balances show a transfer. No block contains it then.
func (t Transfer) FoundByAudit() bool { return isAuditRef(t.Ref) }

func isAuditRef(ref string) bool { return strings.HasPrefix(ref, auditPrefix) }

// BalanceAudit is the progress of summing and comparing the coin of a chain's accounts.
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

// BalanceAudit returns how far a chain's coin was compared; false when the chain is not followed
// yet.
func (tx Balances) BalanceAudit(id chain.ID) (BalanceAudit, bool, error) {
	a, found, err := tx.balanceAudit(id)
	return a, found, sqlstore.Doing(err, "reading the balance audit of %s", id)
}

func (tx Balances) balanceAudit(id chain.ID) (BalanceAudit, bool, error) {
	var r balanceAuditRow
	found, err := tx.get(&r, `SELECT folded, looked, audited, audited_at FROM balance_audits WHERE chain = ?`, string(id))
	return BalanceAudit{r.Folded, r.Looked, r.Audited, sqlstore.TimeOrZero(r.AuditedAt)}, found, err
}

// HoldingsAfter returns a page of what the accounts of a chain must hold at the block that
// BalanceAudit calls folded: those after an account, in order of accounts. Accounts that are
// younger than that block are left out.
func (tx Balances) HoldingsAfter(id chain.ID, account string, limit int) ([]Holding, error) {
	return tx.holdings(`WHERE h.chain = ? AND h.account > ? AND h.since <= (SELECT folded FROM balance_audits WHERE chain = h.chain)
		ORDER BY h.account LIMIT ? + 0`, string(id), account, limit)
}

// NewHoldings is HoldingsAfter for accounts that were never compared, in order of Since and
// account; after is the last of the page before.
func (tx Balances) NewHoldings(id chain.ID, looked int64, after Holding, limit int) ([]Holding, error) {
	return tx.holdings(`WHERE h.chain = ? AND h.since > ? AND (h.since, h.account) > (?, ?)
		AND h.since <= (SELECT folded FROM balance_audits WHERE chain = h.chain) ORDER BY h.since, h.account LIMIT ? + 0`,
		string(id), looked, after.Since, after.Account, limit)
}

func (tx Balances) holdings(where string, args ...any) ([]Holding, error) {
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

// HoldingsOf returns what some accounts must hold, in order of accounts.
func (tx Balances) HoldingsOf(id chain.ID, accounts []string) ([]Holding, error) {
	accounts = slices.Sorted(slices.Values(accounts))
	rows, err := tx.holdingRows(id, accounts)
	if err != nil {
		return nil, fmt.Errorf("reading holdings: %w", err)
	}
	return holdingsOf(rows)
}

// bookLateCoin books a movement of coin in a block that is read again after the books have gone
// past it. If a transfer found by balances has credited the movement already, it books nothing and
// returns that transfer's id, else 0.
func (tx Balances) bookLateCoin(r transferRow) (by uint64, err error) {
	if r.Asset != string(chain.Native) || bool(r.Failed) || isAuditRef(r.Ref) {
		return 0, nil
	}
	a, found, err := tx.balanceAudit(chain.ID(r.Chain))
	if err != nil || !found || r.Height > a.Folded {
		return 0, err
	}
	if by, err = tx.creditedAs(r); err != nil || by != 0 {
		return by, err
	}
	return 0, tx.AddCoin(chain.ID(r.Chain), r.Account, r.Amount, chain.Amount{})
}

// creditedAs is the transfer found by balances, at the same account and not earlier, that has room
// for a movement; 0 if there is none.
func (tx Balances) creditedAs(r transferRow) (uint64, error) {
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

// addMatched stores a movement that was credited as another transfer: visible to operators, without
// an owner.
func (tx Balances) addMatched(r transferRow, by uint64) (Transfer, bool, error) {
	r.State, r.Reason = string(Held), ReasonFoundByAudit
	r.Token, r.Owner, r.Payee, r.PayeeLabel, r.Net = "", "", "", "", chain.Amount{}
	out, err := tx.Transfers().addTransfer(r)
	if err == nil {
		_, err = tx.exec(`INSERT INTO audit_matches (transfer_id, found_by, amount) VALUES (?, ?, ?)`, out.ID, by, r.Amount)
	}
	return out, err == nil, err
}
