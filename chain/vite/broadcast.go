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

// Broadcast hands signed blocks to all nodes, in order. An error is nil when at least one node has the block, now or already. It may be repeated.
// What it answers is for the log: only a final block tells whether a block is on the ledger.
func (c *Chain) Broadcast(ctx context.Context, attempts []chain.Attempt) []error {
	errs := make([]error, len(attempts))
	blocks := make([]signed, len(attempts))
	for i, a := range attempts {
		b, err := signedBlock(a)
		if err != nil {
			return refuseFrom(errs, i, fmt.Errorf("sending block %s: %w", a.Hash, err))
		}
		blocks[i] = signed{b, a.Raw}
	}
	taken := 0 // the most that a node took
	var refused []error
	for _, said := range askAll(ctx, c.nodes, func(ctx context.Context, _ *node, nc *client.Client) (int, error) {
		n, err := sendAll(ctx, nc, blocks)
		if err != nil {
			err = tookSome{n, err}
		}
		return n, err
	}) {
		n := said.value
		if some := (tookSome{}); errors.As(said.err, &some) {
			n = some.taken
		}
		taken = max(taken, n)
		refused = append(refused, said.err)
	}
	if taken == len(blocks) {
		return errs
	}
	return refuseFrom(errs, taken, fmt.Errorf("sending block %s: %w", attempts[taken].Hash, errors.Join(refused...)))
}

// refuseFrom says that the attempt at i was refused, and so nothing behind it was sent.
func refuseFrom(errs []error, i int, err error) []error {
	errs[i] = err
	for j := i + 1; j < len(errs); j++ {
		errs[j] = chain.ErrNotSent
	}
	return errs
}

// signed is a block with its stored bytes.
type signed struct {
	block *core.AccountBlock
	raw   []byte
}

// tookSome is a node's refusal after it took some blocks.
type tookSome struct {
	taken int
	err   error
}

func (e tookSome) Error() string { return e.err.Error() }
func (e tookSome) Unwrap() error { return e.err }

// sendAll hands blocks to one node until it refuses one, and answers how many it has.
func sendAll(ctx context.Context, nc *client.Client, blocks []signed) (int, error) {
	for i, b := range blocks {
		if err := send(ctx, nc, b.block, b.raw); err != nil {
			return i, err
		}
	}
	return len(blocks), nil
}

// MaxUnmined is how many blocks of one account may be in no snapshot block yet.
func (c *Chain) MaxUnmined() int { return c.cfg.MaxUnmined }

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
