package signguard

import (
	"context"
	"fmt"
	"math"

	"gatewayd/chain"
	"gatewayd/records/sqlstore"
)

// The books of the coin at deposit addresses. They bound the credits of coin that no block shows:
//
//	balance at a final block + spent since - opening   arrived since the books were opened
//	counted + gas                                      credited of it, and our own coin for fees
//
// An opening without an amount is not read yet. A height below zero belongs to arrivals that always
// count.
const arrivalSchema = `CREATE TABLE IF NOT EXISTS openings (
	chain TEXT NOT NULL, address TEXT NOT NULL, since BIGINT NOT NULL, amount TEXT NOT NULL, PRIMARY KEY (chain, address));
CREATE INDEX IF NOT EXISTS openings_wanted ON openings (chain) WHERE amount = '';
CREATE TABLE IF NOT EXISTS arrivals (
	cause TEXT NOT NULL PRIMARY KEY, chain TEXT NOT NULL, address TEXT NOT NULL, amount TEXT NOT NULL, height BIGINT NOT NULL, proof TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS arrivals_at ON arrivals (address, chain);
CREATE INDEX IF NOT EXISTS arrivals_by_balance ON arrivals (address, chain) WHERE proof = 'balance';
CREATE TABLE IF NOT EXISTS spent (
	chain TEXT NOT NULL, address TEXT NOT NULL, number BIGINT NOT NULL, amount TEXT NOT NULL, height BIGINT NOT NULL, PRIMARY KEY (address, chain, number));
INSERT INTO openings (chain, address, since, amount) SELECT chain, address, 0, '' FROM bindings b WHERE address <> '' AND NOT EXISTS (
	SELECT 1 FROM openings o WHERE o.chain = b.chain AND o.address = b.address);
`

// Opening is a deposit address whose balance at the block in which it was given out is still to be
// read.
type Opening struct {
	Address string `db:"address"`
	Since   uint64 `db:"since"`
}

// Unopened returns deposit addresses whose opening balance was not read yet, of blocks up to the
// final one.
func (g *Guard) Unopened(ctx context.Context, id chain.ID, final uint64, limit int) (list []Opening, err error) {
	err = g.db.all(ctx, &list, `SELECT address, since FROM openings WHERE chain = ? AND amount = '' AND since <= ? LIMIT ?`, string(id), clamp(final), limit)
	return list, sqlstore.Doing(err, "asking the sign-guard for addresses without an opening balance")
}

// OpenFrom stores the newest block as the one whose balance opens the addresses that were given out
// before the books were kept. What was credited there before is in a block up to that one.
func (g *Guard) OpenFrom(ctx context.Context, id chain.ID, newest uint64) error {
	var found []int
	err := g.db.all(ctx, &found, `SELECT 1 FROM openings WHERE chain = ? AND amount = '' AND since = 0 LIMIT 1`, string(id))
	if err == nil && len(found) > 0 {
		err = g.update(ctx, func(t session) error {
			_, err := t.exec(ctx, `UPDATE openings SET since = ? WHERE chain = ? AND amount = '' AND since = 0`, newest, string(id))
			return err
		})
	}
	return sqlstore.Doing(err, "storing from which block on the coin on %s is counted", id)
}

// Open stores what an address held after the block at a height. Only what arrived above that height
// is provable by balances. The first opening stays.
func (g *Guard) Open(ctx context.Context, id chain.ID, address string, height uint64, balance chain.Amount) error {
	err := g.update(ctx, func(t session) error {
		_, err := t.exec(ctx, `UPDATE openings SET amount = ?, since = ? WHERE chain = ? AND address = ? AND amount = ''`, balance.String(), height, string(id), address)
		return err
	})
	return sqlstore.Doing(err, "storing the opening balance of %s on %s", address, id)
}

// open notes that the opening balance of an address is to be read.
func open(ctx context.Context, t session, b Binding) error {
	if b.Address == "" {
		return nil
	}
	_, err := t.exec(ctx, `INSERT INTO openings (chain, address, since, amount) VALUES (?, ?, ?, '') ON CONFLICT DO NOTHING`, string(b.Chain), b.Address, b.Since)
	return err
}

