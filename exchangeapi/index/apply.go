package index

import (
	"errors"
	"fmt"
	"slices"

	"gatewayd/vite/core"
	"gatewayd/vite/dex"
)

// errHistory marks an event that does not fit what is stored: the index does not hold the chain
// from its beginning.
var errHistory = errors.New("the event does not fit the index")

// changes collects the changes of a transaction, for the cache and the subscribers.
type changes struct {
	orders   []orderRow             // each change
	final    map[*orderRow]struct{} // the orders that changed, as they are after the transaction
	trades   []tradeRow
	bars     map[barKey]barRow
	accounts map[core.Address]struct{}
	rules    *rules // as they are after the transaction
	cursors  map[contract]cursor
	undone   bool
	newRules bool // a market or a token was announced
}

func newChanges(r *rules) *changes {
	return &changes{
		bars: map[barKey]barRow{}, accounts: map[core.Address]struct{}{}, cursors: map[contract]cursor{}, rules: r.clone(),
	}
}

// isEmpty reports whether subscribers are to hear of nothing.
func (e *changes) isEmpty() bool {
	return len(e.orders)+len(e.trades)+len(e.bars)+len(e.accounts) == 0 && !e.undone
}

// isNothing reports whether other processes are to hear of nothing either.
func (e *changes) isNothing() bool {
	return e.isEmpty() && len(e.final)+len(e.cursors) == 0 && !e.newRules
}

func (e *changes) touch(accounts ...core.Address) {
	for _, a := range accounts {
		if !a.IsZero() && !a.IsContract() {
			e.accounts[a] = struct{}{}
		}
	}
}

// applier stores blocks in one transaction and gathers the changes.
type applier struct {
	*tx
	*changes
	*writeSet
	clock int64 // of the exchange, after the last block of dexFund
}

// blocks stores consecutive blocks of a contract.
func (a *applier) blocks(c contract, blocks []block) error {
	if err := a.prefetch(c, blocks); err != nil {
		return fmt.Errorf("reading what %d blocks of dex %s are about: %w", len(blocks), c, err)
	}
	for i := range blocks {
		if err := a.block(c, &blocks[i]); err != nil {
			return fmt.Errorf("storing block %d of dex %s: %w", blocks[i].height, c, err)
		}
		a.cursors[c] = cursor{blocks[i].height, blocks[i].hash}
	}
	return nil
}

func (a *applier) block(c contract, b *block) error {
	if c == fund && b.ok && b.asked.clock > 0 {
		a.clock = b.asked.clock
	}
	a.saveBlock(c, b)
	for pos := range b.events {
		if err := a.event(c, b, pos, &b.events[pos]); err != nil {
			return fmt.Errorf("event %d: %w", pos, err)
		}
	}
	a.touchSettled(b)
	if c == trade {
		return a.failure(b)
	}
	return a.asked(b)
}

// touchSettled notes whose balances the block's settlements will change.
func (a *applier) touchSettled(b *block) {
	for _, data := range b.settled {
		var encoded []byte
		if dex.FundSettleOrders.Scan(data, &encoded) != nil {
			continue
		}
		s, err := dex.DecodeSettlement(encoded)
		if err != nil {
			continue
		}
		for i := range s.Accounts {
			a.touch(s.Accounts[i].Owner)
		}
	}
}

// event stores an event. The contract matters: a name means something in one of them only.
func (a *applier) event(c contract, b *block, pos int, e *event) error {
	switch {
	case c == trade && e.placed != nil:
		return a.placed(b, pos, e.placed)
	case c == trade && e.updated != nil:
		return a.updated(b, pos, e.updated)
	case c == trade && e.trade != nil:
		return a.trade(b, pos, e.trade)
	case c == fund && e.market != nil:
		a.rules.addMarket(*e.market)
		a.newRules = true
		return a.announce("ex_markets", b.height, pos, b.logs[pos].Data)
	case c == fund && e.token != nil:
		a.rules.tokens[e.token.ID] = *e.token
		a.newRules = true
		return a.announce("ex_tokens", b.height, pos, b.logs[pos].Data)
	case c == fund && e.grant != nil:
		return a.grant(b, pos, e)
	case c == fund && e.transfer != nil:
		return a.transfer(b, pos, e.transfer)
	}
	return nil
}

