package records

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"gatewayd/chain"
)

// Line is a record as wallets list it.
type Line struct {
	ID        uint64 // of the transfer
	Tx        string // that came in
	Confirmed uint64 // blocks that confirm it
	Wanted    uint64 // blocks that make it final
	OutTx     string // of the payout; the newest attempt until it is paid
	Net       chain.Amount
	Fee       chain.Amount
	State     string    // public
	At        time.Time // of its block, or when it was first seen
	RefundTx  string
	Refund    PaymentState // empty without a refund
}

// LineOf is what wallets are told of a record.
func LineOf(r Record) Line {
	l := Line{ID: r.ID, Tx: r.Tx, OutTx: r.CreditTx, Net: r.Net, Fee: r.Fee, State: PublicState(r), At: r.BlockAt}
	l.Confirmed, l.Wanted = Confirmations(r)
	if l.At.IsZero() {
		l.At = r.SeenAt
	}
	if r.Refund != nil {
		l.RefundTx, l.Refund = r.RefundTx, r.Refund.State
	}
	return l
}

// Page answers a wallet's records of one token and direction, newest first, and how many there are in all. Orphaned withdrawals are left out:
// nothing was received. limit is cut to 1..1000.
func (tx *Tx) Page(network, token, owner string, d Direction, offset, limit int) ([]Line, int, error) {
	if !storable(token) || !storable(owner) {
		return nil, 0, nil // no row holds such a text
	}
	p := page{tx: tx, args: []any{network, token, owner, string(d)}, where: pageWhere, offset: max(offset, 0), limit: clampLimit(limit)}
	if d == Withdrawal {
		p.where += ` AND t.state <> 'orphaned'`
	}
	out, total, err := p.read(d)
	if err != nil {
		return nil, 0, fmt.Errorf("reading the %s records of %s: %w", d, owner, err)
	}
	return out, total, nil
}

const (
	pageSelect = `SELECT t.id, t.chain, t.tx, t.net, t.fee, t.policy, t.state, t.reason, t.height, t.block_at, t.seen_at, t.changed_at,
		COALESCE(p.id, 0), COALESCE(p.purpose, ''), COALESCE(p.state, ''), COALESCE(p.tx, '')
		FROM transfers t LEFT JOIN payments p ON p.transfer_id = t.id AND p.purpose <> 'receive' AND p.state <> 'void'`
	pageWhere = ` WHERE t.network = ? AND t.token = ? AND t.owner = ? AND t.direction = ?`
)

// page is one reading of a page. Wallets ask for it all day, so it reads only what they are shown: one query, and others only for records that
// are still on their way.
type page struct {
	tx            *Tx
	where         string
	args          []any
	offset, limit int
}

func (p *page) read(d Direction) ([]Line, int, error) {
	lines, open, err := p.lines(d)
	if err != nil {
		return nil, 0, err
	}
	total := p.offset + len(lines)
	if len(lines) == p.limit || len(lines) == 0 && p.offset > 0 { // else the page is the last one and tells the total
		if err := p.tx.one(&total, `SELECT COUNT(*) FROM transfers t`+p.where, p.args...); err != nil {
			return nil, 0, err
		}
	}
	return lines, total, p.finish(lines, open)
}

// lines reads the page's lines. Those of records on their way are not complete; open are these records. An offset is counted in the index alone,
// so that a far page reads no rows on its way.
func (p *page) lines(d Direction) (lines []Line, open []listed, err error) {
	query, args := pageSelect+p.where+` ORDER BY t.id DESC LIMIT ? + 0`, append(p.args[:len(p.args):len(p.args)], p.limit)
	if p.offset > 0 {
		query = pageSelect + ` WHERE t.id IN (SELECT t.id FROM transfers t` + p.where + ` ORDER BY t.id DESC LIMIT ? + 0 OFFSET ?) ORDER BY t.id DESC`
		args = append(args, p.offset)
	}
	rows, err := p.tx.tx.QueryContext(p.tx.ctx, p.tx.tx.Rebind(query), args...)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	var policy depths
	for rows.Next() {
		l := listed{direction: d, at: p.tx.now, place: len(lines)}
		if err := l.scan(rows, &policy); err != nil {
			return nil, nil, err
		}
		lines = append(lines, LineOf(l.record()))
		if l.waits() || l.unpaid() {
			open = append(open, l)
		}
	}
	return lines, open, rows.Err()
}

