package ethtest_test

import (
	"context"
	"errors"
	"math/big"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/rpc"
	"github.com/stretchr/testify/require"

	"gatewayd/chain/ethereum/contracts"
	"gatewayd/internal/testing/ethtest"
)

func setup(t *testing.T, c ethtest.Config) *ethtest.Node {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	node, err := ethtest.Start(ctx, c)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, node.Close()) })
	return node
}

func someone(last byte) common.Address { return common.Address{0: 0xaa, 19: last} }

func height(t *testing.T, n *ethtest.Node, tag rpc.BlockNumber) uint64 {
	t.Helper()
	header, err := n.Client().HeaderByNumber(t.Context(), big.NewInt(tag.Int64()))
	require.NoError(t, err)
	return header.Number.Uint64()
}

// mined reports whether a block holds the transaction.
func mined(t *testing.T, n *ethtest.Node, hash common.Hash) bool {
	t.Helper()
	_, err := n.Client().TransactionReceipt(t.Context(), hash)
	if err != nil && !errors.Is(err, ethereum.NotFound) {
		require.ErrorContains(t, err, "indexing is in progress") // geth, of transactions that it does not know yet
	}
	return err == nil
}

func balance(t *testing.T, n *ethtest.Node, of common.Address) int64 {
	t.Helper()
	wei, err := n.Client().BalanceAt(t.Context(), of, nil)
	require.NoError(t, err)
	return wei.Int64()
}

func eventually(t *testing.T, holds func() bool) {
	t.Helper()
	require.Eventually(t, holds, time.Minute, 10*time.Millisecond)
}

// TestFaucet checks the duties of every kind of node.
func TestFaucet(t *testing.T) {
	for _, kind := range []ethtest.Kind{ethtest.Anvil, ethtest.Geth} {
		t.Run(string(kind), func(t *testing.T) {
			n := setup(t, ethtest.Config{Kind: kind})
			_, err := n.SendETH(someone(1), big.NewInt(5))
			require.NoError(t, err)
			eventually(t, func() bool { return balance(t, n, someone(1)) == 5 })

			hash, err := n.SendToken(n.Contracts().USDT, someone(1), big.NewInt(7))
			require.NoError(t, err)
			eventually(t, func() bool { return mined(t, n, hash) })
			receipt, err := n.Client().TransactionReceipt(t.Context(), hash)
			require.NoError(t, err)
			require.Equal(t, types.ReceiptStatusSuccessful, receipt.Status)
			require.Len(t, receipt.Logs, 1)

			address, err := n.Deploy(common.FromHex(contracts.RejectorMetaData.Bin))
			require.NoError(t, err)
			code, err := n.Client().CodeAt(t.Context(), address, nil)
			require.NoError(t, err)
			require.NotEmpty(t, code)

			before := height(t, n, rpc.LatestBlockNumber)
			require.NoError(t, n.Mine(3))
			require.GreaterOrEqual(t, height(t, n, rpc.LatestBlockNumber), before+3)
		})
	}
}

func TestTracerAndReceipts(t *testing.T) {
	for _, kind := range []ethtest.Kind{ethtest.Anvil, ethtest.Geth} {
		t.Run(string(kind), func(t *testing.T) {
			n := setup(t, ethtest.Config{Kind: kind})
			hash, err := n.SendETH(someone(1), big.NewInt(5))
			require.NoError(t, err)
			eventually(t, func() bool { return mined(t, n, hash) })
			receipt, err := n.Client().TransactionReceipt(t.Context(), hash)
			require.NoError(t, err)
			var traces []struct {
				Result struct{ Value string }
			}
			tracer := map[string]string{"tracer": "callTracer"}
			require.NoError(t, n.Client().Client().CallContext(t.Context(), &traces, "debug_traceBlockByHash", receipt.BlockHash, tracer))
			require.Equal(t, "0x5", traces[receipt.TransactionIndex].Result.Value)
			receipts, err := n.Client().BlockReceipts(t.Context(), rpc.BlockNumberOrHashWithHash(receipt.BlockHash, true))
			require.NoError(t, err)
			require.NotEmpty(t, receipts)
		})
	}
}

