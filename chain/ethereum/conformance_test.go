package ethereum_test

import (
	"context"
	"math/big"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/ethclient"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/chain/ethereum"
	"gatewayd/chain/ethereum/contracts"
	"gatewayd/dev/ethnode"
	"gatewayd/internal/testing/chaintest"
	"gatewayd/internal/testing/ethtest"
)

// source is the common interface of all development chains.
type source interface {
	URL() string
	ChainID() uint64
	Client() *ethclient.Client
	Contracts() ethnode.Contracts
	SendETH(to common.Address, wei *big.Int) (common.Hash, error)
	SendToken(token, to common.Address, amount *big.Int) (common.Hash, error)
	SendCall(to common.Address, value *big.Int, data []byte) (common.Hash, error)
	Deploy(code []byte) (common.Address, error)
}

func must(t *testing.T) func(common.Hash, error) {
	return func(_ common.Hash, err error) { t.Helper(); require.NoError(t, err) }
}

// harness is the suite's view of a development chain.
func harness(t *testing.T, node source, mine func(t *testing.T, n int), reorg func(t *testing.T, depth int, keep bool)) chaintest.Harness {
	t.Helper()
	keys := newKeyring()
	payer, inbox := keys.add(0), keys.add(1)
	usdt := asset(node.Contracts().USDT)
	adapter, err := ethereum.New(ethereum.Config{
		ID: "eth", ChainID: node.ChainID(), Nodes: []string{node.URL()}, Tokens: []chain.Asset{usdt}, Finality: "4",
	}, keys)
	require.NoError(t, err)
	t.Cleanup(adapter.Close)
	must(t)(node.SendETH(addr(payer), ether(100)))
	must(t)(node.SendETH(addr(inbox), ether(1)))
	must(t)(node.SendToken(node.Contracts().USDT, addr(payer), big.NewInt(1_000_000)))
	mine(t, 1)
	outsiders := 0
	return chaintest.Harness{
		Chain: adapter, Keys: keys, Asset: usdt, Depth: 3, Mine: mine, Reorg: reorg,
		Payer:     chaintest.Account{Address: payer.Account, Key: payer.Key},
		Inbox:     chaintest.Account{Address: inbox.Account, Key: inbox.Key},
		Addresses: addressTable(usdt),
		Outsider: func(*testing.T) string {
			outsiders++
			return outsider("suite " + strconv.Itoa(outsiders)).Hex()
		},
		Deposit: func(t *testing.T, to string, of chain.Asset, amount chain.Amount) string {
			hash, err := node.SendToken(common.HexToAddress(string(of)), common.HexToAddress(to), amount.Uint256().ToBig())
			require.NoError(t, err)
			return hash.Hex()
		},
		Holding: func(t *testing.T, account string, of chain.Asset) chain.Amount {
			balance, err := adapter.Balance(t.Context(), account, of)
			require.NoError(t, err)
			return balance
		},
	}
}

func addressTable(usdt chain.Asset) []chaintest.AddressCase {
	const good = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed" // of EIP-55
	return []chaintest.AddressCase{
		{Address: good, Want: good},
		{Address: "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed", Want: good},
		{Address: "0x5AAEB6053F3E94C9B9A09F33669435E7EF1BEAED", Label: "123 é", Want: good},
		{Address: "0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", Err: chain.ErrAddress},
		{Address: good[2:], Err: chain.ErrAddress},
		{Address: "", Err: chain.ErrAddress},
		{Address: string(usdt), Err: chain.ErrAddress},
		{Address: good, Label: "line\nbreak", Err: chain.ErrLabel},
	}
}

func TestConformance(t *testing.T) { conformance(t, ethnode.Config{}) }

// TestLegacyConformance is the suite on a chain without a base fee.
func TestLegacyConformance(t *testing.T) { conformance(t, ethnode.Config{Legacy: true}) }

func conformance(t *testing.T, config ethnode.Config) {
	chaintest.Run(t, func(t *testing.T) chaintest.Harness {
		node, err := ethnode.Start(config)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, node.Close()) })
		mine := func(t *testing.T, n int) { mineOn(t, node, n) }
		return harness(t, node, mine, func(t *testing.T, depth int, keep bool) {
			fate := ethnode.Lose
			if keep {
				fate = ethnode.Keep
			}
			must(t)(node.Reorg(depth, fate))
		})
	})
}

func startExternal(t *testing.T, config ethtest.Config) *ethtest.Node {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	node, err := ethtest.Start(ctx, config)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, node.Close()) })
	return node
}

func TestConformanceOnAnvil(t *testing.T) {
	chaintest.Run(t, func(t *testing.T) chaintest.Harness {
		node := startExternal(t, ethtest.Config{Kind: ethtest.Anvil})
		require.NoError(t, node.SetMining(false))
		mine := func(t *testing.T, n int) { require.NoError(t, node.Mine(n)) }
		return harness(t, node, mine, func(t *testing.T, depth int, keep bool) {
			lost := newestTransactions(t, node.Client(), depth)
			require.NoError(t, node.Reorg(uint64(depth)))
			for i := 0; keep && i < len(lost); i++ {
				require.NoError(t, node.Client().SendTransaction(t.Context(), lost[i]))
			}
		})
	})
}