func (a *applier) grant(b *block, pos int, e *event) error {
	return a.exec("INSERT INTO ex_grants (height, pos, principal, agent, market, granted) VALUES (?, ?, ?, ?, ?, ?)",
		b.height, pos, e.grant.Principal.String(), e.grant.Agent.String(), e.grant.Market, flag(e.granted))
}

// placed stores a new order, which has been matched already.
func (a *applier) placed(b *block, pos int, p *dex.Placed) error {
	id, name := p.Order.ID, placedName(p)
	o, err := a.order(name)
	if err != nil {
		return err
	}
	if o == nil {
		o = &orderRow{ID: name}
	}
	if o.Placed > 0 {
		return fmt.Errorf("%w: order %s is placed twice", errHistory, o.ID)
	}
	if _, known := a.rules.byID[id.Market()]; !known {
		return fmt.Errorf("market %d: %w", id.Market(), errAhead)
	}
	a.remember(b, pos, o)
	o.InnerID, o.Owner, o.Market = id.String(), p.Order.Owner.String(), id.Market()
	o.Side, o.Type, o.Price = sideNumber(id.Side()), int(p.Order.Type), price{id.Price()}
	o.Quantity, o.Amount = amount{p.Order.Quantity}, amount{p.Order.Amount}
	o.Created, o.Serial, o.Placed = id.Time(), int64(id.Serial()), b.height
	a.touch(p.Order.Owner)
	o.progress = progressOf(&p.Order.Progress)
	if o.Cancel != "" && !o.ended() {
		a.showStatus(o, o.trueStatus()) // a cancel was asked for before it stood in the book
	}
	a.progressed(o)
	return nil
}

// placedName is the id of an order: its send, which orders did not name before an upgrade of the
// network.
func placedName(p *dex.Placed) string {
	if p.Order.SendHash.IsZero() {
		return p.Order.ID.String()
	}
	return p.Order.SendHash.String()
}

// errAhead marks an event of dexTrade that rests on a block of dexFund not yet stored: dexFund is
// read again first.
var errAhead = errors.New("not announced yet")

// progressed stores the new state of an order. Its cancel request is decided when it ends.
func (a *applier) progressed(o *orderRow) {
	if o.ended() {
		o.Cancel = ""
	}
	a.changed(o)
}

// changed stores an order and announces it.
func (a *applier) changed(o *orderRow) {
	a.save(o)
	a.orders = append(a.orders, *o)
}

// changedIfSeen stores an order, and announces it if its status has changed.
func (a *applier) changedIfSeen(o *orderRow) {
	before := o.Status
	if a.save(o); o.Status != before {
		a.orders = append(a.orders, *o)
	}
}

// showStatus shows subscribers a status that an order has passed through.
func (a *applier) showStatus(o *orderRow, s Status) {
	passed := *o
	passed.Status = s
	a.orders = append(a.orders, passed)
}

func (a *applier) updated(b *block, pos int, u *dex.Updated) error {
	o, err := a.inner(u.ID)
	if err != nil {
		return err
	}
	a.remember(b, pos, o)
	before := *o
	o.progress = progressOf(&u.Progress)
	if inBook, now := before.Status == Open || before.Status == PartiallyFilled, o.publicStatus(); inBook && (now == Cancelled || now == PartiallyCancelled) {
		a.showStatus(&before, PendingCancel) // dexTrade was asked directly: an order in the book is cancelled by request only
	}
	a.progressed(o)
	return nil
}

// asked stores what a user's call of dexFund means for lists: an order that now waits for dexTrade
// or failed, a cancel that does, or, on chains that do not announce transfers, a deposit or
// withdrawal.
func (a *applier) asked(b *block) error {
	c := &b.asked
	switch {
	case c.place != nil:
		return a.receivedOrder(b)
	case !c.cancel.IsZero():
		return a.receivedCancel(b)
	case !b.ok && !b.send.IsZero():
		return a.settleCancel(b.send.String())
	case b.ok && c.deposit && !announcesTransfer(b.events):
		return a.saveTransfer(b, len(b.events), b.from, c.token, &c.amount, kindDeposit)
	case b.ok && c.withdrawal && !announcesTransfer(b.events):
		return a.saveTransfer(b, len(b.events), b.from, c.token, &c.amount, kindWithdrawal)
	}
	return nil
}

