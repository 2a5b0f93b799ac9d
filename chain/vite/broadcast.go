package vite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"gatewayd/chain"
	"gatewayd/vite/client"
	"gatewayd/vite/core"
)

// maxRaw is far above any block that Sign makes and below what a node reads (128 KiB).
const maxRaw = 64 << 10

// broadcastTimeoutCalls is the time limit of Broadcast in call timeouts.
const broadcastTimeoutCalls = 4

// Broadcast sends signed blocks to all nodes, in order, and waits until more than half of them have
// all, not for slow ones. An error is nil when at least one node has the block, now or already. It
// may be repeated. The result is for the log: only a final block shows whether a block is on the
// ledger.
func (c *Chain) Broadcast(ctx context.Context, attempts []chain.Attempt) []error {
	c = c.current()
	errs := make([]error, len(attempts))
	blocks := make([]signed, 0, len(attempts))
	for i, a := range attempts {
		b, err := signedBlock(a)
		if err != nil { // the earlier ones are sent all the same
			refuseFrom(errs, i, fmt.Errorf("sending block %s: %w", a.Hash, err))
			break
		}
		blocks = append(blocks, signed{b, a.Raw})
	}
	if len(blocks) == 0 {
		return errs
	}
	ctx, cancel := context.WithTimeout(ctx, broadcastTimeoutCalls*c.cfg.Timeout)
	defer cancel()
	taken := 0 // the most that a node took
	var refused []error
	for _, said := range ask(ctx, c.nodes, func(ctx context.Context, _ *node, nc *client.Client) (int, error) {
		return sendAll(ctx, nc, blocks)
	}, func(answers []answer[int]) bool { return countOf(answers, len(blocks)) >= c.quorum() }) {
		taken = max(taken, said.Value)
		refused = append(refused, said.Err)
	}
	if taken < len(blocks) {
		refuseFrom(errs, taken, fmt.Errorf("sending block %s: %w", attempts[taken].Hash, errors.Join(refused...)))
	}
	return errs
}

// refuseFrom records that the attempt at i was refused, and so no later one was sent.
func refuseFrom(errs []error, i int, err error) {
	errs[i] = err
	for j := i + 1; j < len(errs); j++ {
		errs[j] = chain.ErrNotSent
	}
}

// signed is a block with its stored bytes.
type signed struct {
	block *core.AccountBlock
	raw   []byte
}

// sendAll hands an account's blocks to one node until it refuses one, and answers how many it has.
// A node refuses a block that it has already like one that does not fit, and it may get the blocks
// from another node meanwhile: after a refusal the rest is sent again while it has more each time.
func sendAll(ctx context.Context, nc *client.Client, blocks []signed) (int, error) {
	has, err := sendRest(ctx, nc, blocks)
	for errors.Is(err, client.ErrPrevBlock) {
		more, again := sendRest(ctx, nc, blocks)
		if more <= has {
			break
		}
		has, err = more, again
	}
	return has, err
}

// sendRest asks for what the node may have of the blocks and sends it the others.
func sendRest(ctx context.Context, nc *client.Client, blocks []signed) (int, error) {
	latest, err := nc.LatestAccountBlock(ctx, blocks[0].block.Address)
	if err != nil {
		return 0, err
	}
	known := 0
	for latest != nil && known < len(blocks) && blocks[known].block.Height <= latest.Height {
		known++
	}
	if has, err := hasAll(ctx, nc, blocks[:known]); err != nil || has < known {
		return has, err
	}
	rest := make([]json.RawMessage, 0, len(blocks)-known)
	for _, b := range blocks[known:] {
		rest = append(rest, b.raw)
	}
	taken, err := nc.SendRawTransactions(ctx, rest)
	known += taken
	if !errors.Is(err, client.ErrAlreadyReceived) || !blocks[known].block.IsReceive() {
		return known, err
	}
	// What the block was to receive is received, which was wanted. What follows it is tried once.
	rest = rest[taken+1:]
	if taken, err = 0, nil; len(rest) > 0 {
		taken, err = nc.SendRawTransactions(ctx, rest)
	}
	return known + 1 + taken, err
}

// hasAll returns the number of blocks that the node has, up to the first missing one: another block
// is in its place.
func hasAll(ctx context.Context, nc *client.Client, blocks []signed) (int, error) {
	hashes := make([]core.Hash, len(blocks))
	for i, b := range blocks {
		hashes[i] = b.block.Hash
	}
	found, err := nc.AccountBlocksByHash(ctx, hashes)
	if err != nil {
		return 0, err
	}
	for i, f := range found {
		if f == nil || f.Hash != hashes[i] {
			return i, fmt.Errorf("height %d: %w", blocks[i].block.Height, client.ErrPrevBlock)
		}
	}
	return len(blocks), nil
}

// MaxUnmined bounds the blocks of one account that are in no snapshot block yet.
func (c *Chain) MaxUnmined() int { return c.cfg.MaxUnmined }

// Estimate is nothing: the ledger has no fees, and quota is asked for when a block is signed.
func (c *Chain) Estimate(context.Context, string, chain.Payment) (chain.Amount, error) {
	return chain.Amount{}, nil
}

// Cost is nothing: blocks cost no coin.
func (c *Chain) Cost(chain.Attempt) (chain.Amount, error) { return chain.Amount{}, nil }

// Underpriced is never so: blocks offer nothing.
func (c *Chain) Underpriced(context.Context, chain.Slot, chain.Attempt) (bool, error) {
	return false, nil
}

// signedBlock reads stored bytes back. Bytes that are not the block that their hash names are
// damaged, and not sent. The signature is ours and was checked when it was made (Seal), so only its
// shape is looked at here: a node refuses one that was damaged in the store.
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
	if err := b.VerifyBy(hasShape); err != nil {
		return nil, fmt.Errorf("raw: %w", err)
	}
	return b, nil
}

// hasShape reports whether a public key and a signature have the lengths of such.
func hasShape(public, _, signature []byte) bool {
	return len(public) == core.PublicKeySize && len(signature) == core.SignatureSize
}
