// Package view reads records for people: pages of lines and the public names of states for wallets,
// and searches for operators. It changes nothing.
package view

import (
	"database/sql/driver"
	"fmt"
	"time"

	"github.com/ethereum/go-ethereum/common/lru"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/records/sqlstore"
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
	Payee     string    // receiver of Net on the other ledger; empty when unknown
	Label     string    // of the payee
	RefundTx  string
	Refund    records.PaymentState // empty without a refund
	RefundSum chain.Amount         // in units of the token
	RefundTo  string
	Held      bool // an operator decides

	settled bool // nothing of it changes any more; see settled
}

// LineOf converts a record for wallets.
func LineOf(r *records.Record) Line {
	l := Line{ID: r.ID, Tx: r.Tx, OutTx: r.CreditTx, Net: r.Net, Fee: r.Fee, State: PublicState(r), At: r.BlockAt, Payee: r.Payee, Label: r.PayeeLabel}
	l.Confirmed, l.Wanted = Confirmations(r)
	if l.At.IsZero() {
		l.At = r.SeenAt
	}
	if r.Refund != nil {
		l.RefundTx, l.Refund, l.RefundSum, l.RefundTo = r.RefundTx, r.Refund.State, r.Refund.Amount, r.Refund.Payee
		if r.Direction == records.Deposit { // it pays the asset, which has decimals of its own
			l.RefundSum, _, _ = l.RefundSum.Rescale(r.Policy.AssetDecimals, r.Policy.Decimals) // zero is unknown
		}
	}
	l.Held = OutcomeOf(r) == string(records.Held)
	l.settled = settled(r)
	return l
}

// Pages reads pages of wallets and caches data for the next read. It is safe for use by many
// goroutines; each store needs one of its own.
type Pages struct {
	frozen *frozenCache
	cache  *lru.Cache[wallet, []Line] // see settled
}

// NewPages makes pages of a store of which nothing is kept yet.
func NewPages() *Pages {
	return &Pages{&frozenCache{lru.NewCache[string, frozen](knownPolicies)}, lru.NewCache[wallet, []Line](maxCached)}
}

// maxPage bounds what one page shows.
const maxPage = 1000