func announcesTransfer(events []event) bool {
	return slices.ContainsFunc(events, func(e event) bool { return e.transfer != nil })
}

// receivedOrder stores that dexFund took an order's send, as done or as failed. A refused order of
// a market that does not exist has no place in any list.
func (a *applier) receivedOrder(b *block) error {
	p := b.asked.place
	o, err := a.order(p.Hash.String())
	if err != nil {
		return err
	}
	if o == nil {
		m := a.rules.byTokens[tokens{p.Trade, p.Quote}]
		if b.asked.market != 0 {
			m = a.rules.byID[b.asked.market]
		}
		if m == nil {
			return nil
		}
		if o, err = newOrderRow(p, m); err != nil {
			return nil // refused by the contract for the same reason
		}
	}
	a.touch(p.Owner)
	if o.ReceivedAt = a.clockOf(b); o.Placed == 0 && o.ReceivedAt > 0 {
		o.Created = o.ReceivedAt
	}
	return a.settleOrder(o)
}

// receivedCancel stores that dexFund passed a cancel on to dexTrade, whoever asked for it. An order
// that has ended, or failed, stays as it is.
func (a *applier) receivedCancel(b *block) error {
	o, err := a.order(b.asked.cancel.String())
	if err != nil || o == nil || o.over() {
		return err
	}
	o.Cancel = b.send.String()
	a.changedIfSeen(o)
	return nil
}

// clockOf is the exchange's time of a block; before the time oracle has spoken the time of its
// snapshot.
func (a *applier) clockOf(b *block) int64 {
	if a.clock > 0 {
		return a.clock
	}
	return b.time
}

// newOrderRow is an order that no contract has announced.
func newOrderRow(p *Placement, m *market) (*orderRow, error) {
	at, err := dex.ParsePrice(p.Price)
	if err != nil {
		return nil, err
	}
	o := &orderRow{
		ID: p.Hash.String(), Owner: p.Owner.String(), Market: m.ID, Side: p.Side, Type: p.Type,
		Price: price{at}, Quantity: amount{p.Quantity},
	}
	scale, err := dex.NewScale(m.TradeDecimals, m.QuoteDecimals)
	if err != nil {
		return nil, err
	}
	if !scale.Amount(&o.Amount.Int, at, &p.Quantity) {
		return nil, dex.ErrTooLarge
	}
	return o, nil
}

// Kinds of transfers as REST numbers them (docs/exchange-rest.md 1.1).
const (
	kindDeposit    = 1
	kindWithdrawal = 2
)

// transfer stores a deposit for who has it, a withdrawal for who had it. A transfer inside the
// exchange is neither. Of a plain deposit or withdrawal the contract itself is the other end
// (recorded from a real node: vite/rpc/testdata/dex.jsonl).
func (a *applier) transfer(b *block, pos int, t *dex.Transfer) error {
	a.touch(t.From, t.To)
	n := amount{t.Amount}
	switch t.Kind {
	case dex.KindDeposit:
		return a.saveTransfer(b, pos, t.From, t.Token, &n, kindDeposit)
	case dex.KindAgentDeposit:
		return a.saveTransfer(b, pos, t.To, t.Token, &n, kindDeposit)
	case dex.KindWithdrawal:
		return a.saveTransfer(b, pos, t.To, t.Token, &n, kindWithdrawal)
	case dex.KindAssignedWithdraw:
		return a.saveTransfer(b, pos, t.From, t.Token, &n, kindWithdrawal)
	}
	return nil
}

func (a *applier) saveTransfer(b *block, pos int, account core.Address, token core.TokenID, n *amount, kind int) error {
	a.touch(account)
	err := a.exec("INSERT INTO ex_transfers (height, pos, account, token, amount, kind, at) VALUES (?, ?, ?, ?, ?, ?, ?)",
		b.height, pos, account.String(), token.String(), *n, kind, a.clockOf(b))
	if err != nil {
		return fmt.Errorf("storing a transfer: %w", err)
	}
	return nil
}
