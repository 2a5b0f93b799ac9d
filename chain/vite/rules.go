package vite

import (
	"errors"
	"fmt"
	"slices"

	"gatewayd/chain"
	"gatewayd/vite/core"
)

// SigningConfig is the part of an exchange chain's configuration that signing needs. Its fields are
// those of Config.
type SigningConfig struct {
	ID  chain.ID `yaml:"id"`
	Tag string   `yaml:"tag"`
}

// Signing is the part of the configuration that signing takes.
func (c Config) Signing() SigningConfig { return SigningConfig{ID: c.ID, Tag: c.Tag} }

// Check returns the first invalid setting.
func (c SigningConfig) Check() error {
	return Config{ID: c.ID, Tag: c.Tag, Nodes: []string{"https://no.node"}}.Check() // signing asks no node
}

// SigningRules decide which blocks may be signed for the exchange chain: those that do what their
// payments request.
type SigningRules struct{ tag string }

// NewSigningRules are the rules of a checked configuration.
func NewSigningRules(c SigningConfig) SigningRules {
	return SigningRules{Config{Tag: c.Tag}.withDefaults().Tag}
}

// Digests makes the block that the order's payment asks for, with the work of the one that is to be
// signed, and answers its hash. Any other block is an error that names what differs.
func (c SigningRules) Digests(o chain.Order) ([]chain.Digest, error) {
	b, err := c.checked(o)
	if err != nil {
		return nil, err
	}
	return []chain.Digest{{Key: o.Slot.Key, Hash: b.Hash[:]}}, nil
}

// Fee is zero: blocks take none.
func (c SigningRules) Fee(chain.Order) (chain.Amount, error) { return chain.Amount{}, nil }

// checked rebuilds the order's block: only the proof of work is copied.
func (c SigningRules) checked(o chain.Order) (*core.AccountBlock, error) {
	b, err := c.ordered(o.Slot, o.Payment)
	if err != nil {
		return nil, err
	}
	asked, err := core.DecodeBlock(o.Unsigned)
	if err != nil {
		return nil, fmt.Errorf("decoding the block: %w", err)
	}
	if err := compare(asked, b); err != nil {
		return nil, err
	}
	b.Nonce, b.Difficulty = asked.Nonce, asked.Difficulty
	if b.Hash = b.ComputeHash(); b.Hash != asked.Hash || b.Hash != asked.ComputeHash() {
		return nil, errors.New("the block has more in it than the payment asks for")
	}
	return b, nil
}

// compare names the first field in which a block differs from what was ordered.
func compare(b, want *core.AccountBlock) error {
	switch {
	case b.BlockType != want.BlockType:
		return fmt.Errorf("type: %d, not %d", b.BlockType, want.BlockType)
	case b.Address != want.Address:
		return fmt.Errorf("account: %s, not %s", b.Address, want.Address)
	case b.Height != want.Height:
		return fmt.Errorf("height: %d, not %d", b.Height, want.Height)
	case b.PreviousHash != want.PreviousHash:
		return fmt.Errorf("previous: %s, not %s", b.PreviousHash, want.PreviousHash)
	case b.SendBlockHash != want.SendBlockHash:
		return fmt.Errorf("source: %s, not %s", b.SendBlockHash, want.SendBlockHash)
	case b.ToAddress != want.ToAddress:
		return fmt.Errorf("to: %s, not %s", b.ToAddress, want.ToAddress)
	case b.TokenID != want.TokenID:
		return fmt.Errorf("token: %s, not %s", b.TokenID, want.TokenID)
	case !b.Amount.Eq(&want.Amount):
		return fmt.Errorf("amount: %s, not %s", b.Amount.Dec(), want.Amount.Dec())
	case !b.Fee.IsZero():
		return fmt.Errorf("fee: %s, where none is paid", b.Fee.Dec())
	case !slices.Equal(b.Data, want.Data):
		return errors.New("data: not the payment's")
	}
	return nil
}

