package vite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"gatewayd/chain"
	"gatewayd/chain/vite/client"
	"gatewayd/chain/vite/core"
)

// maxRaw is far above any block that Sign makes and below what a node reads (128 KiB).
const maxRaw = 64 << 10

// Broadcast hands a signed block to all nodes and is nil when at least one of them has it, now or already. It may be repeated.
// What it answers is for the log: only a final block tells whether the block is on the ledger.
func (c *Chain) Broadcast(ctx context.Context, a chain.Attempt) error {
	b, err := signedBlock(a)
	if err != nil {
		return fmt.Errorf("sending block %s: %w", a.Hash, err)
	}
	var refused []error
	for _, said := range askAll(ctx, c.nodes, func(ctx context.Context, _ *node, nc *client.Client) (struct{}, error) {
		return struct{}{}, send(ctx, nc, b, a.Raw)
	}) {
		if said.err == nil {
			return nil
		}
		refused = append(refused, said.err)
	}
	return fmt.Errorf("sending block %s: %w", a.Hash, errors.Join(refused...))
}

// signedBlock reads stored bytes back. Bytes that are not the block that their hash names are damaged, and not sent.
func signedBlock(a chain.Attempt) (*core.AccountBlock, error) {
	if len(a.Raw) > maxRaw {
		return nil, fmt.Errorf("raw: %d bytes, at most %d", len(a.Raw), maxRaw)
	}
	b, err := core.DecodeBlock(a.Raw)
	if err != nil {
		return nil, fmt.Errorf("raw: %w", err)
	}
	if b.Hash.String() != a.Hash {
		return nil, fmt.Errorf("raw: is block %s", b.Hash)
	}
	if err := b.Verify(); err != nil {
		return nil, fmt.Errorf("raw: %w", err)
	}
	return b, nil
}

// send hands a block to one node. A node answers the block that it has already as one that does not fit behind the tip, and a
// receive of what was received as that: the first is asked for, the second is what was wanted.
func send(ctx context.Context, nc *client.Client, b *core.AccountBlock, raw []byte) error {
	err := nc.Call(ctx, nil, "ledger_sendRawTransaction", json.RawMessage(raw))
	switch {
	case errors.Is(err, client.ErrAlreadyReceived):
		return nil
	case errors.Is(err, client.ErrPrevBlock):
		if there, lookup := nc.AccountBlockByHash(ctx, b.Hash); lookup == nil && there != nil && there.Hash == b.Hash {
			return nil
		}
	}
	return err
}
