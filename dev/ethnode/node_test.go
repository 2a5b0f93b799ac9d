package ethnode_test

import (
	"context"
	"errors"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/ethclient"
	"github.com/ethereum/go-ethereum/rpc"
	"github.com/stretchr/testify/require"

	"gatewayd/dev/ethnode"
)

// bundle is a chain without a period, and a client that reaches it over HTTP as the adapter does.
type bundle struct {
	*testing.T
	*ethnode.Node
	web *ethclient.Client
}

func setup(t *testing.T, change ...func(*ethnode.Config)) bundle {
	t.Helper()
	var config ethnode.Config
	for _, c := range change {
		c(&config)
	}
	node, err := ethnode.Start(config)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, node.Close()) })
	return bundle{T: t, Node: node, web: dial(t, node.URL())}
}

func dial(t *testing.T, url string) *ethclient.Client {
	t.Helper()
	client, err := ethclient.Dial(url)
	require.NoError(t, err)
	t.Cleanup(client.Close)
	return client
}

func (b bundle) mine(count int) common.Hash {
	b.Helper()
	hash, err := b.Mine(count)
	require.NoError(b, err)
	return hash
}

func (b bundle) sendETH(to common.Address, wei int64) common.Hash {
	b.Helper()
	hash, err := b.SendETH(to, big.NewInt(wei))
	require.NoError(b, err)
	return hash
}

// balance returns the chain's balance at its head.
func (b bundle) balance(of common.Address) int64 {
	b.Helper()
	wei, err := b.web.BalanceAt(b.Context(), of, nil)
	require.NoError(b, err)
	return wei.Int64()
}

// number reads the height of "latest", "safe" or "finalized".
func (b bundle) number(tag rpc.BlockNumber) uint64 {
	return b.header(tag).Number.Uint64()
}

func (b bundle) header(tag rpc.BlockNumber) *types.Header {
	b.Helper()
	header, err := b.web.HeaderByNumber(b.Context(), big.NewInt(tag.Int64()))
	require.NoError(b, err)
	return header
}

// has reports whether the chain contains the transaction. For a moment after its start a node
// reports that its transaction index is in progress.
func (b bundle) has(hash common.Hash) bool {
	b.Helper()
	var err error
	require.Eventually(b, func() bool {
		_, err = b.web.TransactionReceipt(b.Context(), hash)
		return err == nil || errors.Is(err, ethereum.NotFound)
	}, 20*time.Second, 10*time.Millisecond)
	return err == nil
}

func someone(last byte) common.Address {
	return common.Address{0: 0xaa, 19: last}
}

func TestStartPutsContractsOnTheChain(t *testing.T) {
	b := setup(t)
	require.EqualValues(t, 1, b.number(rpc.LatestBlockNumber))
	for _, address := range []common.Address{b.Contracts().USDT, b.Contracts().DAI, b.Contracts().BatchPayer} {
		code, err := b.web.CodeAt(t.Context(), address, nil)
		require.NoError(t, err)
		require.NotEmpty(t, code)
	}
	id, err := b.web.ChainID(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, ethnode.DefaultChainID, id.Int64())
}

func TestContractAddressesAreTheSameOnEveryChain(t *testing.T) {
	one, other := setup(t), setup(t, func(c *ethnode.Config) { c.ChainID = 4242 })
	require.Equal(t, one.Contracts(), other.Contracts())
}

func TestTagsFollowTheHead(t *testing.T) {
	b := setup(t, func(c *ethnode.Config) { c.FinalityDepth = 4 })
	cases := []struct {
		mine                    int
		latest, safe, finalized uint64
	}{
		{0, 1, 0, 0},
		{1, 2, 0, 0},
		{3, 5, 3, 1},
		{10, 15, 13, 11},
	}
	for _, c := range cases {
		b.mine(c.mine)
		require.Equal(t, c.latest, b.number(rpc.LatestBlockNumber))
		require.Equal(t, c.safe, b.number(rpc.SafeBlockNumber))
		require.Equal(t, c.finalized, b.number(rpc.FinalizedBlockNumber))
	}
}

func TestHeldFinalityWaitsAndCatchesUp(t *testing.T) {
	b := setup(t)
	b.mine(9)
	b.HoldFinality(true)
	b.mine(5)
	require.EqualValues(t, 7, b.number(rpc.FinalizedBlockNumber))
	require.EqualValues(t, 8, b.number(rpc.SafeBlockNumber))
	b.HoldFinality(false)
	b.mine(1)
	require.EqualValues(t, 13, b.number(rpc.FinalizedBlockNumber))
	require.EqualValues(t, 14, b.number(rpc.SafeBlockNumber))
}

