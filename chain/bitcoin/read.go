package bitcoin

import (
	"context"
	"fmt"

	"github.com/btcsuite/btcd/chainhash/v2"
	"golang.org/x/sync/errgroup"

	"gatewayd/chain"
	"gatewayd/chain/quorum"
)

// readAtOnce blocks of a range are read at the same time.
const readAtOnce = 4

// maxFound ends a range early: the coins found in it are kept until the records know them.
const maxFound = rememberCoins / 2

// Block returns the block at a height with all transfers to us and all our own transactions in it.
//
// References are "<tx>:<output>". The sender of a transfer is not known. What a transaction of ours
// pays to addresses of ours are coins, but no transfers.
//
// Near the top, the block is that of the line that the last Head chose; below the kept headers a
// majority must have its hash. Its contents are taken from any node, proven by the hash. A node
// that cannot show the block is skipped. chain.ErrNotFound and chain.ErrUnavailable are as the port
// has them; ErrPruned is within the latter where a node has deleted the block.
func (c *Chain) Block(ctx context.Context, height uint64) (chain.Block, error) {
	blocks, err := c.Blocks(ctx, height, height)
	if err != nil {
		return chain.Block{}, err
	}
	return blocks[0], nil
}

// Blocks returns the blocks from one height to another as Block does. With an error, and after a
// block with many coins of ours, the last ones are missing.
func (c *Chain) Blocks(ctx context.Context, from, to uint64) (blocks []chain.Block, err error) {
	c = c.current()
	if c.accounts == nil || to < from {
		return nil, fmt.Errorf("reading blocks %d to %d: nothing is asked for, or our accounts are not known", from, to)
	}
	hashes, err := c.hashes(ctx, from, to)
	if err != nil {
		return nil, err
	}
	for found := 0; len(hashes) > 0 && found < maxFound; {
		part := hashes[:min(len(hashes), readAtOnce)]
		read, err := c.readPart(ctx, from+uint64(len(blocks)), part)
		for _, b := range read { // in order: a block may spend coins of the one before
			one, err := c.search(ctx, b)
			if err != nil {
				return blocks, err
			}
			blocks, found = append(blocks, one), found+len(one.Coins)
		}
		if err != nil {
			return blocks, err
		}
		hashes = hashes[len(part):]
	}
	return blocks, nil
}

// hashes are those of the line from one height to another, or to its end if that is lower.
func (c *Chain) hashes(ctx context.Context, from, to uint64) ([]chainhash.Hash, error) {
	if _, best := c.line.bounds(); best == nil {
		if _, err := c.Head(ctx); err != nil {
			return nil, err
		}
	}
	kept, lowest := c.line.hashes(from, to)
	if lowest == from {
		if kept == nil {
			return nil, fmt.Errorf("block %d: %w", from, chain.ErrNotFound)
		}
		return kept, nil
	}
	old, err := c.oldHashes(ctx, from, lowest-1)
	return append(old, kept...), err
}

// oldHashes are hashes below the kept headers. A majority must name the last of them, which proves
// the others.
func (c *Chain) oldHashes(ctx context.Context, from, to uint64) ([]chainhash.Hash, error) {
	hash, having, err := c.agreeAt(ctx, to)
	if err != nil {
		return nil, err
	}
	var faults []error
	for _, n := range having {
		headers, err := n.headersDown(ctx, from, to, hash)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		var list []chainhash.Hash
		for _, h := range headers[1:] {
			list = append(list, h.PrevBlock)
		}
		return append(list, hash), nil
	}
	return nil, fmt.Errorf("reading the headers %d to %d: %w", from, to, unavailable(faults))
}

// readPart reads a few blocks at the same time. With an error the last ones are missing.
func (c *Chain) readPart(ctx context.Context, from uint64, hashes []chainhash.Hash) ([]*block, error) {
	read, errs := make([]*block, len(hashes)), make([]error, len(hashes))
	var g errgroup.Group
	for i, hash := range hashes {
		g.Go(func() error {
			read[i], errs[i] = c.readBlock(ctx, from+uint64(i), hash)
			return nil
		})
	}
	_ = g.Wait() // the errors are in errs
	for i, err := range errs {
		if err != nil {
			return read[:i], err
		}
	}
	return read, nil
}

// readBlock reads a block from one node after another until one shows it.
func (c *Chain) readBlock(ctx context.Context, height uint64, hash chainhash.Hash) (*block, error) {
	var faults []error
	for _, n := range quorum.Order(c.nodes) {
		b, err := c.readFrom(ctx, n, height, hash)
		if err == nil {
			return b, nil
		}
		faults = append(faults, err)
		if ctx.Err() != nil {
			break
		}
	}
	return nil, fmt.Errorf("reading block %d: %w", height, unavailable(faults))
}

func (c *Chain) readFrom(ctx context.Context, n *node, height uint64, hash chainhash.Hash) (*block, error) {
	raw, err := n.rawBlock(ctx, hash)
	if err != nil {
		return nil, n.pruned(ctx, height, err)
	}
	b, err := c.line.rules.prove(raw, height, hash)
	if err != nil {
		err = fmt.Errorf("%s: block %d: %w: %w", n.name, height, errLie, err)
		return nil, n.RecordWrong("block", err)
	}
	return b, nil
}
