package records

import (
	"database/sql"
	"database/sql/driver"
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

	settled bool // nothing of it changes any more; see settledCache
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
	l.settled = r.settled()
	return l
}

// Page answers a wallet's records of one token and direction, newest first, and how many there are in all. Orphaned withdrawals are left out:
// nothing was received. limit is cut to 1..1000. The lines are for reading only: others may be reading them too.
func (tx *Tx) Page(network, token, owner string, d Direction, offset, limit int) ([]Line, int, error) {
	if !storable(token) || !storable(owner) {
		return nil, 0, nil // no row holds such a text
	}
	p := page{tx: tx, wallet: wallet{network, token, owner, d}, offset: max(offset, 0), limit: clampLimit(limit)}
	p.args = []any{network, token, owner, string(d)}
	if d == Withdrawal {
		p.but = ` AND t.state <> 'orphaned'`
	}
	total, err := p.read()
	if err != nil {
		return nil, 0, fmt.Errorf("reading the %s records of %s: %w", d, owner, err)
	}
	return p.out, total, nil
}

const (
	pageSelect = `SELECT t.id, t.chain, t.tx, t.net, t.fee, t.policy, t.state, t.reason, t.height, t.block_at, t.seen_at, t.changed_at,
		COALESCE(p.id, 0), COALESCE(p.purpose, ''), COALESCE(p.state, ''), COALESCE(p.tx, '')
		FROM transfers t LEFT JOIN payments p ON p.transfer_id = t.id AND p.purpose <> 'receive' AND p.state <> 'void'`
	pageWhere = ` WHERE t.network = ? AND t.token = ? AND t.owner = ? AND t.direction = ?`
)

// wallet is whose records a page lists.
type wallet struct {
	network, token, owner string
	direction             Direction
}

// page is one reading of a page. Wallets ask for it all day, so it reads only what they are shown: one query, and others only for records that
// are still on their way.
type page struct {
	tx *Tx
	wallet
	offset, limit int
	but           string // what is left out, behind pageWhere
	args          []any  // of pageWhere

	out  []Line
	open []listed // records on their way, whose lines are not complete
	more bool     // there are records behind the page

	// Room for what a line is made of; each line uses it again.
	record  Record
	payment Payment
}

func (p *page) read() (total int, err error) {
	if kept := p.kept(); kept != nil {
		err = p.readChanged(kept)
	} else {
		err = p.readAll()
	}
	if err != nil {
		return 0, err
	}
	total = p.offset + len(p.out)
	if p.more || len(p.out) == 0 && p.offset > 0 { // else the page is the last one and tells the total
		if err := p.tx.one(&total, `SELECT COUNT(*) FROM transfers t`+pageWhere+p.but, p.args...); err != nil {
			return 0, err
		}
	}
	return total, p.finish()
}

// readAll reads the page's lines, and one row more to tell whether there are others. An offset is counted in the index alone, so that a far page
// reads no rows on its way.
func (p *page) readAll() error {
	query, args := pageSelect+pageWhere+p.but+` ORDER BY t.id DESC LIMIT ? + 0`, append(p.args[:len(p.args):len(p.args)], int64(p.limit)+1)
	if p.offset > 0 {
		query = pageSelect + ` WHERE t.id IN (SELECT t.id FROM transfers t` + pageWhere + p.but + ` ORDER BY t.id DESC LIMIT ? + 0 OFFSET ?) ORDER BY t.id DESC`
		args = append(args, int64(p.offset))
	}
	p.out = make([]Line, 0, min(p.limit, usualPage))
	err := p.rows(query, args, func(l *listed) {
		if p.more = len(p.out) == p.limit; !p.more {
			p.out = append(p.out, Line{})
			p.put(l, len(p.out)-1)
		}
	})
	p.keep()
	return err
}

// rows hands each row of a query that begins with pageSelect to f.
func (p *page) rows(query string, args []any, f func(*listed)) error {
	var l listed
	if p.tx.rawRead != nil {
		return p.tx.rawRead.rows(query, args, func(row []driver.Value) error {
			l = listed{direction: p.direction}
			err := l.read(row, p.tx.depths)
			if err == nil {
				f(&l)
			}
			return err
		})
	}
	rows, err := p.tx.tx.QueryContext(p.tx.ctx, p.tx.tx.Rebind(query), args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		l = listed{direction: p.direction}
		if err := l.scan(rows, p.tx.depths); err != nil {
			return err
		}
		f(&l)
	}
	return rows.Err()
}

// put makes the line of a record at its place.
func (p *page) put(l *listed, place int) {
	p.out[place] = p.line(l)
	if l.waits() || l.unpaid() {
		l.place = place
		p.open = append(p.open, *l)
	}
}

// usualPage is what wallets ask for at most.
const usualPage = 30

