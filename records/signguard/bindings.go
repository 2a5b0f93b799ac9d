package signguard

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/jmoiron/sqlx"

	"gatewayd/chain"
	"gatewayd/records/sqlstore"
)

// SinceUnknown is the Since of a binding that was given while no node of its chain answered. No
// deposit counts for it until Settle stores a block.
const SinceUnknown uint64 = math.MaxInt64

// Binding says whose a deposit address or a label is. Once written it never changes, but for a
// Since that is SinceUnknown.
type Binding struct {
	Network string   `json:"network" db:"network"`
	Chain   chain.ID `json:"chain" db:"chain"` // the source chain
	Index   uint32   `json:"index" db:"path_index"`
	Address string   `json:"address" db:"address"` // of a deposit address; empty of a label
	Label   string   `json:"label" db:"label"`
	User    string   `json:"user" db:"user_account"` // exchange-chain address
	// newest block of the source chain when it was given: what came up to there does not count for
	// it; 0: everything counts
	Since uint64 `json:"since" db:"since"`
}

const bindingSchema = `CREATE TABLE IF NOT EXISTS bindings (
	network TEXT NOT NULL, chain TEXT NOT NULL, path_index BIGINT NOT NULL, address TEXT NOT NULL, label TEXT NOT NULL,
	user_account TEXT NOT NULL, since BIGINT NOT NULL, CHECK ((address = '') <> (label = '')));
CREATE UNIQUE INDEX IF NOT EXISTS bindings_of_address ON bindings (chain, address) WHERE address <> '';
CREATE UNIQUE INDEX IF NOT EXISTS bindings_of_index ON bindings (chain, path_index) WHERE address <> '';
CREATE UNIQUE INDEX IF NOT EXISTS bindings_of_label ON bindings (network, label) WHERE label <> '';
CREATE INDEX IF NOT EXISTS bindings_unsettled ON bindings (chain) WHERE since = 9223372036854775807;
CREATE TABLE IF NOT EXISTS watched (chain TEXT NOT NULL PRIMARY KEY, since BIGINT NOT NULL);`

const bindingColumns = `network, chain, path_index, address, label, user_account, since`

// GiveAddress assigns the address of an index to a user permanently. It returns chain.ErrTaken when
// the index was given before, here or to another user on another chain. The chains of one kind
// share their keys, so the first user's transfers on any of them are his.
func (g *Guard) GiveAddress(ctx context.Context, b Binding) error {
	if b.Address == "" || b.Label != "" || b.User == "" || b.Network == "" {
		return fmt.Errorf("issuing address %d of %s: %w: address, user and network are required", b.Index, b.Chain, ErrRefused)
	}
	err := g.update(ctx, func(t session) error {
		if err := mayGive(ctx, t, b); err != nil {
			return err
		}
		if err := once(t.exec(ctx, `INSERT INTO given (chain, path_index) VALUES (?, ?) ON CONFLICT DO NOTHING`, string(b.Chain), b.Index)); err != nil {
			return err
		}
		return bind(ctx, t, b)
	})
	return sqlstore.Doing(err, "giving address %d of %s", b.Index, b.Chain)
}

// MayGiveAddress is chain.ErrTaken for an index that GiveAddress would refuse. It changes nothing.
func (g *Guard) MayGiveAddress(ctx context.Context, b Binding) error {
	return sqlstore.Doing(mayGive(ctx, g.db, b), "giving address %d of %s", b.Index, b.Chain)
}

// mayGive is chain.ErrTaken for an index that was given on the chain, or on another one to another
// user or to an unknown one.
func mayGive(ctx context.Context, t session, b Binding) error {
	var given []chain.ID
	err := t.all(ctx, &given, `SELECT g.chain FROM given g WHERE g.path_index = ? AND (g.chain = ? OR NOT EXISTS (
		SELECT 1 FROM bindings o WHERE o.chain = g.chain AND o.path_index = g.path_index AND o.address <> '' AND o.user_account = ?)) ORDER BY g.chain`,
		b.Index, string(b.Chain), b.User)
	if err != nil || len(given) == 0 {
		return err
	}
	if err = chain.ErrTaken; !slices.Contains(given, b.Chain) {
		err = fmt.Errorf("%w: to another user on %s", chain.ErrTaken, given[0])
	}
	return err
}

// GiveLabel assigns a label to a user permanently, or returns chain.ErrTaken when it is another's.
// The user's own label is returned unchanged.
func (g *Guard) GiveLabel(ctx context.Context, b Binding) error {
	if b.Label == "" || b.Address != "" || b.User == "" || b.Network == "" {
		return fmt.Errorf("issuing a label on %s: %w: label, user and network are required", b.Chain, ErrRefused)
	}
	known, found, err := g.OfLabel(ctx, b.Network, b.Label)
	switch {
	case err != nil:
		return err
	case found && known.User == b.User && known.Chain == b.Chain:
		return nil
	}
	if err = g.update(ctx, func(t session) error { return bind(ctx, t, b) }); err != nil {
		return fmt.Errorf("giving label %s on %s: %w", b.Label, b.Chain, err)
	}
	return nil
}

func bind(ctx context.Context, t session, b Binding) error {
	if err := open(ctx, t, b); err != nil {
		return err
	}
	return once(t.exec(ctx, `INSERT INTO bindings (`+bindingColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
		b.Network, string(b.Chain), b.Index, b.Address, b.Label, b.User, b.Since))
}

