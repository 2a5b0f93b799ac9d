package client

import (
	"context"
	"errors"

	"github.com/holiman/uint256"

	"gatewayd/chain/vite/core"
)

// rawBlock is the shape that ledger_sendRawTransaction takes (facts/vite-wire.md 5.6): members that a block does not have
// are left out, never null.
type rawBlock struct {
	BlockType     core.BlockType `json:"blockType"`
	Height        string         `json:"height"`
	Hash          core.Hash      `json:"hash"`
	PreviousHash  core.Hash      `json:"previousHash"`
	Address       core.Address   `json:"address"`
	PublicKey     []byte         `json:"publicKey"`
	Signature     []byte         `json:"signature"`
	ToAddress     *core.Address  `json:"toAddress,omitempty"`
	TokenID       *core.TokenID  `json:"tokenId,omitempty"`
	Amount        string         `json:"amount,omitempty"`
	SendBlockHash *core.Hash     `json:"sendBlockHash,omitempty"`
	Fee           string         `json:"fee,omitempty"`
	Data          []byte         `json:"data,omitempty"`
	Difficulty    string         `json:"difficulty,omitempty"`
	Nonce         []byte         `json:"nonce,omitempty"`
}

// errZeroPayee stops a send that would lose its amount: a node takes an omitted payee as the zero address.
var errZeroPayee = errors.New("the block sends an amount to the zero address")

// SendRawTransaction hands a signed block to the node. An error does not always mean that the block was not taken: see
// OutcomeUnknown, and note that a block that is already in the chain gives ErrPrevBlock.
func (c *Client) SendRawTransaction(ctx context.Context, b *core.AccountBlock) error {
	if b.IsSend() && b.ToAddress.IsZero() && !b.Amount.IsZero() {
		return errZeroPayee
	}
	return c.Call(ctx, nil, "ledger_sendRawTransaction", raw(b))
}

func raw(b *core.AccountBlock) rawBlock {
	w := rawBlock{
		BlockType: b.BlockType, Height: decimal(b.Height), Hash: b.Hash, PreviousHash: b.PreviousHash, Address: b.Address,
		PublicKey: b.PublicKey, Signature: b.Signature, Data: b.Data,
	}
	if b.IsSend() {
		w.ToAddress, w.TokenID, w.Amount, w.Fee = &b.ToAddress, &b.TokenID, b.Amount.Dec(), nonZero(&b.Fee)
	} else {
		w.SendBlockHash = &b.SendBlockHash
	}
	if b.Difficulty != nil {
		w.Difficulty, w.Nonce = b.Difficulty.String(), b.Nonce
	}
	return w
}

func nonZero(n *uint256.Int) string {
	if n.IsZero() {
		return ""
	}
	return n.Dec()
}