// Page returns a wallet's records of one token and direction, newest first, and how many there are
// in all. Orphaned withdrawals are left out: nothing was received. limit is cut to 1..1000. The
// lines are for reading only: others may be reading them too.
func (v *Pages) Page(tx *records.Tx, network, token, owner string, d records.Direction, offset, limit int) ([]Line, int, error) {
	if !sqlstore.Storable(token) || !sqlstore.Storable(owner) {
		return nil, 0, nil // no row holds such a text
	}
	p := page{Pages: v, tx: tx, wallet: wallet{network, token, owner, d}, offset: max(offset, 0), limit: min(max(limit, 1), maxPage)}
	p.args = []any{network, token, owner, string(d)}
	if d == records.Withdrawal {
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
		t.payee, t.payee_label, COALESCE(p.id, 0), COALESCE(p.purpose, ''), COALESCE(p.state, ''), COALESCE(p.tx, ''), COALESCE(p.amount, ''), COALESCE(p.payee, '')
		FROM transfers t LEFT JOIN payments p ON p.transfer_id = t.id AND p.purpose <> 'receive' AND p.state <> 'void'`
	pageWhere = ` WHERE t.network = ? AND t.token = ? AND t.owner = ? AND t.direction = ?`
)

// wallet is whose records a page lists.
type wallet struct {
	network, token, owner string
	direction             records.Direction
}

// page is one reading of a page. Wallets ask for it all day, so it reads only what they are shown:
// one query, and others only for records that are still on their way.
type page struct {
	*Pages
	tx *records.Tx
	wallet
	offset, limit int
	but           string // what is left out, behind pageWhere
	args          []any  // of pageWhere

	out  []Line
	open []listed // records on their way, whose lines are not complete
	more bool     // there are records behind the page

	// Room for what a line is made of; each line uses it again.
	record  records.Record
	payment records.Payment
}

func (p *page) read() (total int, err error) {
	if kept := p.known(); kept != nil {
		err = p.readChanged(kept)
	} else {
		err = p.readAll()
	}
	if err != nil {
		return 0, err
	}
	total = p.offset + len(p.out)
	if p.more || len(p.out) == 0 && p.offset > 0 { // else the page is the last one and determines the total
		if err := p.tx.SQL().One(&total, `SELECT COUNT(*) FROM transfers t`+pageWhere+p.but, p.args...); err != nil {
			return 0, err
		}
	}
	return total, p.finish()
}

// readAll reads the page's lines, and one row more to detect whether there are others. An offset is
// counted in the index alone, so that a far page reads no rows on its way.
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
	return p.tx.SQL().Rows(query, args, func(row []driver.Value) error {
		l = listed{direction: p.direction}
		err := l.read(row, p.frozen)
		if err == nil {
			f(&l)
		}
		return err
	})
}

// put makes the line of a record at its place.
func (p *page) put(l *listed, place int) {
	p.out[place] = p.line(l)
	if l.waits() || l.unpaid() {
		l.place = place
		p.open = append(p.open, *l)
	}
}

// usualPage is the largest page that wallets request.
const usualPage = 30

// finish completes the lines of records on their way: how far their chain has come, and the newest
// attempt of a payment that is not paid.
func (p *page) finish() (err error) {
	var unpaid []uint64
	var heads map[chain.ID]records.Cursor
	for _, l := range p.open {
		if l.unpaid() {
			unpaid = append(unpaid, l.id)
		}
		if heads == nil && l.waits() {
			if heads, err = p.tx.Chains().Heads(); err != nil {
				return err
			}
		}
	}
	var newest map[uint64]string
	if len(unpaid) > 0 {
		if newest, err = p.tx.Slots().NewestAttempts(unpaid); err != nil {
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
	direction                  records.Direction
	place                      int // on its page
	id                         uint64
	chain                      chain.ID
	tx                         string
	net, fee                   chain.Amount
	frozen                     frozen
	state                      records.TransferState
	reason                     records.Reason
	height                     uint64
	blockAt, seenAt, changedAt int64
	payee, label               string

	// The live credit or refund: there is one at most, and payment is 0 for none.
	payment     uint64
	purpose     chain.Purpose
	payout      records.PaymentState
	payoutTx    string
	refund      chain.Amount // of a refund
	payoutPayee string
	newest      string // hash of its newest attempt, if it is not paid

	head uint64 // of the chain, if the record waits for it
}

// read takes over a row, whose columns hold what they are declared to.
func (l *listed) read(row []driver.Value, known *frozenCache) (err error) {
	number := func(i int) uint64 { return uint64(row[i].(int64)) }
	text := func(i int) string { return row[i].(string) }
	l.id, l.chain, l.tx = number(0), chain.ID(text(1)), text(2)
	if l.net, err = chain.ParseAmount(text(3)); err != nil {
		return err
	}
	if l.fee, err = chain.ParseAmount(text(4)); err != nil {
		return err
	}
	l.state, l.reason, l.height = records.TransferState(text(6)), records.Reason(text(7)), number(8)
	l.blockAt, l.seenAt, l.changedAt = int64(number(9)), int64(number(10)), int64(number(11))
	l.payee, l.label = text(12), text(13)
	l.payment, l.purpose, l.payout, l.payoutTx, l.payoutPayee = number(14), chain.Purpose(text(15)), records.PaymentState(text(16)), text(17), text(19)
	if l.purpose == chain.Refund {
		if l.refund, err = chain.ParseAmount(text(18)); err != nil {
			return err
		}
	}
	if l.frozen, err = known.of(text(5)); err != nil { // what the record froze of its policy
		return fmt.Errorf("the policy of transfer %d: %w", l.id, err)
	}
	return nil
}

// waits reports whether the record is shown by how far its chain has come.
func (l *listed) waits() bool { return l.state == records.Seen || l.state == records.Orphaned }

// unpaid reports whether it has a payment on its way.
func (l *listed) unpaid() bool { return l.payment > 0 && l.payoutTx == "" }

// line converts a record for wallets; it builds only the parts of the record that LineOf reads.
func (p *page) line(l *listed) Line {
	r := &p.record
	*r = records.Record{Head: l.head, At: p.tx.SQL().Now()}
	r.ID, r.Direction, r.Tx, r.Net, r.Fee, r.State, r.Reason, r.Height = l.id, l.direction, l.tx, l.net, l.fee, l.state, l.reason, l.height
	r.BlockAt, r.SeenAt, r.ChangedAt = sqlstore.TimeOrZero(l.blockAt), sqlstore.FromMillis(l.seenAt), sqlstore.FromMillis(l.changedAt)
	r.Payee, r.PayeeLabel = l.payee, l.label
	r.Policy.DepositConfirmations, r.Policy.WithdrawConfirmations = l.frozen.Deposit, l.frozen.Withdrawal
	r.Policy.Decimals, r.Policy.AssetDecimals = l.frozen.Decimals, l.frozen.AssetDecimals
	if l.payment > 0 {
		p.payment = records.Payment{ID: l.payment, Purpose: l.purpose, State: l.payout, Tx: l.payoutTx, Amount: l.refund, Payee: l.payoutPayee}
		r.Add(&p.payment, l.newest)
	}
	return LineOf(r)
}
