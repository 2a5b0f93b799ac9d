package ethtest

import (
	"crypto/ecdsa"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"
)

// EveryTransactionType is one transaction of each type with all fields set, signed for chain 1 by
// key, and one without a chain id.
func EveryTransactionType(key *ecdsa.PrivateKey) (types.Transactions, error) {
	to, id := common.Address{7}, uint256.NewInt(1)
	list := types.AccessList{{Address: to, StorageKeys: []common.Hash{{1}, {2}}}, {Address: common.Address{8}, StorageKeys: []common.Hash{}}}
	authorization, err := types.SignSetCode(key, types.SetCodeAuthorization{ChainID: *id, Address: to, Nonce: 9})
	if err != nil {
		return nil, err
	}
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
		if err != nil {
			return nil, err
		}
		all = append(all, tx)
	}
	unprotected, err := types.SignNewTx(key, types.HomesteadSigner{}, &types.LegacyTx{Nonce: 2, GasPrice: big.NewInt(2), Gas: 3, To: &to})
	if err != nil {
		return nil, err
	}
	return append(all, unprotected), nil
}
