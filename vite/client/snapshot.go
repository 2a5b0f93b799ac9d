package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"gatewayd/vite/core"
)

// SnapshotBlock is one block of the snapshot chain: it confirms, per account, everything up to the
// named block.
type SnapshotBlock struct {
	Height       uint64
	Hash         core.Hash
	PreviousHash core.Hash
	Producer     core.Address
	PublicKey    []byte
	Signature    []byte
	Seed         uint64 // exceeds 2^53: never through a float
	SeedHash     *core.Hash
	NextSeedHash *core.Hash
	Content      map[core.Address]HashHeight // newest confirmed block of each account that moved
	Time         time.Time
	Version      uint32
}

// HashHeight names a block of an account.
type HashHeight struct {
	Hash   core.Hash
	Height uint64
}

// UnmarshalJSON reads {"hash": hex, "height": number or text}.
func (h *HashHeight) UnmarshalJSON(raw []byte) error {
	var w struct {
		Hash   core.Hash `json:"hash"`
		Height count     `json:"height"`
	}
	if err := json.Unmarshal(raw, &w); err != nil {
		return err
	}
	*h = HashHeight{w.Hash, uint64(w.Height)}
	return nil
}

type snapshotWire struct {
	Height       count                       `json:"height"`
	Hash         core.Hash                   `json:"hash"`
	PreviousHash *core.Hash                  `json:"previousHash"`
	PrevHash     *core.Hash                  `json:"prevHash"`
	Producer     core.Address                `json:"producer"`
	PublicKey    []byte                      `json:"publicKey"`
	Signature    []byte                      `json:"signature"`
	Seed         count                       `json:"seed"`
	SeedHash     *core.Hash                  `json:"seedHash"`
	NextSeedHash *core.Hash                  `json:"nextSeedHash"`
	Data         map[core.Address]HashHeight `json:"snapshotData"`
	Content      map[core.Address]HashHeight `json:"snapshotContent"`
	Timestamp    int64                       `json:"timestamp"`
	Version      uint32                      `json:"version"`
}

// UnmarshalJSON reads either generation of member names.
func (b *SnapshotBlock) UnmarshalJSON(raw []byte) error {
	var w snapshotWire
	if err := json.Unmarshal(raw, &w); err != nil {
		return fmt.Errorf("snapshot block: %w", err)
	}
	*b = SnapshotBlock{
		Height: uint64(w.Height), Hash: w.Hash, PreviousHash: either(w.PreviousHash, w.PrevHash),
		Producer: w.Producer, PublicKey: w.PublicKey, Signature: w.Signature,
		Seed: uint64(w.Seed), SeedHash: w.SeedHash, NextSeedHash: w.NextSeedHash,
		Content: w.Data, Time: time.Unix(w.Timestamp, 0).UTC(), Version: w.Version,
	}
	if b.Content == nil {
		b.Content = w.Content
	}
	return nil
}

// Upgrade is a snapshot height from which the rules of the chain changed. The members are
// capitalised on the wire.
type Upgrade struct {
	Name    string
	Height  uint64
	Version uint32
}

// MaxChunks bounds the snapshot blocks of one call of Chunks.
const MaxChunks = 1000

// Chunk is a snapshot block with all account blocks that it confirms, in an order in which every
// send precedes its receive. The last block of each account in the list is the one that the
// snapshot's content names. Sends made by a contract are in the Triggered of its receive.
type Chunk struct {
	Snapshot SnapshotBlock
	Blocks   []AccountBlock
}

// UnmarshalJSON accepts either generation of member names: encoding/json ignores their case.
func (c *Chunk) UnmarshalJSON(raw []byte) error {
	var w struct {
		Blocks   json.RawMessage `json:"accountBlocks"`
		Snapshot *SnapshotBlock  `json:"snapshotBlock"`
	}
	if err := json.Unmarshal(raw, &w); err != nil {
		return fmt.Errorf("chunk: %w", err)
	}
	if w.Snapshot == nil {
		return errors.New("chunk: without a snapshot block")
	}
	blocks, err := readList(w.Blocks, (*AccountBlock).UnmarshalJSON)
	if err != nil {
		return fmt.Errorf("accountBlocks: %w", err)
	}
	*c = Chunk{*w.Snapshot, blocks}
	return nil
}

// Chunks lists the snapshot blocks of a range of heights, both ends included, at most MaxChunks,
// ascending, with what they confirm. It ends early where the node's line ends, and is empty where
// nothing is there. Of account blocks it shows what their hashes and signatures cover and no more:
// no confirmations, no token info, and of a receive no amount. ErrMethod: the node is too old, or
// the method is switched off.
func (c *Client) Chunks(ctx context.Context, from, to uint64) ([]Chunk, error) {
	return callList[Chunk](ctx, c, "ledger_getChunks", decimal(from), decimal(to))
}

// SnapshotBlocksByHash asks for many snapshot blocks at once. The answers have the order of the
// hashes, nil for unknown ones.
func (c *Client) SnapshotBlocksByHash(ctx context.Context, hashes []core.Hash) ([]*SnapshotBlock, error) {
	blocks := make([]*SnapshotBlock, len(hashes))
	err := c.batch(ctx, "ledger_getSnapshotBlockByHash", len(hashes),
		func(i int) []any { return []any{hashes[i]} },
		func(i int) any { return &blocks[i] })
	return blocks, err
}

// Seal returns the data that the block's hash covers, with the name of the upgrade whose rules
// produced it.
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
