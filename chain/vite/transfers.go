package vite

import (
	"cmp"
	"fmt"
	"slices"

	"gatewayd/chain"
	"gatewayd/chain/vite/client"
	"gatewayd/chain/vite/core"
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
			block.Effects = append(block.Effects, effectOf(b))
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

// isTransfer tells whether a block moves value to an account of ours from another one, ours or not: it has to be received in any case. What
// moves nothing is none, and costs nothing.
func (own accountSet) isTransfer(b *client.AccountBlock) bool {
	return b.IsSend() && own[b.ToAddress] && b.ToAddress != b.Address && !b.Amount.IsZero()
}

// checkUserSend looks at the signature of a user's send; its hash is checked. Contracts' blocks are signed by whoever produced them.
func checkUserSend(b *client.AccountBlock) error {
	if b.Address.IsContract() {
		return nil
	}
	return checkSend(b, b.ToAddress)
}

func effectOf(b *client.AccountBlock) chain.Effect {
	return chain.Effect{Account: b.Address.String(), Number: b.Height, Tx: b.Hash.String(), OK: true}
}

// transferOf describes a send. Its hash is unique on the ledger and the same in whichever snapshot block confirms it.
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
	slices.SortFunc(b.Effects, func(x, y chain.Effect) int {
		return cmp.Or(cmp.Compare(x.Account, y.Account), cmp.Compare(x.Number, y.Number))
	})
}