// newestTransactions are those of the last blocks, in order.
func newestTransactions(t *testing.T, client *ethclient.Client, depth int) types.Transactions {
	t.Helper()
	head, err := client.BlockNumber(t.Context())
	require.NoError(t, err)
	var all types.Transactions
	for height := head - uint64(depth) + 1; height <= head; height++ {
		block, err := client.BlockByNumber(t.Context(), bigInt(height))
		require.NoError(t, err)
		all = append(all, block.Transactions()...)
	}
	return all
}

// TestOtherClients does on other programs what the other tests do on the embedded chain: every kind
// of deposit and a payment.
func TestOtherClients(t *testing.T) {
	for _, config := range []ethtest.Config{{Kind: ethtest.Anvil}, {Kind: ethtest.Anvil, Hardfork: "berlin"}, {Kind: ethtest.Geth}} {
		t.Run(string(config.Kind)+config.Hardfork, func(t *testing.T) {
			node := startExternal(t, config) // both make a block for each transaction
			h := harness(t, node, func(*testing.T, int) {}, nil)
			adapter, inbox := h.Chain.(*ethereum.Chain), common.HexToAddress(h.Inbox.Address)
			awaitBalance(t, adapter, h.Payer.Address, h.Asset)
			for _, report := range adapter.Probe(t.Context()) {
				require.NoError(t, report.Err)
				require.True(t, report.Receipts && report.Traces)
			}
			from := headOf(t, adapter)
			forwarder, err := node.Deploy(common.FromHex(contracts.ForwarderMetaData.Bin))
			require.NoError(t, err)
			must(t)(node.SendCall(inbox, big.NewInt(5), []byte("label")))
			must(t)(node.SendToken(node.Contracts().USDT, inbox, big.NewInt(6)))
			must(t)(node.SendCall(forwarder, big.NewInt(7), contracts.NewForwarder().PackForward(inbox)))
			must(t)(node.SendCall(forwarder, big.NewInt(8), contracts.NewForwarder().PackForwardUndone(inbox)))
			must(t)(node.SendCall(forwarder, big.NewInt(9), contracts.NewForwarder().PackForwardByDestruction(inbox)))
			got := awaitTransfers(t, adapter, from, 4)
			require.Equal(t, []string{"5 label", "6 ", "7 ", "9 "}, got)

			slot := chain.Slot{Account: h.Payer.Address, Key: h.Payer.Key}
			for _, of := range []chain.Asset{h.Asset, chain.Native} {
				payee := outsider("payee of " + string(of)).Hex()
				pay := chain.Payment{ID: 1, Purpose: chain.Credit, Asset: of, To: payee, Amount: chain.NewAmount(12), Label: "L"}
				attempt, err := chaintest.Sign(t.Context(), adapter, h.Keys, slot, pay, nil)
				require.NoError(t, err)
				require.NoError(t, chaintest.Send(t.Context(), adapter, attempt))
				require.Equal(t, config.Hardfork == "berlin", decode(t, attempt).Type() == types.LegacyTxType)
				awaitBalance(t, adapter, payee, of)
				require.Eventually(t, func() bool {
					err := chaintest.Send(t.Context(), adapter, attempt) // known until the pool sees the block, used up from then on
					return err != nil && strings.Contains(err.Error(), "nonce already used")
				}, 30*time.Second, 20*time.Millisecond)
				slot.Nonce++
			}
		})
	}
}

func headOf(t *testing.T, adapter *ethereum.Chain) uint64 {
	t.Helper()
	head, err := adapter.Head(t.Context())
	require.NoError(t, err)
	return head.Latest.Height
}

func awaitBalance(t *testing.T, adapter *ethereum.Chain, account string, of chain.Asset) {
	t.Helper()
	require.Eventually(t, func() bool {
		balance, err := adapter.Balance(t.Context(), account, of)
		return err == nil && !balance.IsZero()
	}, 30*time.Second, 20*time.Millisecond)
}

// awaitTransfers reads blocks until count transfers were seen, and then whether one more block
// brings another.
func awaitTransfers(t *testing.T, adapter *ethereum.Chain, from uint64, count int) []string {
	t.Helper()
	var got []string
	require.Eventually(t, func() bool {
		got = nil
		for height := from + 1; height <= headOf(t, adapter); height++ {
			block, err := adapter.Block(t.Context(), height)
			require.NoError(t, err)
			for _, transfer := range block.Transfers {
				got = append(got, transfer.Amount.String()+" "+transfer.Memo.Label)
			}
		}
		return len(got) >= count
	}, 30*time.Second, 50*time.Millisecond)
	return got
}
