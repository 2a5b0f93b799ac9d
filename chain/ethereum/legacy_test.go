package ethereum_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/dev/ethnode"
	"gatewayd/internal/testing/chaintest"
)

// requireKind wants a transaction with a gas price, or with two fees.
func (b *bundle) requireKind(a chain.Attempt, want uint8) {
	b.Helper()
	tx := decode(b.T, a)
	require.Equal(b, want, tx.Type())
	require.Equal(b, b.dev.ChainID(), tx.ChainId().Uint64(), "protected against replay on other chains")
	require.Equal(b, a.FeeCap.String(), tx.GasFeeCap().String())
	require.Equal(b, a.TipCap.String(), tx.GasTipCap().String())
}

// TestLegacyReplacementsAreTakenByGeth is TestReplacementsAreTakenByGeth on a chain without a base
// fee.
func TestLegacyReplacementsAreTakenByGeth(t *testing.T) {
	b := setup(t, legacy)
	config := b.config()
	config.MaxFeeGwei = "9999999"
	b.chain = b.adapter(config)
	random := rand.New(rand.NewPCG(5, 6))
	to, pay := outsider("payee"), credit(chain.Native, outsider("payee"), 77)
	for range 300 {
		price := big.NewInt(1 + random.Int64N(1<<(1+random.IntN(36))))
		tx, err := types.SignNewTx(b.keys.keys[b.hot.Key], types.LatestSignerForChainID(bigInt(b.dev.ChainID())), &types.LegacyTx{
			GasPrice: price, Gas: 21_000, To: &to, Value: big.NewInt(77),
		})
		require.NoError(t, err)
		raw, err := tx.MarshalBinary()
		require.NoError(t, err)
		first := chain.Attempt{Hash: tx.Hash().Hex(), Raw: raw}
		b.broadcast(first)
		second := b.sign(b.hot, pay, first)
		b.requireKind(second, types.LegacyTxType)
		b.broadcast(second)
		require.Equal(t, []common.Hash{common.HexToHash(second.Hash)}, b.dev.Pending(), "price %s", price)
		b.dev.DropAll()
	}
}

func TestLegacyCeiling(t *testing.T) {
	b := setup(t, legacy)
	fees, err := b.chain.Fees(t.Context())
	require.NoError(t, err)
	require.True(t, fees.Legacy)
	pay := credit(chain.Native, outsider("payee"), 5)
	pay.MaxFee, err = fees.Price.Mul(21_000)
	require.NoError(t, err)
	first := b.sign(b.hot, pay)
	b.requireKind(first, types.LegacyTxType)
	require.Equal(t, fees.Price, first.FeeCap)
	_, err = chaintest.Sign(t.Context(), b.chain, b.keys, b.hot, pay, []chain.Attempt{first})
	require.ErrorIs(t, err, chain.ErrFeeCeiling, "an eighth more is over it")
	pay.MaxFee, err = pay.MaxFee.Sub(chain.NewAmount(1))
	require.NoError(t, err)
	_, err = chaintest.Sign(t.Context(), b.chain, b.keys, b.hot, pay, nil)
	require.ErrorIs(t, err, chain.ErrFeeCeiling)

	config := b.config()
	config.MaxFeeGwei = "0.1"
	own := b.adapter(config)
	_, err = chaintest.Sign(t.Context(), own, b.keys, b.hot, credit(chain.Native, outsider("payee"), 5), nil)
	require.ErrorIs(t, err, chain.ErrFeeCeiling, "the chain's own")
	for gwei, reason := range map[string]error{"": nil, "0.1": chain.ErrFeeCeiling, "100": nil} {
		require.NoError(t, own.SetMaxFee(gwei))
		_, err = chaintest.Sign(t.Context(), own, b.keys, b.hot, credit(chain.Native, outsider("payee"), 5), nil)
		require.ErrorIs(t, err, reason, gwei)
	}
	require.Error(t, own.SetMaxFee("much"))
}

// TestLegacySweeps empties an address of coins to the last wei, and moves a token with exactly the
// coins of TokenSweepCost.
func TestLegacySweeps(t *testing.T) {
	b := setup(t, legacy)
	b.must(b.dev.SendETH(addr(b.inbox), big.NewInt(1e17)))
	b.mine(1)
	sweep := chain.Payment{ID: 7, Purpose: chain.Sweep, Asset: chain.Native, To: b.hot.Account, Amount: chain.NewAmount(1e17)}
	slot := b.next(b.inbox)
	first := b.sign(slot, sweep)
	b.broadcast(first)
	second := b.sign(slot, sweep, first)
	b.broadcast(second)
	b.requireKind(second, types.LegacyTxType)
	less, err := b.chain.Swept(second)
	require.NoError(t, err)
	more, err := b.chain.Swept(first)
	require.NoError(t, err)
	require.True(t, less.Less(more))
	b.mine(1)
	require.Equal(t, []chain.OwnTx{{
		Account: b.inbox.Account, Tx: second.Hash, OK: true, Fee: b.feeOf(second), To: b.hot.Account, Value: less,
	}}, b.newest().OwnTxs)
	require.Zero(t, b.holding(chain.Native, addr(b.inbox)))

	need, err := b.chain.TokenSweepCost(t.Context())
	require.NoError(t, err)
	b.must(b.dev.SendETH(addr(b.inbox), need.Uint256().ToBig()))
	b.must(b.dev.SendToken(b.dev.Contracts().USDT, addr(b.inbox), big.NewInt(50)))
	b.mine(1)
	sweep.Asset, sweep.Amount = b.usdt, chain.NewAmount(50)
	slot = b.next(b.inbox)
	first = b.sign(slot, sweep)
	b.broadcast(first)
	b.broadcast(b.sign(slot, sweep, first))
	b.mine(1)
	require.True(t, b.newest().OwnTxs[0].OK)
}