// Unsettled returns bindings of a chain whose Since is unknown.
func (g *Guard) Unsettled(ctx context.Context, id chain.ID, limit int) (list []Binding, err error) {
	err = g.db.all(ctx, &list, `SELECT `+bindingColumns+` FROM bindings WHERE chain = ? AND since = 9223372036854775807 LIMIT ?`, string(id), limit)
	return list, sqlstore.Doing(err, "asking the sign-guard for bindings without a block")
}

// Settle stores the block of bindings that Unsettled has returned. It must have been read after
// that: the newest block from before a binding was given would be too early.
func (g *Guard) Settle(ctx context.Context, list []Binding, since uint64) error {
	err := g.update(ctx, func(t session) error {
		for _, b := range list {
			_, err := t.exec(ctx, `UPDATE bindings SET since = ? WHERE network = ? AND chain = ? AND address = ? AND label = ? AND since = 9223372036854775807`,
				since, b.Network, string(b.Chain), b.Address, b.Label)
			if err == nil && b.Address != "" {
				_, err = t.exec(ctx, `UPDATE openings SET since = ? WHERE chain = ? AND address = ? AND since = 9223372036854775807`, since, string(b.Chain), b.Address)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	return sqlstore.Doing(err, "storing the block of %d bindings", len(list))
}

// once is chain.ErrTaken unless a row was written.
func once(r interface{ RowsAffected() (int64, error) }, err error) error {
	if err != nil {
		return err
	}
	if n, err := r.RowsAffected(); err != nil || n == 1 {
		return err
	}
	return chain.ErrTaken
}

// Import copies bindings from before the sign-guard stored them, all or none. An existing binding
// of the same address or label stays, and must be equal, or it returns chain.ErrTaken.
func (g *Guard) Import(ctx context.Context, list []Binding) (added int, err error) {
	err = g.update(ctx, func(t session) error {
		for _, b := range list {
			if (b.Address == "") == (b.Label == "") || b.User == "" || b.Network == "" || b.Chain == "" {
				return fmt.Errorf("%w: network, chain, user and either address or label are required", ErrRefused)
			}
			known, found, err := lookUp(ctx, t, `chain = ? AND network = ? AND address = ? AND label = ?`, string(b.Chain), b.Network, b.Address, b.Label)
			switch {
			case err != nil:
				return err
			case found && known.User == b.User && known.Index == b.Index:
				continue
			case found:
				return fmt.Errorf("%w: %s%s is another user's", chain.ErrTaken, b.Address, b.Label)
			}
			if err := importOne(ctx, t, b); err != nil {
				return fmt.Errorf("%s%s: %w", b.Address, b.Label, err)
			}
			added++
		}
		return nil
	})
	return added, sqlstore.Doing(err, "importing bindings")
}

func importOne(ctx context.Context, t session, b Binding) error {
	if b.Address != "" {
		if _, err := t.exec(ctx, `INSERT INTO given (chain, path_index) VALUES (?, ?) ON CONFLICT DO NOTHING`, string(b.Chain), b.Index); err != nil {
			return err
		}
	}
	return bind(ctx, t, b)
}

// OfAddress returns whose deposit address it is.
func (g *Guard) OfAddress(ctx context.Context, id chain.ID, address string) (Binding, bool, error) {
	return lookUp(ctx, g.db, `chain = ? AND address = ? AND address <> ''`, string(id), address)
}

// OfLabel returns whose label it is on a network.
func (g *Guard) OfLabel(ctx context.Context, network, label string) (Binding, bool, error) {
	return lookUp(ctx, g.db, `network = ? AND label = ? AND label <> ''`, network, label)
}

func lookUp(ctx context.Context, db session, where string, args ...any) (Binding, bool, error) {
	var rows []Binding
	if err := db.all(ctx, &rows, `SELECT `+bindingColumns+` FROM bindings WHERE `+where, args...); err != nil {
		return Binding{}, false, fmt.Errorf("reading a binding: %w", err)
	}
	if len(rows) == 0 {
		return Binding{}, false, nil
	}
	return rows[0], true, nil
}

// addressBatch bounds the parameters of one query.
const addressBatch = 500

// Owned returns which of the candidates are deposit addresses that were given to users.
func (g *Guard) Owned(ctx context.Context, id chain.ID, candidates []string) (map[string]bool, error) {
	owned := map[string]bool{}
	for len(candidates) > 0 {
		n := min(len(candidates), addressBatch)
		query, args, err := sqlx.In(`SELECT address FROM bindings WHERE chain = ? AND address IN (?) AND address <> ''`, string(id), candidates[:n])
		if err != nil {
			return nil, err
		}
		var found []string
		if err := g.db.all(ctx, &found, query, args...); err != nil {
			return nil, fmt.Errorf("finding addresses of ours on %s: %w", id, err)
		}
		for _, a := range found {
			owned[a] = true
		}
		candidates = candidates[n:]
	}
	return owned, nil
}

// Watched returns the height of a chain from which on causes are checked: the first height that it
// received, permanently.
func (g *Guard) Watched(ctx context.Context, id chain.ID, height func() (uint64, error)) (since uint64, err error) {
	var known []uint64
	err = g.db.all(ctx, &known, `SELECT since FROM watched WHERE chain = ?`, string(id))
	if err != nil || len(known) > 0 {
		return first(known), err
	}
	if since, err = height(); err != nil {
		return 0, err
	}
	err = g.update(ctx, func(t session) error {
		_, err := t.exec(ctx, `INSERT INTO watched (chain, since) VALUES (?, ?) ON CONFLICT DO NOTHING`, string(id), since)
		return errors.Join(err, t.one(ctx, &since, `SELECT since FROM watched WHERE chain = ?`, string(id)))
	})
	return since, err
}

func first(list []uint64) uint64 {
	if len(list) == 0 {
		return 0
	}
	return list[0]
}
