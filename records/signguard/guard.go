// Package signguard is the sign-guard: a separate file with the keys, or a separate PostgreSQL
// database, that stores permanently what each slot was first signed for.
package signguard

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"

	"gatewayd/chain"
	"gatewayd/records/sqlstore"
)

// ErrRefused is the error of what the sign-guard does not allow to be signed.
var ErrRefused = errors.New("the sign-guard refuses")

// Guard is the sign-guard, which stores permanently what each slot was first signed for. It
// outlives a records database restored from a backup, which may lack its latest bindings
// (docs/payment-rules.md 5). Ask it before every signature. Several processes may have one open;
// Hold makes one of them the only one that signs.
type Guard struct {
	pool  *sqlx.DB
	db    session // of the pool
	url   string
	file  string // empty: it is on a server
	epoch uint64 // of the holder; 0: there is none, and every commit passes
}

const guardSchema = `CREATE TABLE IF NOT EXISTS guard (
	chain TEXT NOT NULL, account TEXT NOT NULL, lineage BIGINT NOT NULL, number BIGINT NOT NULL,
	digest TEXT NOT NULL, payment_id BIGINT NOT NULL, live INT NOT NULL CHECK (live IN (0,1)), cause TEXT NOT NULL DEFAULT '',
	place INT NOT NULL DEFAULT 0, PRIMARY KEY (chain, account, lineage, number, place));
CREATE TABLE IF NOT EXISTS given (chain TEXT NOT NULL, path_index BIGINT NOT NULL, PRIMARY KEY (chain, path_index));
CREATE INDEX IF NOT EXISTS given_index ON given (path_index);
CREATE UNIQUE INDEX IF NOT EXISTS guard_live_payment ON guard (payment_id, chain, account, lineage) WHERE live = 1;
CREATE INDEX IF NOT EXISTS guard_at ON guard (chain, account, number, lineage, place);
DROP INDEX IF EXISTS guard_number;
DROP INDEX IF EXISTS guard_of_payment;
DROP INDEX IF EXISTS guard_payment;`

type guardRow struct {
	Digest    string `db:"digest"`
	PaymentID uint64 `db:"payment_id"`
}

// Signature is a requested signature at a slot, for one payment of its transaction. Digest covers
// payee, asset, amount, label and source, not fees.
type Signature struct {
	Slot      chain.Slot
	Place     int // of the payment in the transaction, from 0 on without gaps
	Digest    string
	Hash      string // of the block, as what follows it names it; where the ledger links blocks
	PaymentID uint64
	Cancel    bool // a cancellation, which pays nothing
	Receive   bool // it has no payee and needs no authorization
	Evidence  bool // see Authorization
}

// Allow permits signatures, all or none. The payments of one transaction follow each other. It
// returns ErrRefused, or ErrUnauthorized for a first signature of a slot without an authorization.
// The first digests of a slot are stored before Allow returns, and only the same payments in the
// same order pass there again. A payment has one slot in a branch until Free
// reports the loss of the slot; branches exclude each other on the ledger. A cancellation passes at
// any slot; at a slot without a signature, it reserves the slot for itself.
func (g *Guard) Allow(ctx context.Context, id chain.ID, wanted ...Signature) error {
	return g.update(ctx, func(t session) error {
		for _, group := range groups(wanted, Signature.groupKey) {
			if err := allow(ctx, t, id, group); err != nil {
				return err
			}
		}
		return nil
	})
}

// groupKey returns the branch of the account by which signatures are grouped, and the place and
// payment that only one signature of a group may have.
func (w Signature) groupKey() (line any, place, payment any) {
	line, number, _ := slotKey(w.Slot)
	return line, [2]any{number, w.Place}, w.PaymentID
}

// withSlot adds to an error which payment and slot were asked for.
func (w Signature) withSlot(id chain.ID, err error) error {
	return fmt.Errorf("asking the sign-guard for payment %d at %s %s %d/%d: %w", w.PaymentID, id, w.Slot.Account, w.Slot.Branch, w.Slot.Nonce, err)
}

