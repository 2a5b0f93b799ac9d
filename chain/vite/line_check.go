package vite

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"gatewayd/vite/client"
	"gatewayd/vite/core"
)

// firstSight is a block before the first one that the line shows of an account. That no block was
// left out between the two follows from the snapshot block that confirmed it: its content must name
// it as the account's newest.
type firstSight struct {
	account core.Address
	head    core.HashHeight
}

// check reports whether chunks from a height on can be part of a valid chain:
//
//   - each snapshot block follows the one before, is signed, and its hash covers its content
//   - its content names the last of the listed blocks of each account, and no others
//   - each account's blocks follow each other from the newest one that was confirmed before
//   - each block's hash covers its fields and the sends that a contract made in it
func (r *lineReader) check(ctx context.Context, from uint64, chunks []client.Chunk) error {
	if from != r.last.height+1 || r.last.hash != chunks[0].Snapshot.PreviousHash || len(r.heads) > maxHeads {
		r.resetBelow(from)
	}
	var sights []firstSight
	for i := range chunks {
		c := &chunks[i]
		if err := r.checkSnapshot(ctx, &c.Snapshot); err != nil {
			return err
		}
		found, err := r.checkContent(c)
		if err != nil {
			return fmt.Errorf("snapshot block %d: %w", c.Snapshot.Height, err)
		}
		sights = append(sights, found...)
		r.last = point{c.Snapshot.Height, c.Snapshot.Hash}
	}
	if err := checkSigned(chunks); err != nil {
		return err
	}
	if r.mode != LineProven {
		return nil
	}
	return r.prove(ctx, chunks[len(chunks)-1].Snapshot.Version, sights)
}

// checkSnapshot reports whether a snapshot block may follow the last one.
func (r *lineReader) checkSnapshot(ctx context.Context, b *client.SnapshotBlock) error {
	if want := r.last.height + 1; b.Height != want {
		return fmt.Errorf("snapshot block %d: the node answered block %d", want, b.Height)
	}
	if b.Height > r.first && b.PreviousHash != r.last.hash {
		return fmt.Errorf("snapshot block %d: does not follow block %d", b.Height, r.last.height)
	}
	if r.mode != LineProven {
		return nil
	}
	fits, err := r.sealed(ctx, b)
	if err == nil && !fits {
		err = fmt.Errorf("snapshot block %d: its hash does not match its content", b.Height)
	}
	return err
}

// checkContent compares the content with the blocks, moves the heads and answers where the accounts
// seen for the first time were before.
func (r *lineReader) checkContent(c *client.Chunk) (sights []firstSight, err error) {
	ends := make(map[core.Address]core.HashHeight, len(c.Snapshot.Content))
	for i := range c.Blocks {
		b := &c.Blocks[i]
		before := core.HashHeight{Hash: b.PreviousHash, Height: b.Height - 1}
		switch end, seen := ends[b.Address]; {
		case b.Height == 0:
			return nil, fmt.Errorf("block %s: has height 0", b.Hash)
		case seen && end != before:
			return nil, fmt.Errorf("account %s: block %d does not follow block %d", b.Address, b.Height, end.Height)
		case !seen:
			sight, err := r.checkFollows(b.Address, before)
			if err != nil {
				return nil, err
			}
			sights = append(sights, sight...)
		}
		if err := checkHash(b, c.Snapshot.Height); err != nil {
			return nil, err
		}
		ends[b.Address] = core.HashHeight{Hash: b.Hash, Height: b.Height}
	}
	if len(ends) != len(c.Snapshot.Content) {
		return nil, fmt.Errorf("blocks of %d accounts are shown, the content names %d", len(ends), len(c.Snapshot.Content))
	}
	for a, named := range c.Snapshot.Content {
		if ends[a] != (core.HashHeight{Hash: named.Hash, Height: named.Height}) {
			return nil, fmt.Errorf("account %s: the content names another block %d", a, named.Height)
		}
		r.heads[a] = ends[a]
	}
	return sights, nil
}