// finish completes the lines of records on their way: how far their chain has come, and the newest attempt of a payment that is not paid.
func (p *page) finish() (err error) {
	var unpaid []uint64
	var heads map[chain.ID]Cursor
	for _, l := range p.open {
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
	for _, l := range p.open {
		l.head, l.newest = heads[l.chain].Head, newest[l.payment]
		p.out[l.place] = p.line(&l)
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
	return l.freeze(text, known)
}

// read is scan of a row of SQLite, whose columns hold what they are declared to.
func (l *listed) read(row []driver.Value, known *depthCache) (err error) {
	number := func(i int) uint64 { return uint64(row[i].(int64)) }
	text := func(i int) string { return row[i].(string) }
	l.id, l.chain, l.tx = number(0), chain.ID(text(1)), text(2)
	if l.net, err = chain.ParseAmount(text(3)); err != nil {
		return err
	}
	if l.fee, err = chain.ParseAmount(text(4)); err != nil {
		return err
	}
	l.state, l.reason, l.height = TransferState(text(6)), text(7), number(8)
	l.blockAt, l.seenAt, l.changedAt = int64(number(9)), int64(number(10)), int64(number(11))
	l.payment, l.purpose, l.payout, l.payoutTx = number(12), chain.Purpose(text(13)), PaymentState(text(14)), text(15)
	return l.freeze(text(5), known)
}

// freeze takes over what the record froze of its policy.
func (l *listed) freeze(policy string, known *depthCache) (err error) {
	if l.depths, err = known.of(policy); err != nil {
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

// Public names of record states, as wallets know them. "Opposite" is the source chain, "TOT" the
// token on the exchange chain.
const (
	OppositeProcessing    = "OPPOSITE_PROCESSING"
	OppositeConfirmed     = "OPPOSITE_CONFIRMED"
	OppositeConfirmedFail = "OPPOSITE_CONFIRMED_FAIL"
	BelowMinimum          = "BELOW_MINIMUM"
	TotProcessing         = "TOT_PROCESSING"
	TotConfirmed          = "TOT_CONFIRMED"
	TotExceedTheLimit     = "TOT_EXCEED_THE_LIMIT"
	WrongWithdrawAddress  = "WRONG_WITHDRAW_ADDRESS"
	Failed                = "FAILED"
)

// goneFor is how long a transfer must be missing from the line, at least, before wallets are told that it failed (docs/records.md#what-wallets-are-told).
const goneFor = 24 * time.Hour

// PublicState is what wallets are told about a deposit or a withdrawal; docs/records.md has the table.
func PublicState(r *Record) string {
	if r.Direction == Withdrawal {
		return withdrawalState(r)
	}
	return depositState(r)
}

func depositState(r *Record) string {
	switch r.State {
	case Seen:
		return OppositeProcessing
	case Orphaned:
		if r.gone() {
			return OppositeConfirmedFail
		}
		return OppositeProcessing
	case Refused:
		switch r.Reason {
		case ReasonFailed:
			return OppositeConfirmedFail
		case ReasonBelowMinimum:
			return BelowMinimum
		}
		return Failed
	}
	return r.payout(OppositeConfirmed, TotProcessing, TotConfirmed)
}

func withdrawalState(r *Record) string {
	switch r.State {
	case Seen, Orphaned:
		return TotProcessing
	case Refused:
		switch r.Reason {
		case ReasonWrongAddress, ReasonWrongComment:
			return WrongWithdrawAddress
		case ReasonOverMaximum:
			return TotExceedTheLimit
		}
		return Failed
	}
	return r.payout(TotConfirmed, OppositeProcessing, OppositeConfirmed)
}

// payout tells how far the credit is: not signed yet, sent, or final.
func (r *Record) payout(waiting, sent, done string) string {
	switch {
	case r.Credit != nil && r.Credit.State == Paid:
		return done
	case r.CreditTx != "":
		return sent
	}
	return waiting
}

// gone tells whether an orphaned transfer has been missing for twice its confirmations and for a day.
func (r *Record) gone() bool {
	return r.At.Sub(r.ChangedAt) > goneFor && r.Head > r.Height+2*r.depth().Count
}

func (r *Record) depth() Depth {
	if r.Direction == Withdrawal {
		return r.Policy.WithdrawConfirmations
	}
	return r.Policy.DepositConfirmations
}

// Confirmations is how many blocks confirm the transfer and how many are wanted, as wallets show it: "have of want".
func Confirmations(r *Record) (have, want uint64) {
	want = r.depth().Count
	switch {
	case r.State == Orphaned:
		return 0, want
	case r.State != Seen:
		return want, want
	case r.Head < r.Height:
		return 0, want
	}
	return min(r.Head-r.Height+1, want), want
}
