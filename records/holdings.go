package records

import (
	"database/sql"
	"fmt"
	"maps"
	"slices"

	"gatewayd/chain"
	"gatewayd/records/sqlstore"
)

// Balances are the books' holdings by account and their comparison with the ledgers.
type Balances struct{ *Tx }

// Balances returns the statements on balances.
func (tx *Tx) Balances() Balances { return Balances{tx} }

// Holding is the required balance of one of our accounts in its ledger's own coin by the books: In
// less Out, after a final block.
type Holding struct {
	Account string
	Kind    AccountKind
	Network string
	// only blocks above this one count; -1: all that were followed count, because it is not known
	// since when the account was
	Since   int64
	Opened  bool // what the account held at Since is known, and part of In
	In, Out chain.Amount
}

// Compare returns the difference between the ledger's coins and the books. At most one of the two
// is above zero.
func (h Holding) Compare(have chain.Amount) (surplus, shortage chain.Amount, err error) {
	there, err := have.Add(h.Out)
	switch {
	case err != nil:
	case there.Less(h.In):
		shortage, err = h.In.Sub(there)
	default:
		surplus, err = there.Sub(h.In)
	}
	return surplus, shortage, err
}

// CoinMove is coin that came to one of our accounts or left it, fees included, as a block shows it.
type CoinMove struct {
	Account    string
	Height     uint64
	Came, Went chain.Amount
}

type holdingRow struct {
	Account string       `db:"account"`
	Kind    string       `db:"kind"`
	Network string       `db:"network"`
	Since   int64        `db:"since"`
	Opening string       `db:"opening"`
	Came    chain.Amount `db:"came"`
	Went    chain.Amount `db:"went"`
}

const holdingQuery = `SELECT h.account, a.kind, a.network, h.since, h.opening, h.came, h.went FROM holdings h
	JOIN accounts a ON a.chain = h.chain AND a.account = h.account `

func (r holdingRow) holding() (Holding, error) {
	h := Holding{Account: r.Account, Kind: AccountKind(r.Kind), Network: r.Network, Since: r.Since, In: r.Came, Out: r.Went, Opened: r.Opening != ""}
	if !h.Opened {
		return h, nil
	}
	opening, err := chain.ParseAmount(r.Opening)
	if err == nil {
		h.In, err = r.Came.Add(opening)
	}
	return h, err
}

// addHolding begins the books of a new account's coin. A deposit address is secret before it is
// stored, so it is assumed to be empty. The first comparison finds the earlier balance of other
// accounts.
func (tx Balances) addHolding(a Account) error {
	if a.Kind == KindGateway {
		return nil
	}
	opening := ""
	if a.Kind == KindDeposit {
		opening = "0"
	}
	_, err := tx.exec(`INSERT INTO holdings (chain, account, since, opening) VALUES (?, ?, COALESCE((SELECT height FROM cursors WHERE chain = ?), -1), ?)`,
		string(a.Chain), a.Account, string(a.Chain), opening)
	return err
}

// startHoldings begins the books of a chain's coin at the block that it is followed from.
func (tx Balances) startHoldings(id chain.ID, height uint64) error {
	_, err := tx.exec(`INSERT INTO balance_audits (chain, folded, looked, audited, audited_at) VALUES (?, ?, -1, -1, 0)`, string(id), height)
	if err == nil {
		_, err = tx.exec(`UPDATE holdings SET since = ? WHERE chain = ? AND since = -1`, height, string(id))
	}
	return err
}

// Fold brings the books of a chain's coin to its final block: transfers to us and
// transactions of ours in the blocks that have become final since. Its cost is that of these
// blocks. Call it in the transaction that moves the final point.
func (tx Balances) Fold(id chain.ID) error {
	if err := tx.foldHoldings(id); err != nil {
		return fmt.Errorf("adding up the coin of %s: %w", id, err)
	}
	return nil
}

