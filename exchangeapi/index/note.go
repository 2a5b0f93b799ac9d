package index

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"gatewayd/vite/core"
)

// ErrOrder marks a note that cannot be kept: of no market, or with a price that is none.
var ErrOrder = errors.New("invalid order")

// NotePlacement shows an order as pending request (1) until a contract's block contains its result.
// It may come before or after that block. Note only blocks that a node has accepted. An order whose
// send the node loses becomes failed (9). Errors: ErrOrder.
func (x *Index) NotePlacement(ctx context.Context, p Placement) error {
	return x.note(ctx, func(a *applier) error {
		known, err := a.order(p.Hash.String())
		if err != nil || known != nil {
			return err
		}
		m := a.rules.byTokens[tokens{p.Trade, p.Quote}]
		if m == nil {
			return fmt.Errorf("%w: no market of %s and %s", ErrOrder, p.Trade, p.Quote)
		}
		o, err := newOrderRow(&p, m)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrOrder, err)
		}
		o.Noted = x.config.Now().Unix()
		o.Created = o.Noted
		return a.settleOrder(o)
	})
}

// NoteCancel shows a resting order as pending cancel (6) until the cancel is decided. It may come
// before or after the blocks that decide; an order that is unknown or has ended does not change.
// The blocks themselves contain requests, too; the note only arrives earlier.
func (x *Index) NoteCancel(ctx context.Context, c CancelRequest) error {
	return x.note(ctx, func(a *applier) error {
		o, err := a.order(c.Order.String())
		if err != nil || o == nil || o.over() {
			return err
		}
		refused, err := a.cancelRefused(c.Hash.String())
		if err != nil || refused {
			return err
		}
		o.Cancel = c.Hash.String()
		a.changedIfSeen(o)
		return nil
	})
}

// Sends that no contract has received after so many seconds are looked up on the node, so many at a
// time.
const (
	unreceivedAfterSeconds = 60
	maxSendsChecked        = 100
)

// sendsInQuestion uses both of the database's indexes that hold only such orders.
const sendsInQuestion = "SELECT " + orderColumns + ` FROM ex_orders WHERE id IN (
	SELECT id FROM ex_orders WHERE status = 1 AND noted <= ? UNION ALL SELECT id FROM ex_orders WHERE cancel <> '' AND noted <= ?)
	ORDER BY noted LIMIT ? + 0`

// checkUnreceived asks the node for old sends of ours that no contract received. What the node does
// not know any more is lost: the order failed, or the cancel did.
func (x *Index) checkUnreceived(ctx context.Context) error {
	var waiting []orderRow
	err := x.store.view(ctx, func(t *tx) error {
		before := x.config.Now().Unix() - unreceivedAfterSeconds
		return t.list(&waiting, sendsInQuestion, before, before, maxSendsChecked)
	})
	if err != nil || len(waiting) == 0 {
		return err
	}
	hashes := make([]core.Hash, len(waiting))
	for i := range waiting {
		if hashes[i], err = core.ParseHash(waiting[i].sendInQuestion()); err != nil {
			return err
		}
	}
	sends, err := x.node.AccountBlocksByHash(ctx, hashes)
	if err != nil {
		return fmt.Errorf("asking after sends: %w", err)
	}
	for i, s := range sends {
		if s == nil {
			if err := x.failLost(ctx, waiting[i].ID, hashes[i].String()); err != nil {
				return err
			}
		}
	}
	return nil
}

func (o *orderRow) sendInQuestion() string {
	if o.Cancel != "" {
		return o.Cancel
	}
	return o.ID
}

// failLost marks a send as failed, unless a contract has received it meanwhile.
func (x *Index) failLost(ctx context.Context, id, send string) error {
	return x.write(ctx, nil, func(a *applier) error {
		o, err := a.order(id)
		if err != nil || o == nil {
			return err
		}
		switch {
		case o.Cancel == send:
			o.Cancel = ""
		case o.ID == send && o.Received == 0 && o.Placed == 0 && !o.Refused:
			o.Refused = true
		default:
			return nil
		}
		a.changedIfSeen(o)
		return nil
	})
}

// noteBatch collects notes that are not being written yet. The caller that gets the right to commit
// writes all of them, so that concurrent callers share one transaction.
type noteBatch struct {
	mu   sync.Mutex
	list []*note
}

// note is one caller's. What became of it belongs to who has commits.
type note struct {
	write func(*applier) error
	done  bool
	err   error
}

func (w *noteBatch) add(n *note) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(w.list, n)
}

func (w *noteBatch) take() []*note {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := w.list
	w.list = nil
	return all
}

// note writes a note with those of other callers, whose end of patience does not cut it.
func (x *Index) note(ctx context.Context, write func(*applier) error) error {
	n := &note{write: write}
	x.noted.add(n)
	x.commits.Lock()
	defer x.commits.Unlock()
	if !n.done {
		x.writeNotes(context.WithoutCancel(ctx), x.noted.take())
	}
	return n.err
}

// writeNotes writes each alone where one of them cannot be written: that must not fail the others.
func (x *Index) writeNotes(ctx context.Context, notes []*note) {
	err := x.commit(ctx, nil, func(a *applier) error {
		for _, n := range notes {
			if err := n.write(a); err != nil {
				return err
			}
		}
		return nil
	})
	alone := err != nil && !errors.Is(err, errCommit) && len(notes) > 1
	for _, n := range notes {
		n.done, n.err = true, err
		if alone {
			n.err = x.commit(ctx, nil, n.write)
		}
	}
}
