package client

import (
	"encoding/json"
	"fmt"
	"math/big"

	"github.com/holiman/uint256"

	"gatewayd/vite/core"
)

// AccountBlock is an account block as a node shows it, display members included
// (docs/exchange-chain-rpc.md 5.4).
//
// Trap: for a receive block the node shows its send's Amount, Fee, TokenID, FromAddress and
// ToAddress, which are not part of the block's hash. It does not show the send's Data: the comment
// is read from the send block. A send made by a contract has height 0 and no key or signature: only
// its Hash identifies it.
type AccountBlock struct {
	BlockType     core.BlockType
	Height        uint64
	Hash          core.Hash
	PreviousHash  core.Hash
	Address       core.Address
	PublicKey     []byte // nil for contract-made sends and genesis
	Producer      core.Address
	FromAddress   core.Address
	ToAddress     core.Address
	SendBlockHash core.Hash // zero for sends
	TokenID       core.TokenID
	Amount        uint256.Int // zero where the node returns null
	Fee           uint256.Int // zero where the node returns null
	Data          []byte
	Difficulty    *big.Int // nil without PoW
	Nonce         []byte   // nil without PoW
	Signature     []byte
	QuotaByStake  uint64
	TotalQuota    uint64
	VMLogHash     *core.Hash
	Triggered     []AccountBlock // sends made inside a contract's receive block
	TokenInfo     *TokenInfo     // nil for the zero token

	Confirmations       uint64     // 0 until the block is in a snapshot
	FirstSnapshotHash   *core.Hash // nil until the block is in a snapshot
	FirstSnapshotHeight uint64
	ReceiveBlockHash    *core.Hash // of a send: who received it; nil while unreceived
	ReceiveBlockHeight  uint64
	Timestamp           int64 // Unix seconds of the first snapshot; 0 before
}

// IsSend reports whether the block debits its account.
func (b *AccountBlock) IsSend() bool { return b.BlockType.IsSend() }

// blockWire has both generations of member names; a node gives both, old ones only the older.
type blockWire struct {
	BlockType           core.BlockType  `json:"blockType"`
	Height              count           `json:"height"`
	Hash                core.Hash       `json:"hash"`
	PreviousHash        *core.Hash      `json:"previousHash"`
	PrevHash            *core.Hash      `json:"prevHash"`
	Address             *core.Address   `json:"address"`
	AccountAddress      *core.Address   `json:"accountAddress"`
	PublicKey           []byte          `json:"publicKey"`
	Producer            core.Address    `json:"producer"`
	FromAddress         core.Address    `json:"fromAddress"`
	ToAddress           core.Address    `json:"toAddress"`
	SendBlockHash       *core.Hash      `json:"sendBlockHash"`
	FromBlockHash       *core.Hash      `json:"fromBlockHash"`
	TokenID             core.TokenID    `json:"tokenId"`
	Amount              amount          `json:"amount"`
	Fee                 amount          `json:"fee"`
	Data                []byte          `json:"data"`
	Difficulty          difficulty      `json:"difficulty"`
	Nonce               []byte          `json:"nonce"`
	Signature           []byte          `json:"signature"`
	QuotaByStake        *count          `json:"quotaByStake"`
	Quota               *count          `json:"quota"`
	TotalQuota          *count          `json:"totalQuota"`
	QuotaUsed           *count          `json:"quotaUsed"`
	VMLogHash           *core.Hash      `json:"vmLogHash"`
	LogHash             *core.Hash      `json:"logHash"`
	Triggered           json.RawMessage `json:"triggeredSendBlockList"`
	SendBlockList       json.RawMessage `json:"sendBlockList"`
	TokenInfo           *TokenInfo      `json:"tokenInfo"`
	Confirmations       *count          `json:"confirmations"`
	ConfirmedTimes      *count          `json:"confirmedTimes"`
	FirstSnapshotHash   *core.Hash      `json:"firstSnapshotHash"`
	ConfirmedHash       *core.Hash      `json:"confirmedHash"`
	FirstSnapshotHeight count           `json:"firstSnapshotHeight"`
	ReceiveBlockHash    *core.Hash      `json:"receiveBlockHash"`
	ReceiveBlockHeight  count           `json:"receiveBlockHeight"`
	Timestamp           int64           `json:"timestamp"`
}

// UnmarshalJSON reads either generation of member names.
func (b *AccountBlock) UnmarshalJSON(raw []byte) error { return b.decode(raw, true) }

// decode reads a block. Triggered sends trigger nothing themselves, so one level is read and no
// deeper.
func (b *AccountBlock) decode(raw []byte, outer bool) error {
	var w blockWire
	if err := json.Unmarshal(raw, &w); err != nil {
		return fmt.Errorf("account block: %w", err)
	}
	*b = w.block()
	list := w.Triggered
	if isNull(list) {
		list = w.SendBlockList
	}
	if !outer {
		return nil
	}
	var err error
	if b.Triggered, err = readList(list, func(b *AccountBlock, raw []byte) error { return b.decode(raw, false) }); err != nil {
		return fmt.Errorf("triggeredSendBlockList: %w", err)
	}
	return nil
}

func (w *blockWire) block() AccountBlock {
	return AccountBlock{
		BlockType: w.BlockType, Height: uint64(w.Height), Hash: w.Hash,
		PreviousHash: either(w.PreviousHash, w.PrevHash), Address: either(w.Address, w.AccountAddress),
		PublicKey: w.PublicKey, Producer: w.Producer, FromAddress: w.FromAddress, ToAddress: w.ToAddress,
		SendBlockHash: either(w.SendBlockHash, w.FromBlockHash), TokenID: w.TokenID,
		Amount: uint256.Int(w.Amount), Fee: uint256.Int(w.Fee), Data: w.Data,
		Difficulty: w.Difficulty.Int, Nonce: w.Nonce, Signature: w.Signature,
		QuotaByStake: uint64(either(w.QuotaByStake, w.Quota)), TotalQuota: uint64(either(w.TotalQuota, w.QuotaUsed)),
		VMLogHash: first(w.VMLogHash, w.LogHash), TokenInfo: w.TokenInfo,
		Confirmations:       uint64(either(w.Confirmations, w.ConfirmedTimes)),
		FirstSnapshotHash:   first(w.FirstSnapshotHash, w.ConfirmedHash),
		FirstSnapshotHeight: uint64(w.FirstSnapshotHeight),
		ReceiveBlockHash:    w.ReceiveBlockHash, ReceiveBlockHeight: uint64(w.ReceiveBlockHeight), Timestamp: w.Timestamp,
	}
}

// first is the newer member when it is there, else the older one.
func first[T any](newer, older *T) *T {
	if newer != nil {
		return newer
	}
	return older
}

// either is first, with the zero value when both are absent or null.
func either[T any](newer, older *T) T {
	if p := first(newer, older); p != nil {
		return *p
	}
	var zero T
	return zero
}

func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }
