package records

import (
	"database/sql"
	"errors"
	"fmt"
	"time"

	"gatewayd/chain"
	"gatewayd/records/sqlstore"
)

// Bindings are the inbound addresses and labels of owners.
type Bindings struct{ *Tx }

// Bindings returns the statements on bindings.
func (tx *Tx) Bindings() Bindings { return Bindings{tx} }

// Binding types, as in meta-info.
const (
	TypeAddress = 0 // every user has an inbound address
	TypeLabel   = 1 // all users share an address, a label identifies the user
)

// maxIndex is the greatest index that a derivation path can name.
const maxIndex = 1<<31 - 1

// labelTries bounds the attempts to make an unused label.
const labelTries = 100

type bindingRow struct {
	Binding
	PathIndex sql.NullInt64 `db:"path_index"`
	CreatedAt int64         `db:"created_at"`
}

const bindingColumns = `id, network, type, owner, chain, address, label, path_index, created_at`

func (r bindingRow) binding() Binding {
	r.Binding.PathIndex, r.Binding.CreatedAt = uint32(r.PathIndex.Int64), sqlstore.FromMillis(r.CreatedAt)
	return r.Binding
}

// FreeIndexes are the indexes whose address an owner may get on a chain.
type FreeIndexes struct {
	own  sql.NullInt64 // the owner's on another chain
	next int64         // the first that no chain has given
}

// GivenAddress is the inbound address of an index that was given to an owner.
type GivenAddress struct {
	Index   uint32
	Address string
	KeyPath string
}

// FreeIndexes returns the indexes that an owner may get on a chain. The source chains share their
// keys, so an index has one owner on all of them.
func (tx Bindings) FreeIndexes(id chain.ID, owner string) (f FreeIndexes, err error) {
	f.own, f.next, err = tx.indexesFor(id, owner)
	return f, sqlstore.Doing(err, "reading free indexes of %s on %s", owner, id)
}

// Give has one index given. The function give returns the address and the key path of an index, or
// chain.ErrTaken for an index that was given before: by a database that was restored since, or
// at the same time to another owner. The signer answers over the network, so that no transaction
// may wait for Give. An address may be shown once AddAddress is stored, not before.
func (f FreeIndexes) Give(give func(index uint32) (address, keyPath string, err error)) (GivenAddress, error) {
	index, err := f.own.Int64, chain.ErrTaken
	var address, path string
	if f.own.Valid {
		address, path, err = give(uint32(index))
	}
	if errors.Is(err, chain.ErrTaken) {
		index, address, path, err = firstFree(f.next, give)
	}
	return GivenAddress{uint32(index), address, path}, err
}

// AddAddress stores an address that was given to an owner, and makes it an account of ours. An
// owner who has an address on the network already keeps that one: it is returned.
func (tx Bindings) AddAddress(network string, id chain.ID, owner string, given GivenAddress) (Binding, error) {
	b, found, err := tx.ByOwner(network, TypeAddress, owner)
	if err == nil && !found {
		b, err = tx.addAddress(network, id, owner, given)
	}
	return b, sqlstore.Doing(err, "binding %s on %s", owner, network)
}

func (tx Bindings) addAddress(network string, id chain.ID, owner string, given GivenAddress) (Binding, error) {
	if owner == "" {
		return Binding{}, errors.New("binding owner: empty")
	}
	if err := tx.Accounts().Ensure(Account{Chain: id, Account: given.Address, Kind: KindDeposit, Network: network, KeyPath: given.KeyPath}); err != nil {
		return Binding{}, err
	}
	b := Binding{Network: network, Type: TypeAddress, Owner: owner, Chain: id, Address: given.Address}
	return tx.addBinding(b, sql.NullInt64{Int64: int64(given.Index), Valid: true})
}

// indexesFor returns the index that an owner has on another chain and not on this one, and the
// first that no chain has given. The source chains of one kind share their keys, so an index has
// one owner on all of them. Both queries step through the few networks and chains by their indexes.
func (tx Bindings) indexesFor(id chain.ID, owner string) (own sql.NullInt64, next int64, err error) {
	_, err = tx.get(&own, `WITH RECURSIVE n(network) AS (SELECT MIN(network) FROM bindings UNION ALL
		SELECT (SELECT MIN(network) FROM bindings WHERE network > n.network) FROM n WHERE n.network IS NOT NULL)
		SELECT b.path_index FROM n JOIN bindings b ON b.network = n.network AND b.type = 0 AND b.owner = ?
		WHERE b.chain <> ? AND NOT EXISTS (SELECT 1 FROM bindings o WHERE o.chain = ? AND o.path_index = b.path_index) ORDER BY b.id LIMIT 1`, owner, string(id), string(id))
	if err != nil {
		return own, 0, err
	}
	return own, next, tx.one(&next, `WITH RECURSIVE c(chain) AS (SELECT MIN(chain) FROM bindings UNION ALL
		SELECT (SELECT MIN(chain) FROM bindings WHERE chain > c.chain) FROM c WHERE c.chain IS NOT NULL)
		SELECT COALESCE(MAX(last) + 1, 0) FROM (SELECT (SELECT MAX(path_index) FROM bindings b WHERE b.chain = c.chain) AS last FROM c) AS ends`)
}

