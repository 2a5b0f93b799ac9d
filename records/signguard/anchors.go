package signguard

import (
	"context"
	"fmt"

	"gatewayd/chain"
	"gatewayd/records/sqlstore"
)

// On a ledger of coins every transaction of a slot spends the slot's own coin, its anchor, so that
// one of them at most is ever in the chain.
const anchorSchema = `CREATE TABLE IF NOT EXISTS anchors (
	chain TEXT NOT NULL, coin TEXT NOT NULL, account TEXT NOT NULL, number BIGINT NOT NULL, PRIMARY KEY (chain, coin));
CREATE UNIQUE INDEX IF NOT EXISTS anchors_of_number ON anchors (chain, account, number);`

// Anchor is the coin of a slot that was signed for.
type Anchor struct {
	Coin    string `json:"coin" db:"coin"`
	Account string `json:"account" db:"account"`
	Number  uint64 `json:"number" db:"number"`
}

// Anchors returns which of the coins are anchors.
func (g *Guard) Anchors(ctx context.Context, id chain.ID, coins ...string) (list []Anchor, err error) {
	err = sqlstore.InGroups(coins, func(set string, in []any, _ int) error {
		var rows []Anchor
		err := g.db.all(ctx, &rows, `SELECT coin, account, number FROM anchors WHERE chain = ? AND coin IN `+set, append([]any{string(id)}, in...)...)
		list = append(list, rows...)
		return err
	})
	return list, sqlstore.Doing(err, "asking the sign-guard for coins on %s", id)
}

// Coins returns the anchors among outpoints as coins of ours. Their amounts are not known.
func (g *Guard) Coins(ctx context.Context, id chain.ID, outpoints []string) (map[string]chain.Coin, error) {
	list, err := g.Anchors(ctx, id, outpoints...)
	coins := make(map[string]chain.Coin, len(list))
	for _, a := range list {
		coins[a.Coin] = chain.Coin{Out: a.Coin, Address: a.Account}
	}
	return coins, err
}

// keepAnchors stores the anchors of slots. It refuses another coin for a number, and the coin of
// another number: two transactions could stand in the chain then.
func keepAnchors(ctx context.Context, t session, id chain.ID, group []Signature) error {
	for _, w := range group {
		if w.Slot.Coin == "" || w.Place > 0 {
			continue
		}
		if _, err := t.exec(ctx, `INSERT INTO anchors (chain, coin, account, number) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`,
			string(id), w.Slot.Coin, w.Slot.Account, w.Slot.Nonce); err != nil {
			return err
		}
		var kept []Anchor
		err := t.all(ctx, &kept, `SELECT coin, account, number FROM anchors WHERE chain = ? AND coin = ?`, string(id), w.Slot.Coin)
		if err != nil {
			return err
		}
		if len(kept) != 1 || kept[0] != (Anchor{w.Slot.Coin, w.Slot.Account, w.Slot.Nonce}) {
			return w.withSlot(id, fmt.Errorf("%w: the number was signed with another coin, or the coin for another number", ErrRefused))
		}
	}
	return nil
}
