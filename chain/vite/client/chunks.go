package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"gatewayd/chain/vite/core"
)

// MaxChunks is how many snapshot blocks Chunks may ask for at once.
const MaxChunks = 1000

// Chunk is a snapshot block with all account blocks that it confirms, in an order in which no receive stands before its send.
// The last block of each account in the list is the one that the snapshot's content names. Sends made by a contract stand in the
// Triggered of its receive.
type Chunk struct {
	Snapshot SnapshotBlock
	Blocks   []AccountBlock
}

// UnmarshalJSON reads either generation of member names: encoding/json looks at them without regard to case.
func (c *Chunk) UnmarshalJSON(raw []byte) error {
	var w struct {
		Blocks   []AccountBlock `json:"accountBlocks"`
		Snapshot *SnapshotBlock `json:"snapshotBlock"`
	}
	if err := json.Unmarshal(raw, &w); err != nil {
		return fmt.Errorf("chunk: %w", err)
	}
	if w.Snapshot == nil {
		return errors.New("chunk: without a snapshot block")
	}
	*c = Chunk{*w.Snapshot, w.Blocks}
	return nil
}

// Chunks lists the snapshot blocks of a range of heights, both ends included, at most MaxChunks, ascending, with what they confirm. It
// ends early where the node's line ends, and is empty where nothing is there. Of account blocks it shows what their hashes and
// signatures cover and no more: no confirmations, no token info, and of a receive no amount. ErrMethod: the node is too old, or the
// method is switched off.
func (c *Client) Chunks(ctx context.Context, from, to uint64) ([]Chunk, error) {
	return ask[[]Chunk](ctx, c, "ledger_getChunks", decimal(from), decimal(to))
}

// SnapshotBlocksByHash asks for many snapshot blocks at once. The answers stand in the order of the hashes, nil for unknown ones.
func (c *Client) SnapshotBlocksByHash(ctx context.Context, hashes []core.Hash) ([]*SnapshotBlock, error) {
	blocks := make([]*SnapshotBlock, len(hashes))
	err := c.batch(ctx, "ledger_getSnapshotBlockByHash", len(hashes),
		func(i int) []any { return []any{hashes[i]} },
		func(i int) any { return &blocks[i] })
	return blocks, err
}

// Seal is what the block's hash covers, with the name of the upgrade under whose rules it was made.
func (b *SnapshotBlock) Seal(upgrade string) core.Seal {
	s := core.Seal{
		PreviousHash: b.PreviousHash, Height: b.Height, Time: b.Time.Unix(), Seed: b.Seed, Upgrade: upgrade, Version: b.Version,
	}
	switch {
	case b.NextSeedHash != nil:
		s.SeedHash = *b.NextSeedHash
	case b.SeedHash != nil:
		s.SeedHash = *b.SeedHash
	}
	if len(b.Content) > 0 {
		s.Content = make(map[core.Address]core.HashHeight, len(b.Content))
	}
	for a, id := range b.Content {
		s.Content[a] = core.HashHeight{Hash: id.Hash, Height: id.Height}
	}
	return s
}
