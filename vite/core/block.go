package core

import (
	"encoding/binary"
	"errors"
	"math/big"

	"github.com/holiman/uint256"
	"golang.org/x/crypto/blake2b"
)

// BlockType is the action of an account block (docs/exchange-chain-wire.md 4.1).
type BlockType uint8

// The types of account blocks. Users make SendCreate, SendCall and Receive; the others are made by
// contracts and at genesis.
const (
	SendCreate     BlockType = 1
	SendCall       BlockType = 2
	SendReissue    BlockType = 3
	Receive        BlockType = 4
	ReceiveError   BlockType = 5
	SendRefund     BlockType = 6
	GenesisReceive BlockType = 7
)

// IsSend reports whether a block of this type debits its account.
func (t BlockType) IsSend() bool {
	return t == SendCreate || t == SendCall || t == SendReissue || t == SendRefund
}

// IsReceive reports whether a block of this type credits its account.
func (t BlockType) IsReceive() bool {
	return t == Receive || t == ReceiveError || t == GenesisReceive
}

// Faults of a signed block, in the order of the node's checks.
var (
	ErrBlockHash      = errors.New("block hash does not match its fields")
	ErrBlockSignature = errors.New("block signature does not verify")
	ErrBlockProducer  = errors.New("public key is not the account's")
)

// NonceSize is the length of a proof-of-work nonce in bytes.
const NonceSize = 8

// AccountBlock is one block of one account's chain (docs/exchange-chain-wire.md 4). Amounts are in
// the token's smallest unit, the fee in VITE's.
//
// On a receive block ToAddress, Amount, TokenID and Fee are the send block's values as a node shows
// them; they are neither hashed nor sent.
type AccountBlock struct {
	BlockType     BlockType
	Height        uint64 // from 1; 0 only on a send made inside a contract's receive
	PreviousHash  Hash   // zero at height 1
	Address       Address
	ToAddress     Address     // send only
	Amount        uint256.Int // send only
	TokenID       TokenID     // send only
	SendBlockHash Hash        // receive only
	Data          []byte      // comment or call data; on a contract's receive: receipt hash and status
	Fee           uint256.Int
	VMLogHash     *Hash    // contracts' receives with logs
	Nonce         []byte   // 8 bytes, or nil without proof of work
	Difficulty    *big.Int // nil without proof of work; not hashed
	Triggered     []*AccountBlock
	Hash          Hash
	PublicKey     []byte // 32 bytes; nil on a send made inside a contract's receive
	Signature     []byte // 64 bytes; nil likewise
}

// IsSend reports whether the block debits its account.
func (b *AccountBlock) IsSend() bool { return b.BlockType.IsSend() }

// IsReceive reports whether the block credits its account.
func (b *AccountBlock) IsReceive() bool { return b.BlockType.IsReceive() }

// ComputeHash returns the hash that the block's fields ask for (docs/exchange-chain-wire.md 4.2).
// The hashes of triggered sends are taken from their Hash fields.
func (b *AccountBlock) ComputeHash() Hash {
	// 256 bytes hold every block of a user, so the usual case does not allocate.
	return blake2b.Sum256(b.appendPreimage(make([]byte, 0, 256)))
}

// ComputeTriggeredHash returns the hash of a send that a contract makes inside its receive block
// host, index being its place in the host's list.
func (b *AccountBlock) ComputeTriggeredHash(host *AccountBlock, index uint8) Hash {
	p := b.appendPreimage(make([]byte, 0, 320))
	p = append(p, host.PreviousHash[:]...)
	p = binary.BigEndian.AppendUint64(p, host.Height)
	return blake2b.Sum256(append(p, index))
}

func (b *AccountBlock) appendPreimage(p []byte) []byte {
	p = append(p, byte(b.BlockType))
	p = append(p, b.PreviousHash[:]...)
	p = binary.BigEndian.AppendUint64(p, b.Height)
	p = append(p, b.Address[:]...)
	var fee [32]byte
	if b.IsSend() {
		p = append(p, b.ToAddress[:]...)
		amount := b.Amount.Bytes32()
		p = append(p, amount[:]...)
		p = append(p, b.TokenID[:]...)
		fee = b.Fee.Bytes32()
	} else {
		p = append(p, b.SendBlockHash[:]...)
	}
	if len(b.Data) > 0 {
		sum := blake2b.Sum256(b.Data)
		p = append(p, sum[:]...)
	}
	p = append(p, fee[:]...)
	if b.VMLogHash != nil {
		p = append(p, b.VMLogHash[:]...)
	}
	p = appendNonce(p, b.Nonce)
	for _, t := range b.Triggered {
		p = append(p, t.Hash[:]...)
	}
	return p
}

func appendNonce(p, nonce []byte) []byte {
	for i := len(nonce); i < NonceSize; i++ {
		p = append(p, 0)
	}
	return append(p, nonce...)
}

// SignWith sets Hash, PublicKey and Signature from the other fields and the key.
func (b *AccountBlock) SignWith(key PrivateKey) {
	public := key.Public()
	b.Hash = b.ComputeHash()
	b.PublicKey = public[:]
	b.Signature = key.Sign(b.Hash[:])
}

// Verify checks a block without other data: its hash, its signature and, for a user's account, that
// the key is the account's own. Errors are ErrBlockHash, ErrBlockSignature and ErrBlockProducer, in
// this order.
func (b *AccountBlock) Verify() error { return b.VerifyBy(Verify) }

// VerifyBy is Verify with another signature check, which must accept only the key owner's
// signatures.
func (b *AccountBlock) VerifyBy(good func(public, message, signature []byte) bool) error {
	if b.ComputeHash() != b.Hash {
		return ErrBlockHash
	}
	if !good(b.PublicKey, b.Hash[:], b.Signature) {
		return ErrBlockSignature
	}
	if !b.Address.IsContract() && UserAddress(PublicKey(b.PublicKey)) != b.Address {
		return ErrBlockProducer
	}
	return nil
}
