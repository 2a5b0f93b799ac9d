package ethereum_test

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/chaintest"
)

// waiting puts a transaction with given fees into the pool behind the adapter's back and shows it
// as an attempt.
func (b *bundle) waiting(slot chain.Slot, pay chain.Payment, tip, feeCap *big.Int, gas uint64) chain.Attempt {
	b.Helper()
	id, to := new(big.Int).SetUint64(b.dev.ChainID()), common.HexToAddress(pay.To)
	tx, err := types.SignNewTx(b.keys.keys[slot.Key], types.LatestSignerForChainID(id), &types.DynamicFeeTx{
		ChainID: id, Nonce: slot.Nonce, GasTipCap: tip, GasFeeCap: feeCap, Gas: gas, To: &to, Value: pay.Amount.Uint256().ToBig(),
	})
	require.NoError(b, err)
	raw, err := tx.MarshalBinary()
	require.NoError(b, err)
	a := chain.Attempt{Hash: tx.Hash().Hex(), Raw: raw}
	b.broadcast(a)
	return a
}

// TestReplacementsAreTakenByGeth tries the fees of a replacement on geth's own pool, for 1,000
// random offers and some base fees. The pool refuses what raises either fee by less than a tenth.
func TestReplacementsAreTakenByGeth(t *testing.T) {
	b := setup(t)
	config := b.config()
	config.MaxFeeGwei = "9999999"
	b.chain = b.adapter(config)
	random := rand.New(rand.NewPCG(1, 2))
	pay := credit(chain.Native, outsider("payee"), 77)
	for round := range 1000 {
		if round%200 == 100 {
			require.NoError(t, b.dev.SetBaseFee(big.NewInt(1+random.Int64N(5e9))))
		}
		slot := b.hot
		feeCap := big.NewInt(1 + random.Int64N(1<<(1+random.IntN(36))))
		tip := big.NewInt(1 + random.Int64N(feeCap.Int64()))
		first := b.waiting(slot, pay, tip, feeCap, 21_000)
		second := b.sign(slot, pay, first)
		b.broadcast(second)
		require.Equal(t, []common.Hash{common.HexToHash(second.Hash)}, b.dev.Pending(), "tip %s cap %s", tip, feeCap)
		b.dev.DropAll()
	}
}

func TestGasOfPayments(t *testing.T) {
	b := setup(t)
	pay := credit(chain.Native, outsider("payee"), 77)
	require.EqualValues(t, 21_000, decode(t, b.sign(b.hot, pay)).Gas(), "a plain payment needs no margin")
	earlier := b.waiting(b.hot, pay, big.NewInt(1e9), big.NewInt(9e9), 90_000)
	require.EqualValues(t, 90_000, decode(t, b.sign(b.hot, pay, earlier)).Gas(), "never less than before")

	tx := decode(t, b.sign(b.hot, credit(b.usdt, outsider("payee"), 5)))
	need, err := b.dev.Client().EstimateGas(t.Context(), ethereum.CallMsg{From: addr(b.hot), To: tx.To(), Data: tx.Data()})
	require.NoError(t, err)
	require.Equal(t, need+need/4, tx.Gas())

	config := b.config()
	config.MaxGas, config.TokenGas = need, need
	b.chain = b.adapter(config)
	require.Equal(t, need, decode(t, b.sign(b.hot, credit(b.usdt, outsider("payee"), 5))).Gas(), "never over the bound")
}

func TestTheCeilingIsNeverPassed(t *testing.T) {
	b := setup(t)
	random := rand.New(rand.NewPCG(3, 4))
	pay := credit(chain.Native, outsider("payee"), 77)
	refused := 0
	for range 200 {
		perGas := uint64(random.Int64N(5e9))
		pay.MaxFee = chain.NewAmount(perGas*21_000 + 1)
		var prev []chain.Attempt
		for range 4 {
			attempt, err := chaintest.Sign(t.Context(), b.chain, b.keys, b.hot, pay, prev)
			if err != nil {
				require.ErrorIs(t, err, chain.ErrFeeCeiling)
				refused++
				break
			}
			most, err := attempt.FeeCap.Mul(decode(t, attempt).Gas())
			require.NoError(t, err)
			require.False(t, pay.MaxFee.Less(most))
			prev = append(prev, attempt)
		}
	}
	require.NotZero(t, refused)
	require.Less(t, refused, 200)
}
