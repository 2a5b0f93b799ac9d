package ethereum

import (
	"encoding/hex"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
)

const (
	ruledToken = "0xdAC17F958D2ee523a2206206994597C13D831ec7"
	ruledPayee = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
)

func testRules(t *testing.T) *SigningRules {
	t.Helper()
	c := SigningConfig{ID: "eth", ChainID: 1, Tokens: []chain.Asset{ruledToken}, MaxFeeGwei: "100"}
	require.NoError(t, c.Check())
	r, err := NewSigningRules(c)
	require.NoError(t, err)
	return r
}

func ruledSlot(t *testing.T) chain.Slot {
	t.Helper()
	key, err := crypto.ToECDSA(crypto.Keccak256([]byte("hot")))
	require.NoError(t, err)
	return chain.Slot{Account: crypto.PubkeyToAddress(key.PublicKey).Hex(), Key: "m/44'/60'/1'/0/0", Nonce: 7}
}

func unsignedOf(t *testing.T, tx types.TxData) []byte {
	t.Helper()
	raw, err := types.NewTx(tx).MarshalBinary()
	require.NoError(t, err)
	return raw
}

// TestWhatIsNotThePaymentIsNotSigned alters one field of a transaction at a time: a thief who owns
// the daemon could ask for each of these.
func TestWhatIsNotThePaymentIsNotSigned(t *testing.T) {
	rules, slot := testRules(t), ruledSlot(t)
	payee, thief, token := common.HexToAddress(ruledPayee), common.HexToAddress("0x00000000000000000000000000000000DeaDBeef"), common.HexToAddress(ruledToken)
	native := chain.Payment{ID: 1, Purpose: chain.Credit, Asset: chain.Native, To: ruledPayee, Amount: chain.NewAmount(1000), Label: "L"}
	erc20 := chain.Payment{ID: 2, Purpose: chain.Credit, Asset: ruledToken, To: ruledPayee, Amount: chain.NewAmount(1000), MaxFee: chain.NewAmount(6_000_000 * 1e9)}
	sweep := chain.Payment{ID: 3, Purpose: chain.Sweep, Asset: chain.Native, To: ruledPayee, Amount: chain.NewAmount(1000)}
	cancel := chain.Payment{Purpose: chain.Cancel, Asset: chain.Native, To: slot.Account}
	good := func(pay chain.Payment) *types.DynamicFeeTx {
		msg, err := rules.message(slot, pay)
		require.NoError(t, err)
		gas := uint64(30_000)
		if msg.token {
			gas = 60_000
		}
		offer := fees{tip: uint256.NewInt(1e9), cap: uint256.NewInt(90e9)}
		return rules.unsigned(slot.Nonce, msg, gas, offer).(*types.DynamicFeeTx)
	}
	for name, pay := range map[string]chain.Payment{"native": native, "token": erc20, "sweep": sweep, "cancel": cancel} {
		_, err := rules.Digests(chain.Order{Slot: slot, Payment: pay, Unsigned: unsignedOf(t, good(pay))})
		require.NoError(t, err, name)
	}
	for _, c := range []struct {
		name   string
		pay    chain.Payment
		change func(tx *types.DynamicFeeTx)
		why    string
	}{
		{"payee", native, func(tx *types.DynamicFeeTx) { tx.To = &thief }, "to: "},
		{"a contract is made", native, func(tx *types.DynamicFeeTx) { tx.To = nil }, "the transaction creates a contract"},
		{"amount", native, func(tx *types.DynamicFeeTx) { tx.Value = big.NewInt(1001) }, "value: 1001, not 1000"},
		{"less", native, func(tx *types.DynamicFeeTx) { tx.Value = big.NewInt(999) }, "value: 999, not 1000"},
		{"amount beyond all", native, func(tx *types.DynamicFeeTx) { tx.Value = new(big.Int).Lsh(big.NewInt(1), 256) }, ""},
		{"data", native, func(tx *types.DynamicFeeTx) { tx.Data = []byte("M") }, "data: "},
		{"no data", native, func(tx *types.DynamicFeeTx) { tx.Data = nil }, "data: "},
		{"chain id", native, func(tx *types.DynamicFeeTx) { tx.ChainID = big.NewInt(56) }, "chain id: 56, not 1"},
		{"nonce", native, func(tx *types.DynamicFeeTx) { tx.Nonce = 8 }, "nonce: 8, not 7"},
		{"access list", native, func(tx *types.DynamicFeeTx) { tx.AccessList = types.AccessList{{Address: thief}} }, "more in it"},
		{"gas", native, func(tx *types.DynamicFeeTx) { tx.Gas = 300_041 }, "gas: 300041 is over 300040"},
		{"token gas", erc20, func(tx *types.DynamicFeeTx) {
			tx.Gas, tx.GasFeeCap, tx.GasTipCap = 500_001, big.NewInt(1), big.NewInt(1)
		}, "gas: 500001 is over 500000"},
		{"fee to a miner", native, func(tx *types.DynamicFeeTx) { tx.GasFeeCap = big.NewInt(100e9 + 1) }, "fee per gas: 100000000001 wei is over 100000000000"},
		{"fee beyond all", native, func(tx *types.DynamicFeeTx) { tx.GasFeeCap = new(big.Int).Lsh(big.NewInt(1), 256) }, ""},
		{"tip to a miner", native, func(tx *types.DynamicFeeTx) { tx.GasTipCap = big.NewInt(90e9 + 1) }, "tip per gas: "},
		{"fee over the payment's", erc20, func(tx *types.DynamicFeeTx) { tx.GasFeeCap = big.NewInt(100e9 - 1); tx.Gas = 60_001 }, "over the payment's"},
		{"token's payee", erc20, func(tx *types.DynamicFeeTx) { tx.Data = transferCall(thief, uint256.NewInt(1000), "") }, "data: "},
		{"token's amount", erc20, func(tx *types.DynamicFeeTx) { tx.Data = transferCall(payee, uint256.NewInt(1001), "") }, "data: "},
		{"another call", erc20, func(tx *types.DynamicFeeTx) { copy(tx.Data, "\x09\x5e\xa7\xb3") }, "data: "}, // approve
		{"another contract", erc20, func(tx *types.DynamicFeeTx) { tx.To = &thief }, "to: "},
		{"coin beside a token", erc20, func(tx *types.DynamicFeeTx) { tx.Value = big.NewInt(1) }, "value: 1, not 0"},
		{"coin in place of a token", erc20, func(tx *types.DynamicFeeTx) { tx.To, tx.Data, tx.Value = &payee, nil, big.NewInt(1000) }, "to: "},
		{"token in place of a coin", native, func(tx *types.DynamicFeeTx) {
			tx.To, tx.Data, tx.Value = &token, transferCall(payee, uint256.NewInt(1000), ""), big.NewInt(0)
		}, "to: "},
		{"a sweep that brings more", sweep, func(tx *types.DynamicFeeTx) { tx.Value = big.NewInt(1001) }, "value: 1001, not 1000"},
		{"a sweep that brings under half", sweep, func(tx *types.DynamicFeeTx) { tx.Value = big.NewInt(499) }, "value: 499, not 1000"},
		{"a cancellation that pays", cancel, func(tx *types.DynamicFeeTx) { tx.Value = big.NewInt(1) }, "value: 1, not 0"},
		{"a cancellation to another", cancel, func(tx *types.DynamicFeeTx) { tx.To = &thief }, "to: "},
		{"a cancellation that calls", cancel, func(tx *types.DynamicFeeTx) { tx.Data = []byte{1} }, "data: "},
	} {
		tx := good(c.pay)
		c.change(tx)
		_, err := rules.Digests(chain.Order{Slot: slot, Payment: c.pay, Unsigned: unsignedOf(t, tx)})
		require.ErrorContains(t, err, c.why, c.name)
		require.NotContains(t, err.Error(), "\n", c.name)
	}
	slot.Branch = 1
	_, err := rules.Digests(chain.Order{Slot: slot, Payment: native, Unsigned: unsignedOf(t, good(native))})
	require.ErrorContains(t, err, "branch: 1, where the ledger counts nonces")
}