func (tx Balances) foldHoldings(id chain.ID) error {
	a, found, err := tx.balanceAudit(id)
	if err != nil || !found {
		return err
	}
	c, _, err := tx.Chains().cursorRow(id)
	if err != nil || c.FinalHeight <= a.Folded {
		return err
	}
	moves, err := tx.coinMoves(id, a.Folded, c.FinalHeight)
	if err != nil {
		return err
	}
	if err := tx.addMoves(id, moves); err != nil {
		return err
	}
	return tx.change(`UPDATE balance_audits SET folded = ? WHERE chain = ? AND folded = ?`, c.FinalHeight, string(id), a.Folded)
}

// addMoves adds movements to the holdings of those accounts that are ours.
func (tx Balances) addMoves(id chain.ID, moves []CoinMove) error {
	of := make(map[string][]CoinMove)
	for _, m := range moves {
		of[m.Account] = append(of[m.Account], m)
	}
	rows, err := tx.holdingRows(id, slices.Sorted(maps.Keys(of)))
	if err != nil {
		return err
	}
	for _, r := range rows {
		came, went := r.Came, r.Went
		for _, m := range of[r.Account] {
			if int64(m.Height) <= r.Since {
				continue
			}
			if came, err = came.Add(m.Came); err != nil {
				return err
			}
			if went, err = went.Add(m.Went); err != nil {
				return err
			}
		}
		if err := tx.setHolding(id, r.Account, came, went); err != nil {
			return err
		}
	}
	return nil
}

func (tx Balances) setHolding(id chain.ID, account string, came, went chain.Amount) error {
	return tx.change(`UPDATE holdings SET came = ?, went = ? WHERE chain = ? AND account = ?`, came, went, string(id), account)
}

// AddCoin adds to what came to one account and what went from it.
func (tx Balances) AddCoin(id chain.ID, account string, came, went chain.Amount) error {
	rows, err := tx.holdingRows(id, []string{account})
	if err != nil || len(rows) == 0 {
		return err
	}
	if came, err = rows[0].Came.Add(came); err != nil {
		return err
	}
	if went, err = rows[0].Went.Add(went); err != nil {
		return err
	}
	return tx.setHolding(id, account, came, went)
}

// holdingBatch bounds the parameters of one query.
const holdingBatch = 500

func (tx Balances) holdingRows(id chain.ID, accounts []string) (rows []holdingRow, err error) {
	for batch := range slices.Chunk(accounts, holdingBatch) {
		var some []holdingRow
		if err := tx.listIn(&some, holdingQuery+`WHERE h.chain = ? AND h.account IN (?) ORDER BY h.account`, string(id), batch); err != nil {
			return nil, err
		}
		rows = append(rows, some...)
	}
	return rows, nil
}

// OnLeftBlock reports that the block of a row m has left the chain. For decided transfers with a
// pruned block, their incident contains it.
const OnLeftBlock = `EXISTS (SELECT 1 FROM blocks b WHERE b.chain = m.chain AND b.hash = m.block_hash AND b.canonical = 0)`

// CoinMoves returns the movements of coin of some accounts in the blocks of the chain above one
// height and up to another, according to the books.
func (tx Balances) CoinMoves(id chain.ID, above, upTo uint64, accounts []string) ([]CoinMove, error) {
	all, err := tx.coinMoves(id, above, upTo)
	if err != nil {
		return nil, fmt.Errorf("reading the coin movements of %s: %w", id, err)
	}
	ours := make(map[string]bool, len(accounts))
	for _, a := range accounts {
		ours[a] = true
	}
	return slices.DeleteFunc(all, func(m CoinMove) bool { return !ours[m.Account] }), nil
}

