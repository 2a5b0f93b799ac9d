package client

import (
	"encoding/json"
	"fmt"
	"time"

	"gatewayd/chain/vite/core"
)

// SnapshotBlock is one block of the snapshot chain: it confirms, per account, everything up to the named block.
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

// Upgrade is a snapshot height from which the rules of the chain changed. The members are capitalised on the wire.
type Upgrade struct {
	Name    string
	Height  uint64
	Version uint32
}
