package records

import (
	"fmt"

	"gatewayd/chain"
	"gatewayd/records/sqlstore"
)

// Treasury has the payments between our own accounts: sweeps, top-ups and cold storage.
type Treasury struct{ *Tx }

// Treasury returns the statements on treasury.
func (tx *Tx) Treasury() Treasury { return Treasury{tx} }

// SweepCandidate is a deposit address, or the gas account, that holds decided deposits of an asset.
// Booked is their sum less what was swept, never below zero.
type SweepCandidate struct {
	Account Account
	Asset   chain.Asset
	Booked  chain.Amount
}

// sweepableRow contains the sums received and sent by a deposit address.
type sweepableRow struct {
	Came   chain.Amount `db:"came"`
	Went   chain.Amount `db:"went"`
	CameAt int64        `db:"came_at"`
}

// Candidates returns the deposit addresses of a chain that received something since their last
// sweep, by address, coin last of each. A sweep's remainder for its fee is no reason for another,
// unless it brought less than requested.
func (tx Treasury) Candidates(id chain.ID) ([]SweepCandidate, error) {
	var rows []struct {
		accountRow
		Asset string       `db:"asset"`
		Came  chain.Amount `db:"came"`
		Went  chain.Amount `db:"went"`
	}
	err := tx.list(&rows, `SELECT a.chain, a.account, a.kind, a.network, a.key_path, a.state, a.why, a.lineage, a.base, a.next, a.created_at, s.asset, s.came, s.went
		FROM sweepable s CROSS JOIN accounts a WHERE s.chain = ? AND s.open = 1 AND a.chain = s.chain AND a.account = s.account
		ORDER BY s.account, CASE WHEN s.asset = 'native' THEN 1 ELSE 0 END, s.asset`, string(id))
	if err != nil {
		return nil, fmt.Errorf("finding deposits to sweep on %s: %w", id, err)
	}
	var out []SweepCandidate
	for _, r := range rows {
		booked, err := r.Came.Sub(r.Went)
		if err != nil || booked.IsZero() {
			continue
		}
		out = append(out, SweepCandidate{Account: r.account(), Asset: chain.Asset(r.Asset), Booked: booked})
	}
	return out, nil
}

// Unjudged returns the deposit addresses with deposits whose credit is queued at an account of a
// chain: the signer may not have given its verdict on them yet.
func (tx Treasury) Unjudged(id chain.ID, account string) ([]string, error) {
	var list []string
	err := tx.list(&list, `SELECT DISTINCT t.account FROM payments p CROSS JOIN transfers t WHERE p.chain = ? AND p.account = ? AND p.class = ? AND p.state = 'queued'
		AND p.purpose = 'credit' AND t.id = p.transfer_id AND t.direction = 'deposit' ORDER BY t.account`, string(id), account, int(ClassUser))
	return list, sqlstore.Doing(err, "finding unjudged deposits")
}

// hasCome reports whether a transfer in this state is final on its chain.
func hasCome(s TransferState) bool { return s == Final || s == Refused }

// bookDeposit adds a decided transfer to the sums of its address, if that is a user's own, or
// subtracts it. Tokens sent to the gas account are swept like those of a user's address; its coins
// stay.
func (tx Treasury) bookDeposit(transferID uint64, came bool) error {
	var t struct {
		Chain   string       `db:"chain"`
		Account string       `db:"account"`
		Asset   string       `db:"asset"`
		Amount  chain.Amount `db:"amount"`
	}
	found, err := tx.get(&t, `SELECT t.chain, t.account, t.asset, t.amount FROM transfers t WHERE t.id = ? AND t.failed = 0
		AND EXISTS (SELECT 1 FROM accounts a WHERE a.chain = t.chain AND a.account = t.account AND (a.kind = 'deposit' OR a.kind = 'gas' AND t.asset <> 'native'))`, transferID)
	if err != nil || !found {
		return err
	}
	r, err := tx.sweepable(t.Chain, t.Account, t.Asset)
	if err != nil {
		return err
	}
	add := r.Came.Add
	if !came {
		add = r.Came.Sub
	}
	if r.Came, err = add(t.Amount); err != nil {
		return err
	}
	r.CameAt = tx.millis()
	return tx.setSweepable(t.Chain, t.Account, t.Asset, r, r.Came != r.Went)
}

// bookSweep adds a paid sweep to what went from its address. What came meanwhile waits for the next
// one.
func (tx Treasury) bookSweep(p Payment) error {
	r, err := tx.sweepable(string(p.Chain), p.Account, string(p.Asset))
	if err == nil {
		r.Went, err = r.Went.Add(p.Amount)
	}
	if err != nil {
		return err
	}
	return tx.setSweepable(string(p.Chain), p.Account, string(p.Asset), r, r.Came != r.Went && r.CameAt >= p.CreatedAt.UnixMilli())
}

