package records

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/base64"
	"fmt"
	"math"
	"slices"
	"strings"

	"gatewayd/chain"
	"gatewayd/records/sqlstore"
)

// Coins are the coins of our accounts on ledgers that count neither nonces nor heights but spend
// coins.
type Coins struct{ *Tx }

// Coins returns the statements on coins.
func (tx *Tx) Coins() Coins { return Coins{tx} }

// CoinSpent is why a slot is void whose coin is spent by a transaction that is none of its
// attempts.
const CoinSpent = "another transaction spends its coin"

// maxHeld bounds the free coins that one account chooses from: the largest.
const maxHeld = 2000

type coinRow struct {
	Out     string `db:"out"`
	Account string `db:"account"`
	Address string `db:"address"`
	Amount  int64  `db:"amount"`
	Own     bool   `db:"own"`
	Matures uint64 `db:"matures"`
	Height  uint64 `db:"height"`
	Number  int64  `db:"number"`
	Signed  bool   `db:"signed"`
	KeyPath string `db:"key_path"`
}

func (r coinRow) coin() chain.Coin {
	return chain.Coin{Out: r.Out, Address: r.Address, Amount: chain.NewAmount(uint64(r.Amount)), Own: r.Own, Matures: r.Matures}
}

func (r coinRow) held() chain.HeldCoin {
	h := chain.HeldCoin{Coin: r.coin(), Key: r.KeyPath, Height: r.Height, Bound: r.Number >= 0, Signed: r.Signed}
	if h.Bound {
		h.Number = uint64(r.Number)
	}
	return h
}

// Store stores the coins of ours that a block of the line makes, with their transactions. The same
// coin in another block of a new line is stored again: the old block was left before.
func (tx Coins) Store(id chain.ID, b chain.Block) error {
	if len(b.Coins) == 0 {
		return nil
	}
	return sqlstore.Doing(tx.store(id, b), "storing the coins of block %d on %s", b.Height, id)
}

func (tx Coins) store(id chain.ID, b chain.Block) error {
	owners, err := tx.payers(id, b.Coins)
	if err != nil {
		return err
	}
	made := map[string][]byte{}
	rows := make([][]any, len(b.Coins))
	for i, c := range b.Coins {
		hash, _, ok := strings.Cut(c.Out, ":")
		amount := c.Amount.Uint256()
		if !ok || amount.IsZero() || !amount.IsUint64() || amount.Uint64() > math.MaxInt64 {
			return fmt.Errorf("coin %q of %s is none", c.Out, c.Amount)
		}
		made[hash] = c.Made
		rows[i] = []any{string(id), c.Out, hash, owners[c.Address], c.Address, amount.Uint64(), sqlstore.Bit(c.Own), c.Matures, b.Height, b.Hash}
	}
	if err := tx.insert(`coins (chain, out, tx, account, address, amount, own, matures, height, block_hash)`, rows, ` ON CONFLICT DO NOTHING`); err != nil {
		return err
	}
	var txs [][]any
	for hash, raw := range made {
		txs = append(txs, []any{string(id), hash, base64.StdEncoding.EncodeToString(raw)})
	}
	if err := tx.insert(`coin_txs (chain, tx, raw)`, txs, ` ON CONFLICT DO NOTHING`); err != nil {
		return err
	}
	return tx.keepChildren(id, b.Coins)
}

// keepChildren gives coins to the slots of the merges that spend them already, in the pools of
// nodes.
func (tx Coins) keepChildren(id chain.ID, coins []chain.Coin) error {
	outs := make([]string, len(coins))
	for i, c := range coins {
		outs[i] = c.Out
	}
	return sqlstore.InGroups(outs, func(set string, in []any, _ int) error {
		var rows []struct {
			Out     string `db:"source"`
			Account string `db:"account"`
			Number  uint64 `db:"number"`
			Signed  bool   `db:"signed"`
		}
		err := tx.list(&rows, `SELECT p.source, s.account, s.number, EXISTS (SELECT 1 FROM attempts a
				WHERE a.chain = s.chain AND a.account = s.account AND a.lineage = s.lineage AND a.number = s.number) AS signed
			FROM payments p CROSS JOIN slots s WHERE p.chain = ? AND p.purpose = 'merge' AND p.source <> '' AND s.payment_id = p.id AND s.state = 'open'
			AND p.source IN `+set, append([]any{string(id)}, in...)...)
		for _, r := range rows {
			if err == nil {
				_, err = tx.exec(`UPDATE coins SET number = ?, signed = ? WHERE chain = ? AND out = ? AND account = ? AND number < 0`,
					r.Number, sqlstore.Bit(r.Signed), string(id), r.Out, r.Account)
			}
		}
		return err
	})
}