// allow passes a group of signatures of one line.
func allow(ctx context.Context, t session, id chain.ID, group []Signature) error {
	signed, err := signedAt(ctx, t, id, group)
	if err != nil {
		return err
	}
	wanted := make(map[uint64][]guardRow, len(group))
	for _, w := range group {
		wanted[w.Slot.Nonce] = append(wanted[w.Slot.Nonce], guardRow{w.Digest, w.PaymentID})
	}
	var fresh []Signature
	for _, w := range group {
		known, found := signed[w.Slot.Nonce]
		switch {
		case w.Digest == "" || !w.Cancel && w.PaymentID == 0:
			return w.withSlot(id, fmt.Errorf("%w: a digest and a payment are required", ErrRefused))
		case found && (w.Cancel || slices.Equal(known, wanted[w.Slot.Nonce])):
		case found:
			return w.withSlot(id, fmt.Errorf("%w: the slot was signed for payment %d", ErrRefused, known[0].PaymentID))
		default:
			fresh = append(fresh, w)
		}
	}
	causes, err := causesOf(ctx, t, id, fresh)
	if err != nil {
		return err
	}
	if err := checkLinks(ctx, t, id, group); err != nil {
		return err
	}
	if err := keepAnchors(ctx, t, id, group); err != nil {
		return err
	}
	return storeSignatures(ctx, t, id, fresh, causes)
}

// storeSignatures writes the first signatures of slots, with their causes. What is not written is
// refused.
func storeSignatures(ctx context.Context, t session, id chain.ID, fresh []Signature, causes []string) error {
	rows := make([][]any, len(fresh))
	for i, w := range fresh {
		live := 1
		if w.Cancel {
			w.PaymentID, live = 0, 0
		}
		rows[i] = []any{string(id), w.Slot.Account, w.Slot.Branch, w.Slot.Nonce, w.Place, w.Digest, w.PaymentID, live, causes[i]}
	}
	n, err := t.insert(ctx, `guard (chain, account, lineage, number, place, digest, payment_id, live, cause)`, rows, ` ON CONFLICT DO NOTHING`)
	if err != nil || n == len(fresh) {
		return err
	}
	signed, err := signedAt(ctx, t, id, fresh)
	for _, w := range fresh {
		if err == nil && !slices.Contains(signed[w.Slot.Nonce], guardRow{w.Digest, w.PaymentID}) {
			return w.withSlot(id, fmt.Errorf("%w: the payment was signed for another slot", ErrRefused))
		}
	}
	return errors.Join(err, fmt.Errorf("%w: %d of %d signatures were written", ErrRefused, n, len(fresh)))
}

// signedAt returns what was first signed at the numbers of a group, which is not empty: the
// payments of each number's transaction, in order.
func signedAt(ctx context.Context, t session, id chain.ID, group []Signature) (map[uint64][]guardRow, error) {
	signed, at := make(map[uint64][]guardRow, len(group)), group[0].Slot
	return signed, sqlstore.InGroups(numbersOf(group), func(set string, in []any, _ int) error {
		var rows []struct {
			guardRow
			Number uint64 `db:"number"`
		}
		err := t.all(ctx, &rows, `SELECT number, digest, payment_id FROM guard WHERE chain = ? AND account = ? AND lineage = ? AND number IN `+set+` ORDER BY number, place`,
			append([]any{string(id), at.Account, at.Branch}, in...)...)
		for _, r := range rows {
			signed[r.Number] = append(signed[r.Number], r.guardRow)
		}
		return err
	})
}

// numbersOf returns the numbers of a group, each once.
func numbersOf(group []Signature) (numbers []uint64) {
	for i, w := range group {
		if i == 0 || w.Slot.Nonce != group[i-1].Slot.Nonce {
			numbers = append(numbers, w.Slot.Nonce)
		}
	}
	return numbers
}

// Next returns where the account's signatures end: the newest branch and the number after the
// highest ever signed in it. ok is false for an account that never signed. Records that know less
// were restored from a backup.
func (g *Guard) Next(ctx context.Context, id chain.ID, account string) (branch, number uint64, ok bool, err error) {
	var rows []struct {
		Branch uint64 `db:"lineage"`
		Number uint64 `db:"number"`
	}
	err = g.db.all(ctx, &rows, `SELECT lineage, number FROM guard WHERE chain = ? AND account = ? ORDER BY lineage DESC, number DESC LIMIT 1`,
		string(id), account)
	if err != nil {
		return 0, 0, false, fmt.Errorf("asking the sign-guard where %s on %s ends: %w", account, id, err)
	}
	if len(rows) == 0 {
		return 0, 0, false, nil
	}
	return rows[0].Branch, rows[0].Number + 1, true, nil
}

// First returns the lowest number that the account signed at, in any branch; ok is false for an
// account that never signed.
func (g *Guard) First(ctx context.Context, id chain.ID, account string) (number uint64, ok bool, err error) {
	var numbers []uint64
	err = g.db.all(ctx, &numbers, `SELECT number FROM guard WHERE chain = ? AND account = ? ORDER BY number LIMIT 1`, string(id), account)
	if err != nil {
		return 0, false, fmt.Errorf("asking the sign-guard where %s on %s begins: %w", account, id, err)
	}
	if len(numbers) == 0 {
		return 0, false, nil
	}
	return numbers[0], true, nil
}

