package ethereum

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"

	"gatewayd/chain"
)

// Describe returns what a transaction asks for: coins, or one transfer of a token. Its hash is
// recomputed from the fields that a node shows, so that one node suffices and none can lie.
// ErrNotFound: the nodes that answered do not know it. ErrUnavailable: none answered.
func (c *Chain) Describe(ctx context.Context, hash string) (chain.Outgoing, error) {
	c = c.current()
	var want common.Hash
	if err := want.UnmarshalText([]byte(hash)); err != nil {
		return chain.Outgoing{}, fmt.Errorf("transaction %q: must be 32 bytes in hex", hash)
	}
	unknown := false
	var faults []error
	for _, n := range c.nodes {
		tx, err := transactionOf(ctx, n, want)
		switch {
		case err == nil:
			return c.outgoing(tx), nil
		case errors.Is(err, chain.ErrNotFound):
			unknown = true
		default:
			faults = append(faults, err)
		}
	}
	if unknown {
		return chain.Outgoing{}, fmt.Errorf("transaction %s: %w", hash, chain.ErrNotFound)
	}
	return chain.Outgoing{}, fmt.Errorf("reading transaction %s: %w", hash, unavailable(faults))
}

func transactionOf(ctx context.Context, n *node, hash common.Hash) (*types.Transaction, error) {
	var shown json.RawMessage
	if err := n.call(ctx, &shown, "eth_getTransactionByHash", hash); err != nil {
		return nil, err
	}
	if len(shown) == 0 || string(shown) == "null" {
		return nil, chain.ErrNotFound
	}
	var tx types.Transaction
	if err := tx.UnmarshalJSON(shown); err != nil {
		return nil, fmt.Errorf("%s: transaction %s: %w", n.name, hash, err)
	}
	if tx.Hash() != hash {
		return nil, fmt.Errorf("%s: the transaction shown for %s has the hash %s", n.name, hash, tx.Hash())
	}
	return &tx, nil
}

// outgoing reads a payment the way message writes it.
func (c *Chain) outgoing(tx *types.Transaction) chain.Outgoing {
	if tx.To() == nil {
		return chain.Outgoing{Asset: chain.Native}
	}
	if call, ok := readBatchCall(tx.Data()); ok && *tx.To() == c.payouts {
		if sum, ok := call.sum(); ok && (call.token == nil) == (tx.Value().Sign() > 0) && (call.token != nil || sum.ToBig().Cmp(tx.Value()) == 0) {
			return c.outgoingBatch(call, sum)
		}
	}
	if spender, ok := readApproveCall(tx.Data()); ok && spender == c.payouts && tx.Value().Sign() == 0 {
		return chain.Outgoing{Asset: assetOf(*tx.To()), To: spender.Hex()}
	}
	if m, extra, ok := readTransferCall(tx.Data()); ok && tx.Value().Sign() == 0 {
		return chain.Outgoing{Asset: assetOf(*tx.To()), To: m.to.Hex(), Amount: chain.AmountOf(&m.amount), Label: labelOf(extra)}
	}
	return chain.Outgoing{Asset: chain.Native, To: tx.To().Hex(), Amount: chain.AmountOf(uint256.MustFromBig(tx.Value())), Label: labelOf(tx.Data())}
}

// outgoingBatch describes a call of the batch contract. The payments' numbers are not in it.
func (c *Chain) outgoingBatch(call batchCall, sum *uint256.Int) chain.Outgoing {
	out := chain.Outgoing{Asset: chain.Native, To: c.payouts.Hex(), Amount: chain.AmountOf(sum)}
	if call.token != nil {
		out.Asset = assetOf(*call.token)
	}
	for _, p := range call.pays {
		out.Members = append(out.Members, chain.Outgoing{Asset: out.Asset, To: p.to.Hex(), Amount: chain.AmountOf(&p.amount)})
	}
	return out
}

// labelOf is the label that a payment carries. Bytes that are none are shown in hex: they equal no
// label of ours.
func labelOf(extra []byte) string {
	if labelFault(extra) != "" {
		return hexutil.Encode(extra[:min(len(extra), maxRawMemo)])
	}
	return string(extra)
}
