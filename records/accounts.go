package records

import (
	"context"
	"fmt"
	"hash/maphash"
	"slices"
	"sync"

	"gatewayd/chain"
)

type accountRow struct {
	Chain     string `db:"chain"`
	Account   string `db:"account"`
	Kind      string `db:"kind"`
	Network   string `db:"network"`
	KeyPath   string `db:"key_path"`
	State     string `db:"state"`
	Why       string `db:"why"`
	Branch    uint64 `db:"lineage"`
	Base      uint64 `db:"base"`
	Next      uint64 `db:"next"`
	CreatedAt int64  `db:"created_at"`
}

const accountColumns = `chain, account, kind, network, key_path, state, why, lineage, base, next, created_at`

func (r accountRow) account() Account {
	return Account{
		Chain: chain.ID(r.Chain), Account: r.Account, Kind: AccountKind(r.Kind), Network: r.Network, KeyPath: r.KeyPath,
		State: AccountState(r.State), Why: r.Why, Branch: r.Branch, Base: r.Base, Next: r.Next, CreatedAt: fromMillis(r.CreatedAt),
	}
}

// EnsureAccount stores an account of ours in state new. When it is stored already nothing happens, unless its kind or its key path differs:
// that is ErrConflict, and so is a key path that another account has.
func (tx *Tx) EnsureAccount(a Account) error {
	var known accountRow
	found, err := tx.get(&known, `SELECT `+accountColumns+` FROM accounts WHERE chain = ? AND account = ?`, string(a.Chain), a.Account)
	switch {
	case err != nil:
	case !found:
		err = tx.addAccount(a)
	case known.Kind != string(a.Kind) || known.KeyPath != a.KeyPath:
		err = fmt.Errorf("%w: stored as %s with key path %s", ErrConflict, known.Kind, known.KeyPath)
	}
	if err != nil {
		return fmt.Errorf("storing the account %s on %s: %w", a.Account, a.Chain, err)
	}
	return nil
}

func (tx *Tx) addAccount(a Account) error {
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
		err = tx.addHolding(a)
	}
	if err != nil || a.Kind == KindDeposit { // deposit addresses are told by their binding
		return err
	}
	return tx.log("account", a.Account, "added", fmt.Sprintf("%s on %s", a.Kind, a.Chain))
}

// Account answers one account of ours, or ErrNotFound.
func (tx *Tx) Account(id chain.ID, account string) (Account, error) {
	var r accountRow
	if err := tx.one(&r, `SELECT `+accountColumns+` FROM accounts WHERE chain = ? AND account = ?`, string(id), account); err != nil {
		return Account{}, fmt.Errorf("reading the account %s on %s: %w", account, id, err)
	}
	return r.account(), nil
}

// Accounts answers our accounts on a chain, in order of their making: of the kinds given, else of all kinds.
func (tx *Tx) Accounts(id chain.ID, kinds ...AccountKind) ([]Account, error) {
	if len(kinds) == 0 {
		kinds = []AccountKind{KindDeposit, KindShared, KindHot, KindGas, KindGateway}
	}
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = string(k)
	}
	var rows []accountRow
	query := `SELECT ` + accountColumns + ` FROM accounts WHERE chain = ? AND kind IN (?)`
	if !slices.Contains(kinds, KindDeposit) {
		query += ` AND kind <> 'deposit'` // the index of the few
	}
	err := tx.listIn(&rows, query+` ORDER BY seq`, string(id), names)
	if err != nil {
		return nil, fmt.Errorf("reading the accounts on %s: %w", id, err)
	}
	out := make([]Account, len(rows))
	for i, r := range rows {
		out[i] = r.account()
	}
	return out, nil
}

// AdoptAccount takes an account into use from where its ledger stands: base is the next free number, baseHash the hash of the account's last
// block, or empty where the ledger counts nonces. From new, or from recovering once no slot of it is open. Else ErrConflict.
func (tx *Tx) AdoptAccount(id chain.ID, account string, base uint64, baseHash string) error {
	a, err := tx.Account(id, account)
	if err != nil {
		return err
	}
	if err := tx.adopt(a, base, baseHash); err != nil {
		return fmt.Errorf("adopting the account %s on %s at %d: %w", account, id, base, err)
	}
	return nil
}