// Coin is the sign-guard's count at a deposit address.
type Coin struct {
	Opened  bool
	Since   uint64       // height of the opening balance
	Opening chain.Amount // what was there then
	Spent   chain.Amount // what the address has paid since, up to the height that was asked for, as far as blocks were read
	Counted chain.Amount // what was credited or refunded of what arrived since, and our own coin for fees
}

// Limit returns the most that may be counted at the address when its balance is that of the height
// which Coin was asked for.
func (c Coin) Limit(balance chain.Amount) (chain.Amount, error) {
	total, err := balance.Add(c.Spent)
	if err != nil || total.Less(c.Opening) {
		return chain.Amount{}, err
	}
	return total.Sub(c.Opening)
}

// CoinAt returns what is counted at a deposit address, without the arrival of one cause.
func (g *Guard) CoinAt(ctx context.Context, id chain.ID, address, cause string, height uint64) (Coin, error) {
	c, err := coinAt(ctx, g.db, id, address, cause, height)
	return c, sqlstore.Doing(err, "asking the sign-guard for the coin at %s on %s", address, id)
}

func coinAt(ctx context.Context, db session, id chain.ID, address, cause string, height uint64) (c Coin, err error) {
	var opening []struct {
		Since  uint64       `db:"since"`
		Amount chain.Amount `db:"amount"`
	}
	err = db.all(ctx, &opening, `SELECT since, amount FROM openings WHERE chain = ? AND address = ? AND amount <> ''`, string(id), address)
	if err != nil || len(opening) == 0 {
		return c, err
	}
	c.Opened, c.Since, c.Opening = true, opening[0].Since, opening[0].Amount
	c.Spent, err = sum(ctx, db, `SELECT amount FROM spent WHERE address = ? AND chain = ? AND height > ? AND height <= ?`, address, string(id), c.Since, clamp(height))
	if err != nil {
		return c, err
	}
	counted, err := sum(ctx, db, `SELECT amount FROM arrivals WHERE address = ? AND chain = ? AND (height > ? OR height < 0) AND cause <> ?`,
		address, string(id), c.Since, cause)
	if err != nil {
		return c, err
	}
	gas, err := sum(ctx, db, `SELECT amount FROM authorizations WHERE payee = ? AND chain = ? AND asset = ?`, address, string(id), string(chain.Native))
	if err == nil {
		c.Counted, err = counted.Add(gas)
	}
	return c, err
}

func clamp(height uint64) int64 { return int64(min(height, math.MaxInt64)) }

func sum(ctx context.Context, db session, query string, args ...any) (total chain.Amount, err error) {
	var list []chain.Amount
	if err := db.all(ctx, &list, query, args...); err != nil {
		return total, err
	}
	for _, a := range list {
		if total, err = total.Add(a); err != nil {
			return total, err
		}
	}
	return total, nil
}

// ShownByBalance reports whether coin at an address was credited that only its balance shows. Every
// later credit of coin there needs a limit.
func (g *Guard) ShownByBalance(ctx context.Context, id chain.ID, address string) (bool, error) {
	var found []int
	err := g.db.all(ctx, &found, `SELECT 1 FROM arrivals WHERE address = ? AND chain = ? AND proof = 'balance' LIMIT 1`, address, string(id))
	return len(found) > 0, sqlstore.Doing(err, "asking the sign-guard for coin at %s on %s", address, id)
}

// countArrivals stores the coin that the authorizations of a group use up, and changes the states
// of those which may not use it: Overdrawn or Uncounted. Most have no limit to keep, and are stored
// by one statement.
func countArrivals(ctx context.Context, t session, group []Authorization, states []State) error {
	bounded, err := boundedAddresses(ctx, t, group)
	if err != nil {
		return err
	}
	var free [][]any
	for i, w := range group {
		switch {
		case w.Arrival == nil || states[i] != Unknown && states[i] != Moved:
		case !bounded[[2]string{string(w.Arrival.Chain), w.Arrival.Address}] || w.Arrival.Proof == chain.ByPeople:
			free = append(free, w.arrivalRow())
		default:
			if states[i], err = w.count(ctx, t, states[i]); err != nil {
				return fmt.Errorf("counting the coin of payment %d: %w", w.PaymentID, err)
			}
		}
	}
	return insertArrivals(ctx, t, free)
}

