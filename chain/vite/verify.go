package vite

import (
	"errors"
	"fmt"
	"slices"

	"gatewayd/vite/client"
	"gatewayd/vite/core"
)

// signedPart is the block without what a node adds for display: what its hash and signature speak
// of.
func signedPart(b *client.AccountBlock) *core.AccountBlock {
	return &core.AccountBlock{
		BlockType: b.BlockType, Height: b.Height, PreviousHash: b.PreviousHash, Address: b.Address, ToAddress: b.ToAddress,
		Amount: b.Amount, TokenID: b.TokenID, SendBlockHash: b.SendBlockHash, Data: b.Data, Fee: b.Fee, VMLogHash: b.VMLogHash,
		Nonce: b.Nonce, Difficulty: b.Difficulty, Hash: b.Hash, PublicKey: b.PublicKey, Signature: b.Signature,
	}
}

// maxFee is far above any fee, which the ledger's rules set, and far below any hash.
const maxFee = 128 // bits

// checkShape reports whether a block has the shape that makes its hash mean one thing. What is
// hashed has no lengths in it: the hash of the data could be shown as a fee, and what a contract
// sends as part of a nonce (docs/exchange-chain-wire.md 4.2).
func checkShape(b *client.AccountBlock) error {
	switch {
	case b.BlockType.IsSend() && b.Fee.BitLen() > maxFee:
		return fmt.Errorf("%w: block %s: no fee is as large as %s", errLie, b.Hash, b.Fee.Dec())
	case b.Address.IsContract() && slices.ContainsFunc(b.Nonce, func(x byte) bool { return x != 0 }):
		return fmt.Errorf("%w: block %s: contracts do no work", errLie, b.Hash)
	}
	return nil
}

// verify checks shape, hash, signature and key of a user's block.
func verify(b *client.AccountBlock) error {
	if err := checkShape(b); err != nil {
		return err
	}
	return signedPart(b).Verify()
}

// checkSend reports whether a block that a node showed as a send to an account of ours can be one.
// For a user's send everything but its place is proven by hash and signature. A contract's send
// carries no signature, and its hash covers the place inside its host, which the node does not
// return. So only its shape can be checked (docs/exchange-chain-wire.md 4.2).
func checkSend(b *client.AccountBlock, to core.Address) error {
	switch {
	case !b.BlockType.IsSend():
		return fmt.Errorf("%w: block %s: type %d is no send", errLie, b.Hash, b.BlockType)
	case b.ToAddress != to:
		return fmt.Errorf("%w: send %s: goes to %s, not to %s", errLie, b.Hash, b.ToAddress, to)
	case b.Address.IsContract():
		return checkContractSend(b)
	case b.BlockType != core.SendCall || b.Height == 0:
		return fmt.Errorf("%w: send %s: users make no block of type %d at height %d", errLie, b.Hash, b.BlockType, b.Height)
	}
	if err := verify(b); err != nil {
		return fmt.Errorf("%w: send %s: %w", errLie, b.Hash, err)
	}
	return nil
}

func checkContractSend(b *client.AccountBlock) error {
	if b.BlockType == core.SendCreate || b.Height != 0 || b.Hash.IsZero() {
		return fmt.Errorf("%w: send %s: contracts make no block of type %d at height %d", errLie, b.Hash, b.BlockType, b.Height)
	}
	return nil
}

// checkOwn reports whether a block is in the account's own chain: made with the account's key, at
// the height and hash that the block after it names. The genesis block has no signature.
func checkOwn(b *client.AccountBlock, account core.Address, height uint64, hash core.Hash) error {
	switch {
	case b.Address != account:
		return fmt.Errorf("%w: block %s: is of account %s", errLie, b.Hash, b.Address)
	case b.Height != height || b.Hash != hash:
		return fmt.Errorf("%w: block at height %d: the node shows %s at height %d, want %s", errLie, height, b.Hash, b.Height, hash)
	case b.BlockType == core.GenesisReceive && height == 1:
		return nil
	}
	if err := verify(b); err != nil {
		return fmt.Errorf("%w: block at height %d: %w", errLie, height, err)
	}
	return nil
}

var errPlace = errors.New("a block is confirmed without a snapshot block or the other way round")

// place returns the snapshot block that confirmed a block first; ok is false for an unconfirmed
// block.
func place(b *client.AccountBlock) (height uint64, snapshot core.Hash, ok bool, err error) {
	switch {
	case b.FirstSnapshotHash == nil && b.FirstSnapshotHeight == 0:
		return 0, core.Hash{}, false, nil
	case b.FirstSnapshotHash == nil || b.FirstSnapshotHeight == 0:
		return 0, core.Hash{}, false, fmt.Errorf("block %s: %w", b.Hash, errPlace)
	}
	return b.FirstSnapshotHeight, *b.FirstSnapshotHash, true, nil
}