func (tx *Tx) adopt(a Account, base uint64, baseHash string) error {
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

func (tx *Tx) addBranch(a Account, base uint64, baseHash, why string) error {
	_, err := tx.exec(`INSERT INTO lineages (chain, account, lineage, base, base_hash, why, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)`,
		string(a.Chain), a.Account, a.Branch, base, baseHash, note(why), tx.millis())
	return err
}

// SetAccountState lets an account sign (ok) or stops it, and says why.
func (tx *Tx) SetAccountState(id chain.ID, account string, s AccountState, why string) error {
	err := tx.change(`UPDATE accounts SET state = ?, why = ? WHERE chain = ? AND account = ?`, string(s), note(why), string(id), account)
	if err == nil {
		err = tx.log("account", account, string(s), why)
	}
	if err != nil {
		return fmt.Errorf("setting the account %s on %s to %s: %w", account, id, s, err)
	}
	return nil
}

// confirmBatch bounds the parameters of one query.
const confirmBatch = 500

// Watch tells which addresses are our own accounts. It keeps one 64-bit hash per account in memory, and asks the database about hits only:
// a million addresses take some 20 MB (docs/payment-rules.md 6). It is safe for use by many goroutines.
type Watch struct {
	store *Store
	seed  maphash.Seed
	mu    sync.Mutex
	sets  map[chain.ID]*watchSet
}

type watchSet struct {
	seq    uint64 // of the newest row loaded
	hashes map[uint64]struct{}
}

// NewWatch makes an empty watch; accounts are loaded when they are first asked for.
func NewWatch(s *Store) *Watch {
	return &Watch{store: s, seed: maphash.MakeSeed(), sets: make(map[chain.ID]*watchSet)}
}

// Owned answers which of the candidates are accounts of ours on a chain. Accounts stored before the call count: whoever fetches a block first
// and asks then misses no deposit to an address shown before the block.
func (w *Watch) Owned(ctx context.Context, id chain.ID, candidates []string) (map[string]bool, error) {
	owned := make(map[string]bool)
	err := w.store.View(ctx, func(tx *Tx) error {
		hits, err := w.hits(tx, id, candidates)
		if err != nil {
			return err
		}
		for batch := range slices.Chunk(hits, confirmBatch) {
			var found []string
			if err := tx.listIn(&found, `SELECT account FROM accounts WHERE chain = ? AND account IN (?)`, string(id), batch); err != nil {
				return err
			}
			for _, a := range found {
				owned[a] = true
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("looking for our accounts on %s: %w", id, err)
	}
	return owned, nil
}

// hits loads what is new and answers the candidates whose hash is in the set.
func (w *Watch) hits(tx *Tx, id chain.ID, candidates []string) ([]string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	set := w.sets[id]
	if set == nil {
		set = &watchSet{hashes: make(map[uint64]struct{})}
		w.sets[id] = set
	}
	if err := w.load(tx, id, set); err != nil {
		return nil, err
	}
	var hits []string
	for _, c := range candidates {
		if _, ok := set.hashes[maphash.String(w.seed, c)]; ok && storable(c) {
			hits = append(hits, c)
		}
	}
	return hits, nil
}

// load adds the rows that were stored since the last load. seq is given by one writer at a time, so no lower one appears later.
func (w *Watch) load(tx *Tx, id chain.ID, set *watchSet) error {
	rows, err := tx.tx.QueryxContext(tx.ctx, tx.tx.Rebind(`SELECT seq, account FROM accounts WHERE chain = ? AND seq > ? ORDER BY seq`), string(id), set.seq)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var seq uint64
		var account string
		if err := rows.Scan(&seq, &account); err != nil {
			return err
		}
		set.hashes[maphash.String(w.seed, account)] = struct{}{}
		set.seq = seq
	}
	return rows.Err()
}

// Accounts answers our accounts on a chain that are not deposit addresses: the few that every block is searched for.
func (w *Watch) Accounts(ctx context.Context, id chain.ID) ([]string, error) {
	var out []string
	err := w.store.View(ctx, func(tx *Tx) error {
		return tx.list(&out, `SELECT account FROM accounts WHERE chain = ? AND kind <> 'deposit' ORDER BY seq`, string(id))
	})
	if err != nil {
		return nil, fmt.Errorf("reading our accounts on %s: %w", id, err)
	}
	return out, nil
}
