package rpc

import (
	"math/big"

	"github.com/holiman/uint256"

	"gatewayd/httpserver/jsonrpc"
	"gatewayd/vite/core"
	"gatewayd/vite/node"
)

// maxRange is the most that the ends of a range of heights may lie apart. Both ends are included,
// so that it has one more.
const maxRange = 1000

var (
	errRange      = jsonrpc.Other("height range must be less than 1000")
	errRangeOrder = jsonrpc.Other("startHeight must be less than endHeight")
)

// heightRangeOf reads both ends of a range. They may be equal.
func heightRangeOf(start, end heightArg) (from, to uint64, err error) {
	if from, err = start.height(); err != nil {
		return 0, 0, err
	}
	if to, err = end.height(); err != nil {
		return 0, 0, err
	}
	switch {
	case from > to:
		return 0, 0, errRangeOrder
	case to-from > maxRange:
		return 0, 0, errRange
	}
	return from, to, nil
}

func (l *ledgerAPI) chunks(start, end heightArg) ([]node.Chunk, error) {
	from, to, err := heightRangeOf(start, end)
	if err != nil {
		return nil, err
	}
	return recall(l.node, func(v *node.View) []node.Chunk { return v.Chunks(from, to) })
}

// v1Chunk is a snapshot block with all account blocks that it confirms, these under the first
// generation of names.
type v1Chunk struct {
	AccountBlocks []*rawBlock
	SnapshotBlock *shownSnapshot
}

// GetChunks reads the snapshot chain with everything that it confirms, ascending, both heights
// included. It ends early at the head; without any it is an empty list.
func (l *ledgerAPI) GetChunks(start, end heightArg) ([]v1Chunk, error) {
	list, err := l.chunks(start, end)
	shown := make([]v1Chunk, len(list))
	for i, c := range list {
		shown[i] = v1Chunk{showRawBlocks(c.Blocks), showSnapshot(c.Snapshot)}
	}
	return shown, err
}

type chunk struct {
	AccountBlocks []*shownBlock  `json:"accountBlocks"`
	SnapshotBlock *shownSnapshot `json:"snapshotBlock"`
}

// GetChunksV2 is GetChunks with the blocks as all other methods show them.
func (l *ledgerAPI) GetChunksV2(start, end heightArg) ([]chunk, error) {
	list, err := l.chunks(start, end)
	shown := make([]chunk, len(list))
	for i, c := range list {
		shown[i] = chunk{showBlocks(c.Blocks), showSnapshot(c.Snapshot)}
	}
	return shown, err
}

// rawBlock is an account block with its own fields only. Its numbers are JSON numbers of any size.
type rawBlock struct {
	BlockType      core.BlockType `json:"blockType"`
	Hash           core.Hash      `json:"hash"`
	Height         uint64         `json:"height"`
	PrevHash       core.Hash      `json:"prevHash"`
	AccountAddress core.Address   `json:"accountAddress"`
	PublicKey      []byte         `json:"publicKey"`
	ToAddress      core.Address   `json:"toAddress"`
	Amount         *big.Int       `json:"amount"` // null unless it is a send
	TokenID        core.TokenID   `json:"tokenId"`
	FromBlockHash  core.Hash      `json:"fromBlockHash"`
	Data           []byte         `json:"data"`
	Quota          uint64         `json:"quota"`
	QuotaUsed      uint64         `json:"quotaUsed"`
	Fee            *big.Int       `json:"fee"` // null of newly issued tokens
	LogHash        *core.Hash     `json:"logHash"`
	Difficulty     *big.Int       `json:"difficulty"`
	Nonce          []byte         `json:"nonce"`
	SendBlockList  []*rawBlock    `json:"sendBlockList"` // never null
	Signature      []byte         `json:"signature"`
}

func showRawBlock(b *node.Block) *rawBlock {
	if b == nil {
		return nil
	}
	s := &rawBlock{
		BlockType: b.BlockType, Hash: b.Hash, Height: b.Height, PrevHash: b.PreviousHash, AccountAddress: b.Address,
		PublicKey: b.PublicKey, ToAddress: b.ToAddress, TokenID: b.TokenID, FromBlockHash: b.SendBlockHash, Data: b.Data,
		Quota: b.QuotaByStake, QuotaUsed: b.TotalQuota, LogHash: b.VMLogHash, Difficulty: b.Difficulty, Nonce: b.Nonce,
		SendBlockList: append([]*rawBlock{}, showRawBlocks(b.Triggered)...), Signature: b.Signature,
	}
	if b.IsSend() {
		s.Amount = jsonNumber(&b.Amount)
	}
	if b.BlockType != core.SendReissue && b.BlockType != core.GenesisReceive {
		s.Fee = jsonNumber(&b.Fee)
	}
	return s
}

// jsonNumber is an amount that JSON shows as a number. Most fees are zero.
func jsonNumber(n *uint256.Int) *big.Int {
	if n.IsZero() {
		return new(big.Int)
	}
	return n.ToBig()
}

func showRawBlocks(blocks []*node.Block) []*rawBlock {
	var shown []*rawBlock
	for _, b := range blocks {
		shown = append(shown, showRawBlock(b))
	}
	return shown
}
