package rpc

import (
	"math/big"
	"strconv"

	"gatewayd/httpserver/jsonrpc"
	"gatewayd/vite/core"
	"gatewayd/vite/ledger"
)

// AccountBlock is the argument of ledger_sendRawTransaction, in either generation of member names
// (docs/exchange-chain-rpc.md 5.6). It has the name of a real node's type, because the name is
// part of the texts of parameter errors. Absent identifiers count as zero, null ones are refused;
// quota and display members are ignored.
type AccountBlock struct {
	BlockType      uint8      `json:"blockType"`
	Height         string     `json:"height"`
	Hash           hashArg    `json:"hash"`
	PreviousHash   hashArg    `json:"previousHash"`
	PrevHash       hashArg    `json:"prevHash"`
	Address        addressArg `json:"address"`
	AccountAddress addressArg `json:"accountAddress"`
	PublicKey      []byte     `json:"publicKey"`
	ToAddress      addressArg `json:"toAddress"`
	SendBlockHash  hashArg    `json:"sendBlockHash"`
	FromBlockHash  hashArg    `json:"fromBlockHash"`
	TokenID        tokenArg   `json:"tokenId"`
	Amount         *string    `json:"amount"`
	Fee            *string    `json:"fee"`
	Data           []byte     `json:"data"`
	Difficulty     *string    `json:"difficulty"`
	Nonce          []byte     `json:"nonce"`
	Signature      []byte     `json:"signature"`
	VMLogHash      *hashArg   `json:"vmLogHash"`
	LogHash        *hashArg   `json:"logHash"`
}

// block converts the argument for Submit. Errors are those that a real node finds before it reads
// the ledger.
func (b *AccountBlock) block() (*core.AccountBlock, error) {
	height, err := strconv.ParseUint(b.Height, 10, 64)
	if err != nil {
		return nil, jsonrpc.Other(jsonrpc.Shortened(err.Error()))
	}
	amount, err := optionalInteger(b.Amount)
	if err != nil {
		return nil, err
	}
	fee, err := optionalInteger(b.Fee)
	if err != nil {
		return nil, err
	}
	difficulty, err := b.work()
	if err != nil {
		return nil, err
	}
	block := &core.AccountBlock{
		BlockType: core.BlockType(b.BlockType), Height: height, Hash: b.Hash.Hash,
		PreviousHash: either(b.PreviousHash.Hash, b.PrevHash.Hash), Address: either(b.Address.Address, b.AccountAddress.Address),
		ToAddress: b.ToAddress.Address, TokenID: b.TokenID.TokenID, SendBlockHash: either(b.SendBlockHash.Hash, b.FromBlockHash.Hash),
		Data: b.Data, Difficulty: difficulty, PublicKey: b.PublicKey, Signature: b.Signature,
		VMLogHash: either(b.VMLogHash.hashOf(), b.LogHash.hashOf()),
	}
	if difficulty != nil {
		block.Nonce = b.Nonce
	}
	return block, setAmounts(block, amount, fee)
}

// work reads difficulty and nonce. A difficulty without a nonce is ignored, even if it is no
// number.
func (b *AccountBlock) work() (*big.Int, error) {
	if b.Nonce == nil {
		return nil, nil
	}
	if b.Difficulty == nil {
		return nil, ledger.ErrNoDifficulty
	}
	return jsonrpc.Integer(*b.Difficulty)
}

func optionalInteger(s *string) (*big.Int, error) {
	if s == nil {
		return new(big.Int), nil
	}
	return jsonrpc.Integer(*s)
}

// setAmounts sets amount and fee of the block. A node hashes their absolute bytes and checks the
// sign only afterwards, and no block of 256-bit amounts has the hash of one with a larger amount.
func setAmounts(block *core.AccountBlock, amount, fee *big.Int) error {
	overA := block.Amount.SetFromBig(new(big.Int).Abs(amount))
	overF := block.Fee.SetFromBig(new(big.Int).Abs(fee))
	if overA || overF {
		return ledger.ErrHash
	}
	if amount.Sign() >= 0 && fee.Sign() >= 0 {
		return nil
	}
	if block.ComputeHash() != block.Hash {
		return ledger.ErrHash
	}
	if !core.Verify(block.PublicKey, block.Hash[:], block.Signature) {
		return ledger.ErrSignature
	}
	return ledger.ErrFields
}

// either is the newer member unless it is absent.
func either[T comparable](newer, older T) T {
	var zero T
	if newer != zero {
		return newer
	}
	return older
}
