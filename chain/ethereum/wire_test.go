package ethereum

import (
	"encoding/json"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/params"
	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"
)

// everyType is one signed transaction of each type, with all fields set.
func everyType(t *testing.T) types.Transactions {
	t.Helper()
	key := mustKey(t)
	to, id := common.Address{7}, uint256.NewInt(1)
	list := types.AccessList{{Address: to, StorageKeys: []common.Hash{{1}, {2}}}, {Address: common.Address{8}, StorageKeys: []common.Hash{}}}
	authorization, err := types.SignSetCode(key, types.SetCodeAuthorization{ChainID: *id, Address: to, Nonce: 9})
	require.NoError(t, err)
	signer := types.LatestSignerForChainID(big.NewInt(1))
	var all types.Transactions
	for _, inner := range []types.TxData{
		&types.LegacyTx{Nonce: 1, GasPrice: big.NewInt(2), Gas: 3, To: &to, Value: big.NewInt(4), Data: []byte{5}},
		&types.LegacyTx{Nonce: 1, GasPrice: big.NewInt(2), Gas: 3, Data: []byte{5}},
		&types.AccessListTx{ChainID: big.NewInt(1), Nonce: 1, GasPrice: big.NewInt(2), Gas: 3, To: &to, Value: big.NewInt(4), Data: []byte{5}, AccessList: list},
		&types.DynamicFeeTx{ChainID: big.NewInt(1), Nonce: 1, GasTipCap: big.NewInt(2), GasFeeCap: big.NewInt(9), Gas: 3, To: &to, Value: big.NewInt(4), Data: []byte{5}, AccessList: list},
		&types.BlobTx{
			ChainID: id, Nonce: 1, GasTipCap: id, GasFeeCap: uint256.NewInt(9), Gas: 3, To: to, Value: uint256.NewInt(4), Data: []byte{5}, AccessList: list,
			BlobFeeCap: uint256.NewInt(6), BlobHashes: []common.Hash{{1, 2}},
		},
		&types.SetCodeTx{
			ChainID: id, Nonce: 1, GasTipCap: id, GasFeeCap: uint256.NewInt(9), Gas: 3, To: to, Value: uint256.NewInt(4), Data: []byte{5}, AccessList: list,
			AuthList: []types.SetCodeAuthorization{authorization},
		},
	} {
		tx, err := types.SignNewTx(key, signer, inner)
		require.NoError(t, err)
		all = append(all, tx)
	}
	unprotected, err := types.SignNewTx(key, types.HomesteadSigner{}, &types.LegacyTx{Nonce: 2, GasPrice: big.NewInt(2), Gas: 3, To: &to})
	require.NoError(t, err)
	return append(all, unprotected)
}

func TestEveryTransactionTypeIsReadAsItWasSigned(t *testing.T) {
	c, err := New(goodConfig(), nil, nil)
	require.NoError(t, err)
	sender := crypto.PubkeyToAddress(mustKey(t).PublicKey)
	for _, tx := range everyType(t) {
		text, err := tx.MarshalJSON()
		require.NoError(t, err)
		var read txJSON
		require.NoError(t, json.Unmarshal(text, &read))
		same, err := read.signed()
		require.NoError(t, err)
		require.Equal(t, tx.Hash(), same.Hash(), "type %d", tx.Type())
		require.NoError(t, c.checkSender(&transaction{signed: same, from: sender}))
		require.ErrorContains(t, c.checkSender(&transaction{signed: same}), "its sender is "+sender.Hex())
	}
}

func TestHeaderOfEveryForkHashesAlike(t *testing.T) {
	word, count := common.Hash{3}, uint64(4)
	header := &types.Header{Number: big.NewInt(5), Difficulty: big.NewInt(6), Extra: []byte("x"), Bloom: types.Bloom{1}, Nonce: types.EncodeNonce(7)}
	for _, fork := range []func(){
		func() {},
		func() { header.BaseFee = big.NewInt(8) },
		func() { header.WithdrawalsHash = &word },
		func() { header.BlobGasUsed, header.ExcessBlobGas, header.ParentBeaconRoot = &count, &count, &word },
		func() { header.RequestsHash = &word },
		func() { header.BlockAccessListHash, header.SlotNumber = &word, &count },
	} {
		fork()
		text, err := header.MarshalJSON()
		require.NoError(t, err)
		var read blockJSON
		require.NoError(t, json.Unmarshal(text, &read))
		require.NoError(t, read.check())
		require.Equal(t, header.Hash(), read.header().Hash())
	}
}

func TestRecordedBlock(t *testing.T) {
	raw := scanBlock(&scanner{text: recorded(t, "block")})
	receipts := scanReceipts(&scanner{text: recorded(t, "receipts")})
	c, err := New(goodConfig(), nil, nil)
	require.NoError(t, err)
	b, err := c.prove(raw, uint64(*raw.Number), raw.Hash)
	require.NoError(t, err)
	require.NoError(t, c.attach(b, raw, receipts))
	require.Len(t, b.txs, 4)
	require.EqualValues(t, 21_000, b.txs[0].gasUsed)
	require.False(t, b.nativeLogs)
	_, err = c.prove(raw, uint64(*raw.Number), &common.Hash{1})
	require.ErrorContains(t, err, "as agreed")
	_, err = c.prove(raw, uint64(*raw.Number)+1, raw.Hash)
	require.ErrorContains(t, err, "the node answers block")
}

func TestEffectivePrice(t *testing.T) {
	tx := types.NewTx(&types.DynamicFeeTx{GasTipCap: big.NewInt(2), GasFeeCap: big.NewInt(10)})
	legacy := types.NewTx(&types.LegacyTx{GasPrice: big.NewInt(10)})
	for base, want := range map[int64]uint64{0: 2, 5: 7, 8: 10, 9: 10, 10: 10} {
		require.Equal(t, wei(want), effectivePrice(tx, big.NewInt(base)))
		require.Equal(t, wei(10), effectivePrice(legacy, big.NewInt(base)))
	}
	require.Equal(t, wei(10), effectivePrice(legacy, nil))
}

func TestFeesThatDoNotFitAreRefused(t *testing.T) {
	top := new(uint256.Int).SetAllOne()
	fee, err := (&transaction{price: wei(3), gasUsed: params.TxGas, extra: wei(1)}).fee()
	require.NoError(t, err)
	require.Equal(t, "63001", fee.String())
	_, err = (&transaction{price: top, gasUsed: 2, extra: wei(0)}).fee()
	require.Error(t, err)
	_, err = (&transaction{price: wei(1), gasUsed: 1, extra: top}).fee()
	require.Error(t, err)
}
