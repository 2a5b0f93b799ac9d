package ethnode_test

import (
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rpc"
	"github.com/ethereum/go-ethereum/trie"
	"github.com/stretchr/testify/require"

	"gatewayd/dev/ethnode"
)

func trieHasher() *trie.StackTrie { return trie.NewStackTrie(nil) }

func TestReorgDecidesTheFateOfTransactions(t *testing.T) {
	cases := []struct {
		name              string
		fate              ethnode.Fate
		atOnce, nextBlock bool
	}{
		{"keep", ethnode.Keep, true, true},
		{"return", ethnode.Return, false, true},
		{"lose", ethnode.Lose, false, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := setup(t)
			b.mine(3)
			tx := b.sendETH(someone(1), 5)
			b.mine(2)
			before := b.header(rpc.LatestBlockNumber)
			waiting := b.sendETH(someone(2), 6)

			_, err := b.Reorg(2, c.fate)
			require.NoError(t, err)
			after := b.header(rpc.LatestBlockNumber)
			require.Equal(t, before.Number, after.Number)
			require.NotEqual(t, before.ParentHash, after.ParentHash)
			require.Equal(t, c.atOnce, b.has(tx))
			require.Contains(t, b.Pending(), waiting)

			b.mine(1)
			require.Equal(t, c.nextBlock, b.has(tx))
			require.Equal(t, c.nextBlock, b.balance(someone(1)) == 5)
			require.Equal(t, c.nextBlock, b.has(waiting), "it follows the other one's nonce")
		})
	}
}

func TestLostTransactionCanBeSentAgain(t *testing.T) {
	b := setup(t)
	hash := b.sendETH(someone(1), 5)
	b.mine(1)
	tx, _, err := b.web.TransactionByHash(t.Context(), hash)
	require.NoError(t, err)
	_, err = b.Reorg(1, ethnode.Lose)
	require.NoError(t, err)
	require.NoError(t, b.web.SendTransaction(t.Context(), tx))
	b.mine(1)
	require.True(t, b.has(hash))
}

func TestReorgBelowFinalityShowsTheNewBranch(t *testing.T) {
	b := setup(t)
	b.mine(9)
	require.EqualValues(t, 7, b.number(rpc.FinalizedBlockNumber))
	before := b.header(rpc.FinalizedBlockNumber)
	_, err := b.Reorg(6, ethnode.Keep)
	require.NoError(t, err)
	after := b.header(rpc.FinalizedBlockNumber)
	require.EqualValues(t, 7, after.Number.Uint64())
	require.NotEqual(t, before.Hash(), after.Hash())
}

func TestReorgAboveFinalityLeavesItAlone(t *testing.T) {
	b := setup(t)
	b.mine(9)
	before := b.header(rpc.FinalizedBlockNumber)
	_, err := b.Reorg(3, ethnode.Keep)
	require.NoError(t, err)
	require.Equal(t, before.Hash(), b.header(rpc.FinalizedBlockNumber).Hash())
}

func TestReorgLongerThanTheChain(t *testing.T) {
	b := setup(t)
	for _, depth := range []int{-1, 0, 2} {
		_, err := b.Reorg(depth, ethnode.Keep)
		require.Error(t, err)
	}
}

func TestForkShortensTheChain(t *testing.T) {
	b := setup(t)
	parent := b.mine(2)
	kept := b.sendETH(someone(1), 5)
	old := b.mine(5)
	require.NoError(t, b.Fork(parent, false))
	require.EqualValues(t, 3, b.number(rpc.LatestBlockNumber))
	require.False(t, b.has(kept))
	branch := b.mine(1)
	require.True(t, b.has(kept))

	require.NoError(t, b.Fork(old, false), "back to the first branch")
	require.EqualValues(t, 8, b.number(rpc.LatestBlockNumber))
	require.True(t, b.has(kept))
	require.NoError(t, b.Fork(branch, false))
	require.Equal(t, branch, b.header(rpc.LatestBlockNumber).Hash())

	require.NoError(t, b.Fork(parent, true))
	b.mine(1)
	require.False(t, b.has(kept))
	require.Error(t, b.Fork(common.Hash{1}, false))
}

