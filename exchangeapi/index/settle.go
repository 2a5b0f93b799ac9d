package index

import (
	"fmt"

	"gatewayd/chain/vite/core"
)

// blockRow is a row of ex_blocks.
type blockRow struct {
	Height uint64 `db:"height"`
	Hash   string `db:"hash"`
	Send   string `db:"send"`
	Relay  string `db:"relay"`
	OK     bool   `db:"ok"`
	Clock  int64  `db:"clock"`
}

const blockColumns = "height, hash, send, relay, ok, clock"

func (a *applier) saveBlock(c contract, b *block) error {
	ok, clock := 0, int64(0)
	if b.ok {
		ok = 1
	}
	if c == fund {
		clock = a.clock
	}
	return a.exec("INSERT INTO ex_blocks (contract, "+blockColumns+") VALUES (?, ?, ?, ?, ?, ?, ?)",
		c, b.height, b.hash.String(), hashOrNone(b.send), hashOrNone(b.relay), ok, clock)
}

func hashOrNone(h core.Hash) string {
	if h.IsZero() {
		return ""
	}
	return h.String()
}

// tip is the newest stored block of a contract; the zero value if there is none.
func (t *tx) tip(c contract) (row blockRow, err error) {
	_, err = t.one(&row, "SELECT "+blockColumns+" FROM ex_blocks WHERE contract = ? ORDER BY height DESC LIMIT 1", c)
	return row, err
}

// receipt is how a contract received a send; nil while it has not, or did long ago.
func (t *tx) receipt(c contract, send string) (*blockRow, error) {
	var row blockRow
	found, err := t.one(&row, "SELECT "+blockColumns+" FROM ex_blocks WHERE contract = ? AND send = ? LIMIT 1", c, send)
	if err != nil || !found {
		return nil, err
	}
	return &row, nil
}

// relayed tells whether dexTrade refused what a block of dexFund passed on to it.
func (t *tx) relayed(f *blockRow) (refused bool, err error) {
	if f.Relay == "" {
		return false, nil
	}
	r, err := t.receipt(trade, f.Relay)
	return r != nil && !r.OK, err
}

// settleOrder brings an order in line with the stored blocks that received its send. An order that neither a contract nor we
// know of any more is deleted.
func (a *applier) settleOrder(o *orderRow) error {
	f, err := a.receipt(fund, o.ID)
	if err != nil {
		return fmt.Errorf("finding who received order %s: %w", o.ID, err)
	}
	switch {
	case f == nil && o.Placed > 0: // received long ago, or its block was taken back before that of dexTrade
		return nil
	case f == nil && o.Noted == 0:
		return a.exec("DELETE FROM ex_orders WHERE id = ?", o.ID)
	case f == nil:
		o.Received, o.ReceivedAt, o.Refused, o.Created = 0, 0, false, o.Noted
		return a.changed(o)
	}
	refused, err := a.relayed(f)
	if err != nil {
		return fmt.Errorf("finding what became of order %s: %w", o.ID, err)
	}
	before := o.publicStatus()
	if o.Received = 0; f.OK {
		o.Received = f.Height
	}
	o.Refused = !f.OK || refused
	if o.Placed > 0 && before == o.publicStatus() {
		return a.save(o) // nothing to see
	}
	return a.changed(o)
}

// settleCancel forgets a cancel request that a contract refused: the order shows its true state again.
func (a *applier) settleCancel(request string) error {
	var o orderRow
	found, err := a.one(&o, orderByCancel, request)
	if err != nil || !found {
		return err
	}
	refused, err := a.cancelRefused(request)
	if err != nil || !refused {
		return err
	}
	o.Cancel = ""
	return a.changed(&o)
}

// cancelRefused looks at dexFund's receipt of a request and at dexTrade's of what dexFund passed on, or of the request itself.
func (t *tx) cancelRefused(request string) (bool, error) {
	f, err := t.receipt(fund, request)
	if err != nil {
		return false, err
	}
	if f != nil {
		refused, err := t.relayed(f)
		return !f.OK || refused, err
	}
	r, err := t.receipt(trade, request)
	return r != nil && !r.OK, err
}

// decided looks whether a block of dexFund received a cancel request of ours.
func (a *applier) decided(b *block) error {
	if b.send.IsZero() {
		return nil
	}
	return a.settleCancel(b.send.String())
}

// failure follows a failed block of dexTrade back to the user's send: an order that could not be matched, or a cancel.
func (a *applier) failure(b *block) error {
	if b.ok || b.send.IsZero() {
		return nil
	}
	root, err := a.root(b.send.String())
	if err != nil {
		return err
	}
	return a.settleRoot(root)
}

func (a *applier) settleRoot(root string) error {
	o, err := a.order(root)
	if err != nil {
		return err
	}
	if o != nil && o.Placed == 0 {
		return a.settleOrder(o)
	}
	return a.settleCancel(root)
}

// root is the user's send that led to a send received by dexTrade.
func (t *tx) root(send string) (string, error) {
	var row blockRow
	found, err := t.one(&row, "SELECT "+blockColumns+" FROM ex_blocks WHERE contract = 'fund' AND relay = ? LIMIT 1", send)
	if err != nil || !found {
		return send, err
	}
	return row.Send, nil
}