// payers returns the account that pays with the coins of each address: the address itself where it
// pays, else the newest one of its network that does.
func (tx Coins) payers(id chain.ID, coins []chain.Coin) (map[string]string, error) {
	addresses := make([]string, len(coins))
	for i, c := range coins {
		addresses[i] = c.Address
	}
	out := make(map[string]string, len(coins))
	return out, sqlstore.InGroups(addresses, func(set string, in []any, _ int) error {
		var rows []struct {
			Account string `db:"account"`
			Payer   string `db:"payer"`
		}
		err := tx.list(&rows, `SELECT a.account, CASE WHEN a.kind = 'hot' THEN a.account ELSE COALESCE((SELECT h.account FROM accounts h
			WHERE h.chain = a.chain AND h.kind = 'hot' AND h.kind <> 'deposit' AND h.network = a.network ORDER BY h.seq DESC LIMIT 1), '') END AS payer
			FROM accounts a WHERE a.chain = ? AND a.account IN `+set, append([]any{string(id)}, in...)...)
		for _, r := range rows {
			out[r.Account] = r.Payer
		}
		return err
	})
}

// leave undoes what a block did to coins that has left the line.
func (tx Coins) leave(id chain.ID, height uint64, hash string) error {
	if _, err := tx.exec(`UPDATE coins SET spent_in = '', spent_by = '' WHERE chain = ? AND spent_in = ? AND spent_in <> ''`, string(id), hash); err != nil {
		return err
	}
	_, err := tx.exec(`DELETE FROM coins WHERE chain = ? AND height = ? AND block_hash = ?`, string(id), height, hash)
	return err
}

// Known returns which outpoints are coins of ours in blocks of the line, spent or not.
func (tx Coins) Known(id chain.ID, outpoints []string) (map[string]chain.Coin, error) {
	out := map[string]chain.Coin{}
	return out, sqlstore.InGroups(outpoints, func(set string, in []any, _ int) error {
		var rows []coinRow
		err := tx.list(&rows, `SELECT out, address, amount, own, matures FROM coins WHERE chain = ? AND out IN `+set, append([]any{string(id)}, in...)...)
		for _, r := range rows {
			out[r.Out] = r.coin()
		}
		return err
	})
}

// held are the conditions of coins c that their account may spend.
const held = `c.spent_in = '' AND c.height <= (SELECT u.final_height FROM cursors u WHERE u.chain = c.chain)
	AND c.matures <= (SELECT u.height + 1 FROM cursors u WHERE u.chain = c.chain)`

// Held returns the coins that an account may spend, in final blocks, largest first: all that open
// slots use, and the largest of the others.
func (tx Coins) Held(id chain.ID, account string) ([]chain.HeldCoin, error) {
	const from = `SELECT c.out, c.address, c.amount, c.own, c.matures, c.height, c.number, c.signed, a.key_path FROM coins c
		JOIN accounts a ON a.chain = c.chain AND a.account = c.address WHERE c.chain = ? AND c.account = ? AND ` + held
	var used, free []coinRow
	err := tx.list(&used, from+` AND c.number >= 0`, string(id), account)
	if err == nil {
		err = tx.list(&free, from+` AND c.number < 0 ORDER BY c.amount DESC, c.out LIMIT ? + 0`, string(id), account, maxHeld)
	}
	all := append(used, free...)
	slices.SortFunc(all, func(a, b coinRow) int { return cmp.Or(cmp.Compare(b.Amount, a.Amount), strings.Compare(a.Out, b.Out)) })
	return sqlstore.Each(all, coinRow.held), err
}

// At returns the coins that blocks up to a final height have made and not spent.
func (tx Coins) At(id chain.ID, height uint64) ([]chain.Coin, error) {
	var rows, later []coinRow
	err := tx.list(&rows, `SELECT out, address, amount FROM coins WHERE chain = ? AND spent_in = '' AND height <= ?`, string(id), height)
	if err == nil {
		err = tx.list(&later, `SELECT c.out, c.address, c.amount FROM blocks b CROSS JOIN coins c WHERE b.chain = ? AND b.height > ? AND b.canonical = 1
			AND c.chain = b.chain AND c.spent_in = b.hash AND c.spent_in <> '' AND c.height <= ?`, string(id), height, height)
	}
	return sqlstore.Each(append(rows, later...), coinRow.coin), err
}

