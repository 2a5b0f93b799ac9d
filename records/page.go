package records

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/ethereum/go-ethereum/common/lru"

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
func LineOf(r *Record) Line {
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

	// Room for what a line is made of; each line uses it again.
	record  Record
	payment Payment
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
	lines = make([]Line, 0, min(p.limit, usualPage))
	var l listed // here, because what is scanned into lies on the heap
	for rows.Next() {
		l = listed{direction: d, place: len(lines)}
		if err := l.scan(rows, p.tx.depths); err != nil {
			return nil, nil, err
		}
		lines = append(lines, p.line(&l))
		if l.waits() || l.unpaid() {
			open = append(open, l)
		}
	}
	return lines, open, rows.Err()
}

// usualPage is what wallets ask for at most.
const usualPage = 30

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
		lines[l.place] = p.line(&l)
	}
	return nil
}

// listed is a record as a page reads it.
type listed struct {
	direction                  Direction
	place                      int // on its page
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

func (l *listed) scan(rows *sql.Rows, known *depthCache) error {
	var text string
	err := rows.Scan(&l.id, &l.chain, &l.tx, &l.net, &l.fee, &text, &l.state, &l.reason, &l.height, &l.blockAt, &l.seenAt, &l.changedAt,
		&l.payment, &l.purpose, &l.payout, &l.payoutTx)
	if err != nil {
		return err
	}
	if l.depths, err = known.of(text); err != nil {
		return fmt.Errorf("the policy of transfer %d: %w", l.id, err)
	}
	return nil
}

// waits tells whether the record is shown by how far its chain has come.
func (l *listed) waits() bool { return l.state == Seen || l.state == Orphaned }

// unpaid tells whether it has a payment on its way.
func (l *listed) unpaid() bool { return l.payment > 0 && l.payoutTx == "" }

// line is what wallets are told of a record; as much of the whole record is put together for it as LineOf looks at.
func (p *page) line(l *listed) Line {
	r := &p.record
	*r = Record{Head: l.head, At: p.tx.now}
	r.ID, r.Direction, r.Tx, r.Net, r.Fee, r.State, r.Reason, r.Height = l.id, l.direction, l.tx, l.net, l.fee, l.state, l.reason, l.height
	r.BlockAt, r.SeenAt, r.ChangedAt = timeOrZero(l.blockAt), fromMillis(l.seenAt), fromMillis(l.changedAt)
	r.Policy.DepositConfirmations, r.Policy.WithdrawConfirmations = l.depths.Deposit, l.depths.Withdrawal
	if l.payment > 0 {
		p.payment = Payment{ID: l.payment, Purpose: l.purpose, State: l.payout, Tx: l.payoutTx}
		r.add(&p.payment, l.newest)
	}
	return LineOf(r)
}

// depths is what a page needs of a policy.
type depths struct {
	Deposit    Depth `json:"depositConfirmations"`
	Withdrawal Depth `json:"withdrawConfirmations"`
}

// depthCache keeps the depths of policies by their texts: there are few policies and many records.
type depthCache struct{ known *lru.Cache[string, depths] }

// knownPolicies bounds the memory of a depthCache: a text has some 300 bytes. A token whose fee follows the network has a policy for each cost.
const knownPolicies = 1000

func newDepthCache() *depthCache { return &depthCache{lru.NewCache[string, depths](knownPolicies)} }

func (c *depthCache) of(policy string) (depths, error) {
	if d, ok := c.known.Get(policy); ok {
		return d, nil
	}
	var d depths
	if err := json.Unmarshal([]byte(policy), &d); err != nil {
		return depths{}, err
	}
	c.known.Add(policy, d)
	return d, nil
}
