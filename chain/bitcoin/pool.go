package bitcoin

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"sync"

	"github.com/btcsuite/btcd/btcutil/v2"
	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"gatewayd/chain"
	"gatewayd/chain/quorum"
)

const (
	// maxLooks bounds the transactions of a pool that one call looks at: a full pool takes many
	// calls.
	maxLooks = 2000
	// pageLooks bounds those of one batch.
	pageLooks = 100
)

// pool remembers the transactions that were looked at, while they wait, with their transfers to us.
type pool struct {
	mu     sync.Mutex
	looked map[chainhash.Hash][]chain.Transfer
}

func newPool() *pool { return &pool{looked: make(map[chainhash.Hash][]chain.Transfer)} }

// Pooled returns the transfers to us that wait in the pool of the first node that answers, with the
// references that they will have in a block.
func (c *Chain) Pooled(ctx context.Context) ([]chain.Transfer, error) {
	c = c.current()
	if c.accounts == nil {
		return nil, fmt.Errorf("reading a pool: our accounts are not known")
	}
	c.pool.mu.Lock() // one call at a time looks at what is new
	defer c.pool.mu.Unlock()
	var faults []error
	for _, n := range quorum.Order(c.nodes) {
		found, err := c.pooledAt(ctx, n)
		if err == nil {
			return found, nil
		}
		faults = append(faults, err)
	}
	return nil, fmt.Errorf("reading a pool: %w", unavailable(faults))
}

func (c *Chain) pooledAt(ctx context.Context, n *node) (found []chain.Transfer, err error) {
	ids, err := n.pooled(ctx)
	if err != nil {
		return nil, err
	}
	waiting := make(map[chainhash.Hash]bool, len(ids))
	var unknown []chainhash.Hash
	for _, id := range ids {
		waiting[id] = true
		if _, known := c.pool.looked[id]; !known && len(unknown) < maxLooks {
			unknown = append(unknown, id)
		}
	}
	for id := range c.pool.looked {
		if !waiting[id] {
			delete(c.pool.looked, id)
		}
	}
	if len(unknown) > 0 {
		if err := c.look(ctx, n, unknown); err != nil {
			return nil, err
		}
	}
	for _, id := range ids {
		found = append(found, c.pool.looked[id]...)
	}
	return found, nil
}

// look searches transactions of a pool.
func (c *Chain) look(ctx context.Context, n *node, ids []chainhash.Hash) error {
	b := &block{txs: []*btcutil.Tx{btcutil.NewTx(wire.NewMsgTx(1))}} // in place of a coinbase
	for from := 0; from < len(ids); from += pageLooks {
		txs, err := n.poolPage(ctx, ids[from:min(len(ids), from+pageLooks)])
		if err != nil {
			return err
		}
		b.txs = append(b.txs, txs...)
	}
	found, err := c.find(ctx, b)
	if err != nil {
		return err
	}
	for _, id := range ids {
		c.pool.looked[id] = nil
	}
	for _, t := range found.Transfers {
		id := hashOf(chain.Point{Hash: t.Tx})
		c.pool.looked[id] = append(c.pool.looked[id], t)
	}
	return nil
}

// pooled lists the transactions in the node's pool.
func (n *node) pooled(ctx context.Context) ([]chainhash.Hash, error) {
	if err := n.ready(ctx); err != nil {
		return nil, err
	}
	var texts []string
	read := func(text []byte) error { return readResult(text, &texts) }
	if err := n.exchange(ctx, "getrawmempool", newRequest(1, "getrawmempool", nil), n.limit, read); err != nil {
		return nil, err
	}
	ids := make([]chainhash.Hash, len(texts))
	for i, text := range texts {
		if err := chainhash.Decode(&ids[i], text); err != nil {
			return nil, n.RecordWrong("pool", fmt.Errorf("%s: its pool has %s: %w", n.name, printable(text), err))
		}
	}
	return ids, nil
}

// poolPage reads transactions of the node's pool. It leaves out those that are gone, and those with
// a part in Litecoin's extension.
func (n *node) poolPage(ctx context.Context, ids []chainhash.Hash) (txs []*btcutil.Tx, err error) {
	params := make([][]any, len(ids))
	for i, id := range ids {
		params[i] = []any{id.String()}
	}
	texts, err := batch[string](ctx, n, "getrawtransaction", params, true)
	if err != nil {
		return nil, err
	}
	for i, text := range texts {
		raw, err := hex.DecodeString(text)
		tx := new(wire.MsgTx)
		if err != nil || tx.Deserialize(bytes.NewReader(raw)) != nil {
			continue
		}
		if got := tx.TxHash(); got != ids[i] {
			return nil, n.RecordWrong("pool", fmt.Errorf("%s: it shows transaction %s as %s", n.name, got, ids[i]))
		}
		txs = append(txs, btcutil.NewTx(tx))
	}
	return txs, nil
}