func TestPeriodMakesBlocks(t *testing.T) {
	b := setup(t, func(c *ethnode.Config) { c.Period = time.Millisecond })
	b.waitAbove(5)
	b.StopMining()
	stopped := b.number(rpc.LatestBlockNumber)
	b.mine(1)
	require.Equal(t, stopped+1, b.number(rpc.LatestBlockNumber))
	b.StartMining()
	b.waitAbove(stopped + 1)
}

func (b bundle) waitAbove(height uint64) {
	b.Helper()
	require.Eventually(b, func() bool { return b.number(rpc.LatestBlockNumber) > height }, time.Minute, time.Millisecond)
}

func TestRunClosesWithItsContext(t *testing.T) {
	node, err := ethnode.Start(ethnode.Config{Period: time.Millisecond})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, node.Run(ctx))
	_, err = dial(t, node.URL()).BlockNumber(t.Context())
	require.Error(t, err)
	require.NoError(t, node.Close())
}

func TestHeadsArePushedOverWebSocket(t *testing.T) {
	b := setup(t)
	heads := make(chan *types.Header, 1)
	sub, err := dial(t, b.WSURL()).SubscribeNewHead(t.Context(), heads)
	require.NoError(t, err)
	defer sub.Unsubscribe()
	hash := b.mine(1)
	select {
	case head := <-heads:
		require.Equal(t, hash, head.Hash())
	case <-time.After(time.Minute):
		t.Fatal("no head came")
	}
}

func TestBlocksAndReceiptsOverRPC(t *testing.T) {
	b := setup(t)
	tx := b.sendETH(someone(1), 5)
	hash := b.mine(1)
	block, err := b.web.BlockByHash(t.Context(), hash)
	require.NoError(t, err)
	require.Len(t, block.Transactions(), 1)
	receipts, err := b.web.BlockReceipts(t.Context(), rpc.BlockNumberOrHashWithHash(hash, true))
	require.NoError(t, err)
	require.Len(t, receipts, 1)
	require.Equal(t, tx, receipts[0].TxHash)
	require.Equal(t, block.ReceiptHash(), types.DeriveSha(types.Receipts(receipts), trieHasher()))
}

func TestAdjustTime(t *testing.T) {
	b := setup(t)
	before := b.header(rpc.LatestBlockNumber).Time
	require.NoError(t, b.AdjustTime(2*time.Hour))
	require.GreaterOrEqual(t, b.header(rpc.LatestBlockNumber).Time, before+7200)
	require.Error(t, b.AdjustTime(-time.Second))
}

func TestAllocatedAccounts(t *testing.T) {
	b := setup(t, func(c *ethnode.Config) { c.Alloc = map[common.Address]*big.Int{someone(7): big.NewInt(77)} })
	require.EqualValues(t, 77, b.balance(someone(7)))
}

func TestConfigIsChecked(t *testing.T) {
	cases := []struct {
		name   string
		config ethnode.Config
		says   string
	}{
		{"period", ethnode.Config{Period: -1}, "period"},
		{"no port", ethnode.Config{Listen: "127.0.0.1"}, "listen"},
		{"no host", ethnode.Config{Listen: ":80"}, "listen"},
		{"port too high", ethnode.Config{Listen: "127.0.0.1:70000"}, "listen"},
		{"no amount", ethnode.Config{Alloc: map[common.Address]*big.Int{{}: nil}}, "alloc"},
		{"below zero", ethnode.Config{Alloc: map[common.Address]*big.Int{{}: big.NewInt(-1)}}, "alloc"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := ethnode.Start(c.config)
			require.ErrorContains(t, err, c.says)
		})
	}
}

// A page of any origin can ask the node, as wallets in a browser do.
func TestPagesMayAsk(t *testing.T) {
	b := setup(t)
	for _, method := range []string{http.MethodOptions, http.MethodPost} {
		req, err := http.NewRequestWithContext(t.Context(), method, b.URL(), strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}`))
		require.NoError(t, err)
		req.Header.Set("Origin", "https://wallet.example")
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Access-Control-Request-Method", http.MethodPost)
		req.Header.Set("Access-Control-Request-Headers", "content-type")
		answer, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		answer.Body.Close()
		require.Less(t, answer.StatusCode, 300, method)
		require.Equal(t, "*", answer.Header.Get("Access-Control-Allow-Origin"), method)
	}
}

func TestTakenPortIsAnError(t *testing.T) {
	b := setup(t)
	_, err := ethnode.Start(ethnode.Config{Listen: b.URL()[len("http://"):]})
	require.ErrorContains(t, err, "starting the node")
}
