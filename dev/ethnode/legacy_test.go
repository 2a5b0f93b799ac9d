package ethnode_test

import (
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/stretchr/testify/require"

	"gatewayd/dev/ethnode"
)

// A chain without a base fee, one that gets one at block 5, and what each of them takes.
func TestLegacyChain(t *testing.T) {
	for name, london := range map[string]uint64{"for ever": 0, "up to a fork": 5} {
		t.Run(name, func(t *testing.T) {
			n, err := ethnode.Start(ethnode.Config{Legacy: true, London: london})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, n.Close()) })
			to := common.HexToAddress("0x1234")
			for range 40 {
				_, err := n.SendETH(to, big.NewInt(1))
				require.NoError(t, err)
				_, err = n.Mine(1)
				require.NoError(t, err)
			}
			balance, err := n.Client().BalanceAt(t.Context(), to, nil)
			require.NoError(t, err)
			require.EqualValues(t, 40, balance.Uint64())
			for number := range uint64(42) {
				header, err := n.Client().HeaderByNumber(t.Context(), new(big.Int).SetUint64(number))
				require.NoError(t, err)
				require.Equal(t, london > 0 && number >= london, header.BaseFee != nil, "block %d", number)
				require.Nil(t, header.WithdrawalsHash)
			}
			dynamic, err := types.SignNewTx(n.FaucetKey(), types.LatestSignerForChainID(big.NewInt(ethnode.DefaultChainID)), &types.DynamicFeeTx{
				ChainID: big.NewInt(ethnode.DefaultChainID), Nonce: 45, Gas: 21000, To: &to, GasTipCap: big.NewInt(1e9), GasFeeCap: big.NewInt(1e11),
			})
			require.NoError(t, err)
			err = n.Client().SendTransaction(t.Context(), dynamic)
			require.Equal(t, london > 0, err == nil, "%v", err)
		})
	}
}

func TestLegacyChainReorgsAndComesBack(t *testing.T) {
	config := ethnode.Config{Legacy: true, Dir: t.TempDir()}
	n, err := ethnode.Start(config)
	require.NoError(t, err)
	hash, err := n.SendETH(common.HexToAddress("0x1234"), big.NewInt(7))
	require.NoError(t, err)
	_, err = n.Mine(3)
	require.NoError(t, err)
	_, err = n.Reorg(3, ethnode.Lose)
	require.NoError(t, err)
	_, err = n.Client().TransactionReceipt(t.Context(), hash)
	require.Error(t, err)
	head, err := n.Mine(1)
	require.NoError(t, err)
	require.NoError(t, n.Close())
	n, err = ethnode.Start(config)
	require.NoError(t, err)
	defer func() { require.NoError(t, n.Close()) }()
	header, err := n.Client().HeaderByNumber(t.Context(), nil)
	require.NoError(t, err)
	require.Equal(t, head, header.Hash())
}
