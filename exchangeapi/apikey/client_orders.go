package apikey

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"gatewayd/vite/core"
)

// ErrNoOrder: no order was placed under that client order id.
var ErrNoOrder = errors.New("no such client order id")

// ClientOrder ties the id that a client gave to an order to the order. An id is good for one order
// of its API key.
type ClientOrder struct {
	Key      string
	ClientID string
	Order    core.Hash
	Created  time.Time
}

// TakenError refuses a client order id that the key has used for another order.
type TakenError struct{ ClientOrder }

func (e *TakenError) Error() string {
	return fmt.Sprintf("client order id %s belongs to order %s", e.ClientID, e.Order)
}

// maxClientOrders bounds the client order ids in memory, 300 bytes each.
const maxClientOrders = 20_000

type clientOrderRow struct {
	Key      string `db:"api_key"`
	ClientID string `db:"client_id"`
	Order    string `db:"order_id"`
	Created  int64  `db:"created"`
}

func (r clientOrderRow) clientOrder() (ClientOrder, error) {
	order, err := core.ParseHash(r.Order)
	if err != nil {
		return ClientOrder{}, fmt.Errorf("client order id %s: %w", r.ClientID, err)
	}
	return ClientOrder{Key: r.Key, ClientID: r.ClientID, Order: order, Created: time.UnixMilli(r.Created).UTC()}, nil
}

// BindOrder stores the client order id of an order that is about to be sent; *TakenError when the
// key has used the id.
func (s *Store) BindOrder(ctx context.Context, c ClientOrder) error {
	s.unnamed.Store(false)
	r, err := s.db.ExecContext(ctx, s.db.Rebind(`INSERT INTO api_client_orders (api_key, client_id, order_id, created) VALUES (?, ?, ?, ?)
		ON CONFLICT DO NOTHING`), c.Key, c.ClientID, c.Order.String(), s.now().UnixMilli())
	if err != nil {
		return fmt.Errorf("storing a client order id: %w", err)
	}
	n, err := r.RowsAffected()
	if err != nil {
		return fmt.Errorf("storing a client order id: %w", err)
	}
	if n == 0 {
		return s.CheckUnused(ctx, c.Key, c.ClientID)
	}
	s.clientIDs.Add(c.Order.String(), c.ClientID)
	return nil
}

// CheckUnused answers *TakenError when the key has used a client order id.
func (s *Store) CheckUnused(ctx context.Context, key, clientID string) error {
	found, err := s.clientOrder(ctx, `WHERE api_key = ? AND client_id = ?`, key, clientID)
	switch {
	case errors.Is(err, ErrNoOrder):
		return nil
	case err != nil:
		return err
	}
	return &TakenError{found}
}

// UnbindOrder frees a client order id whose order will never be. It leaves the id alone where it
// belongs to another order.
func (s *Store) UnbindOrder(ctx context.Context, c ClientOrder) error {
	_, err := s.db.ExecContext(ctx, s.db.Rebind(`DELETE FROM api_client_orders WHERE api_key = ? AND client_id = ? AND order_id = ?`),
		c.Key, c.ClientID, c.Order.String())
	if err != nil {
		return fmt.Errorf("freeing a client order id: %w", err)
	}
	s.clientIDs.Remove(c.Order.String())
	return nil
}

// newestKey: an account has one good key at a time. Ids of keys that have ended are still found,
// those of the newest key first.
const newestKey = `JOIN api_keys k USING (api_key) WHERE k.network = ? AND k.owner = ? AND client_id = ? ORDER BY k.created DESC, api_key LIMIT 1`

// OrderOf is the order that an account placed under a client order id; ErrNoOrder.
func (s *Store) OrderOf(ctx context.Context, network string, owner core.Address, clientID string) (core.Hash, error) {
	found, err := s.clientOrder(ctx, newestKey, network, owner.String(), clientID)
	return found.Order, err
}

func (s *Store) clientOrder(ctx context.Context, where string, args ...any) (ClientOrder, error) {
	var row clientOrderRow
	query := `SELECT api_key, client_id, order_id, api_client_orders.created FROM api_client_orders ` + where
	err := s.db.GetContext(ctx, &row, s.db.Rebind(query), args...)
	if errors.Is(err, sql.ErrNoRows) {
		return ClientOrder{}, ErrNoOrder
	}
	if err != nil {
		return ClientOrder{}, fmt.Errorf("reading a client order id: %w", err)
	}
	return row.clientOrder()
}

// maxOrderIDs bounds the order ids of one query.
const maxOrderIDs = 200

// ClientIDs returns what clients call orders that are on the chain, by order id. Orders that have
// no such id are left out: none will ever have one, since an id is stored before its order is sent,
// so that is remembered, too.
func (s *Store) ClientIDs(ctx context.Context, orders []string) (map[string]string, error) {
	if s.unnamed.Load() {
		return nil, nil
	}
	found := map[string]string{}
	var unknown []any
	for _, id := range orders {
		switch clientID, known := s.clientIDs.Get(id); {
		case !known:
			unknown = append(unknown, id)
		case clientID != "":
			found[id] = clientID
		}
	}
	for len(unknown) > 0 {
		n := min(len(unknown), maxOrderIDs)
		if err := s.readClientIDs(ctx, unknown[:n], found); err != nil {
			return nil, err
		}
		unknown = unknown[n:]
	}
	return found, nil
}

// loadUnnamed reads whether there are no client order ids. A program that alone places orders need
// not query them while there are none.
func (s *Store) loadUnnamed(ctx context.Context) error {
	var some bool
	if err := s.db.GetContext(ctx, &some, `SELECT EXISTS (SELECT 1 FROM api_client_orders)`); err != nil {
		return fmt.Errorf("finding client order ids: %w", err)
	}
	s.unnamed.Store(!some)
	return nil
}

func (s *Store) readClientIDs(ctx context.Context, orders []any, found map[string]string) error {
	var rows []clientOrderRow
	query := `SELECT api_key, client_id, order_id, created FROM api_client_orders WHERE order_id IN (?` + strings.Repeat(",?", len(orders)-1) + `)`
	if err := s.db.SelectContext(ctx, &rows, s.db.Rebind(query), orders...); err != nil {
		return fmt.Errorf("reading client order ids: %w", err)
	}
	for _, row := range rows {
		found[row.Order] = row.ClientID
	}
	for _, id := range orders {
		order, _ := id.(string)
		s.clientIDs.Add(order, found[order])
	}
	return nil
}
