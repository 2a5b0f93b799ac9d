package ethereum

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"sync/atomic"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"gatewayd/chain"
)

// SigningConfig is the part of an EVM chain's configuration that signing needs. Its fields are
// those of Config.
type SigningConfig struct {
	ID           chain.ID      `yaml:"id"`
	ChainID      uint64        `yaml:"chain_id"`
	Tokens       []chain.Asset `yaml:"tokens"`
	MaxFeeGwei   string        `yaml:"max_fee_gwei"`
	MaxGas       uint64        `yaml:"max_gas"`
	MaxNativeGas uint64        `yaml:"max_native_gas"`
}

// Signing is the part of the configuration that signing takes.
func (c Config) Signing() SigningConfig {
	return SigningConfig{ID: c.ID, ChainID: c.ChainID, Tokens: c.Tokens, MaxFeeGwei: c.MaxFeeGwei, MaxGas: c.MaxGas, MaxNativeGas: c.MaxNativeGas}
}

// Check names the first field that cannot be used, and why.
func (c SigningConfig) Check() error {
	node := "https://no.node" // signing asks none
	return Config{
		ID: c.ID, ChainID: c.ChainID, Nodes: []string{node}, Tokens: c.Tokens, MaxFeeGwei: c.MaxFeeGwei, MaxGas: c.MaxGas, MaxNativeGas: c.MaxNativeGas,
	}.Check()
}

// SigningRules decide which transactions may be signed for an EVM chain: those that do what their
// payments request, for gas under the chain's ceilings. They are safe for concurrent use.
type SigningRules struct {
	chainID      uint64
	sender       types.Signer
	tokens       atomic.Pointer[map[common.Address]bool] // replaced as one value, never modified
	maxFee       atomic.Pointer[uint256.Int]             // per gas; replaced as one value
	maxGas       uint64
	maxNativeGas uint64
	payouts      common.Address // the contract of batches
}

// NewSigningRules are the rules of a checked configuration.
func NewSigningRules(config SigningConfig) (*SigningRules, error) {
	full := Config{MaxGas: config.MaxGas, MaxNativeGas: config.MaxNativeGas}.withDefaults()
	r := &SigningRules{chainID: config.ChainID, maxGas: full.MaxGas, maxNativeGas: full.MaxNativeGas}
	r.sender = types.LatestSignerForChainID(new(big.Int).SetUint64(config.ChainID))
	r.tokens.Store(&map[common.Address]bool{})
	r.AddTokens(config.Tokens...)
	contract, err := PayoutsContract()
	if err != nil {
		return nil, err
	}
	r.payouts = common.HexToAddress(contract.Address)
	return r, r.SetMaxFee(config.MaxFeeGwei)
}

// AddTokens adds contracts that are read and paid from the next call on. It must not run
// concurrently with itself. No contract is ever removed: payments of a token that is no longer
// served may be in progress, and the result is held instead of ignored.
func (c *SigningRules) AddTokens(assets ...chain.Asset) {
	all := maps.Clone(*c.tokens.Load())
	for _, asset := range assets {
		all[common.HexToAddress(string(asset))] = true
	}
	c.tokens.Store(&all)
}

// SetMaxFee is the ceiling of the fee per gas from the next call on, in gwei; empty for the
// default.
func (c *SigningRules) SetMaxFee(gwei string) error {
	most, err := parseGwei(cmp.Or(gwei, defaultMaxFee))
	if err != nil {
		return fmt.Errorf("max_fee_gwei: %w", err)
	}
	c.maxFee.Store(most)
	return nil
}

// isToken reports whether a contract is a bridged token.
func (c *SigningRules) isToken(contract common.Address) bool { return (*c.tokens.Load())[contract] }

// message is a payment's effect on the chain, without its gas price.
type message struct {
	from  common.Address
	to    common.Address
	value *uint256.Int
	data  []byte
	token bool       // a call of a token contract
	batch *batchCall // a call of the batch contract; nil for other messages
	asked *chain.Payment
}

// gasBounds are the least that a transaction of this size costs and the most that it may use.
func (c *SigningRules) gasBounds(msg message) (least, most uint64) {
	data := gasPerByte * uint64(len(msg.data))
	least, most = minGas+data, c.maxNativeGas+data
	if msg.token {
		most = c.maxGas
	}
	if msg.batch != nil {
		each := c.maxNativeGas
		if msg.batch.token != nil {
			each = c.maxGas
		}
		most = min(least+each*uint64(len(msg.batch.pays)), maxGasBound)
	}
	return least, max(least, most)
}