// Head returns the state of an account's numbers, which its ledger does not count. Next is the one
// up to which final blocks have used all that are not in the records: those from the account's next
// one on, below end. It is settled when no open slot waits for a block that may still come.
func (tx Coins) Head(a Account, end uint64) (h chain.AccountHead, err error) {
	if h.Next, err = tx.usedUpTo(a, end); err != nil {
		return h, err
	}
	waits, err := tx.exists(`SELECT 1 FROM slots s WHERE `+openSlots+` AND NOT EXISTS (SELECT 1 FROM coins c
		WHERE c.chain = s.chain AND c.out = s.coin AND c.spent_in <> '' AND NOT EXISTS (SELECT 1 FROM attempts a
		WHERE a.chain = s.chain AND a.account = s.account AND a.lineage = s.lineage AND a.number = s.number AND a.hash = c.spent_by))`,
		string(a.Chain), a.Account)
	h.Settled = !waits
	return h, sqlstore.Doing(err, "reading which numbers of %s on %s are used", a.Account, a.Chain)
}

func (tx Coins) usedUpTo(a Account, end uint64) (uint64, error) {
	next := a.Next
	if next >= end {
		return next, nil
	}
	var used []uint64
	err := tx.list(&used, `SELECT DISTINCT e.number FROM effects e WHERE e.chain = ? AND e.account = ? AND e.number >= ? AND e.number < ? AND e.settled = 1 ORDER BY e.number`,
		string(a.Chain), a.Account, next, end)
	for _, n := range used {
		if n != next {
			break
		}
		next++
	}
	return next, err
}

// noSlots are the conditions of coins c that no slot uses, or ever did as its own.
const noSlots = `c.number < 0 AND ` + held + `
	AND NOT EXISTS (SELECT 1 FROM slots s WHERE s.chain = c.chain AND s.coin = c.out AND s.coin <> '' AND s.place = 0)`

// free returns the largest coins of an account that no slot uses.
func (tx Coins) free(a Account, count int) (outs []string, err error) {
	err = tx.list(&outs, `SELECT c.out FROM coins c WHERE c.chain = ? AND c.account = ? AND `+noSlots+`
		ORDER BY c.amount DESC, c.out LIMIT ? + 0`, string(a.Chain), a.Account, count)
	return outs, err
}

// worthMerging is the least amount of a merge's own coin: it pays for its input at any usual rate.
const worthMerging = 10_000

// smallest returns the smallest coins of an account that no slot uses and that are worth it.
// Payouts keep the large ones.
func (tx Coins) smallest(a Account, count int) (outs []string, err error) {
	err = tx.list(&outs, `SELECT c.out FROM coins c WHERE c.chain = ? AND c.account = ? AND c.amount >= ? AND `+noSlots+`
		ORDER BY c.amount, c.out LIMIT ? + 0`, string(a.Chain), a.Account, worthMerging, count)
	return outs, err
}

// take notes that slots use their coins.
func (tx Coins) take(slots []Slot) error {
	for _, s := range slots {
		if s.Coin == "" || s.Place > 0 {
			continue
		}
		if err := tx.change(`UPDATE coins SET number = ? WHERE chain = ? AND out = ? AND number < 0 AND spent_in = ''`, s.Nonce, string(s.Chain), s.Coin); err != nil {
			return fmt.Errorf("taking coin %s for slot %s: %w", s.Coin, s.name(), err)
		}
	}
	return nil
}

// spend notes what the signed attempt of a slot spends. false: another slot uses one of the coins,
// or it is no coin of ours. A merge may spend one that is in no block yet.
func (tx Coins) spend(s Slot, outs []string) (bool, error) {
	pending, err := tx.pending(s, outs)
	if err != nil {
		return false, err
	}
	if pending != "" {
		outs = slices.DeleteFunc(slices.Clone(outs), func(out string) bool { return out == pending })
	}
	usable := 0
	err = sqlstore.InGroups(outs, func(set string, in []any, _ int) error {
		var n int
		err := tx.one(&n, `SELECT COUNT(*) FROM coins WHERE chain = ? AND (number < 0 OR account = ? AND number = ?) AND out IN `+set,
			append([]any{string(s.Chain), s.Account, s.Nonce}, in...)...)
		usable += n
		return err
	})
	if err != nil || usable != len(outs) {
		return false, err
	}
	return true, sqlstore.ChangeAll(tx.sql, outs, `UPDATE coins SET number = ?, signed = 1 WHERE chain = ? AND out IN `, s.Nonce, string(s.Chain))
}

