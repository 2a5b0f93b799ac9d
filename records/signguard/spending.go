package signguard

import (
	"context"
	"fmt"
	"slices"
	"time"

	"gatewayd/chain"
	"gatewayd/records/sqlstore"
)

const spendingSchema = `CREATE INDEX IF NOT EXISTS authorizations_of_payee ON authorizations (payee, chain);
CREATE TABLE IF NOT EXISTS fees (
	chain TEXT NOT NULL, account TEXT NOT NULL, lineage BIGINT NOT NULL, number BIGINT NOT NULL, most TEXT NOT NULL, at BIGINT NOT NULL,
	PRIMARY KEY (chain, account, lineage, number));
CREATE INDEX IF NOT EXISTS fees_since ON fees (at);`

// Fee is the most coin that what was signed at a slot may take for its fee.
type Fee struct {
	Chain chain.ID
	Slot  chain.Slot
	Most  chain.Amount
	At    time.Time
}

// CreditsSince returns the credits that were authorized since a time, the oldest first.
func (g *Guard) CreditsSince(ctx context.Context, at time.Time) ([]Authorization, error) {
	var rows []authorizedRow
	err := g.db.all(ctx, &rows, `SELECT `+authorizedColumns+` WHERE created_at >= ? AND digest LIKE 'credit|%' ORDER BY created_at`, at.UnixMilli())
	if err != nil {
		return nil, fmt.Errorf("reading what was authorized since %s: %w", at.UTC().Format(time.RFC3339), err)
	}
	return sqlstore.Each(rows, authorizedRow.authorization), nil
}

// Newest returns the greatest time of what was authorized or of fees that were counted; zero for
// nothing.
func (g *Guard) Newest(ctx context.Context) (time.Time, error) {
	var times []int64
	err := g.db.all(ctx, &times, `SELECT at FROM (SELECT created_at AS at FROM authorizations ORDER BY created_at DESC LIMIT 1) AS a
		UNION ALL SELECT at FROM (SELECT at FROM fees ORDER BY at DESC LIMIT 1) AS f`)
	if err != nil || len(times) == 0 {
		return time.Time{}, sqlstore.Doing(err, "reading when something was authorized last")
	}
	return time.UnixMilli(slices.Max(times)), nil
}

// AuthorizationsOf returns what is authorized for causes.
func (g *Guard) AuthorizationsOf(ctx context.Context, causes []string) (map[string]Authorization, error) {
	list := map[string]Authorization{}
	err := sqlstore.InGroups(causes, func(set string, in []any, _ int) error {
		var rows []authorizedRow
		err := g.db.all(ctx, &rows, `SELECT `+authorizedColumns+` WHERE cause IN `+set, in...)
		for _, r := range rows {
			list[r.Cause] = r.authorization()
		}
		return err
	})
	return list, sqlstore.Doing(err, "reading what is authorized for %d causes", len(causes))
}

const authorizedColumns = `cause, digest, chain, account, user_account, payee, asset, amount, created_at FROM authorizations`

type authorizedRow struct {
	Cause   string       `db:"cause"`
	Digest  string       `db:"digest"`
	Account string       `db:"account"`
	Chain   chain.ID     `db:"chain"`
	User    string       `db:"user_account"`
	Payee   string       `db:"payee"`
	Asset   chain.Asset  `db:"asset"`
	Amount  chain.Amount `db:"amount"`
	Created int64        `db:"created_at"`
}

func (r authorizedRow) authorization() Authorization {
	return Authorization{Key: r.Cause, Digest: r.Digest, Account: r.Account, Chain: r.Chain, User: r.User, Payee: r.Payee, Asset: r.Asset, Amount: r.Amount, At: time.UnixMilli(r.Created)}
}

// PaidTo reports whether a payee was ever paid on a chain, or is to be.
func (g *Guard) PaidTo(ctx context.Context, id chain.ID, payee string) (bool, error) {
	var found []int
	err := g.db.all(ctx, &found, `SELECT 1 FROM authorizations WHERE payee = ? AND chain = ? LIMIT 1`, payee, string(id))
	return len(found) > 0, sqlstore.Doing(err, "asking the sign-guard whether %s was paid on %s", payee, id)
}

// FeesSince returns the fees that were counted since a time, the oldest first.
func (g *Guard) FeesSince(ctx context.Context, at time.Time) ([]Fee, error) {
	var rows []struct {
		Chain chain.ID     `db:"chain"`
		Most  chain.Amount `db:"most"`
		At    int64        `db:"at"`
	}
	if err := g.db.all(ctx, &rows, `SELECT chain, most, at FROM fees WHERE at >= ? ORDER BY at`, at.UnixMilli()); err != nil {
		return nil, fmt.Errorf("reading the fees since %s: %w", at.UTC().Format(time.RFC3339), err)
	}
	list := make([]Fee, len(rows))
	for i, r := range rows {
		list[i] = Fee{Chain: r.Chain, Most: r.Most, At: time.UnixMilli(r.At)}
	}
	return list, nil
}

// Fees returns what was counted of each slot: zero where nothing was.
func (g *Guard) Fees(ctx context.Context, id chain.ID, slots []chain.Slot) ([]chain.Amount, error) {
	var list []chain.Amount
	for _, group := range groups(slots, slotKey) {
		known, err := g.feesOf(ctx, id, group)
		if err != nil {
			return nil, fmt.Errorf("reading the fees of %d slots of %s on %s: %w", len(group), group[0].Account, id, err)
		}
		for _, s := range group {
			list = append(list, known[s.Nonce])
		}
	}
	return list, nil
}

// slotKey is the branch of the account by which slots are grouped, and the slot's number.
func slotKey(s chain.Slot) (line, number, again any) {
	return [2]any{s.Account, s.Branch}, s.Nonce, s.Nonce
}

// feesOf returns what was counted at the numbers of a group of slots.
func (g *Guard) feesOf(ctx context.Context, id chain.ID, group []chain.Slot) (map[uint64]chain.Amount, error) {
	numbers := make([]uint64, len(group))
	for i, s := range group {
		numbers[i] = s.Nonce
	}
	known := map[uint64]chain.Amount{}
	return known, sqlstore.InGroups(numbers, func(set string, in []any, _ int) error {
		var rows []struct {
			Number uint64       `db:"number"`
			Most   chain.Amount `db:"most"`
		}
		err := g.db.all(ctx, &rows, `SELECT number, most FROM fees WHERE chain = ? AND account = ? AND lineage = ? AND number IN `+set,
			append([]any{string(id), group[0].Account, group[0].Branch}, in...)...)
		for _, r := range rows {
			known[r.Number] = r.Most
		}
		return err
	})
}

// NoteFees stores fees as of a time, in one durable commit.
func (g *Guard) NoteFees(ctx context.Context, id chain.ID, at time.Time, fees []Fee) error {
	err := g.update(ctx, func(t session) error {
		for _, group := range groups(fees, func(f Fee) (line, number, again any) { return slotKey(f.Slot) }) {
			rows := make([][]any, len(group))
			for i, f := range group {
				rows[i] = []any{string(id), f.Slot.Account, f.Slot.Branch, f.Slot.Nonce, f.Most, at.UnixMilli()}
			}
			_, err := t.insert(ctx, `fees (chain, account, lineage, number, most, at)`, rows,
				` ON CONFLICT (chain, account, lineage, number) DO UPDATE SET most = excluded.most, at = excluded.at`)
			if err != nil {
				return err
			}
		}
		return nil
	})
	return sqlstore.Doing(err, "noting %d fees on %s", len(fees), id)
}