// unsigned is the transaction of the kind that the chain takes.
func (c *SigningRules) unsigned(nonce uint64, msg message, gas uint64, offer fees) types.TxData {
	if offer.legacy {
		return &types.LegacyTx{Nonce: nonce, GasPrice: offer.cap.ToBig(), Gas: gas, To: &msg.to, Value: msg.value.ToBig(), Data: msg.data}
	}
	return &types.DynamicFeeTx{
		ChainID: new(big.Int).SetUint64(c.chainID), Nonce: nonce, GasTipCap: offer.tip.ToBig(), GasFeeCap: offer.cap.ToBig(), Gas: gas,
		To: &msg.to, Value: msg.value.ToBig(), Data: msg.data,
	}
}

// message builds what a payment does.
func (c *SigningRules) message(slot chain.Slot, pay chain.Payment) (message, error) {
	from, err := parseAddress(slot.Account)
	if err != nil {
		return message{}, fmt.Errorf("account %q: %w", slot.Account, err)
	}
	msg := message{from: from, value: new(uint256.Int), asked: &pay}
	switch pay.Purpose {
	case chain.Cancel:
		msg.to = from
		return msg, nil
	case chain.Batch:
		return c.batchMessage(msg)
	case chain.Allow:
		return c.allowMessage(msg)
	case chain.Credit, chain.Refund, chain.Sweep, chain.Gas, chain.Cold:
	default:
		return message{}, fmt.Errorf("purpose %q does not exist on this chain", pay.Purpose)
	}
	to, err := c.payee(pay)
	if err != nil {
		return message{}, err
	}
	if pay.Asset == chain.Native {
		msg.to, msg.value, msg.data = to, pay.Amount.Uint256(), []byte(pay.Label)
		return msg, nil
	}
	if msg.to, err = c.token(pay.Asset); err != nil {
		return message{}, err
	}
	msg.data, msg.token = transferCall(to, pay.Amount.Uint256(), pay.Label), true
	return msg, nil
}

// payee is the receiver of a payment, which must have one and an amount.
func (c *SigningRules) payee(pay chain.Payment) (common.Address, error) {
	if len(pay.Members) > 0 {
		return common.Address{}, fmt.Errorf("purpose %q has no members", pay.Purpose)
	}
	text, err := c.CheckAddress(pay.To, pay.Label)
	if err != nil {
		return common.Address{}, fmt.Errorf("receiver %q: %w", pay.To, err)
	}
	if pay.Amount.IsZero() {
		return common.Address{}, fmt.Errorf("%w: zero is not paid", chain.ErrAmount)
	}
	return common.HexToAddress(text), nil
}

// token is the contract of a configured asset; nothing else is ever called.
func (c *SigningRules) token(asset chain.Asset) (common.Address, error) {
	token, err := parseAddress(string(asset))
	if err != nil {
		return common.Address{}, fmt.Errorf("asset %q: %w", asset, err)
	}
	if !c.isToken(token) {
		return common.Address{}, fmt.Errorf("asset %s is not configured on this chain", asset)
	}
	return token, nil
}

// Digests builds the transaction that the order's payment requests, with the fees of the
// transaction to sign, and returns its hash for signing. Any other transaction is an error that
// names the difference.
func (c *SigningRules) Digests(o chain.Order) ([]chain.Digest, error) {
	tx, err := c.ordered(o)
	if err != nil {
		return nil, err
	}
	return []chain.Digest{{Key: o.Slot.Key, Hash: c.sender.Hash(tx).Bytes()}}, nil
}

// Fee is all gas of the order's transaction at the most that it offers.
func (c *SigningRules) Fee(o chain.Order) (chain.Amount, error) {
	tx, err := c.ordered(o)
	if err != nil {
		return chain.Amount{}, err
	}
	fee, over := new(uint256.Int).MulOverflow(uint256.MustFromBig(tx.GasFeeCap()), uint256.NewInt(tx.Gas()))
	if over {
		return chain.Amount{}, chain.ErrAmount
	}
	return chain.AmountOf(fee), nil
}

// ordered rebuilds the order's transaction: only gas, fees and the amount of a native sweep are
// copied. The gas of each payment in a batch is one of two.
func (c *SigningRules) ordered(o chain.Order) (*types.Transaction, error) {
	msg, err := c.message(o.Slot, o.Payment)
	if err != nil {
		return nil, err
	}
	var asked types.Transaction
	if err := asked.UnmarshalBinary(o.Unsigned); err != nil {
		return nil, fmt.Errorf("decoding the transaction: %w", err)
	}
	msg = msg.withGasOf(asked.Data())
	if err := c.compare(&asked, o.Slot, msg); err != nil {
		return nil, err
	}
	if err := c.bound(&asked, msg); err != nil {
		return nil, err
	}
	msg.value = uint256.MustFromBig(asked.Value())
	offer := fees{tip: uint256.MustFromBig(asked.GasTipCap()), cap: uint256.MustFromBig(asked.GasFeeCap()), legacy: asked.Type() == types.LegacyTxType}
	tx := types.NewTx(c.unsigned(o.Slot.Nonce, msg, asked.Gas(), offer))
	if c.sender.Hash(tx) != c.sender.Hash(&asked) {
		return nil, errors.New("the transaction has more in it than the payment asks for")
	}
	return tx, nil
}

