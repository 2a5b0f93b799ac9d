package ethereum_test

import (
	"math/big"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/chain/ethereum"
	"gatewayd/chain/ethereum/contracts"
	"gatewayd/internal/testing/chaintest"
	"gatewayd/internal/testing/ethtest"
)

// TestBatchOnOtherClients pays batches with hostile payees and tokens on other programs, and reads
// every outcome from their blocks.
func TestBatchOnOtherClients(t *testing.T) {
	for _, config := range []ethtest.Config{{Kind: ethtest.Geth}, {Kind: ethtest.Anvil}} {
		t.Run(string(config.Kind), func(t *testing.T) {
			node := startExternal(t, config)
			contract, err := ethereum.PayoutsContract()
			require.NoError(t, err)
			must(t)(node.SendCall(common.HexToAddress(contract.Deployer), nil, contract.Input))
			deploy := func(bin string) common.Address {
				at, err := node.Deploy(common.FromHex(bin))
				require.NoError(t, err)
				return at
			}
			token := deploy(contracts.HostileTokenMetaData.Bin)
			keys := newKeyring()
			hot := keys.add(0)
			must(t)(node.SendETH(addr(hot), ether(100)))
			must(t)(node.SendCall(token, nil, contracts.NewHostileToken().PackMint(addr(hot), big.NewInt(1_000_000))))
			var coin, tokens []common.Address
			for mode := range int64(4) {
				at := deploy(contracts.HostilePayeeMetaData.Bin)
				must(t)(node.SendCall(at, nil, contracts.NewHostilePayee().PackSet(big.NewInt(mode), addr(hot))))
				must(t)(node.SendETH(outsider(string('a'+rune(mode))), big.NewInt(1)))
				coin = append(coin, at, outsider(string('a'+rune(mode))))
			}
			for mode := range int64(8) {
				payee := outsider("token" + string('a'+rune(mode)))
				must(t)(node.SendCall(token, nil, contracts.NewHostileToken().PackSet(payee, big.NewInt(mode))))
				tokens = append(tokens, payee)
			}
			adapter, err := ethereum.New(ethereum.Config{
				ID: "eth", ChainID: node.ChainID(), Nodes: []string{node.URL()}, Tokens: []chain.Asset{asset(token)}, Finality: "1",
				Batch: ethereum.Batch{Most: 10, Coin: true},
			}, keys)
			require.NoError(t, err)
			t.Cleanup(adapter.Close)
			require.Eventually(t, func() bool {
				head, err := adapter.Head(t.Context())
				return err == nil && adapter.CheckPayouts(t.Context(), head.Latest.Height) == nil
			}, time.Minute, 50*time.Millisecond)

			slot := hot
			send := func(pay chain.Payment) chain.OwnTx {
				t.Helper()
				attempt, err := chaintest.Sign(t.Context(), adapter, keys, slot, pay, nil)
				require.NoError(t, err)
				from := headOf(t, adapter)
				require.NoError(t, chaintest.Send(t.Context(), adapter, attempt))
				slot.Nonce++
				var found chain.OwnTx
				require.Eventually(t, func() bool {
					for height := from; height <= headOf(t, adapter); height++ {
						block, err := adapter.Block(t.Context(), height)
						if err != nil {
							return false
						}
						for _, own := range block.OwnTxs {
							if own.Tx == attempt.Hash {
								require.Empty(t, block.Transfers)
								found = own
							}
						}
					}
					return found.Tx != ""
				}, time.Minute, 50*time.Millisecond)
				return found
			}
			b := &bundle{T: t, chain: adapter}
			own := send(b.batchOf(chain.Native, coin...))
			require.Equal(t, []chain.Outcome{void, paid, void, paid, void, paid, void, paid}, own.Members, "accepting takes more than the stipend, too")
			require.Equal(t, chain.NewAmount(1001+1003+1005+1007), own.Value)
			require.True(t, send(chain.Payment{ID: 99, Purpose: chain.Allow, Asset: asset(token), To: contract.Address}).OK)
			own = send(b.batchOf(asset(token), tokens...))
			require.Equal(t, []chain.Outcome{paid, void, void, void, void, paid, paid, void}, own.Members)
		})
	}
}

// TestOtherCodeAtTheContractsAddress: no payment goes through code that we did not pin.
func TestOtherCodeAtTheContractsAddress(t *testing.T) {
	node := startExternal(t, ethtest.Config{Kind: ethtest.Anvil})
	contract, err := ethereum.PayoutsContract()
	require.NoError(t, err)
	require.NoError(t, node.Client().Client().CallContext(t.Context(), nil, "anvil_setCode", contract.Address, hexutil.Bytes{0x5b}))
	adapter, err := ethereum.New(ethereum.Config{ID: "eth", ChainID: node.ChainID(), Nodes: []string{node.URL()}, Finality: "1", Batch: ethereum.Batch{Most: 10, Coin: true}}, newKeyring())
	require.NoError(t, err)
	t.Cleanup(adapter.Close)
	require.ErrorIs(t, adapter.CheckPayouts(t.Context(), headOf(t, adapter)), ethereum.ErrOtherContract)
	require.Zero(t, adapter.MaxBatch(chain.Native))
	_, err = adapter.Deployment(t.Context())
	require.ErrorIs(t, err, ethereum.ErrOtherContract)
}