// boundedAddresses returns the addresses of a group's arrivals at which a limit counts: where coin
// was credited by balances, or is to be now.
func boundedAddresses(ctx context.Context, t session, group []Authorization) (map[[2]string]bool, error) {
	bounded, asked := map[[2]string]bool{}, map[string]bool{}
	var addresses []string
	for _, w := range group {
		if w.Arrival == nil {
			continue
		}
		if w.Arrival.Proof == chain.ByBalance {
			bounded[[2]string{string(w.Arrival.Chain), w.Arrival.Address}] = true
		}
		if !asked[w.Arrival.Address] {
			asked[w.Arrival.Address], addresses = true, append(addresses, w.Arrival.Address)
		}
	}
	if len(addresses) == 0 {
		return bounded, nil
	}
	return bounded, sqlstore.InGroups(addresses, func(set string, in []any, _ int) error {
		var rows []struct {
			Chain   string `db:"chain"`
			Address string `db:"address"`
		}
		err := t.all(ctx, &rows, `SELECT chain, address FROM arrivals WHERE proof = 'balance' AND address IN `+set, in...)
		for _, r := range rows {
			bounded[[2]string{r.Chain, r.Address}] = true
		}
		return err
	})
}

func (w Authorization) arrivalRow() []any {
	height := int64(-1)
	if w.Arrival.Proof == chain.ByBlock {
		height = clamp(w.Arrival.Height)
	}
	return []any{w.Key, string(w.Arrival.Chain), w.Arrival.Address, w.Arrival.Amount.String(), height, string(w.Arrival.Proof)}
}

func insertArrivals(ctx context.Context, t session, rows [][]any) error {
	if len(rows) == 0 {
		return nil
	}
	_, err := t.insert(ctx, `arrivals (cause, chain, address, amount, height, proof)`, rows,
		` ON CONFLICT (cause) DO UPDATE SET amount = excluded.amount, height = excluded.height, proof = excluded.proof`)
	return err
}

// count stores an arrival that its limit allows, and otherwise returns why not.
func (w Authorization) count(ctx context.Context, t session, known State) (State, error) {
	if s, err := w.checkArrival(ctx, t); err != nil || s != Living {
		return s, err
	}
	return known, insertArrivals(ctx, t, [][]any{w.arrivalRow()})
}

// checkArrival is Living for an arrival within the limit at its address.
func (w Authorization) checkArrival(ctx context.Context, t session) (State, error) {
	a := w.Arrival
	c, err := coinAt(ctx, t, a.Chain, a.Address, w.Key, 0)
	switch {
	case err != nil:
		return "", err
	case c.Opened && a.Proof == chain.ByBlock && a.Height <= c.Since: // part of the opening balance
		return Living, nil
	case !c.Opened || a.Limit == nil:
		return Uncounted, nil
	}
	total, err := c.Counted.Add(a.Amount)
	if err != nil {
		return "", err
	}
	if a.Limit.Less(total) {
		return Overdrawn, nil
	}
	return Living, nil
}

// Spending is coin that a deposit address has paid in a final block, by its own transaction: what
// it sent and its fee.
type Spending struct {
	Chain   chain.ID
	Address string
	Number  uint64
	Amount  chain.Amount
	Height  uint64
}

// NoteSpent stores what deposit addresses have paid. What a final block showed of a number stays.
func (g *Guard) NoteSpent(ctx context.Context, list []Spending) error {
	if len(list) == 0 {
		return nil
	}
	err := g.update(ctx, func(t session) error {
		for _, s := range list {
			_, err := t.exec(ctx, `INSERT INTO spent (chain, address, number, amount, height) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
				string(s.Chain), s.Address, s.Number, s.Amount.String(), s.Height)
			if err != nil {
				return fmt.Errorf("number %d of %s: %w", s.Number, s.Address, err)
			}
		}
		return nil
	})
	return sqlstore.Doing(err, "storing what deposit addresses have paid")
}