// singleSteps is the number of consecutive taken indexes before some are skipped.
const singleSteps = 16

// firstFree derives the address of an unused index, from index on: the lowest, unless many in a row
// were given. Then the steps double, because each step asks the signer in a transaction that blocks
// all others, and a restore may have to skip thousands.
func firstFree(index int64, derive func(uint32) (string, string, error)) (int64, string, string, error) {
	for tried, step := 0, int64(1); index <= maxIndex; tried++ {
		address, path, err := derive(uint32(index))
		if errors.Is(err, chain.ErrTaken) {
			if tried >= singleSteps {
				step *= 2
			}
			if index+step > maxIndex {
				step = 1
			}
			index += step
			continue
		}
		if err != nil {
			return 0, "", "", fmt.Errorf("deriving address %d: %w", index, err)
		}
		return index, address, path, nil
	}
	return 0, "", "", fmt.Errorf("%w: all %d addresses are given", ErrFull, int64(maxIndex)+1)
}

// FreeLabel returns a label that is free on a network. It asks makeLabel again while its label is
// taken.
func (tx Bindings) FreeLabel(network string, makeLabel func() string) (string, error) {
	for range labelTries {
		label := makeLabel()
		_, taken, err := tx.ByLabel(network, label)
		if err != nil {
			return "", sqlstore.Doing(err, "finding a free label on %s", network)
		}
		if label != "" && !taken {
			return label, nil
		}
	}
	return "", fmt.Errorf("%w: no free label in %d tries", ErrFull, labelTries)
}

// AddLabel stores the label of an owner on the shared inbound address of a network. An owner who
// has a label there already keeps that one: it is returned.
func (tx Bindings) AddLabel(network string, id chain.ID, owner, shared, label string) (Binding, error) {
	b, found, err := tx.ByOwner(network, TypeLabel, owner)
	switch {
	case err == nil && !found && (owner == "" || label == ""):
		err = errors.New("binding owner or label: empty")
	case err == nil && !found:
		b, err = tx.addBinding(Binding{Network: network, Type: TypeLabel, Owner: owner, Chain: id, Address: shared, Label: label}, sql.NullInt64{})
	}
	return b, sqlstore.Doing(err, "binding %s on %s", owner, network)
}

func (tx Bindings) addBinding(b Binding, index sql.NullInt64) (_ Binding, err error) {
	if b.ID, err = tx.nextID("bindings"); err != nil {
		return Binding{}, err
	}
	r := bindingRow{Binding: b, PathIndex: index, CreatedAt: tx.millis()}
	_, err = tx.execNamed(`INSERT INTO bindings (`+bindingColumns+`) `+sqlstore.NamedValues(bindingColumns), r)
	if err != nil {
		return Binding{}, err
	}
	return r.binding(), tx.log("binding", fmt.Sprint(r.ID), "bound", fmt.Sprintf("%s to %s %s on %s", r.Owner, r.Address, r.Label, r.Network))
}

// Next returns the earliest time of another binding, if at most that many, over all
// networks, are permitted in any span of time.
func (tx Bindings) Next(most int, span time.Duration) (time.Time, error) {
	newest, err := tx.sql.NewestID("bindings")
	if err != nil {
		return time.Time{}, fmt.Errorf("counting the bindings: %w", err)
	}
	if newest < uint64(most) {
		return tx.now, nil
	}
	var at int64 // of the oldest of the newest: ids have no gaps
	err = tx.one(&at, `SELECT created_at FROM bindings WHERE id = ?`, newest+1-uint64(most))
	return sqlstore.FromMillis(at).Add(span), sqlstore.Doing(err, "reading when a binding was made")
}

// ByAddress returns whose inbound address it is (type 0).
func (tx Bindings) ByAddress(id chain.ID, address string) (Binding, bool, error) {
	return tx.binding(`chain = ? AND address = ? AND type = 0`, string(id), address)
}

// ByLabel returns whose label it is on a network (type 1).
func (tx Bindings) ByLabel(network, label string) (Binding, bool, error) {
	if !sqlstore.Storable(label) {
		return Binding{}, false, nil // a label of ours is plain text
	}
	return tx.binding(`network = ? AND label = ? AND type = 1`, network, label)
}

// ByOwner returns the binding of an owner on a network, by type.
func (tx Bindings) ByOwner(network string, bindingType int, owner string) (Binding, bool, error) {
	return tx.binding(`network = ? AND type = ? AND owner = ?`, network, bindingType, owner)
}

func (tx Bindings) binding(where string, args ...any) (Binding, bool, error) {
	var r bindingRow
	found, err := tx.get(&r, `SELECT `+bindingColumns+` FROM bindings WHERE `+where, args...)
	return r.binding(), found, sqlstore.Doing(err, "reading a binding")
}

// List returns those with a higher id than after, lowest first, at most limit of them.
func (tx Bindings) List(after uint64, limit int) ([]Binding, error) {
	var rows []bindingRow
	err := tx.list(&rows, `SELECT `+bindingColumns+` FROM bindings WHERE id > ? ORDER BY id LIMIT ? + 0`, after, clampLimit(limit))
	return sqlstore.Each(rows, bindingRow.binding), sqlstore.Doing(err, "reading bindings")
}
