package ethereum

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rlp"

	"gatewayd/chain/quorum"
)

// A block of unknown type holds a transaction of a type that go-ethereum does not know: the
// deposits and system transactions of chains that settle on another one (Optimism 0x7e, Arbitrum
// 0x64 to 0x6a), or of a later fork. Such a transaction and its receipt cannot be encoded here, so
// the roots over both lists cannot be recomputed. The rest can: the header's hash, and the hash and
// sender of every transaction of a known type. A majority of the nodes must agree on the block's
// list of transactions, on their receipts, and on all data of unknown types. A proven block of one
// node needs no vote.

// proveKnownTypes computes the hash of each transaction of a known type in a block of unknown type.
func (b *block) proveKnownTypes(raw *wireBlock) error {
	b.unknown = true
	for i := range raw.Transactions {
		if raw.Transactions[i].Unknown() {
			continue
		}
		tx, err := raw.Transactions[i].Signed()
		if err != nil {
			return err
		}
		if tx.Hash() != raw.Transactions[i].Hash {
			return fmt.Errorf("transaction %s: its hash is %s", raw.Transactions[i].Hash, tx.Hash())
		}
		b.txs[i].signed = tx
	}
	return nil
}

// voted is a block of unknown type as a majority of all nodes shows it, or a proven one if some
// node has that. It waits for all of them: liars who agree on an unknown type to get out of their
// proofs must not be faster than one honest node.
func (c *Chain) voted(ctx context.Context, nodes []*node, height uint64, want *common.Hash) (*block, error) {
	question := func(ctx context.Context, n *node) (*block, error) { return c.read(ctx, n, height, want) }
	answers := quorum.Ask(ctx, nodes, question, proven)
	if b := c.elect(answers); b != nil {
		blameUnknown(b, answers)
		return b, nil
	}
	_, faults := quorum.Good(answers)
	return nil, unavailable(append(faults, errors.New("the nodes show different contents of a block with transactions of unknown types")))
}

// blameUnknown counts the answers that differ from the elected one.
func blameUnknown(elected *block, answers []answer[*block]) {
	for _, a := range answers {
		switch {
		case a.Err != nil:
			_ = a.Node.blame(a.Err)
		case a.Value.unknown != elected.unknown || elected.unknown && a.Value.digest() != elected.digest():
			a.Node.RecordWrong("block", fmt.Errorf("it shows block %d with other contents than a majority", elected.number))
		}
	}
}

// proven reports whether one of the answers needs no vote.
func proven(answers []answer[*block]) bool {
	good, _ := quorum.Good(answers)
	return slices.ContainsFunc(good, func(a answer[*block]) bool { return !a.Value.unknown })
}

// elect is the block that the answers suffice for; nil if none.
func (c *Chain) elect(answers []answer[*block]) *block {
	good, _ := quorum.Good(answers)
	votes := make(map[common.Hash]int)
	for _, a := range good {
		if !a.Value.unknown {
			return a.Value
		}
	}
	for _, a := range good {
		digest := a.Value.digest()
		if votes[digest]++; votes[digest] >= c.majority() {
			return a.Value
		}
	}
	return nil
}

// digest represents all reported data of a block of unknown type.
func (b *block) digest() common.Hash {
	type entry struct {
		Hash, Extra common.Hash
		Price       common.Hash
		From        common.Address
		To, Value   []byte
		Input       []byte
		OK          bool
		GasUsed     uint64
		Logs        []wireLog
	}
	list := make([]entry, len(b.txs))
	for i := range b.txs {
		t := &b.txs[i]
		list[i] = entry{
			Hash: t.hash(), Extra: t.extra.Bytes32(), Price: t.price.Bytes32(), From: t.from, Value: t.value.Bytes(), Input: t.input, OK: t.ok, GasUsed: t.gasUsed, Logs: t.logs,
		}
		if t.to != nil {
			list[i].To = t.to[:]
		}
	}
	text, err := rlp.EncodeToBytes(list)
	if err != nil {
		panic(fmt.Sprintf("encoding a block's digest: %v", err)) // of types that always encode
	}
	return crypto.Keccak256Hash(text)
}