// GiveIndex stores permanently that the address of an index is given to a user, or returns
// chain.ErrTaken when it was given before. A user missing in a database restored from a backup must
// not share an address with the next one.
func (g *Guard) GiveIndex(ctx context.Context, id chain.ID, index uint32) error {
	err := g.update(ctx, func(t session) error {
		return once(t.exec(ctx, `INSERT INTO given (chain, path_index) VALUES (?, ?) ON CONFLICT DO NOTHING`, string(id), index))
	})
	return sqlstore.Doing(err, "giving address %d of %s", index, id)
}

// Free records that the payment lost its slot: a final block used the slot up without paying, or a
// new branch of ours excludes it.
func (g *Guard) Free(ctx context.Context, paymentID uint64) error {
	err := g.update(ctx, func(t session) error {
		_, err := t.exec(ctx, `UPDATE guard SET live = 0 WHERE payment_id = ? AND live = 1`, paymentID)
		return err
	})
	return sqlstore.Doing(err, "freeing payment %d at the sign-guard", paymentID)
}

// Release frees every payment that was signed at a number of an account below next: final blocks
// have used those numbers up, so no signature there can pay any more. For an account that continues
// in a new branch it frees everything: branches exclude each other. After a restored backup the IDs
// of payments are assigned again, and an old signature must not count for a new payment.
func (g *Guard) Release(ctx context.Context, id chain.ID, account string, next uint64) error {
	err := g.update(ctx, func(t session) error {
		_, err := t.exec(ctx, `UPDATE guard SET live = 0 WHERE chain = ? AND account = ? AND (number < ? OR lineage > 0)`, string(id), account, next)
		return err
	})
	return sqlstore.Doing(err, "releasing %s on %s below %d at the sign-guard", account, id, next)
}

// Lacks names something that the file of another sign-guard knows and this one does not, or is
// empty: then this one is at least as new.
func (g *Guard) Lacks(ctx context.Context, other string) (what string, err error) {
	if g.file == "" {
		return "", errors.New("only files of sign-guards are compared")
	}
	conn, err := g.pool.Connx(ctx) // the attached file is this connection's
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "ATTACH DATABASE ? AS other", other); err != nil {
		return "", fmt.Errorf("comparing the sign-guard with %s: %w", other, err)
	}
	defer func() {
		_, detached := conn.ExecContext(context.WithoutCancel(ctx), "DETACH DATABASE other")
		err = errors.Join(err, detached)
	}()
	var tables []string
	if err := conn.SelectContext(ctx, &tables, `SELECT name FROM other.sqlite_master WHERE name = 'authorizations'`); err != nil {
		return "", fmt.Errorf("comparing the sign-guard with %s: %w", other, err)
	}
	authorizations := ""
	if len(tables) > 0 { // those before it have none
		authorizations = `UNION ALL SELECT 'the authorization for ' || cause FROM (SELECT cause FROM other.authorizations EXCEPT SELECT cause FROM main.authorizations)
			UNION ALL SELECT 'the payment for ' || cause FROM (SELECT cause FROM other.authorizations WHERE state = 'spent'
				EXCEPT SELECT cause FROM main.authorizations WHERE state = 'spent')`
	}
	var missing []string
	err = conn.SelectContext(ctx, &missing, `SELECT * FROM (
		SELECT 'the signature ' || chain || ' ' || account || ' ' || lineage || '/' || number FROM
			(SELECT chain, account, lineage, number, digest FROM other.guard EXCEPT SELECT chain, account, lineage, number, digest FROM main.guard)
		UNION ALL SELECT 'address ' || path_index || ' of ' || chain FROM (SELECT chain, path_index FROM other.given EXCEPT SELECT chain, path_index FROM main.given)
		`+authorizations+`) LIMIT 1`)
	return strings.Join(missing, ""), sqlstore.Doing(err, "comparing the sign-guard with %s", other)
}

// PassOver takes the next count addresses of a chain as given, after the last that was given on
// any: what a guard from a backup has forgotten of them is no other user's then.
func (g *Guard) PassOver(ctx context.Context, id chain.ID, count int) error {
	err := g.update(ctx, func(t session) error {
		var next int64
		if err := t.one(ctx, &next, `SELECT COALESCE(MAX(path_index) + 1, 0) FROM given`); err != nil {
			return err
		}
		_, err := t.exec(ctx, `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?)
			INSERT INTO given (chain, path_index) SELECT ?, ? + i FROM n WHERE ? > 0`, count, string(id), next, count)
		return err
	})
	return sqlstore.Doing(err, "passing over %d addresses of %s", count, id)
}