// TestRefundedGasHidesNoTransfer: before London half of the gas may come back, and a contract that
// destroys itself for us takes less than a plain payment.
func TestRefundedGasHidesNoTransfer(t *testing.T) {
	b := setup(t, legacy)
	const made = "0x75" + "73%x" + "ff" + "600052" + "6016600af3" // returns: PUSH20 ours SELFDESTRUCT
	b.must(b.dev.SendETH(addr(b.inbox), big.NewInt(1)))           // to make an account costs more
	at := b.deploy(fmt.Sprintf(made, addr(b.inbox)))
	tx := b.call(at, 33, nil)
	b.mine(1)
	receipt, err := b.dev.Client().TransactionReceipt(t.Context(), tx)
	require.NoError(t, err)
	require.Less(t, receipt.GasUsed, uint64(21_000))
	require.Equal(t, []chain.Transfer{b.incoming(tx, "call:0", at, chain.Native, 33)}, b.newest().Transfers)
}

// TestBaseFeeComesWithAFork: a payment waits while the chain gets its base fee. Either kind
// replaces the other, the payee has it once, and the chain may even go back over the fork.
func TestBaseFeeComesWithAFork(t *testing.T) {
	const fork = 8
	b := setup(t, func(c *ethnode.Config) { c.Legacy, c.London = true, fork })
	before, err := b.hashAt(b.height())
	require.NoError(t, err)
	slot, pay := b.hot, credit(chain.Native, outsider("payee"), 77)
	old := b.sign(slot, pay)
	b.requireKind(old, types.LegacyTxType)
	b.broadcast(old)
	require.NoError(t, b.dev.SetMinTip(big.NewInt(1e15))) // stuck
	b.mine(int(fork - b.height()))
	next := b.sign(slot, pay, old)
	b.requireKind(next, types.DynamicFeeTxType)
	b.broadcast(next)
	require.Equal(t, []common.Hash{common.HexToHash(next.Hash)}, b.dev.Pending())

	require.NoError(t, b.dev.Fork(before, false))
	b.dev.DropAll() // a pool before the fork knows no such transaction
	again := b.sign(slot, pay, old, next)
	b.requireKind(again, types.LegacyTxType)
	b.broadcast(again)
	b.mine(int(fork - b.height()))
	require.NoError(t, b.dev.SetMinTip(new(big.Int)))
	last := b.sign(slot, pay, old, next, again)
	b.requireKind(last, types.DynamicFeeTxType)
	b.broadcast(last)
	b.mine(1)
	require.Equal(t, []chain.OwnTx{{
		Account: b.hot.Account, Tx: last.Hash, OK: true, Fee: b.feeOf(last), To: outsider("payee").Hex(), Value: chain.NewAmount(77),
	}}, b.newest().OwnTxs)
	require.EqualValues(t, 77, b.holding(chain.Native, outsider("payee")))
	for _, a := range []chain.Attempt{old, next, again} {
		require.ErrorContains(t, chaintest.Send(t.Context(), b.chain, a), "nonce already used")
	}
}

// TestWhoSaysWhetherThereIsABaseFee: one node of three decides nothing, and two that differ are
// asked again later.
func TestWhoSaysWhetherThereIsABaseFee(t *testing.T) {
	b := setup(t)
	hide := func(q request, result any) any {
		if block, ok := result.(map[string]any); ok && q.Method == "eth_getBlockByNumber" {
			delete(block, "baseFeePerGas")
		}
		return result
	}
	one, two := newLiar(t, b.dev.URL(), hide), newLiar(t, b.dev.URL(), hide)
	config := b.config()
	config.Nodes = []string{b.dev.URL(), one.url, b.dev.WSURL()}
	fees, err := b.adapter(config).Fees(t.Context())
	require.NoError(t, err)
	require.False(t, fees.Legacy)
	config.Nodes = []string{b.dev.URL(), one.url}
	_, err = b.adapter(config).Fees(t.Context())
	require.ErrorIs(t, err, chain.ErrUnavailable)
	require.ErrorContains(t, err, "differ in whether the chain has a base fee")
	config.Nodes = []string{one.url, two.url}
	b.chain = b.adapter(config)
	attempt := b.sign(b.hot, credit(chain.Native, outsider("payee"), 7))
	b.requireKind(attempt, types.LegacyTxType)
	b.broadcast(attempt)
	b.mine(1)
	require.EqualValues(t, 7, b.holding(chain.Native, outsider("payee")), "a gas price does where there is a base fee")
}

// TestFeeHistoryNotOffered: some chains have a base fee and no eth_feeHistory.
func TestFeeHistoryNotOffered(t *testing.T) {
	b := setup(t)
	mute := newLiar(t, b.dev.URL(), about("eth_feeHistory", instead(rpcError{-32601, "the method eth_feeHistory does not exist/is not available"})))
	config := b.config()
	config.Nodes = []string{mute.url}
	b.chain = b.adapter(config)
	attempt := b.sign(b.hot, credit(chain.Native, outsider("payee"), 7))
	b.requireKind(attempt, types.LegacyTxType)
	b.broadcast(attempt)
	b.mine(1)
	require.True(t, b.newest().OwnTxs[0].OK)
}