// noteSweep is bookSweep of a payment that was paid just now, if it is a sweep.
func (tx Treasury) noteSweep(paymentID uint64) error {
	var r paymentRow
	found, err := tx.get(&r, `SELECT `+paymentColumns+` FROM payments WHERE id = ? AND purpose = 'sweep'`, paymentID)
	if err != nil || !found {
		return err
	}
	return tx.bookSweep(r.payment())
}

// bookLess takes back what a sweep did not bring. It lies on the address still.
func (tx Treasury) bookLess(p Payment, missing chain.Amount) error {
	r, err := tx.sweepable(string(p.Chain), p.Account, string(p.Asset))
	if err == nil {
		r.Went, err = r.Went.Sub(missing)
	}
	if err != nil {
		return err
	}
	return tx.setSweepable(string(p.Chain), p.Account, string(p.Asset), r, r.Came != r.Went)
}

func (tx Treasury) sweepable(id, account, asset string) (r sweepableRow, err error) {
	_, err = tx.get(&r, `SELECT came, went, came_at FROM sweepable WHERE chain = ? AND account = ? AND asset = ?`, id, account, asset)
	return r, err
}

func (tx Treasury) setSweepable(id, account, asset string, r sweepableRow, open bool) error {
	_, err := tx.exec(`INSERT INTO sweepable (chain, account, asset, came, went, came_at, open) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (chain, account, asset) DO UPDATE SET came = excluded.came, went = excluded.went, came_at = excluded.came_at, open = excluded.open`,
		id, account, asset, r.Came, r.Went, r.CameAt, sqlstore.Bit(open))
	return err
}

// Swept records once how much a paid sweep brought, in units of its asset, when its fee left less
// than was asked for; an order to pay itself never changes. ErrConflict: the payment is no paid
// sweep, or it asked for less.
func (tx Treasury) Swept(paymentID uint64, brought chain.Amount) error {
	p, err := tx.Payments().Get(paymentID)
	if err == nil && p.Amount != brought {
		err = tx.swept(p, brought)
	}
	return sqlstore.Doing(err, "noting what payment %d brought", paymentID)
}

func (tx Treasury) swept(p Payment, brought chain.Amount) error {
	if p.Purpose != chain.Sweep || p.State != Paid || p.Amount.Less(brought) {
		return fmt.Errorf("%w: a %s of %s that is %s does not bring %s", ErrConflict, p.Purpose, p.Amount, p.State, brought)
	}
	if _, err := tx.exec(`INSERT INTO swept (payment_id, brought, created_at) VALUES (?, ?, ?)`, p.ID, brought, tx.millis()); err != nil {
		return err
	}
	missing, err := p.Amount.Sub(brought)
	if err == nil {
		err = tx.bookLess(p, missing)
	}
	if err != nil {
		return err
	}
	return tx.logPayment(p.ID, "swept", fmt.Sprintf("%s of %s, the rest was kept for its fee", brought, p.Amount))
}

// SweepUnderWay returns the sweep of the same account and asset, or for a gas payment the one to
// the same address, that is queued, bound or held; false: there is none.
func (tx Treasury) SweepUnderWay(p Payment) (under Payment, busy bool, err error) {
	var r paymentRow
	if p.Purpose == chain.Gas {
		busy, err = tx.get(&r, `SELECT `+paymentColumns+` FROM payments WHERE chain = ? AND payee = ? AND purpose = 'gas' AND state IN ('queued','bound','held')
			ORDER BY id LIMIT 1`, string(p.Chain), p.Payee)
	} else {
		busy, err = tx.get(&r, `SELECT `+paymentColumns+` FROM payments WHERE chain = ? AND account = ? AND asset = ? AND purpose = 'sweep'
			AND state IN ('queued','bound','held') ORDER BY id LIMIT 1`, string(p.Chain), p.Account, string(p.Asset))
	}
	return r.payment(), busy, sqlstore.Doing(err, "finding a %s under way", p.Purpose)
}

// TokenSweepUnderWay reports whether a sweep of a token from an address, or the gas for one, is
// queued or bound: it needs the coin that is there. The indexes of open payments name all three
// states, so the conditions name them too.
func (tx Treasury) TokenSweepUnderWay(id chain.ID, account string) (busy bool, err error) {
	busy, err = tx.exists(`SELECT 1 FROM payments WHERE chain = ? AND account = ? AND purpose = 'sweep' AND state IN ('queued','bound','held')
		AND state <> 'held' AND asset <> 'native'`,
		string(id), account)
	if err == nil && !busy {
		busy, err = tx.exists(`SELECT 1 FROM payments WHERE chain = ? AND payee = ? AND purpose = 'gas' AND state IN ('queued','bound','held') AND state <> 'held'`, string(id), account)
	}
	return busy, sqlstore.Doing(err, "finding token sweeps of %s", account)
}