// pending returns the coin among outs that the merge of a slot was ordered for, if no block of the
// line makes it yet: an attempt of an open slot does. It is never the slot's own.
func (tx Coins) pending(s Slot, outs []string) (string, error) {
	if s.Coin == "" {
		return "", nil
	}
	p, err := tx.Payments().Get(s.PaymentID)
	if err != nil || p.Purpose != chain.Merge || p.Source == s.Coin || !slices.Contains(outs, p.Source) {
		return "", err
	}
	made, _, _ := strings.Cut(p.Source, ":")
	found, err := tx.exists(`SELECT 1 FROM attempts a CROSS JOIN slots s WHERE a.chain = ? AND a.hash = ? AND s.chain = a.chain AND s.account = a.account AND s.lineage = a.lineage
		AND s.number = a.number AND s.state = 'open' AND s.account = ? AND NOT EXISTS (SELECT 1 FROM coins c WHERE c.chain = a.chain AND c.out = ?)`,
		string(s.Chain), made, s.Account, p.Source)
	if !found {
		return "", err
	}
	return p.Source, err
}

// release frees the coins of a number that has no open slot left. What its transaction has spent
// stays spent.
func (tx Coins) release(s Slot) error {
	if s.Coin == "" {
		return nil
	}
	_, err := tx.exec(`UPDATE coins SET number = -1, signed = 0 WHERE chain = ? AND account = ? AND number = ? AND number >= 0
		AND NOT EXISTS (SELECT 1 FROM slots o WHERE o.chain = coins.chain AND o.account = coins.account AND o.number = coins.number
		AND o.state IN ('open','forked') AND o.state = 'open')`,
		string(s.Chain), s.Account, s.Nonce)
	return err
}

// markSpent notes the coins of ours that transactions in a block of the line spend.
func (tx Coins) markSpent(id chain.ID, list []OwnTx) error {
	for _, e := range list {
		err := sqlstore.InGroups(e.Spent, func(set string, in []any, _ int) error {
			_, err := tx.exec(`UPDATE coins SET spent_in = ?, spent_by = ? WHERE chain = ? AND out IN `+set, append([]any{e.BlockHash, e.Tx, string(id)}, in...)...)
			return err
		})
		if err != nil {
			return fmt.Errorf("marking what %s spends: %w", e.Tx, err)
		}
	}
	return nil
}

// Spender is the account and number of a transaction that spends coins of ours.
type Spender struct {
	Account string `db:"account"`
	Number  uint64 `db:"number"`
}

// SpenderOf returns whose transaction it is by our records: that of an attempt or a cancellation of
// ours, else that of the first open slot whose coin it spends. Of a transaction that is none of
// these, only the account is known: found is false.
func (tx Coins) SpenderOf(id chain.ID, e chain.OwnTx) (s Spender, found bool, err error) {
	found, err = tx.get(&s, `SELECT account, number FROM attempts WHERE chain = ? AND hash = ?
		UNION ALL SELECT account, number FROM cancels WHERE chain = ? AND hash = ? LIMIT 1`, string(id), e.Tx, string(id), e.Tx)
	for _, out := range e.Spent {
		if err != nil || found {
			return s, found, err
		}
		found, err = tx.get(&s, `SELECT account, number FROM slots WHERE chain = ? AND coin = ? AND coin <> '' AND place = 0`, string(id), out)
	}
	for _, out := range e.Spent {
		if err != nil || found || s.Account != "" {
			return s, found, err
		}
		_, err = tx.get(&s.Account, `SELECT account FROM coins WHERE chain = ? AND out = ?`, string(id), out)
	}
	return s, found, err
}