// compare names the first field in which a transaction differs from its order.
func (c *SigningRules) compare(tx *types.Transaction, slot chain.Slot, msg message) error {
	legacy := tx.Type() == types.LegacyTxType
	switch {
	case slot.Branch != 0: // what ends a line of linked blocks would free payments that are still good here
		return fmt.Errorf("branch: %d, where the ledger counts nonces", slot.Branch)
	case !legacy && tx.Type() != types.DynamicFeeTxType:
		return fmt.Errorf("type %d: must be a transaction of type 0 or 2", tx.Type())
	case !legacy && (!tx.ChainId().IsUint64() || tx.ChainId().Uint64() != c.chainID):
		return fmt.Errorf("chain id: %s, not %d", tx.ChainId(), c.chainID)
	case tx.Nonce() != slot.Nonce:
		return fmt.Errorf("nonce: %d, not %d", tx.Nonce(), slot.Nonce)
	case tx.To() == nil:
		return fmt.Errorf("to: the transaction creates a contract instead of paying %s", msg.to)
	case *tx.To() != msg.to:
		return fmt.Errorf("to: %s, not %s", tx.To(), msg.to)
	case !bytes.Equal(tx.Data(), msg.data):
		return errors.New("data: not what the payment asks for")
	}
	return msg.compareValue(tx.Value())
}

// compareValue holds the coin that is moved against the payment: a sweep to ourselves may bring
// less, down to half.
func (m message) compareValue(value *big.Int) error {
	coin, over := uint256.FromBig(value)
	if !over && coin.Eq(m.value) {
		return nil
	}
	if over || coin.Gt(m.value) || m.asked.Purpose != chain.Sweep || m.token || coin.Lt(m.least()) {
		return fmt.Errorf("value: %s, not %s", value, m.value.Dec())
	}
	return nil
}

// bound holds gas and fees under the ceilings of the chain and of the payment.
func (c *SigningRules) bound(tx *types.Transaction, msg message) error {
	if _, most := c.gasBounds(msg); tx.Gas() > most {
		return fmt.Errorf("gas: %d is over %d", tx.Gas(), most)
	}
	offered, over := uint256.FromBig(tx.GasFeeCap())
	if most := c.maxFee.Load(); over || offered.Gt(most) {
		return fmt.Errorf("fee per gas: %s wei is over %s", tx.GasFeeCap(), most.Dec())
	}
	if tx.GasTipCap().Cmp(tx.GasFeeCap()) > 0 {
		return fmt.Errorf("tip per gas: %s wei is over the fee of %s", tx.GasTipCap(), tx.GasFeeCap())
	}
	fee, over := new(uint256.Int).MulOverflow(offered, uint256.NewInt(tx.Gas()))
	if most := msg.asked.MaxFee.Uint256(); over || !most.IsZero() && fee.Gt(most) {
		return fmt.Errorf("fee: %s wei is over the payment's %s", fee.Dec(), most.Dec())
	}
	return nil
}

// Seal puts a signature of 65 bytes (R, S and the recovery bit) to the order's transaction, and
// makes sure that it is the account's.
func (c *SigningRules) Seal(o chain.Order, signatures ...chain.Signature) (sealed chain.SignedTx, err error) {
	tx, err := c.ordered(o)
	if err != nil {
		return sealed, err
	}
	if len(signatures) != 1 || len(signatures[0].Bytes) != crypto.SignatureLength {
		return sealed, fmt.Errorf("must have one signature of %d bytes", crypto.SignatureLength)
	}
	signed, err := tx.WithSignature(c.sender, signatures[0].Bytes)
	if err != nil {
		return sealed, fmt.Errorf("adding the signature: %w", err)
	}
	if signer, err := types.Sender(c.sender, signed); err != nil || signer != common.HexToAddress(o.Slot.Account) {
		return sealed, errors.New("the signature is not the slot's account's: wrong key")
	}
	raw, err := signed.MarshalBinary()
	if err != nil {
		return sealed, fmt.Errorf("encoding the transaction: %w", err)
	}
	return chain.SignedTx{Hash: signed.Hash().Hex(), Raw: raw}, nil
}
