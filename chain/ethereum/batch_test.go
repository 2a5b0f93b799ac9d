package ethereum_test

import (
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/chain/ethereum"
	"gatewayd/chain/ethereum/contracts"
	"gatewayd/dev/ethnode"
)

// batches is an adapter with batches of tokens and coin, on a chain with the batch contract.
func batches(t *testing.T, change ...func(*ethnode.Config)) *bundle {
	t.Helper()
	b := setup(t, change...)
	b.deployPayouts()
	b.adoptBatches(nil)
	return b
}

func (b *bundle) deployPayouts() {
	b.Helper()
	contract, err := ethereum.PayoutsContract()
	require.NoError(b, err)
	to := common.HexToAddress(contract.Deployer)
	b.as(b.dev.FaucetKey(), types.DynamicFeeTx{To: &to, Data: contract.Input, Gas: 5_000_000})
	b.mine(4) // final after three blocks
}

// adoptBatches makes the adapter one with batches, and lets it verify the contract.
func (b *bundle) adoptBatches(change func(*ethereum.Config)) {
	b.Helper()
	config := b.config()
	config.Batch = ethereum.Batch{Most: 100, Coin: true}
	if change != nil {
		change(&config)
	}
	b.chain = b.adapter(config)
	_, err := b.chain.Head(b.Context())
	require.NoError(b, err)
}

// batchOf is a batch of payments of an asset to payees, 1000 and more to each.
func (b *bundle) batchOf(of chain.Asset, payees ...common.Address) chain.Payment {
	b.Helper()
	batch := chain.Payment{ID: 100, Purpose: chain.Batch, Asset: of, To: b.chain.BatchTo(of)}
	for i, to := range payees {
		m := chain.Payment{ID: uint64(i + 1), Purpose: chain.Credit, Asset: of, To: to.Hex(), Amount: chain.NewAmount(uint64(1000 + i))}
		batch.Members = append(batch.Members, m)
		sum, err := batch.Amount.Add(m.Amount)
		require.NoError(b, err)
		batch.Amount = sum
	}
	return batch
}

// pay signs and sends a payment of the hot account and returns its report.
func (b *bundle) pay(pay chain.Payment) (chain.OwnTx, chain.Block, *types.Receipt) {
	b.Helper()
	attempt := b.sign(b.next(b.hot), pay)
	b.broadcast(attempt)
	b.mine(1)
	block := b.newest()
	require.Len(b, block.OwnTxs, 1)
	receipt, err := b.dev.Client().TransactionReceipt(b.Context(), common.HexToHash(attempt.Hash))
	require.NoError(b, err)
	return block.OwnTxs[0], block, receipt
}

func (b *bundle) allow(of chain.Asset) {
	b.Helper()
	own, _, _ := b.pay(chain.Payment{ID: 99, Purpose: chain.Allow, Asset: of, To: b.chain.BatchTo(of)})
	require.True(b, own.OK)
}

func people(count int, name string) (list []common.Address) {
	for i := range count {
		list = append(list, common.BytesToAddress(crypto.Keccak256([]byte(name), big.NewInt(int64(i)).Bytes())))
	}
	return list
}

func TestPayoutsContractIsPinned(t *testing.T) {
	b := setup(t)
	contract, err := ethereum.PayoutsContract()
	require.NoError(t, err)
	require.ErrorIs(t, b.chain.CheckPayouts(t.Context(), b.height()), ethereum.ErrNoContract)
	b.deployPayouts()
	require.NoError(t, err)
	require.Equal(t, "0x064c35c2C68B7b99b5316eEbd3D6822038ED5f08", contract.Address)
	require.NoError(t, b.chain.CheckPayouts(t.Context(), b.height()))
}

const (
	paid    = chain.MemberPaid
	void    = chain.MemberVoid
	differs = chain.MemberDiffers
)

// TestBatchOfCoin pays whoever takes it: payees that revert, burn all gas, return much data or pay
// others by the same contract hinder nobody, and what they do not take comes back.
func TestBatchOfCoin(t *testing.T) {
	forks(t, func(t *testing.T, b *bundle, _ bool) {
		b.deployPayouts()
		b.adoptBatches(nil)
		hostile := contracts.NewHostilePayee()
		var modes []common.Address
		for mode := range int64(5) {
			at := b.deploy(contracts.HostilePayeeMetaData.Bin)
			b.call(at, 10, hostile.PackSet(big.NewInt(mode), addr(b.inbox)))
			modes = append(modes, at)
		}
		rejector := b.deploy(contracts.RejectorMetaData.Bin)
		for _, name := range []string{"one", "two", "three"} {
			b.must(b.dev.SendETH(outsider(name), big.NewInt(10)))
		}
		b.mine(1)
		before := b.coin(addr(b.hot))
		payees := []common.Address{outsider("one"), modes[1], modes[2], outsider("two"), modes[3], modes[4], rejector, outsider("one"), modes[0], outsider("three")}
		pay := b.batchOf(chain.Native, payees...)
		pay.Members[7].Amount, pay.Amount = chain.NewAmount(1000), chain.NewAmount(10_038) // the first payee again, and the same amount
		own, block, receipt := b.pay(pay)
		want := []chain.Outcome{paid, void, void, paid, void, void, void, paid, void, paid}
		require.Equal(t, want, own.Members)
		require.True(t, own.OK)
		require.False(t, own.Void)
		require.Equal(t, b.chain.BatchTo(chain.Native), own.To)
		sum := uint64(1000 + 1003 + 1000 + 1009)
		require.Equal(t, chain.NewAmount(sum), own.Value)
		require.Empty(t, block.Transfers, "what comes back is no transfer")
		for i, to := range payees {
			held := map[common.Address]uint64{outsider("one"): 2010, outsider("two"): 1013, outsider("three"): 1019, rejector: 0}
			if _, ok := held[to]; !ok {
				held[to] = 10
			}
			require.EqualValues(t, held[to], b.coin(to).Uint64(), "payee %d", i)
		}
		fee := new(big.Int).Mul(receipt.EffectiveGasPrice, bigInt(receipt.GasUsed))
		require.Equal(t, new(big.Int).Sub(before, fee).Sub(new(big.Int).Sub(before, fee), bigInt(sum)), b.coin(addr(b.hot)))
		require.Zero(t, b.coin(common.HexToAddress(b.chain.BatchTo(chain.Native))).Sign(), "the contract keeps nothing")
	})
}