// Displaced returns the open slots whose coin a final transaction of ours spends that is none of
// their attempts: they can never be used.
func (tx Coins) Displaced(id chain.ID, hash, blockHash string) ([]Slot, error) {
	if err := tx.Slots().checkFinal(id, blockHash); err != nil {
		return nil, err
	}
	var rows []slotRow
	err := tx.list(&rows, `SELECT `+qualified("s", slotColumns)+` FROM coins c
		CROSS JOIN slots k CROSS JOIN slots s WHERE c.chain = ? AND c.spent_in = ? AND c.spent_in <> '' AND c.spent_by = ?
		AND k.chain = c.chain AND k.coin = c.out AND k.coin <> '' AND k.place = 0
		AND s.chain = k.chain AND s.account = k.account AND s.lineage = k.lineage AND s.number = k.number AND s.state = 'open'
		AND NOT EXISTS (SELECT 1 FROM attempts a WHERE a.chain = s.chain AND a.account = s.account AND a.lineage = s.lineage AND a.number = s.number AND a.hash = ?)
		ORDER BY s.number, s.place`, string(id), blockHash, hash, hash)
	return sqlstore.Each(rows, slotRow.slot), err
}

// Total returns what all coins of an account in blocks of the line are worth that none of them
// spends; nil on a ledger without coins.
func (tx Coins) Total(id chain.ID, account string) (*chain.Amount, error) {
	var sum sql.NullInt64
	err := tx.one(&sum, `SELECT CAST(SUM(amount) AS BIGINT) FROM coins WHERE chain = ? AND account = ? AND spent_in = ''`, string(id), account)
	if err != nil || !sum.Valid {
		return nil, sqlstore.Doing(err, "adding up the coins of %s on %s", account, id)
	}
	total := chain.NewAmount(uint64(sum.Int64))
	return &total, nil
}

// Txs returns the transactions that made coins of ours, by hash, and signed attempts of ours that
// no block has.
func (tx Coins) Txs(id chain.ID, hashes []string) (map[string][]byte, error) {
	out := map[string][]byte{}
	return out, sqlstore.InGroups(hashes, func(set string, in []any, _ int) error {
		var rows []struct {
			Tx  string `db:"tx"`
			Raw string `db:"raw"`
		}
		in = append([]any{string(id)}, in...)
		err := tx.list(&rows, `SELECT tx, raw FROM coin_txs WHERE chain = ? AND tx IN `+set+`
			UNION ALL SELECT hash AS tx, raw FROM attempts WHERE chain = ? AND hash IN `+set+`
			AND NOT EXISTS (SELECT 1 FROM coin_txs c WHERE c.chain = attempts.chain AND c.tx = attempts.hash)`, append(in, in...)...)
		for _, r := range rows {
			if err == nil {
				out[r.Tx], err = base64.StdEncoding.DecodeString(r.Raw)
			}
		}
		return err
	})
}

// Coins returns which outpoints are coins of ours in blocks of the line, spent or not.
func (w *Watch) Coins(ctx context.Context, id chain.ID, outpoints []string) (coins map[string]chain.Coin, err error) {
	err = w.store.View(ctx, func(tx *Tx) error {
		coins, err = tx.Coins().Known(id, outpoints)
		return err
	})
	return coins, sqlstore.Doing(err, "finding our coins on %s", id)
}

// HeldCoins returns the largest coins that an account may spend, with those that its open slots
// use.
func (w *Watch) HeldCoins(ctx context.Context, id chain.ID, account string) (coins []chain.HeldCoin, err error) {
	err = w.store.View(ctx, func(tx *Tx) error {
		coins, err = tx.Coins().Held(id, account)
		return err
	})
	return coins, sqlstore.Doing(err, "reading the coins of %s on %s", account, id)
}

// CoinsAt returns the coins of ours that blocks up to a final height have made and not spent.
func (w *Watch) CoinsAt(ctx context.Context, id chain.ID, height uint64) (coins []chain.Coin, err error) {
	err = w.store.View(ctx, func(tx *Tx) error {
		coins, err = tx.Coins().At(id, height)
		return err
	})
	return coins, sqlstore.Doing(err, "reading our coins of block %d on %s", height, id)
}

// CoinTxs returns the transactions that made coins of ours, without witnesses, by hash; of signed
// attempts of ours that no block has, the complete bytes.
func (w *Watch) CoinTxs(ctx context.Context, id chain.ID, hashes []string) (raw map[string][]byte, err error) {
	err = w.store.View(ctx, func(tx *Tx) error {
		raw, err = tx.Coins().Txs(id, hashes)
		return err
	})
	return raw, sqlstore.Doing(err, "reading the transactions of our coins on %s", id)
}