// finish completes the lines of records on their way: how far their chain has come, and the newest attempt of a payment that is not paid.
func (p *page) finish(lines []Line, open []listed) error {
	var unpaid []uint64
	var heads map[chain.ID]Cursor
	var err error
	for _, l := range open {
		if l.unpaid() {
			unpaid = append(unpaid, l.id)
		}
		if heads == nil && l.waits() {
			if heads, err = p.tx.heads(); err != nil {
				return err
			}
		}
	}
	var newest map[uint64]string
	if len(unpaid) > 0 {
		if newest, err = p.tx.newestAttempts(unpaid); err != nil {
			return err
		}
	}
	for _, l := range open {
		l.head, l.newest = heads[l.chain].Head, newest[l.payment]
		lines[l.place] = LineOf(l.record())
	}
	return nil
}

// listed is a record as a page reads it.
type listed struct {
	direction                  Direction
	at                         time.Time // when it was read
	place                      int       // on its page
	id                         uint64
	chain                      chain.ID
	tx                         string
	net, fee                   chain.Amount
	depths                     depths
	state                      TransferState
	reason                     string
	height                     uint64
	blockAt, seenAt, changedAt int64

	// The live credit or refund: there is one at most, and payment is 0 for none.
	payment  uint64
	purpose  chain.Purpose
	payout   PaymentState
	payoutTx string
	newest   string // hash of its newest attempt, if it is not paid

	head uint64 // of the chain, if the record waits for it
}

func (l *listed) scan(rows *sql.Rows, policy *depths) error {
	var text string
	err := rows.Scan(&l.id, &l.chain, &l.tx, &l.net, &l.fee, &text, &l.state, &l.reason, &l.height, &l.blockAt, &l.seenAt, &l.changedAt,
		&l.payment, &l.purpose, &l.payout, &l.payoutTx)
	if err != nil {
		return err
	}
	if err := policy.read(text); err != nil {
		return fmt.Errorf("the policy of transfer %d: %w", l.id, err)
	}
	l.depths = *policy
	return nil
}

// waits tells whether the record is shown by how far its chain has come.
func (l *listed) waits() bool { return l.state == Seen || l.state == Orphaned }

// unpaid tells whether it has a payment on its way.
func (l *listed) unpaid() bool { return l.payment > 0 && l.payoutTx == "" }

// record is the whole record as far as LineOf looks at it.
func (l *listed) record() Record {
	r := Record{Head: l.head, At: l.at, Transfer: Transfer{
		ID: l.id, Direction: l.direction, Transfer: chain.Transfer{Tx: l.tx}, Net: l.net, Fee: l.fee, State: l.state, Reason: l.reason, Height: l.height,
		BlockAt: timeOrZero(l.blockAt), SeenAt: fromMillis(l.seenAt), ChangedAt: fromMillis(l.changedAt),
		Policy: Policy{DepositConfirmations: l.depths.Deposit, WithdrawConfirmations: l.depths.Withdrawal},
	}}
	if l.payment > 0 {
		r.add(Payment{ID: l.payment, Purpose: l.purpose, State: l.payout, Tx: l.payoutTx}, l.newest)
	}
	return r
}

// depths is what a page needs of a policy. Neighbours mostly share theirs: what was read once is not read again.
type depths struct {
	text       string
	Deposit    Depth `json:"depositConfirmations"`
	Withdrawal Depth `json:"withdrawConfirmations"`
}

func (d *depths) read(text string) error {
	if d.text == text {
		return nil
	}
	*d = depths{text: text}
	return json.Unmarshal([]byte(text), d)
}