// TestSweepsMayBringLess: the fee of a native sweep comes out of what it moves.
func TestSweepsMayBringLess(t *testing.T) {
	rules, slot := testRules(t), ruledSlot(t)
	pay := chain.Payment{ID: 3, Purpose: chain.Sweep, Asset: chain.Native, To: ruledPayee, Amount: chain.NewAmount(1000)}
	msg, err := rules.message(slot, pay)
	require.NoError(t, err)
	msg.value = uint256.NewInt(500)
	tx := rules.unsigned(slot.Nonce, msg, minGas, fees{tip: uint256.NewInt(1), cap: uint256.NewInt(1)})
	_, err = rules.Digests(chain.Order{Slot: slot, Payment: pay, Unsigned: unsignedOf(t, tx)})
	require.NoError(t, err)
}

func TestOrdersOfOtherKindsAreNotSigned(t *testing.T) {
	rules, slot := testRules(t), ruledSlot(t)
	pay := chain.Payment{ID: 1, Purpose: chain.Credit, Asset: chain.Native, To: ruledPayee, Amount: chain.NewAmount(5)}
	msg, err := rules.message(slot, pay)
	require.NoError(t, err)
	plain := rules.unsigned(slot.Nonce, msg, minGas, fees{tip: uint256.NewInt(1), cap: uint256.NewInt(1), legacy: true})
	legacy, err := rules.Digests(chain.Order{Slot: slot, Payment: pay, Unsigned: unsignedOf(t, plain)})
	require.NoError(t, err)
	require.Equal(t, types.NewEIP155Signer(big.NewInt(1)).Hash(types.NewTx(plain)).Bytes(), legacy[0].Hash, "an old transaction is bound to the chain as well")

	other := unsignedOf(t, &types.AccessListTx{ChainID: big.NewInt(1), Nonce: 7, GasPrice: big.NewInt(1), Gas: minGas, To: &msg.to, Value: big.NewInt(5)})
	_, err = rules.Digests(chain.Order{Slot: slot, Payment: pay, Unsigned: other})
	require.ErrorContains(t, err, "type 1")
	for _, raw := range [][]byte{nil, {2}, []byte("nonsense"), make([]byte, 32)} {
		_, err = rules.Digests(chain.Order{Slot: slot, Payment: pay, Unsigned: raw})
		require.ErrorContains(t, err, "decoding", hex.EncodeToString(raw))
	}
	unknown := pay
	unknown.Asset = "0x00000000000000000000000000000000DeaDBeef"
	_, err = rules.Digests(chain.Order{Slot: slot, Payment: unknown, Unsigned: unsignedOf(t, plain)})
	require.ErrorContains(t, err, "not configured")
}