func TestPeriodMakesBlocks(t *testing.T) {
	for _, kind := range []ethtest.Kind{ethtest.Anvil, ethtest.Geth} {
		t.Run(string(kind), func(t *testing.T) {
			n := setup(t, ethtest.Config{Kind: kind, Period: time.Second})
			before := height(t, n, rpc.LatestBlockNumber)
			eventually(t, func() bool { return height(t, n, rpc.LatestBlockNumber) > before })
		})
	}
}

func TestAnvilReorgLosesTransactions(t *testing.T) {
	n := setup(t, ethtest.Config{Kind: ethtest.Anvil})
	hash, err := n.SendETH(someone(1), big.NewInt(5))
	require.NoError(t, err)
	eventually(t, func() bool { return mined(t, n, hash) })
	before := height(t, n, rpc.LatestBlockNumber)
	require.NoError(t, n.Reorg(1))
	require.Equal(t, before, height(t, n, rpc.LatestBlockNumber))
	require.False(t, mined(t, n, hash))
}

func TestAnvilFinalityFollows(t *testing.T) {
	n := setup(t, ethtest.Config{Kind: ethtest.Anvil})
	require.NoError(t, n.Mine(20))
	require.Equal(t, height(t, n, rpc.LatestBlockNumber)-4, height(t, n, rpc.FinalizedBlockNumber))
}

func TestAnvilDropsAndHoldsBack(t *testing.T) {
	n := setup(t, ethtest.Config{Kind: ethtest.Anvil})
	require.NoError(t, n.SetMining(false))
	hash, err := n.SendETH(someone(1), big.NewInt(5))
	require.NoError(t, err)
	require.NoError(t, n.Drop(hash))
	require.NoError(t, n.SetNextBaseFee(77e9))
	require.NoError(t, n.Mine(1))
	require.False(t, mined(t, n, hash))
	header, err := n.Client().HeaderByNumber(t.Context(), nil)
	require.NoError(t, err)
	require.EqualValues(t, 77e9, header.BaseFee.Int64())
	require.ErrorIs(t, n.SetHead(1), ethtest.ErrNotSupported)
}

func TestGethFinalityFollowsEachThirtyTwoBlocks(t *testing.T) {
	n := setup(t, ethtest.Config{Kind: ethtest.Geth})
	require.NoError(t, n.Mine(33))
	require.GreaterOrEqual(t, height(t, n, rpc.FinalizedBlockNumber), uint64(32))
}

func TestGethGoesBack(t *testing.T) {
	n := setup(t, ethtest.Config{Kind: ethtest.Geth})
	require.NoError(t, n.Mine(3))
	before, err := n.Client().HeaderByNumber(t.Context(), nil)
	require.NoError(t, err)
	require.NoError(t, n.SetHead(before.Number.Uint64()-2))
	require.NoError(t, n.Mine(3))
	now, err := n.Client().HeaderByNumber(t.Context(), before.Number)
	require.NoError(t, err)
	require.NotEqual(t, before.Hash(), now.Hash())
	for _, err := range []error{n.Reorg(1), n.Drop(common.Hash{}), n.SetMining(true), n.SetNextBaseFee(1)} {
		require.ErrorIs(t, err, ethtest.ErrNotSupported)
	}
}

func TestStartTellsWhatIsWrong(t *testing.T) {
	cases := []struct {
		name, says string
		config     ethtest.Config
		geth       string
	}{
		{"unknown kind", "unknown kind", ethtest.Config{Kind: "besu"}, ""},
		{"part of a second", "whole seconds", ethtest.Config{Kind: ethtest.Anvil, Period: time.Millisecond}, ""},
		{"no such program", "no such file", ethtest.Config{Kind: ethtest.Geth}, "/nowhere/geth"},
		{"ends at once", "it ended", ethtest.Config{Kind: ethtest.Geth}, "/bin/false"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if c.geth != "" {
				t.Setenv("GATEWAYD_GETH", c.geth)
			}
			_, err := ethtest.Start(t.Context(), c.config)
			require.ErrorContains(t, err, c.says)
		})
	}
}
