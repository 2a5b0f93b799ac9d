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