// Seal puts public key and signature into the order's block, and makes sure that they are the
// account's.
func (c SigningRules) Seal(o chain.Order, signatures ...chain.Signature) (sealed chain.SignedTx, err error) {
	b, err := c.checked(o)
	if err != nil {
		return sealed, err
	}
	if len(signatures) != 1 {
		return sealed, fmt.Errorf("must have one signature, not %d", len(signatures))
	}
	b.PublicKey, b.Signature = signatures[0].Public, signatures[0].Bytes
	if err := b.Verify(); err != nil { // a wrong key would fill the slot with an invalid block
		return sealed, fmt.Errorf("key %s: %w", o.Slot.Key, err)
	}
	raw, err := core.EncodeBlock(b)
	return chain.SignedTx{Hash: b.Hash.String(), Raw: raw}, err
}

// encodeUnsigned writes a block with zeros where its key and its signature will be.
func encodeUnsigned(b *core.AccountBlock) ([]byte, error) {
	unsigned := *b
	unsigned.PublicKey, unsigned.Signature = make([]byte, core.PublicKeySize), make([]byte, core.SignatureSize)
	return core.EncodeBlock(&unsigned)
}

// ordered is the block that carries out a payment at a slot.
func (c SigningRules) ordered(slot chain.Slot, pay chain.Payment) (*core.AccountBlock, error) {
	b, err := blockAt(slot)
	if err != nil {
		return nil, err
	}
	return b, c.fill(b, pay)
}

// blockAt is an empty block at the slot's place. The first block of an account has no previous one:
// "" or zeros.
func blockAt(slot chain.Slot) (*core.AccountBlock, error) {
	account, err := core.ParseAddress(slot.Account)
	switch {
	case err != nil:
		return nil, fmt.Errorf("account: %w", err)
	case account.IsContract() || account.IsZero():
		return nil, errors.New("account: not a user's address")
	case slot.Nonce == 0:
		return nil, errors.New("number: heights begin with 1")
	}
	block := &core.AccountBlock{Address: account, Height: slot.Nonce}
	if slot.Prev != "" {
		if block.PreviousHash, err = core.ParseHash(slot.Prev); err != nil {
			return nil, fmt.Errorf("prev: %w", err)
		}
	}
	if (slot.Nonce == 1) != block.PreviousHash.IsZero() {
		return nil, fmt.Errorf("prev: %q does not go with height %d", slot.Prev, slot.Nonce)
	}
	return block, nil
}

// fill writes the order into the block.
func (c SigningRules) fill(b *core.AccountBlock, pay chain.Payment) error {
	switch pay.Purpose {
	case chain.Receive:
		return fillReceive(b, pay)
	case chain.Credit, chain.Refund, chain.Sweep:
		return c.fillSend(b, pay)
	}
	return fmt.Errorf("purpose: %q is not done on this ledger", pay.Purpose)
}

func fillReceive(b *core.AccountBlock, pay chain.Payment) (err error) {
	b.BlockType = core.Receive
	if b.SendBlockHash, err = core.ParseHash(pay.Source); err != nil {
		return fmt.Errorf("source: %w", err)
	}
	if b.SendBlockHash.IsZero() {
		return errors.New("source: must not be the zero hash")
	}
	return nil
}

func (c SigningRules) fillSend(b *core.AccountBlock, pay chain.Payment) (err error) {
	if b.ToAddress, err = payable(pay.To); err != nil {
		return err
	}
	if b.TokenID, err = core.ParseTokenID(string(pay.Asset)); err != nil {
		return fmt.Errorf("asset: %w", err)
	}
	switch {
	case pay.Label != "":
		return fmt.Errorf("%w: addresses of this ledger have no labels", chain.ErrLabel)
	case b.ToAddress == b.Address:
		return fmt.Errorf("%w: the account would pay itself", chain.ErrAddress)
	case b.TokenID.IsZero():
		return errors.New("asset: must not be the zero token id")
	case pay.Amount.IsZero():
		return fmt.Errorf("%w: nothing to pay", chain.ErrAmount)
	case b.Height == 1:
		return fmt.Errorf("%w: the first block of an account must be a receive", chain.ErrNotNow)
	}
	b.BlockType, b.Amount = core.SendCall, *pay.Amount.Uint256()
	b.Data, err = EncodePaymentData(PaymentData{Tag: c.tag, Purpose: pay.Purpose, ID: pay.ID})
	return err
}
