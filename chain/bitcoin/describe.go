package bitcoin

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"gatewayd/chain"
	"gatewayd/chain/bitcoin/network"
	"gatewayd/chain/quorum"
)

// changes are the addresses that take the change of our transactions.
type changes struct {
	pool string // of the account that pays; empty without accounts
	all  map[string]bool
}

func changesOf(accounts []network.Account) (c changes, err error) {
	c.all = make(map[string]bool, len(accounts))
	for i, a := range accounts {
		own, err := a.Own(network.Internal, 0)
		if err != nil {
			return c, err
		}
		if i == 0 {
			c.pool = own.Text
		}
		c.all[own.Text] = true
	}
	return c, nil
}

// outgoing describes a transaction of ours by its outputs, of which paid has the addresses: each
// that is not change is a payment.
func (c changes) outgoing(tx *wire.MsgTx, paid []string) chain.Outgoing {
	all := chain.Outgoing{Asset: chain.Native, Coin: tx.TxIn[0].PreviousOutPoint.String()}
	var sum int64
	for v, out := range tx.TxOut {
		if out.Value == 0 || c.all[paid[v]] {
			continue
		}
		sum += out.Value
		all.Members = append(all.Members, chain.Outgoing{Asset: chain.Native, To: paid[v], Amount: chain.NewAmount(uint64(out.Value))})
	}
	all.Amount = chain.NewAmount(uint64(sum))
	if len(all.Members) == 1 {
		all.To, all.Members = all.Members[0].To, nil
	}
	return all
}

// Describe returns what a transaction of ours pays. It knows those of the blocks that were read
// last. Of others the nodes are asked, which know those in their pools and, with an index, others;
// the hash proves the answer. ErrNotFound: the nodes that answered do not know it. ErrUnavailable:
// none answered.
func (c *Chain) Describe(ctx context.Context, hash string) (chain.Outgoing, error) {
	c = c.current()
	if did, ok := c.own.get(hash); ok {
		return did, nil
	}
	var id chainhash.Hash
	if err := chainhash.Decode(&id, hash); err != nil || id.String() != hash {
		return chain.Outgoing{}, fmt.Errorf("transaction %.100q: must be 32 bytes in hex", hash)
	}
	unknown := false
	var faults []error
	for _, n := range quorum.Order(c.nodes) {
		tx, err := n.transaction(ctx, id)
		if err == nil {
			paid := make([]string, len(tx.TxOut))
			for v, out := range tx.TxOut {
				to, _ := c.network.Of(out.PkScript)
				paid[v] = to.Text
			}
			return c.change.outgoing(tx, paid), nil
		}
		unknown = unknown || errors.Is(err, chain.ErrNotFound)
		faults = append(faults, err)
	}
	if unknown {
		return chain.Outgoing{}, fmt.Errorf("transaction %s: %w", hash, chain.ErrNotFound)
	}
	return chain.Outgoing{}, fmt.Errorf("reading transaction %s: %w", hash, unavailable(faults))
}

// transaction is the transaction of a hash, proven by it; chain.ErrNotFound: the node does not show
// it.
func (n *node) transaction(ctx context.Context, id chainhash.Hash) (*wire.MsgTx, error) {
	var text string
	err := n.call(ctx, &text, "getrawtransaction", id.String())
	if refused(err) {
		return nil, fmt.Errorf("%s: %w: %w", n.name, chain.ErrNotFound, err)
	}
	if err != nil {
		return nil, err
	}
	raw, err := hex.DecodeString(text)
	tx := new(wire.MsgTx)
	if err == nil {
		err = tx.Deserialize(bytes.NewReader(raw))
	}
	if err == nil && (tx.TxHash() != id || len(tx.TxIn) == 0) {
		err = fmt.Errorf("it has the hash %s", tx.TxHash())
	}
	if err != nil {
		return nil, n.RecordWrong("transaction", fmt.Errorf("%s: transaction %s: %w", n.name, id, err))
	}
	return tx, nil
}