// checkFollows reports whether an account's newest block may have been before. One that is seen for
// the first time is answered, but for a user's first block: it is a receive, and nothing can be
// left out after it.
func (r *lineReader) checkFollows(a core.Address, before core.HashHeight) ([]firstSight, error) {
	head, known := r.heads[a]
	switch {
	case known && head != before:
		return nil, fmt.Errorf("account %s: block %d does not follow block %d", a, before.Height+1, head.Height)
	case known:
		return nil, nil
	case before.Height > 1, before.Height == 1 && a.IsContract():
		return []firstSight{{a, before}}, nil
	case before.Height == 0 && !before.Hash.IsZero():
		return nil, fmt.Errorf("account %s: a block before the first one", a)
	}
	return nil, nil
}

// checkHash reports whether a block's hash covers its fields, and the sends in it. Genesis blocks
// have hashes of their own making, and move nothing.
func checkHash(b *client.AccountBlock, snapshot uint64) error {
	if b.BlockType == core.GenesisReceive && b.Height == 1 && snapshot == genesisHeight && len(b.Triggered) == 0 {
		return nil
	}
	if err := checkShape(b); err != nil {
		return err
	}
	whole := signedPart(b)
	for i := range b.Triggered {
		t := &b.Triggered[i]
		if err := checkShape(t); err != nil {
			return err
		}
		send := signedPart(t)
		if !b.Address.IsContract() || t.Address != b.Address || i > maxTriggered || send.ComputeTriggeredHash(whole, uint8(i)) != t.Hash {
			return fmt.Errorf("block %s: send %d in it: %w", b.Hash, i, core.ErrBlockHash)
		}
		whole.Triggered = append(whole.Triggered, send)
	}
	if whole.ComputeHash() != b.Hash {
		return fmt.Errorf("block %s: %w", b.Hash, core.ErrBlockHash)
	}
	return nil
}

// maxTriggered is the highest index of a send in a contract's receive: it is one byte in the send's
// hash.
const maxTriggered = 255

// checkSigned verifies the signatures of the snapshot blocks, which only a producer's key can make.
// Block 1 has none.
func checkSigned(chunks []client.Chunk) error {
	signed := make([]core.Signed, 0, len(chunks))
	points := make(map[string]*core.PublicPoint)
	for i := range chunks {
		b := &chunks[i].Snapshot
		if b.Height == genesisHeight {
			continue
		}
		if len(b.PublicKey) != core.PublicKeySize || core.UserAddress(core.PublicKey(b.PublicKey)) != b.Producer {
			return fmt.Errorf("snapshot block %d: the key is not the producer's", b.Height)
		}
		key := string(b.PublicKey)
		if points[key] == nil {
			points[key] = core.ReadPoint(b.PublicKey)
		}
		signed = append(signed, core.Signed{Public: b.PublicKey, Message: b.Hash[:], Signature: b.Signature, Point: points[key]})
	}
	if core.VerifyAll(signed) {
		return nil
	}
	for _, s := range signed {
		if !core.Verify(s.Public, s.Message, s.Signature) {
			return fmt.Errorf("snapshot block %x: %w", s.Message, core.ErrBlockSignature)
		}
	}
	return nil
}

// countOf is the number of nodes that gave an answer.
func countOf[T comparable](answers []answer[T], value T) (n int) {
	for _, a := range answers {
		if a.Err == nil && a.Value == value {
			n++
		}
	}
	return n
}

// errSight marks an account whose earlier blocks differ from the node's answer.
var errSight = errors.New("the node does not prove the account's previous block")

// prove looks up the snapshot blocks that confirmed accounts' heads before their first sight.
func (r *lineReader) prove(ctx context.Context, newest uint32, sights []firstSight) error {
	if len(sights) == 0 {
		return nil
	}
	hashes := make([]core.Hash, len(sights))
	for i, s := range sights {
		hashes[i] = s.head.Hash
	}
	blocks, err := r.client.AccountBlocksByHash(ctx, hashes)
	if err != nil {
		return fmt.Errorf("%w: %w", errAsking, err)
	}
	for i, b := range blocks {
		if b == nil || b.FirstSnapshotHash == nil {
			return fmt.Errorf("account %s, block %d: %w", sights[i].account, sights[i].head.Height, errSight)
		}
		hashes[i] = *b.FirstSnapshotHash
	}
	return r.proveIn(ctx, newest, sights, hashes)
}

