package core

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/holiman/uint256"
)

// MaxTriggered is the longest list of sends that one contract receive can name: their place is
// hashed as one byte.
const MaxTriggered = 256

// maxDecimal bounds the text of a number; 2^256-1 has 78 digits, leading zeros are tolerated.
const maxDecimal = 100

// ErrBlockJSON marks JSON that is no account block, or a block that cannot be sent.
var ErrBlockJSON = errors.New("invalid account block")

// wireBlock is an account block in the node's JSON (docs/exchange-chain-rpc.md 5.4, 5.6). The
// second group are the older names of the same members; a node's answer carries both.
type wireBlock struct {
	BlockType     BlockType   `json:"blockType,omitempty"`
	Height        string      `json:"height,omitempty"`
	Hash          *Hash       `json:"hash,omitempty"`
	PreviousHash  *Hash       `json:"previousHash,omitempty"`
	Address       *Address    `json:"address,omitempty"`
	PublicKey     string      `json:"publicKey,omitempty"`
	Signature     string      `json:"signature,omitempty"`
	ToAddress     *Address    `json:"toAddress,omitempty"`
	TokenID       *TokenID    `json:"tokenId,omitempty"`
	Amount        string      `json:"amount,omitempty"`
	Fee           string      `json:"fee,omitempty"`
	SendBlockHash *Hash       `json:"sendBlockHash,omitempty"`
	Data          string      `json:"data,omitempty"`
	Difficulty    string      `json:"difficulty,omitempty"`
	Nonce         string      `json:"nonce,omitempty"`
	VMLogHash     *Hash       `json:"vmLogHash,omitempty"`
	Triggered     []wireBlock `json:"triggeredSendBlockList,omitempty"`

	PrevHash       *Hash       `json:"prevHash,omitempty"`
	AccountAddress *Address    `json:"accountAddress,omitempty"`
	FromBlockHash  *Hash       `json:"fromBlockHash,omitempty"`
	LogHash        *Hash       `json:"logHash,omitempty"`
	SendBlockList  []wireBlock `json:"sendBlockList,omitempty"`
}

// DecodeBlock reads one account block of the node's JSON, as sent to ledger_sendRawTransaction or
// as returned by the ledger methods; members of both name generations are known, others ignored.
// It checks shapes and completeness, not hash or signature (see Verify). On a receive the send's
// amount, token, fee and addressee may be present for display. The caller bounds the size.
// Errors are ErrBlockJSON and name the member.
func DecodeBlock(text []byte) (*AccountBlock, error) {
	var w wireBlock
	if err := json.Unmarshal(text, &w); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBlockJSON, err)
	}
	b, err := w.block(false)
	if err == nil {
		err = w.complete()
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBlockJSON, err)
	}
	return b, nil
}

// block turns members into fields. Inside a contract's receive even the hash alone is enough.
func (w *wireBlock) block(triggered bool) (*AccountBlock, error) {
	if err := w.mergeNames(); err != nil {
		return nil, err
	}
	b := &AccountBlock{
		BlockType:     w.BlockType,
		PreviousHash:  orZero(w.PreviousHash),
		Address:       orZero(w.Address),
		ToAddress:     orZero(w.ToAddress),
		TokenID:       orZero(w.TokenID),
		SendBlockHash: orZero(w.SendBlockHash),
		VMLogHash:     w.VMLogHash,
		Hash:          orZero(w.Hash),
	}
	if err := w.numbers(b); err != nil {
		return nil, err
	}
	if err := w.byteStrings(b); err != nil {
		return nil, err
	}
	return b, w.triggered(b, triggered)
}

// mergeNames moves the older names' values to the newer ones.
func (w *wireBlock) mergeNames() error {
	if w.Triggered == nil {
		w.Triggered = w.SendBlockList
	}
	return errors.Join(
		merge(&w.PreviousHash, w.PrevHash, "previousHash and prevHash"),
		merge(&w.Address, w.AccountAddress, "address and accountAddress"),
		merge(&w.SendBlockHash, w.FromBlockHash, "sendBlockHash and fromBlockHash"),
		merge(&w.VMLogHash, w.LogHash, "vmLogHash and logHash"),
	)
}

func merge[T comparable](current **T, older *T, names string) error {
	if older == nil {
		return nil
	}
	if *current != nil && **current != *older {
		return fmt.Errorf("%s differ", names)
	}
	*current = older
	return nil
}

func orZero[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

func (w *wireBlock) numbers(b *AccountBlock) error {
	height, err := decimal(w.Height, "height")
	if err != nil {
		return err
	}
	if !height.IsUint64() {
		return errors.New("height: over 64 bits")
	}
	b.Height = height.Uint64()
	if b.Amount, err = decimal(w.Amount, "amount"); err != nil {
		return err
	}
	if b.Fee, err = decimal(w.Fee, "fee"); err != nil {
		return err
	}
	if w.Difficulty == "" {
		return nil
	}
	difficulty, err := decimal(w.Difficulty, "difficulty")
	b.Difficulty = difficulty.ToBig()
	return err
}

// decimal reads a number as tolerantly as the node: a plus sign and leading zeros are allowed, a
// missing member is zero.
func decimal(s, name string) (uint256.Int, error) {
	if s == "" {
		return uint256.Int{}, nil
	}
	if len(s) > maxDecimal {
		return uint256.Int{}, fmt.Errorf("%s: longer than %d characters", name, maxDecimal)
	}
	digits := strings.TrimPrefix(s, "+")
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return uint256.Int{}, fmt.Errorf("%s: not a decimal number", name)
	}
	digits = strings.TrimLeft(digits, "0")
	if digits == "" {
		return uint256.Int{}, nil
	}
	n, err := uint256.FromDecimal(digits)
	if err != nil {
		return uint256.Int{}, fmt.Errorf("%s: over 256 bits", name)
	}
	return *n, nil
}

