package ethereum

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"
)

// The JSON shapes of a block. The Scanner reads them from complete blocks, encoding/json from
// single receipts. Wrongly decoded data cannot be accepted: the roots would not match.

// Block is a block with its transactions (eth_getBlockByNumber, true).
type wireBlock struct {
	Hash             *common.Hash     `json:"hash"`
	ParentHash       *common.Hash     `json:"parentHash"`
	Number           *hexutil.Uint64  `json:"number"`
	Time             hexutil.Uint64   `json:"timestamp"`
	UncleHash        common.Hash      `json:"sha3Uncles"`
	Coinbase         common.Address   `json:"miner"`
	Root             common.Hash      `json:"stateRoot"`
	TxHash           common.Hash      `json:"transactionsRoot"`
	ReceiptHash      common.Hash      `json:"receiptsRoot"`
	Bloom            types.Bloom      `json:"logsBloom"`
	Difficulty       *hexutil.Big     `json:"difficulty"`
	GasLimit         hexutil.Uint64   `json:"gasLimit"`
	GasUsed          hexutil.Uint64   `json:"gasUsed"`
	Extra            hexutil.Bytes    `json:"extraData"`
	MixDigest        common.Hash      `json:"mixHash"`
	Nonce            types.BlockNonce `json:"nonce"`
	BaseFee          *hexutil.Big     `json:"baseFeePerGas"`
	WithdrawalsHash  *common.Hash     `json:"withdrawalsRoot"`
	BlobGasUsed      *hexutil.Uint64  `json:"blobGasUsed"`
	ExcessBlobGas    *hexutil.Uint64  `json:"excessBlobGas"`
	ParentBeaconRoot *common.Hash     `json:"parentBeaconBlockRoot"`
	RequestsHash     *common.Hash     `json:"requestsHash"`
	AccessListHash   *common.Hash     `json:"blockAccessListHash"`
	SlotNumber       *hexutil.Uint64  `json:"slotNumber"`
	Transactions     []wireTx         `json:"transactions"`
}

// Header returns the input of the block's hash.
func (b *wireBlock) Header() *types.Header {
	return &types.Header{
		ParentHash:          *b.ParentHash,
		UncleHash:           b.UncleHash,
		Coinbase:            b.Coinbase,
		Root:                b.Root,
		TxHash:              b.TxHash,
		ReceiptHash:         b.ReceiptHash,
		Bloom:               b.Bloom,
		Difficulty:          wireInteger(b.Difficulty),
		Number:              new(big.Int).SetUint64(uint64(*b.Number)),
		GasLimit:            uint64(b.GasLimit),
		GasUsed:             uint64(b.GasUsed),
		Time:                uint64(b.Time),
		Extra:               b.Extra,
		MixDigest:           b.MixDigest,
		Nonce:               b.Nonce,
		BaseFee:             (*big.Int)(b.BaseFee),
		WithdrawalsHash:     b.WithdrawalsHash,
		BlobGasUsed:         (*uint64)(b.BlobGasUsed),
		ExcessBlobGas:       (*uint64)(b.ExcessBlobGas),
		ParentBeaconRoot:    b.ParentBeaconRoot,
		RequestsHash:        b.RequestsHash,
		BlockAccessListHash: b.AccessListHash,
		SlotNumber:          (*uint64)(b.SlotNumber),
	}
}

func (b *wireBlock) Check() error {
	if b.Number == nil || b.Hash == nil || b.ParentHash == nil {
		return errors.New("a block without number, hash or parentHash")
	}
	return nil
}

// Tx is a transaction of any type that go-ethereum knows.
type wireTx struct {
	Type       hexutil.Uint64               `json:"type"`
	Hash       common.Hash                  `json:"hash"`
	From       common.Address               `json:"from"`
	To         *common.Address              `json:"to"`
	Nonce      hexutil.Uint64               `json:"nonce"`
	Gas        hexutil.Uint64               `json:"gas"`
	GasPrice   *hexutil.Big                 `json:"gasPrice"`
	TipCap     *hexutil.Big                 `json:"maxPriorityFeePerGas"`
	FeeCap     *hexutil.Big                 `json:"maxFeePerGas"`
	BlobFeeCap *hexutil.Big                 `json:"maxFeePerBlobGas"`
	Value      *hexutil.Big                 `json:"value"`
	Input      hexutil.Bytes                `json:"input"`
	ChainID    *hexutil.Big                 `json:"chainId"`
	AccessList types.AccessList             `json:"accessList"`
	BlobHashes []common.Hash                `json:"blobVersionedHashes"`
	AuthList   []types.SetCodeAuthorization `json:"authorizationList"`
	V          *hexutil.Big                 `json:"v"`
	R          *hexutil.Big                 `json:"r"`
	S          *hexutil.Big                 `json:"s"`
	YParity    *hexutil.Uint64              `json:"yParity"`
}

