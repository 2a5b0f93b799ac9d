package client

import (
	"context"
	"encoding/json"

	"gatewayd/chain/vite/core"
)

// SendRawTransaction hands a signed block to the node. An error does not always mean that the block was not taken: see
// OutcomeUnknown, and note that a block that is already in the chain gives ErrPrevBlock. A block that is not fit to be
// sent (core.EncodeBlock) is core.ErrBlockJSON and stays here.
func (c *Client) SendRawTransaction(ctx context.Context, b *core.AccountBlock) error {
	raw, err := core.EncodeBlock(b)
	if err != nil {
		return err
	}
	return c.Call(ctx, nil, "ledger_sendRawTransaction", json.RawMessage(raw))
}

// SendRawTransactions hands signed blocks to the node as JSON, in order, and answers how many it took before the first refusal.
func (c *Client) SendRawTransactions(ctx context.Context, blocks []json.RawMessage) (taken int, err error) {
	return c.batchDone(ctx, "ledger_sendRawTransaction", len(blocks),
		func(i int) []any { return []any{blocks[i]} }, func(int) any { return new(json.RawMessage) })
}