func (w *wireBlock) byteStrings(b *AccountBlock) error {
	var err error
	if b.Data, err = unbase64(w.Data, "data", 0); err != nil {
		return err
	}
	if b.Nonce, err = unbase64(w.Nonce, "nonce", NonceSize); err != nil {
		return err
	}
	if b.PublicKey, err = unbase64(w.PublicKey, "publicKey", PublicKeySize); err != nil {
		return err
	}
	if b.Signature, err = unbase64(w.Signature, "signature", SignatureSize); err != nil {
		return err
	}
	if (b.Nonce == nil) != (b.Difficulty == nil) {
		return errors.New("nonce, difficulty: one without the other")
	}
	return nil
}

// unbase64 reads standard padded Base64; size 0 allows every length. Empty text is nil.
func unbase64(s, name string, size int) ([]byte, error) {
	if s == "" {
		return nil, nil
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(s)
	if err != nil || strings.ContainsAny(s, "\r\n") {
		return nil, fmt.Errorf("%s: not Base64", name)
	}
	if size > 0 && len(raw) != size {
		return nil, fmt.Errorf("%s: %d bytes, want %d", name, len(raw), size)
	}
	return raw, nil
}

func (w *wireBlock) triggered(b *AccountBlock, nested bool) error {
	switch {
	case len(w.Triggered) == 0:
		return nil
	case nested:
		return errors.New("triggeredSendBlockList: a list inside a list")
	case len(w.Triggered) > MaxTriggered:
		return fmt.Errorf("triggeredSendBlockList: over %d blocks", MaxTriggered)
	}
	for i := range w.Triggered {
		send, err := w.Triggered[i].block(true)
		if err == nil && send.Hash.IsZero() {
			err = errors.New("hash: missing")
		}
		if err != nil {
			return fmt.Errorf("triggeredSendBlockList %d: %w", i, err)
		}
		b.Triggered = append(b.Triggered, send)
	}
	return nil
}

// complete checks for the mandatory members of the block's type. It runs after mergeNames.
func (w *wireBlock) complete() error {
	contract := w.Address != nil && w.Address.IsContract()
	send := w.BlockType.IsSend()
	for _, c := range []struct {
		name string
		bad  bool
	}{
		{"blockType: none of 1 to 7", !send && !w.BlockType.IsReceive()},
		{"height: missing", w.Height == ""},
		{"hash: missing", w.Hash == nil},
		{"previousHash: missing", w.PreviousHash == nil},
		{"address: missing", w.Address == nil},
		{"toAddress: missing on a send", send && w.ToAddress == nil},
		{"tokenId: missing on a send", send && !contract && w.TokenID == nil},
		{"amount: missing on a send", send && !contract && w.Amount == ""},
		{"sendBlockHash: missing on a receive", w.BlockType == Receive && w.SendBlockHash == nil},
	} {
		if c.bad {
			return errors.New(c.name)
		}
	}
	return nil
}

// EncodeBlock writes a signed block of a user as ledger_sendRawTransaction takes it: members that
// do not apply are left out, since the node refuses null for most. A block of another type, without
// signature, or a send to the zero address, where the amount would be lost, is ErrBlockJSON.
func EncodeBlock(b *AccountBlock) ([]byte, error) {
	if err := b.sendable(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBlockJSON, err)
	}
	w := wireBlock{
		BlockType:    b.BlockType,
		Height:       strconv.FormatUint(b.Height, 10),
		Hash:         &b.Hash,
		PreviousHash: &b.PreviousHash,
		Address:      &b.Address,
		PublicKey:    base64.StdEncoding.EncodeToString(b.PublicKey),
		Signature:    base64.StdEncoding.EncodeToString(b.Signature),
		Data:         base64.StdEncoding.EncodeToString(b.Data),
		Nonce:        base64.StdEncoding.EncodeToString(b.Nonce),
	}
	if b.Difficulty != nil {
		w.Difficulty = b.Difficulty.String()
	}
	if b.IsSend() {
		w.ToAddress, w.TokenID, w.Amount = &b.ToAddress, &b.TokenID, b.Amount.Dec()
		if !b.Fee.IsZero() {
			w.Fee = b.Fee.Dec()
		}
	} else {
		w.SendBlockHash = &b.SendBlockHash
	}
	text, err := json.Marshal(&w)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBlockJSON, err)
	}
	return text, nil
}

func (b *AccountBlock) sendable() error {
	switch {
	case b.BlockType != SendCreate && b.BlockType != SendCall && b.BlockType != Receive:
		return fmt.Errorf("blockType: %d is not for users to send", b.BlockType)
	case len(b.PublicKey) != PublicKeySize || len(b.Signature) != SignatureSize:
		return errors.New("signature: missing")
	case b.IsSend() && b.ToAddress.IsZero():
		return errors.New("toAddress: the zero address")
	case b.IsReceive() && b.SendBlockHash.IsZero():
		return errors.New("sendBlockHash: missing on a receive")
	case b.VMLogHash != nil || len(b.Triggered) > 0:
		return errors.New("vmLogHash, triggeredSendBlockList: not for users to send")
	case (b.Nonce == nil) != (b.Difficulty == nil):
		return errors.New("nonce, difficulty: one without the other")
	case b.Nonce != nil && (len(b.Nonce) != NonceSize || !fits256(b.Difficulty)):
		return errors.New("nonce, difficulty: not 8 bytes and 256 bits")
	}
	return nil
}

func fits256(n *big.Int) bool { return n.Sign() >= 0 && n.BitLen() <= 256 }