// TestSealWantsTheAccountsKey: a signature of another key would fill the slot with a transaction of
// another account.
func TestSealWantsTheAccountsKey(t *testing.T) {
	rules, slot := testRules(t), ruledSlot(t)
	pay := chain.Payment{ID: 1, Purpose: chain.Credit, Asset: chain.Native, To: ruledPayee, Amount: chain.NewAmount(5)}
	msg, err := rules.message(slot, pay)
	require.NoError(t, err)
	order := chain.Order{Slot: slot, Payment: pay, Unsigned: unsignedOf(t, rules.unsigned(slot.Nonce, msg, minGas, fees{tip: uint256.NewInt(1), cap: uint256.NewInt(1)}))}
	digests, err := rules.Digests(order)
	require.NoError(t, err)
	require.Len(t, digests, 1)
	seal := func(name string) (chain.SignedTx, error) {
		key, err := crypto.ToECDSA(crypto.Keccak256([]byte(name)))
		require.NoError(t, err)
		signature, err := crypto.Sign(digests[0].Hash, key)
		require.NoError(t, err)
		return rules.Seal(order, chain.Signature{Bytes: signature})
	}
	_, err = seal("another")
	require.ErrorContains(t, err, "wrong key")
	_, err = rules.Seal(order, chain.Signature{Bytes: make([]byte, 64)})
	require.ErrorContains(t, err, "one signature of 65 bytes")
	_, err = rules.Seal(order)
	require.ErrorContains(t, err, "one signature of 65 bytes")
	signed, err := seal("hot")
	require.NoError(t, err)
	var tx types.Transaction
	require.NoError(t, tx.UnmarshalBinary(signed.Raw))
	require.Equal(t, signed.Hash, tx.Hash().Hex())
}