func (tx Balances) coinMoves(id chain.ID, above, upTo uint64) ([]CoinMove, error) {
	if upTo <= above {
		return nil, nil
	}
	var in []struct {
		Account string       `db:"account"`
		Height  uint64       `db:"height"`
		Amount  chain.Amount `db:"amount"`
	}
	err := tx.list(&in, `SELECT account, height, amount FROM transfers m WHERE chain = ? AND asset = 'native' AND failed = 0 AND incident = ''
		AND height > ? AND height <= ? AND state <> 'orphaned' AND NOT EXISTS (SELECT 1 FROM audit_matches x WHERE x.transfer_id = m.id)
		AND NOT `+OnLeftBlock, string(id), above, upTo)
	if err != nil {
		return nil, err
	}
	moves := make([]CoinMove, len(in))
	for i, t := range in {
		moves[i] = CoinMove{Account: t.Account, Height: t.Height, Came: t.Amount}
	}
	return tx.ownMoves(moves, id, above, upTo)
}

// ownMoves adds the movements and fees of our own transactions. For rows of earlier versions the
// payments contain the amounts.
func (tx Balances) ownMoves(moves []CoinMove, id chain.ID, above, upTo uint64) ([]CoinMove, error) {
	var rows []struct {
		Account string         `db:"account"`
		Height  uint64         `db:"height"`
		Tx      string         `db:"tx"`
		OK      bool           `db:"ok"`
		Fee     chain.Amount   `db:"fee"`
		Payee   string         `db:"payee"`
		Value   sql.NullString `db:"value"`
	}
	err := tx.list(&rows, `SELECT account, height, tx, ok, fee, payee, value FROM effects m WHERE chain = ? AND height > ? AND height <= ?
		AND NOT `+OnLeftBlock, string(id), above, upTo)
	if err != nil {
		return nil, err
	}
	for _, e := range rows {
		value, payee := chain.Amount{}, e.Payee
		switch {
		case e.Value.Valid:
			value, err = chain.ParseAmount(e.Value.String)
		case e.OK:
			value, payee, err = tx.paidCoin(id, e.Tx)
		}
		if err != nil {
			return nil, err
		}
		out, err := e.Fee.Add(value)
		if err != nil {
			return nil, err
		}
		moves = append(moves, CoinMove{Account: e.Account, Height: e.Height, Went: out})
		if !value.IsZero() {
			moves = append(moves, CoinMove{Account: payee, Height: e.Height, Came: value})
		}
	}
	return moves, nil
}

// paidCoin returns the coin that a settled attempt of ours moved, and its payee.
func (tx Balances) paidCoin(id chain.ID, hash string) (value chain.Amount, payee string, err error) {
	var r struct {
		Payee string       `db:"payee"`
		Value chain.Amount `db:"value"`
	}
	_, err = tx.get(&r, `SELECT p.payee, COALESCE(w.brought, p.amount) AS value FROM attempts a
		JOIN slots s ON s.chain = a.chain AND s.account = a.account AND s.lineage = a.lineage AND s.number = a.number
		JOIN payments p ON p.id = s.payment_id LEFT JOIN swept w ON w.payment_id = p.id
		WHERE a.chain = ? AND a.hash = ? AND a.kind <> 'cancel' AND p.asset = 'native'`, string(id), hash)
	return r.Value, r.Payee, err
}

// LineBlock answers number, hash and time of the block of our line at a height, if it is still
// stored.
func (tx Balances) LineBlock(id chain.ID, height uint64) (b chain.Block, found bool, err error) {
	var r struct {
		Hash string `db:"hash"`
		At   int64  `db:"at"`
	}
	found, err = tx.get(&r, `SELECT hash, at FROM blocks WHERE chain = ? AND height = ? AND canonical = 1`, string(id), height)
	if err != nil {
		return b, false, fmt.Errorf("reading block %d of %s: %w", height, id, err)
	}
	return chain.Block{Point: chain.Point{Height: height, Hash: r.Hash}, Time: sqlstore.TimeOrZero(r.At)}, found, nil
}

// Without is the holding before a movement.
func (h Holding) Without(m CoinMove) (Holding, error) {
	in, err := h.In.Sub(m.Came)
	if err != nil {
		return h, err
	}
	out, err := h.Out.Sub(m.Went)
	h.In, h.Out = in, out
	return h, err
}
