package vite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"gatewayd/chain"
	"gatewayd/chain/quorum"
	"gatewayd/vite/client"
	"gatewayd/vite/core"
)

// blocksOf picks from checked chunks what concerns our accounts.
func (own accountSet) blocksOf(chunks []client.Chunk) (_ []chain.Block, err error) {
	blocks := make([]chain.Block, len(chunks))
	for i := range chunks {
		if blocks[i], err = own.blockOf(&chunks[i]); err != nil {
			return nil, fmt.Errorf("snapshot block %d: %w", chunks[i].Snapshot.Height, err)
		}
	}
	return blocks, nil
}

func (own accountSet) blockOf(c *client.Chunk) (chain.Block, error) {
	head := headerOf(&c.Snapshot)
	block := chain.Block{Point: head.Point, Parent: head.parent, Time: head.time}
	for i := range c.Blocks {
		b := &c.Blocks[i]
		if own[b.Address] && b.BlockType != core.GenesisReceive {
			if err := checkOwn(b, b.Address, b.Height, b.Hash); err != nil {
				return chain.Block{}, err
			}
			block.OwnTxs = append(block.OwnTxs, ownTxOf(b))
		}
		if own.isTransfer(b) {
			if err := checkUserSend(b); err != nil {
				return chain.Block{}, err
			}
			block.Transfers = append(block.Transfers, *transferOf(b))
		}
		for j := range b.Triggered {
			if t := &b.Triggered[j]; own.isTransfer(t) {
				block.Transfers = append(block.Transfers, *transferOf(t))
			}
		}
	}
	sortBlock(&block)
	return block, nil
}

// isTransfer reports whether a block moves value to an account of ours from another one, ours or
// not: it has to be received in any case. What moves nothing is none, and costs nothing.
func (own accountSet) isTransfer(b *client.AccountBlock) bool {
	return b.IsSend() && own[b.ToAddress] && b.ToAddress != b.Address && !b.Amount.IsZero()
}

// checkUserSend verifies the signature of a user's send; its hash is checked. Contracts' blocks are
// signed by their producer.
func checkUserSend(b *client.AccountBlock) error {
	if b.Address.IsContract() {
		return nil
	}
	return checkSend(b, b.ToAddress)
}

func ownTxOf(b *client.AccountBlock) chain.OwnTx {
	return chain.OwnTx{Account: b.Address.String(), Number: b.Height, Tx: b.Hash.String(), OK: true}
}

// transferOf describes a send. Its hash is unique on the ledger and the same in whichever snapshot
// block confirms it.
func transferOf(b *client.AccountBlock) *chain.Transfer {
	return &chain.Transfer{
		Ref: b.Hash.String(), Tx: b.Hash.String(),
		From: b.Address.String(), To: b.ToAddress.String(),
		Asset: chain.Asset(b.TokenID.String()), Amount: chain.AmountOf(&b.Amount),
		Memo: memoOf(b.Data),
	}
}

// sortBlock gives a block the order in which every node's answer is the same.
func sortBlock(b *chain.Block) {
	slices.SortFunc(b.Transfers, func(x, y chain.Transfer) int { return cmp.Compare(x.Ref, y.Ref) })
	slices.SortFunc(b.OwnTxs, func(x, y chain.OwnTx) int {
		return cmp.Or(cmp.Compare(x.Account, y.Account), cmp.Compare(x.Number, y.Number))
	})
}

// noComment is the Memo.Type of data that orders nothing.
const noComment = -1

// memoOf decodes the data of a send. A wallet's plain text, or no data at all, is no fault: it
// names no withdrawal. A broken gateway comment yields none of its fields.
func memoOf(data []byte) chain.Memo {
	memo := chain.Memo{Raw: data, Type: noComment}
	comment, err := core.DecodeComment(data)
	var broken *core.CommentError
	switch {
	case errors.As(err, &broken):
		memo.Fault = string(broken.Reason)
	case err == nil:
		memo.Type, memo.Address, memo.Label = int(comment.Type), comment.Address, comment.Label
	}
	return memo
}

// Describe returns what an account block of a user's address asks for. Hash and signature are
// checked, so that one node suffices and none can lie. ErrNotFound: the nodes that answered do not
// know it. ErrUnavailable: none answered.
func (c *Chain) Describe(ctx context.Context, hash string) (chain.Outgoing, error) {
	c = c.current()
	want, err := core.ParseHash(hash)
	if err != nil {
		return chain.Outgoing{}, fmt.Errorf("block %q: %w", hash, err)
	}
	answers := ask(ctx, c.nodes, func(ctx context.Context, _ *node, nc *client.Client) (chain.Outgoing, error) {
		return describe(ctx, nc, want)
	}, quorum.Same[*node](1, func(chain.Outgoing) bool { return true })) // one proven answer is enough
	good, faults := quorum.Good(answers)
	if len(good) > 0 {
		return good[0].Value, nil
	}
	err = errors.Join(faults...)
	if !errors.Is(err, chain.ErrNotFound) {
		err = unavailable(err)
	}
	return chain.Outgoing{}, fmt.Errorf("reading block %s: %w", hash, err)
}

func describe(ctx context.Context, nc *client.Client, hash core.Hash) (chain.Outgoing, error) {
	b, err := nc.AccountBlockByHash(ctx, hash)
	if err != nil {
		return chain.Outgoing{}, err
	}
	if b == nil {
		return chain.Outgoing{}, chain.ErrNotFound
	}
	if err := checkOwn(b, b.Address, b.Height, hash); err != nil {
		return chain.Outgoing{}, err
	}
	if b.BlockType == core.Receive {
		return chain.Outgoing{Source: b.SendBlockHash.String()}, nil
	}
	if b.BlockType != core.SendCall {
		return chain.Outgoing{Asset: chain.Asset(b.TokenID.String())}, nil
	}
	out := chain.Outgoing{Asset: chain.Asset(b.TokenID.String()), To: b.ToAddress.String(), Amount: chain.AmountOf(&b.Amount)}
	if data, err := DecodePaymentData(b.Data); err == nil {
		out.Payment = data.ID
	}
	return out, nil
}
