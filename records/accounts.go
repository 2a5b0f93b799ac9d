package records

import (
	"fmt"
	"slices"

	"gatewayd/chain"
	"gatewayd/records/sqlstore"
)

// Accounts are the gateway's own accounts on its chains.
type Accounts struct{ *Tx }

// Accounts returns the statements on accounts.
func (tx *Tx) Accounts() Accounts { return Accounts{tx} }

type accountRow struct {
	Account
	CreatedAt int64 `db:"created_at"`
}

const accountColumns = `chain, account, kind, network, key_path, state, why, lineage, base, next, created_at`

func (r accountRow) account() Account {
	r.Account.CreatedAt = sqlstore.FromMillis(r.CreatedAt)
	return r.Account
}

// Ensure stores an account of ours in state new. When it is stored already nothing happens,
// unless its kind or its key path differs: that is ErrConflict, and so is a key path that another
// account has.
func (tx Accounts) Ensure(a Account) error {
	var known accountRow
	found, err := tx.get(&known, `SELECT `+accountColumns+` FROM accounts WHERE chain = ? AND account = ?`, string(a.Chain), a.Account)
	switch {
	case err != nil:
	case !found:
		err = tx.addAccount(a)
	case known.Kind != a.Kind || known.KeyPath != a.KeyPath:
		err = fmt.Errorf("%w: stored as %s with key path %s", ErrConflict, known.Kind, known.KeyPath)
	}
	return sqlstore.Doing(err, "storing the account %s on %s", a.Account, a.Chain)
}

func (tx Accounts) addAccount(a Account) error {
	var seq uint64
	if err := tx.one(&seq, `SELECT COALESCE(MAX(seq), 0) + 1 FROM accounts`); err != nil {
		return err
	}
	n, err := tx.exec(`INSERT INTO accounts (chain, account, kind, network, key_path, state, seq, created_at)
		VALUES (?, ?, ?, ?, ?, 'new', ?, ?) ON CONFLICT DO NOTHING`,
		string(a.Chain), a.Account, string(a.Kind), a.Network, a.KeyPath, seq, tx.millis())
	if err == nil && n == 0 {
		err = fmt.Errorf("%w: the key path %s is another account's", ErrConflict, a.KeyPath)
	}
	if err == nil {
		err = tx.Balances().addHolding(a)
	}
	if err != nil || a.Kind == KindDeposit { // a binding identifies deposit addresses
		return err
	}
	return tx.log("account", a.Account, "added", fmt.Sprintf("%s on %s", a.Kind, a.Chain))
}

// Get returns one account of ours, or ErrNotFound.
func (tx Accounts) Get(id chain.ID, account string) (Account, error) {
	var r accountRow
	err := tx.one(&r, `SELECT `+accountColumns+` FROM accounts WHERE chain = ? AND account = ?`, string(id), account)
	return r.account(), sqlstore.Doing(err, "reading the account %s on %s", account, id)
}

// List returns our accounts on a chain, in order of their making: of the kinds given, else of
// all kinds.
func (tx Accounts) List(id chain.ID, kinds ...AccountKind) ([]Account, error) {
	if len(kinds) == 0 {
		kinds = []AccountKind{KindDeposit, KindShared, KindHot, KindGas, KindGateway}
	}
	names := sqlstore.Each(kinds, func(k AccountKind) string { return string(k) })
	var rows []accountRow
	query := `SELECT ` + accountColumns + ` FROM accounts WHERE chain = ? AND kind IN (?)`
	if !slices.Contains(kinds, KindDeposit) {
		query += ` AND kind <> 'deposit'` // the index of the few
	}
	err := tx.listIn(&rows, query+` ORDER BY seq`, string(id), names)
	return sqlstore.Each(rows, accountRow.account), sqlstore.Doing(err, "reading the accounts on %s", id)
}

// Adopt starts using an account at the present state of its ledger. base is the next free
// number, baseHash the hash of the account's last block, or empty where the ledger counts nonces.
// It is valid from new, or from recovering once no slot of it is open. Else ErrConflict.
func (tx Accounts) Adopt(id chain.ID, account string, base uint64, baseHash string) error {
	a, err := tx.Get(id, account)
	if err != nil {
		return err
	}
	return sqlstore.Doing(tx.adopt(a, base, baseHash), "adopting the account %s on %s at %d", account, id, base)
}

func (tx Accounts) adopt(a Account, base uint64, baseHash string) error {
	if a.State != AccountNew && a.State != AccountRecovering {
		return fmt.Errorf("%w: the account is %s", ErrConflict, a.State)
	}
	open, err := tx.exists(`SELECT 1 FROM slots WHERE chain = ? AND account = ? AND state IN ('open','forked') AND state = 'open'`, string(a.Chain), a.Account)
	if err != nil {
		return err
	}
	if open {
		return fmt.Errorf("%w: slots are open", ErrConflict)
	}
	if baseHash == "" && (a.Branch != 0 || base < a.Next) {
		return fmt.Errorf("%w: numbers below %d are given", ErrConflict, a.Next)
	}
	if baseHash != "" {
		a.Branch++
		if err := tx.addBranch(a, base, baseHash, "adopted"); err != nil {
			return err
		}
	}
	err = tx.change(`UPDATE accounts SET state = 'ok', why = '', lineage = ?, base = ?, next = ? WHERE chain = ? AND account = ? AND state = ?`,
		a.Branch, base, base, string(a.Chain), a.Account, string(a.State))
	if err != nil {
		return err
	}
	return tx.log("account", a.Account, "adopted", fmt.Sprintf("on %s, lineage %d, base %d %s", a.Chain, a.Branch, base, baseHash))
}

func (tx Accounts) addBranch(a Account, base uint64, baseHash, why string) error {
	_, err := tx.exec(`INSERT INTO lineages (chain, account, lineage, base, base_hash, why, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)`,
		string(a.Chain), a.Account, a.Branch, base, baseHash, sqlstore.Note(why), tx.millis())
	return err
}

// SetState lets an account sign (ok) or stops it, with a reason.
func (tx Accounts) SetState(id chain.ID, account string, s AccountState, why string) error {
	err := tx.change(`UPDATE accounts SET state = ?, why = ? WHERE chain = ? AND account = ?`, string(s), sqlstore.Note(why), string(id), account)
	if err == nil {
		err = tx.log("account", account, string(s), why)
	}
	return sqlstore.Doing(err, "setting the account %s on %s to %s", account, id, s)
}

// StoppedOwn returns the accounts of a chain that sign nothing any more, but for deposit addresses:
// those that pay, and what they share.
func (tx Accounts) StoppedOwn(id chain.ID) ([]Account, error) {
	var rows []accountRow
	err := tx.list(&rows, `SELECT `+accountColumns+` FROM accounts WHERE chain = ? AND kind <> 'deposit' AND state IN ('halted','recovering') ORDER BY seq`, string(id))
	return sqlstore.Each(rows, accountRow.account), sqlstore.Doing(err, "reading the stopped accounts on %s", id)
}