// proveIn searches for each head in the content of the snapshot block that, by the node's answer,
// confirmed it. The hash rules of older versions, and of a genesis, are unknown: there the content
// is believed.
func (r *lineReader) proveIn(ctx context.Context, newest uint32, sights []firstSight, in []core.Hash) error {
	found, err := contentsOf(ctx, r.client, in)
	if err != nil {
		return fmt.Errorf("%w: %w", errAsking, err)
	}
	for _, b := range found {
		if b.Height >= r.first {
			return fmt.Errorf("snapshot block %s: %w", b.Hash, errSight)
		}
		if err := r.checkProof(ctx, newest, b); err != nil {
			return err
		}
	}
	for i, s := range sights {
		if !s.namedIn(found[in[i]]) {
			return fmt.Errorf("account %s, block %d: %w", s.account, s.head.Height, errSight)
		}
	}
	return r.confirm(ctx, sights, in)
}

// contentsOf asks a node for snapshot blocks; those that it does not have are missing.
func contentsOf(ctx context.Context, nc *client.Client, hashes []core.Hash) (map[core.Hash]*client.SnapshotBlock, error) {
	contents := make(map[core.Hash]*client.SnapshotBlock, len(hashes))
	for _, h := range hashes {
		contents[h] = nil
	}
	list := slices.Collect(maps.Keys(contents))
	found, err := nc.SnapshotBlocksByHash(ctx, list)
	if err != nil {
		return nil, err
	}
	clear(contents)
	for i, b := range found {
		if b != nil && b.Hash == list[i] {
			contents[b.Hash] = b
		}
	}
	return contents, nil
}

// namedIn reports whether a snapshot block, if there is one, names the account's block as its
// newest.
func (s firstSight) namedIn(b *client.SnapshotBlock) bool {
	if b == nil {
		return false
	}
	named := b.Content[s.account]
	return s.head == core.HashHeight{Hash: named.Hash, Height: named.Height}
}

// confirmSights returns an error unless more than half of the nodes have the snapshot blocks which
// the reader shows for first sights, with the same account blocks in them. Nothing links those
// blocks to the chain that is read, and any party can sign one with a key of its own.
func (c *Chain) confirmSights(ctx context.Context, reader *node, sights []firstSight, in []core.Hash) error {
	need := c.quorum() - 1 // besides the reader
	if need == 0 {
		return nil
	}
	others := slices.DeleteFunc(slices.Clone(c.nodes), func(n *node) bool { return n == reader })
	answers := ask(ctx, others, func(ctx context.Context, _ *node, nc *client.Client) (bool, error) {
		found, err := contentsOf(ctx, nc, in)
		for i, s := range sights {
			if err == nil && !s.namedIn(found[in[i]]) {
				return false, nil
			}
		}
		return true, err
	}, func(answers []answer[bool]) bool { return countOf(answers, true) >= need })
	switch {
	case countOf(answers, true) >= need:
		return nil
	case countOf(answers, false) >= c.quorum():
		return fmt.Errorf("%w: more than half of the nodes do not have it there", errSight)
	}
	return fmt.Errorf("%w: too few nodes report the previous blocks of accounts", errAsking)
}

// checkProof reports whether a snapshot block below the line can be one.
func (r *lineReader) checkProof(ctx context.Context, newest uint32, b *client.SnapshotBlock) error {
	fits, err := r.sealed(ctx, b)
	switch {
	case err != nil:
		return err
	case !fits && b.Version >= newest && b.Height != genesisHeight:
		return fmt.Errorf("snapshot block %d: its hash does not match its content", b.Height)
	}
	return checkSigned([]client.Chunk{{Snapshot: *b}})
}
