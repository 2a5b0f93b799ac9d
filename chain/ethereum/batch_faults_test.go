package ethereum_test

import (
	"encoding/hex"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/chain/ethereum/contracts"
	"gatewayd/dev/ethnode"
)

// TestSelfDestructingPayee: a payee whose code ends it with all its coin for an heir needs more gas
// than a batch gives, and costs the others nothing. By itself it is paid.
func TestSelfDestructingPayee(t *testing.T) {
	forks(t, func(t *testing.T, b *bundle, _ bool) {
		b.deployPayouts()
		b.adoptBatches(nil)
		heir, one, two := outsider("heir"), outsider("one"), outsider("two")
		runtime := "73" + hex.EncodeToString(heir[:]) + "ff" // PUSH20 heir SELFDESTRUCT
		payee, another := b.deploy("75"+runtime+"6000526016600af3"), b.deploy("75"+runtime+"6000526016600af3")
		for _, to := range []common.Address{heir, one, two} {
			b.must(b.dev.SendETH(to, big.NewInt(1)))
		}
		b.mine(1)
		alone, err := b.chain.Separate(t.Context(), []chain.Payment{credit(chain.Native, one, 5), credit(chain.Native, payee, 5)})
		require.NoError(t, err)
		require.Equal(t, []bool{false, true}, alone)
		own, _, _ := b.pay(b.batchOf(chain.Native, one, payee, two))
		require.Equal(t, []chain.Outcome{paid, void, paid}, own.Members)
		require.EqualValues(t, []uint64{1001, 1003, 1}, []uint64{b.coin(one).Uint64(), b.coin(two).Uint64(), b.coin(heir).Uint64()})
		own, _, _ = b.pay(credit(chain.Native, payee, 7))
		require.True(t, own.OK)
		require.EqualValues(t, 8, b.coin(heir).Uint64())

		contract := common.HexToAddress(b.chain.BatchTo(chain.Native))
		packed := append(append(append([]byte{}, another[:]...), common.LeftPadBytes([]byte{9}, 16)...), append(one[:], common.LeftPadBytes([]byte{1}, 16)...)...)
		call := contracts.NewPayouts().PackPayCoin(big.NewInt(300_000), packed)
		b.as(b.dev.FaucetKey(), types.DynamicFeeTx{To: &contract, Value: big.NewInt(10), Gas: 2_000_000, Data: call})
		b.mine(1)
		require.EqualValues(t, []uint64{17, 1002}, []uint64{b.coin(heir).Uint64(), b.coin(one).Uint64()}, "with enough gas it is paid before others")
	})
}

// TestPayeeOnABlacklist: a payee that the token's issuer blocks before the estimate is in no batch;
// one that is blocked later is passed over.
func TestPayeeOnABlacklist(t *testing.T) {
	for name, quiet := range map[string]bool{"reverts": false, "answers false": true} {
		t.Run(name, func(t *testing.T) {
			b, frozen := batches(t), contracts.NewFreezableToken()
			at := b.batchToken(contracts.FreezableTokenMetaData.Bin, frozen.PackConstructor("Freezable", "FRZ", 6)...)
			b.call(at, 0, frozen.PackSetQuiet(quiet))
			b.mine(1)
			payees := people(3, "blacklist")
			pay := b.batchOf(asset(at), payees...)
			attempt := b.sign(b.next(b.hot), pay)
			b.call(at, 0, frozen.PackFreeze(payees[1], true))
			b.mine(1)
			_, err := b.chain.Estimate(t.Context(), b.hot.Account, pay)
			require.ErrorIs(t, err, chain.ErrRefused)
			b.broadcast(attempt)
			b.mine(1)
			own := b.newest().OwnTxs[0]
			require.True(t, own.OK)
			require.Equal(t, []chain.Outcome{paid, void, paid}, own.Members)
			require.EqualValues(t, []uint64{1000, 0, 1002}, []uint64{b.holding(asset(at), payees[0]), b.holding(asset(at), payees[1]), b.holding(asset(at), payees[2])})
		})
	}
}

// TestBatchOfATokenWithFees: what arrives is less than was sent, so every payment differs and is
// for people. None is made again.
func TestBatchOfATokenWithFees(t *testing.T) {
	b := batches(t)
	at := b.batchToken(contracts.FeeTokenMetaData.Bin)
	payees := people(2, "fees")
	own, _, _ := b.pay(b.batchOf(asset(at), payees...))
	require.True(t, own.OK)
	require.Equal(t, []chain.Outcome{differs, differs}, own.Members)
	require.EqualValues(t, []uint64{990, 991}, []uint64{b.holding(asset(at), payees[0]), b.holding(asset(at), payees[1])})
}

// TestReplacementPaysHalf: a batch that had paid all leaves its block. Its replacement pays half of
// the payees. The first attempt then pays none of them, because both have one number.
func TestReplacementPaysHalf(t *testing.T) {
	b := batches(t)
	at := b.hostileToken()
	b.dev.HoldFinality(true)
	payees := people(4, "half")
	slot, pay := b.next(b.hot), b.batchOf(asset(at), payees...)
	first := b.sign(slot, pay)
	second := b.sign(slot, pay, first)
	b.broadcast(first)
	require.Equal(t, []chain.Outcome{paid, paid, paid, paid}, b.block(b.mine(1)).OwnTxs[0].Members)
	b.must(b.dev.Reorg(1, ethnode.Lose))
	for _, to := range payees[:2] {
		b.call(at, 0, contracts.NewHostileToken().PackSet(to, big.NewInt(1)))
	}
	b.mine(1)
	b.broadcast(second)
	b.mine(1)
	own := b.newest().OwnTxs
	require.Len(t, own, 1)
	require.Equal(t, second.Hash, own[0].Tx)
	require.Equal(t, []chain.Outcome{void, void, paid, paid}, own[0].Members)
	_ = b.chain.Broadcast(t.Context(), []chain.Attempt{first})
	b.mine(2)
	for i, want := range []uint64{0, 0, 1002, 1003} {
		require.EqualValues(t, want, b.holding(asset(at), payees[i]))
	}
}
