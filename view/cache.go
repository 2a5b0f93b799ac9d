package view

import (
	"database/sql/driver"
	"encoding/json"
	"strconv"

	"github.com/ethereum/go-ethereum/common/lru"

	"gatewayd/policy"
	"gatewayd/records"
)

// maxCached bounds the memory: a page has 30 lines at most, a line some 600 bytes.
const maxCached = 4096

// settled reports whether the record is final and its payment paid: its line is kept with the first
// page that its wallet was shown. What may still change is read each time. Only SQLite's lines are
// kept: a server's standby that takes over may have lost commits that were read already, and give
// an id again. The guards of the database let nothing change then that a line shows, but the state
// and the time of the block (docs/adr/002-records-one-writer.md).
func settled(r *records.Record) bool {
	paid := r.Credit != nil && r.Credit.State == records.Paid || r.Refund != nil && r.Refund.State == records.Paid
	return paid && r.State == records.Final && !r.BlockAt.IsZero()
}

// known returns the cached lines of the page; nil if it has to be read.
func (p *page) known() []Line {
	if !p.keeps() {
		return nil
	}
	lines, _ := p.cache.Get(p.wallet)
	return lines
}

func (p *page) keeps() bool { return p.tx.SQL().Raw() && p.offset == 0 && p.limit <= usualPage }

// keep keeps the page if there is something to keep.
func (p *page) keep() {
	if !p.keeps() {
		return
	}
	for i := range p.out {
		if p.out[i].settled {
			p.cache.Add(p.wallet, p.out)
			return
		}
	}
}

// mark is the index's data of a record.
type mark struct {
	row     int64 // SQLite's own name of the row
	id      uint64
	final   bool
	blockAt int64
}

const (
	pageMarks      = `SELECT t.rowid, t.id, t.state = 'final', t.block_at FROM transfers t`
	pageMarksOrder = ` ORDER BY t.id DESC LIMIT ? + 0`
	// The plus signs keep SQLite from using the index, which would scan all records of the wallet.
	pageOfRows = ` WHERE t.rowid IN (SELECT value FROM json_each(?)) AND +t.network = ? AND +t.token = ? AND +t.owner = ? AND +t.direction = ?`
)

// readChanged reads the page's lines except the cached ones. The index shows which records exist,
// and whether the cached ones have changed.
func (p *page) readChanged(kept []Line) error {
	marks, err := p.marks()
	if err != nil {
		return err
	}
	p.out = make([]Line, len(marks))
	var missing []byte
	places := map[uint64]int(nil)
	for i, m := range marks {
		for len(kept) > 0 && kept[0].ID > m.id {
			kept = kept[1:]
		}
		if len(kept) > 0 && m.is(&kept[0]) {
			p.out[i] = kept[0]
			continue
		}
		if places == nil {
			places = make(map[uint64]int, len(marks))
		}
		places[m.id] = i
		missing = strconv.AppendInt(append(missing, ','), m.row, 10)
	}
	if missing == nil {
		return nil
	}
	return p.readMissing(missing, places)
}

// is reports whether the record's line is still this one.
func (m mark) is(l *Line) bool {
	return l.settled && l.ID == m.id && m.final && l.At.UnixMilli() == m.blockAt
}

// readMissing reads the rows of a comma-prefixed list into their places. If one of them no longer
// belongs to the wallet since the marks were read, it reads the complete page.
func (p *page) readMissing(list []byte, places map[uint64]int) error {
	list[0] = '['
	args := append([]any{string(append(list, ']'))}, p.args...)
	found := 0
	err := p.rows(pageSelect+pageOfRows+p.but, args, func(l *listed) {
		found++
		p.put(l, places[l.id])
	})
	if err == nil && found != len(places) {
		p.open = nil
		return p.readAll()
	}
	p.keep()
	return err
}

// marks reads which records are on the page, newest first, as they are at this moment.
func (p *page) marks() ([]mark, error) {
	args := append(p.args[:len(p.args):len(p.args)], int64(p.limit)+1)
	marks := make([]mark, 0, p.limit+1)
	err := p.tx.SQL().RowsNow(pageMarks+pageWhere+p.but+pageMarksOrder, args, func(row []driver.Value) error {
		marks = append(marks, mark{row[0].(int64), uint64(row[1].(int64)), row[2].(int64) == 1, row[3].(int64)})
		return nil
	})
	if p.more = len(marks) > p.limit; p.more {
		marks = marks[:p.limit]
	}
	return marks, err
}

// frozen contains the fields of a policy that a page needs.
type frozen struct {
	Deposit       policy.Depth `json:"depositConfirmations"`
	Withdrawal    policy.Depth `json:"withdrawConfirmations"`
	Decimals      uint8        `json:"decimals"`
	AssetDecimals uint8        `json:"assetDecimals"`
}

// frozenCache keeps these fields by the texts of policies: there are few policies and many records.
type frozenCache struct{ known *lru.Cache[string, frozen] }

// knownPolicies bounds the memory of a frozenCache: a text has some 300 bytes. A token whose fee
// follows the network has a policy for each cost.
const knownPolicies = 1000

func (c *frozenCache) of(policy string) (frozen, error) {
	if f, ok := c.known.Get(policy); ok {
		return f, nil
	}
	var f frozen
	if err := json.Unmarshal([]byte(policy), &f); err != nil {
		return frozen{}, err
	}
	c.known.Add(policy, f)
	return f, nil
}
