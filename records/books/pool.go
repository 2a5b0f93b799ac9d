package books

import (
	"slices"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/records/sqlstore"
)

// PoolAccount is one of the accounts that pay on a chain of a network, with its books, per asset.
type PoolAccount struct {
	records.Account
	Owed    map[chain.Asset]chain.Amount // to users, and not in a block of the line yet
	Leaving map[chain.Asset]chain.Amount // to other accounts of ours and to the cold address, not in a block yet
	Coming  map[chain.Asset]chain.Amount // from other accounts of the pool that may sign: not in a block yet, or not received
	Transit map[chain.Asset]chain.Amount // the part of Coming that has left its sender finally
	Waiting []uint64                     // payments to other accounts of ours that are queued and that no operator ordered
	// on a ledger of coins: all that blocks of the line give it and none spends, also those that it
	// may not spend yet; nil on others
	Coins *chain.Amount
}

// Pool returns all accounts of a kind that a network has or had on a chain, in order of their
// making.
func Pool(tx *records.Tx, network string, id chain.ID, kind records.AccountKind) ([]PoolAccount, error) {
	pool, err := poolOf(tx, network, id, kind)
	return pool, sqlstore.Doing(err, "reading the paying accounts of %s on %s", network, id)
}

func poolOf(tx *records.Tx, network string, id chain.ID, kind records.AccountKind) ([]PoolAccount, error) {
	all, err := tx.Accounts().List(id, kind)
	if err != nil {
		return nil, err
	}
	var pool []PoolAccount
	for _, a := range all {
		if a.Network != network {
			continue
		}
		owed, err := Owed(tx, id, a.Account)
		if err != nil {
			return nil, err
		}
		coins, err := tx.Coins().Total(id, a.Account)
		if err != nil {
			return nil, err
		}
		pool = append(pool, PoolAccount{
			Account: a, Owed: owed, Coins: coins, Leaving: map[chain.Asset]chain.Amount{}, Coming: map[chain.Asset]chain.Amount{}, Transit: map[chain.Asset]chain.Amount{},
		})
	}
	if len(pool) < 2 {
		return pool, nil
	}
	for i := range pool {
		if err := addSweeps(tx, pool, &pool[i]); err != nil {
			return nil, err
		}
		if err := addTransit(tx, &pool[i]); err != nil {
			return nil, err
		}
	}
	return pool, nil
}

// addSweeps adds what an account sends to others of ours and to the cold address and no block shows
// yet.
func addSweeps(tx *records.Tx, pool []PoolAccount, from *PoolAccount) error {
	var rows []struct {
		ID     uint64       `db:"id"`
		State  string       `db:"state"`
		Asset  string       `db:"asset"`
		Amount chain.Amount `db:"amount"`
		Payee  string       `db:"payee"`

		Purpose string `db:"purpose"`
		Ordered bool   `db:"ordered"`
	}
	of := func(purpose chain.Purpose) string {
		return `SELECT p.id, p.state, p.asset, p.amount, p.payee, EXISTS (SELECT 1 FROM moves m WHERE m.payment_id = p.id) AS ordered, p.purpose FROM payments p
			WHERE p.chain = ? AND p.account = ? AND p.purpose = '` + string(purpose) + `' AND p.state IN ('queued','bound','held') AND p.state <> 'held'
			AND NOT EXISTS (SELECT 1 FROM slots s WHERE s.payment_id = p.id AND s.state = 'open' AND s.mined_in <> '')`
	}
	id, account := string(from.Chain), from.Account.Account
	err := tx.SQL().List(&rows, of(chain.Sweep)+` UNION ALL `+of(chain.Cold)+` ORDER BY id`, id, account, id, account)
	for _, r := range rows {
		asset := chain.Asset(r.Asset)
		if r.State == string(records.Queued) && r.Purpose == string(chain.Sweep) && !r.Ordered {
			from.Waiting = append(from.Waiting, r.ID)
		}
		if err := plus(from.Leaving, asset, r.Amount); err != nil {
			return err
		}
		to := slices.IndexFunc(pool, func(a PoolAccount) bool { return a.Account.Account == r.Payee })
		if to < 0 || from.State == records.AccountHalted || from.State == records.AccountRecovering {
			continue
		}
		if err := plus(pool[to].Coming, asset, r.Amount); err != nil {
			return err
		}
	}
	return err
}

// addTransit adds what has come to an account from others of ours and is not received.
func addTransit(tx *records.Tx, a *PoolAccount) error {
	type part struct {
		Asset  string       `db:"asset"`
		Amount chain.Amount `db:"amount"`
	}
	var seen, decided []part
	err := tx.SQL().List(&seen, `SELECT asset, amount FROM transfers WHERE chain = ? AND account = ? AND state = 'seen' AND reason = 'internal'`,
		string(a.Chain), a.Account.Account)
	if err != nil {
		return err
	}
	err = tx.SQL().List(&decided, `SELECT t.asset, t.amount FROM payments p CROSS JOIN transfers t
		WHERE p.chain = ? AND p.account = ? AND p.purpose = 'receive' AND p.state IN ('queued','bound','held') AND t.id = p.transfer_id AND t.reason = 'internal'
		AND NOT EXISTS (SELECT 1 FROM slots s WHERE s.payment_id = p.id AND s.state = 'open' AND s.mined_in <> '')`, string(a.Chain), a.Account.Account)
	for _, r := range append(seen, decided...) {
		for _, sums := range []map[chain.Asset]chain.Amount{a.Coming, a.Transit} {
			if err := plus(sums, chain.Asset(r.Asset), r.Amount); err != nil {
				return err
			}
		}
	}
	return err
}

func plus(sums map[chain.Asset]chain.Amount, asset chain.Asset, amount chain.Amount) error {
	sum, err := sums[asset].Add(amount)
	sums[asset] = sum
	return err
}

// PoolSum adds up one of the figures of all accounts of a pool.
func PoolSum(pool []PoolAccount, figure func(PoolAccount) map[chain.Asset]chain.Amount) (map[chain.Asset]chain.Amount, error) {
	sums := map[chain.Asset]chain.Amount{}
	for _, a := range pool {
		for asset, amount := range figure(a) {
			if err := plus(sums, asset, amount); err != nil {
				return nil, err
			}
		}
	}
	return sums, nil
}