// Signed is the transaction as the transaction root covers it.
func (t *wireTx) Signed() (*types.Transaction, error) {
	switch t.Type {
	case types.LegacyTxType:
		return types.NewTx(&types.LegacyTx{
			Nonce: uint64(t.Nonce), GasPrice: wireInteger(t.GasPrice), Gas: uint64(t.Gas), To: t.To, Value: wireInteger(t.Value), Data: t.Input,
			V: wireInteger(t.V), R: wireInteger(t.R), S: wireInteger(t.S),
		}), nil
	case types.AccessListTxType:
		return types.NewTx(&types.AccessListTx{
			ChainID: wireInteger(t.ChainID), Nonce: uint64(t.Nonce), GasPrice: wireInteger(t.GasPrice), Gas: uint64(t.Gas), To: t.To,
			Value: wireInteger(t.Value), Data: t.Input, AccessList: t.AccessList, V: t.parity(), R: wireInteger(t.R), S: wireInteger(t.S),
		}), nil
	case types.DynamicFeeTxType:
		return types.NewTx(&types.DynamicFeeTx{
			ChainID: wireInteger(t.ChainID), Nonce: uint64(t.Nonce), GasTipCap: wireInteger(t.TipCap), GasFeeCap: wireInteger(t.FeeCap), Gas: uint64(t.Gas),
			To: t.To, Value: wireInteger(t.Value), Data: t.Input, AccessList: t.AccessList, V: t.parity(), R: wireInteger(t.R), S: wireInteger(t.S),
		}), nil
	case types.BlobTxType, types.SetCodeTxType:
		return t.signedWide()
	}
	return nil, fmt.Errorf("transaction %s: unknown type %d", t.Hash, uint64(t.Type))
}

// signedWide makes the types whose numbers are 256-bit words in go-ethereum.
func (t *wireTx) signedWide() (*types.Transaction, error) {
	if t.To == nil {
		return nil, fmt.Errorf("transaction %s: type %d needs a receiver", t.Hash, uint64(t.Type))
	}
	if t.Type == types.BlobTxType {
		return types.NewTx(&types.BlobTx{
			ChainID: wireWord(t.ChainID), Nonce: uint64(t.Nonce), GasTipCap: wireWord(t.TipCap), GasFeeCap: wireWord(t.FeeCap), Gas: uint64(t.Gas), To: *t.To,
			Value: wireWord(t.Value), Data: t.Input, AccessList: t.AccessList, BlobFeeCap: wireWord(t.BlobFeeCap), BlobHashes: t.BlobHashes,
			V: uint256.MustFromBig(t.parity()), R: wireWord(t.R), S: wireWord(t.S),
		}), nil
	}
	return types.NewTx(&types.SetCodeTx{
		ChainID: wireWord(t.ChainID), Nonce: uint64(t.Nonce), GasTipCap: wireWord(t.TipCap), GasFeeCap: wireWord(t.FeeCap), Gas: uint64(t.Gas), To: *t.To,
		Value: wireWord(t.Value), Data: t.Input, AccessList: t.AccessList, AuthList: t.AuthList,
		V: uint256.MustFromBig(t.parity()), R: wireWord(t.R), S: wireWord(t.S),
	}), nil
}

// parity is the recovery bit of typed transactions, which clients write as yParity, as v, or as
// both.
func (t *wireTx) parity() *big.Int {
	if t.YParity != nil {
		return new(big.Int).SetUint64(uint64(*t.YParity))
	}
	return wireInteger(t.V)
}

// Receipt is a receipt (eth_getBlockReceipts, eth_getTransactionReceipt).
type wireReceipt struct {
	Type       hexutil.Uint64  `json:"type"`
	TxHash     *common.Hash    `json:"transactionHash"`
	PostState  hexutil.Bytes   `json:"root"`
	Status     *hexutil.Uint64 `json:"status"`
	Cumulative hexutil.Uint64  `json:"cumulativeGasUsed"`
	Bloom      types.Bloom     `json:"logsBloom"`
	Logs       []wireLog       `json:"logs"`
	Price      *hexutil.Big    `json:"effectiveGasPrice"`
	L1Fee      *hexutil.Big    `json:"l1Fee"` // chains that settle on another one charge for it here
}

// Log is the part of a log that the receipts root covers.
type wireLog struct {
	Address common.Address `json:"address"`
	Topics  []common.Hash  `json:"topics"`
	Data    hexutil.Bytes  `json:"data"`
}

// Consensus is the receipt as the receipts root covers it.
func (r *wireReceipt) Consensus() *types.Receipt {
	logs := make([]*types.Log, len(r.Logs))
	for i, l := range r.Logs {
		logs[i] = &types.Log{Address: l.Address, Topics: l.Topics, Data: l.Data}
	}
	receipt := &types.Receipt{Type: uint8(r.Type), PostState: r.PostState, CumulativeGasUsed: uint64(r.Cumulative), Bloom: r.Bloom, Logs: logs}
	if r.Status != nil {
		receipt.Status = uint64(*r.Status)
	}
	return receipt
}

// Integer is the number in a field, zero when the field is absent.
func wireInteger(n *hexutil.Big) *big.Int {
	if n == nil {
		return new(big.Int)
	}
	return n.ToInt()
}

// Word is Integer as a 256-bit word: the decoder lets nothing wider through.
func wireWord(n *hexutil.Big) *uint256.Int { return uint256.MustFromBig(wireInteger(n)) }

// Unknown reports whether the transaction is of a type that go-ethereum cannot encode.
func (t *wireTx) Unknown() bool { return t.Type > types.SetCodeTxType }

// Unknown reports whether a transaction of the block is.
func (b *wireBlock) Unknown() bool {
	for i := range b.Transactions {
		if b.Transactions[i].Unknown() {
			return true
		}
	}
	return false
}
