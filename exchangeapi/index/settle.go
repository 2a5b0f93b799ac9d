package index

import (
	"fmt"
	"slices"

	"gatewayd/vite/core"
)

// blockRow is a row of ex_blocks.
type blockRow struct {
	Height uint64 `db:"height"`
	Hash   string `db:"hash"`
	Send   string `db:"send"`
	Relay  string `db:"relay"`
	OK     bool   `db:"ok"`
	Clock  int64  `db:"clock"`
	// Cancels is the order whose cancel dexFund passed on.
	Cancels string `db:"cancels"`
}

const (
	blockColumns = "height, hash, send, relay, ok, clock, cancels"
	blockWidth   = 8 // with the contract
)

func (r *blockRow) appendColumns(values []any, c contract) []any {
	return append(values, string(c), r.Height, r.Hash, r.Send, r.Relay, flag(r.OK), r.Clock, r.Cancels)
}

func (a *applier) saveBlock(c contract, b *block) {
	row := &blockRow{
		Height: b.height, Hash: b.hash.String(), Send: hashOrNone(b.send), Relay: hashOrNone(b.relay), OK: b.ok, Cancels: hashOrNone(b.asked.cancel),
	}
	if c == fund {
		row.Clock = a.clock
	}
	a.blockRows[c] = append(a.blockRows[c], row)
	if row.Send != "" {
		a.receivers[c][row.Send] = row
	}
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

// receipt returns a contract's receive of a send. It is nil before the receive, and long after it.
func (a *applier) receipt(c contract, send string) (*blockRow, error) {
	if row, known := a.receivers[c][send]; known {
		return row, nil
	}
	var row blockRow
	found, err := a.one(&row, "SELECT "+blockColumns+" FROM ex_blocks WHERE contract = ? AND send = ? LIMIT 1", c, send)
	if err != nil || !found {
		return nil, err
	}
	return &row, nil
}

// relayed reports whether dexTrade refused what a block of dexFund passed on to it.
func (a *applier) relayed(f *blockRow) (refused bool, err error) {
	if f.Relay == "" {
		return false, nil
	}
	r, err := a.receipt(trade, f.Relay)
	return r != nil && !r.OK, err
}

// settleOrder updates an order from the stored blocks that received its send. An order that is in
// no contract and in no note is deleted.
func (a *applier) settleOrder(o *orderRow) error {
	f, err := a.receipt(fund, o.ID)
	if err != nil {
		return fmt.Errorf("finding who received order %s: %w", o.ID, err)
	}
	switch {
	case f == nil && o.Placed > 0: // received long ago, or its block was taken back before that of dexTrade
		return nil
	case f == nil && o.Noted == 0:
		a.discard(o)
		return nil
	case f == nil:
		o.Received, o.ReceivedAt, o.Refused, o.Created = 0, 0, false, o.Noted
		a.changed(o)
		return nil
	}
	refused, err := a.relayed(f)
	if err != nil {
		return fmt.Errorf("finding what became of order %s: %w", o.ID, err)
	}
	before := o.publicStatus()
	if o.Received = 0; f.OK {
		o.Received = f.Height
	}
	if o.Refused = !f.OK || refused; o.over() {
		o.Cancel = ""
	}
	if o.Placed > 0 && before == o.publicStatus() {
		a.save(o) // nothing to see
		return nil
	}
	a.changed(o)
	return nil
}

// settleCancel forgets a cancel request that a contract refused: the order shows its true state
// again.
func (a *applier) settleCancel(request string) error {
	o, err := a.cancelledBy(request)
	if err != nil || o == nil {
		return err
	}
	return a.settleRequest(o, request)
}

// cancelledBy is the order whose undecided cancel request this is; nil if there is none.
func (a *applier) cancelledBy(request string) (*orderRow, error) {
	for o := range a.written {
		if o.Cancel == request {
			return o, nil
		}
	}
	var row orderRow
	found, err := a.one(&row, orderByCancel, request)
	if err != nil || !found {
		return nil, err
	}
	o := a.track(&row)
	if o.Cancel != request {
		return nil, nil
	}
	return o, nil
}

// settleRequest brings the cancel request that an order shows in line with the stored blocks: one
// that was refused gives way to another that waits.
func (a *applier) settleRequest(o *orderRow, request string) error {
	if o.over() || o.Cancel != "" && o.Cancel != request {
		return nil
	}
	refused, err := a.cancelRefused(request)
	if err != nil || o.Cancel == request && !refused {
		return err
	}
	if o.Cancel, err = a.pending(o.ID); err != nil {
		return fmt.Errorf("finding requests to cancel order %s: %w", o.ID, err)
	}
	a.changedIfSeen(o)
	return nil
}

// requestsToCancel lists the blocks of dexFund that passed on cancels of an order, newest first.
const requestsToCancel = "SELECT " + blockColumns + " FROM ex_blocks WHERE cancels = ? AND cancels <> '' ORDER BY height DESC"

// pending is the newest request to cancel an order that dexFund passed on and dexTrade has not
// decided; empty without one.
func (a *applier) pending(id string) (string, error) {
	var rows []blockRow
	if err := a.list(&rows, requestsToCancel, id); err != nil {
		return "", err
	}
	requests := make([]*blockRow, 0, len(rows))
	for _, row := range slices.Backward(a.blockRows[fund]) {
		if row.Cancels == id {
			requests = append(requests, row)
		}
	}
	for i := range rows {
		requests = append(requests, &rows[i])
	}
	for _, f := range requests {
		if decided, err := a.receipt(trade, f.Relay); err != nil || decided == nil {
			return f.Send, err
		}
	}
	return "", nil
}

// cancelRefused reads dexFund's receive of a request, and dexTrade's receive of the resulting send,
// or of the request itself.
func (a *applier) cancelRefused(request string) (bool, error) {
	f, err := a.receipt(fund, request)
	if err != nil {
		return false, err
	}
	if f != nil {
		refused, err := a.relayed(f)
		return !f.OK || refused, err
	}
	r, err := a.receipt(trade, request)
	return r != nil && !r.OK, err
}

// failure follows a failed block of dexTrade back to the user's send: an order that could not be
// matched, or a cancel.
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
	f, err := a.receipt(fund, root)
	if err != nil {
		return err
	}
	if f != nil && f.Cancels != "" {
		if o, err = a.order(f.Cancels); err != nil || o == nil {
			return err
		}
		return a.settleRequest(o, root)
	}
	return a.settleCancel(root)
}

// rootOfRelay finds the block of dexFund that passed something on.
const rootOfRelay = "SELECT " + blockColumns + " FROM ex_blocks WHERE contract = 'fund' AND relay = ? AND relay <> '' LIMIT 1"

// root is the user's send that led to a send received by dexTrade.
func (a *applier) root(send string) (string, error) {
	for _, row := range slices.Backward(a.blockRows[fund]) {
		if row.Relay == send {
			return row.Send, nil
		}
	}
	var row blockRow
	found, err := a.one(&row, rootOfRelay, send)
	if err != nil || !found {
		return send, err
	}
	return row.Send, nil
}