func (b *bundle) coin(of common.Address) *big.Int {
	b.Helper()
	balance, err := b.dev.Client().BalanceAt(b.Context(), of, nil)
	require.NoError(b, err)
	return balance
}

// TestBatchOfTokens has payees of a token whose transfers go wrong in eleven ways.
func TestBatchOfTokens(t *testing.T) {
	for _, c := range []struct {
		name  string
		modes []int64
		want  []chain.Outcome
	}{
		{"reverted, false, all gas burnt, much data", []int64{0, 1, 2, 3, 4, 5, 6, 0}, []chain.Outcome{paid, void, void, void, void, paid, paid, paid}},
		{"true and nothing moved", []int64{0, 7, 0}, []chain.Outcome{paid, void, paid}},
		{"half moved", []int64{0, 8, 1, 0}, []chain.Outcome{paid, differs, differs, paid}},
		{"called from inside", []int64{0, 9, 0}, []chain.Outcome{paid, void, paid}},
		{"moved without an event", []int64{0, 10, 1, 0}, []chain.Outcome{paid, differs, differs, paid}},
		{"moved and two", []int64{0, 11, 1, 0}, []chain.Outcome{paid, differs, differs, paid}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := batches(t)
			at := b.hostileToken()
			payees := people(len(c.modes), c.name)
			payees[len(payees)-1] = payees[0]
			for i, mode := range c.modes {
				if mode != 0 {
					b.call(at, 0, contracts.NewHostileToken().PackSet(payees[i], big.NewInt(mode)))
				}
			}
			b.mine(1)
			pay := b.batchOf(asset(at), payees...)
			own, _, _ := b.pay(pay)
			require.Equal(t, c.want, own.Members)
			require.True(t, own.OK)
			require.True(t, own.Value.IsZero())
		})
	}
}

// hostileToken is a token with a million for the hot account, which a batch may move.
func (b *bundle) hostileToken() common.Address {
	b.Helper()
	at := b.deploy(contracts.HostileTokenMetaData.Bin)
	b.call(at, 0, token().PackMint(addr(b.hot), big.NewInt(1_000_000)))
	b.mine(1)
	b.adoptBatches(func(c *ethereum.Config) { c.Tokens = append(c.Tokens, asset(at)) })
	b.allow(asset(at))
	return at
}

// TestEqualPaymentsOfABatch: of equal payments to one payee, as many are paid as the account's
// tokens suffice for.
func TestEqualPaymentsOfABatch(t *testing.T) {
	b := batches(t)
	b.allow(b.usdt)
	first, second := b.next(b.hot), b.next(b.hot)
	second.Nonce++
	pay := b.batchOf(b.usdt, outsider("same"), outsider("same"), outsider("same"))
	for i := range pay.Members {
		pay.Members[i].Amount = chain.NewAmount(300_000_000)
	}
	pay.Amount = chain.NewAmount(900_000_000) // the account has 1,000,000,000
	before := b.sign(first, credit(b.usdt, outsider("other"), 200_000_000))
	batch := b.sign(second, pay)
	b.broadcast(before)
	b.broadcast(batch)
	b.mine(1)
	own := b.newest().OwnTxs
	require.Len(t, own, 2)
	require.Equal(t, []chain.Outcome{paid, paid, void}, own[1].Members)
	require.EqualValues(t, 600_000_000, b.holding(b.usdt, outsider("same")))
}

// TestBatchThatPaysNobody fails as a whole: its allowance is gone when it is mined.
func TestBatchThatPaysNobody(t *testing.T) {
	b := batches(t)
	b.allow(b.usdt)
	pay := b.batchOf(b.usdt, outsider("one"), outsider("two"))
	slot := b.next(b.hot)
	slot.Nonce++
	attempt := b.sign(slot, pay)
	usdt := b.dev.Contracts().USDT
	b.as(testKey("ours 0"), types.DynamicFeeTx{To: &usdt, Data: token().PackApprove(common.HexToAddress(b.chain.BatchTo(b.usdt)), new(big.Int))})
	b.broadcast(attempt)
	b.mine(1)
	own := b.newest().OwnTxs
	require.Len(t, own, 2)
	require.False(t, own[1].OK)
	require.True(t, own[1].Void)
	require.Empty(t, own[1].Members)
	ours, err := b.chain.FailedForUs(t.Context(), b.height(), b.hot.Account, pay, chain.Amount{}, attempt)
	require.NoError(t, err)
	require.True(t, ours, "the account allows too little")
	_, err = b.chain.Estimate(t.Context(), b.hot.Account, pay)
	require.ErrorIs(t, err, chain.ErrNotNow)
}