func TestForkBelowFinalityTakesItBack(t *testing.T) {
	b := setup(t)
	parent := b.mine(1)
	b.mine(8)
	require.NoError(t, b.Fork(parent, false))
	require.EqualValues(t, 0, b.number(rpc.FinalizedBlockNumber))
	b.mine(4)
	require.EqualValues(t, 3, b.number(rpc.FinalizedBlockNumber))
}

func TestDropLosesOneTransaction(t *testing.T) {
	b := setup(t)
	first, second := b.sendETH(someone(1), 5), b.sendETH(someone(2), 6)
	dropped, err := b.Drop(first)
	require.NoError(t, err)
	require.True(t, dropped)
	require.Equal(t, []common.Hash{second}, b.Pending())
	b.mine(1)
	require.False(t, b.has(first))
	require.False(t, b.has(second), "it waits for the gap to close")

	b.sendETH(someone(3), 7) // takes the free nonce
	b.mine(1)
	require.True(t, b.has(second))
	dropped, err = b.Drop(first)
	require.NoError(t, err)
	require.False(t, dropped)
}

func TestDropAll(t *testing.T) {
	b := setup(t)
	hash := b.sendETH(someone(1), 5)
	b.DropAll()
	require.Empty(t, b.Pending())
	b.mine(1)
	require.False(t, b.has(hash))
}

func TestLowTipIsStuckUntilTheMinerRelents(t *testing.T) {
	b := setup(t)
	require.NoError(t, b.SetMinTip(big.NewInt(5e9)))
	hash := b.sendETH(someone(1), 5)
	b.mine(2)
	require.False(t, b.has(hash))
	require.Contains(t, b.Pending(), hash)
	require.NoError(t, b.SetMinTip(big.NewInt(1)))
	b.mine(1)
	require.True(t, b.has(hash))
	require.Error(t, b.SetMinTip(big.NewInt(-1)))
}

func TestBaseFeeRisesAndFalls(t *testing.T) {
	b := setup(t)
	waiting := b.sendETH(someone(1), 5)
	high := big.NewInt(100e9)
	require.NoError(t, b.SetBaseFee(high))
	require.GreaterOrEqual(t, b.BaseFee().Cmp(high), 0)
	b.mine(2)
	require.False(t, b.has(waiting), "its fee cap is below the base fee")
	low := big.NewInt(1e9)
	require.NoError(t, b.SetBaseFee(low))
	require.LessOrEqual(t, b.BaseFee().Cmp(low), 0)
	b.mine(1)
	require.True(t, b.has(waiting))
}

// The pool takes over each block while transactions come.
func TestWhatThePoolAcceptedIsInTheNextBlock(t *testing.T) {
	b := setup(t)
	key, id := ethnode.FaucetKey(), big.NewInt(ethnode.DefaultChainID)
	nonce, err := b.web.PendingNonceAt(t.Context(), crypto.PubkeyToAddress(key.PublicKey))
	require.NoError(t, err)
	send := func() common.Hash {
		to := someone(1)
		tx := types.MustSignNewTx(key, types.LatestSignerForChainID(id), &types.DynamicFeeTx{
			ChainID: id, Nonce: nonce, GasTipCap: big.NewInt(1e9), GasFeeCap: big.NewInt(1e11), Gas: 21_000, To: &to, Value: big.NewInt(5),
		})
		nonce++
		require.NoError(t, b.web.SendTransaction(t.Context(), tx))
		return tx.Hash()
	}
	for range 200 {
		first, second := send(), send()
		b.mine(1)
		require.True(t, b.has(first))
		require.True(t, b.has(second))
	}
}
