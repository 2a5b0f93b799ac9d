package ethereum_test

import (
	"crypto/ecdsa"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/chain/ethereum"
	"gatewayd/chain/ethereum/contracts"
	"gatewayd/dev/ethnode"
	"gatewayd/internal/testing/chaintest"
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

func (b *bundle) hostileToken() common.Address {
	b.Helper()
	return b.batchToken(contracts.HostileTokenMetaData.Bin)
}

// batchToken is a token with a million for the hot account, which a batch may move.
func (b *bundle) batchToken(bin string, arguments ...byte) common.Address {
	b.Helper()
	at := b.deploy(bin, arguments...)
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

// TestBatchConfig names the first field that cannot be used.
func TestBatchConfig(t *testing.T) {
	for text, config := range map[string]ethereum.Batch{
		"batch.most: must be from 2 to 100":      {Most: 101},
		"batch.coin: needs batch.most":           {Coin: true},
		"batch.wait: must be from 0 to 10m0s":    {Most: 2, Wait: 11 * time.Minute},
		"batch.saving: must be users or gateway": {Most: 2, Saving: "other"},
	} {
		_, err := ethereum.New(ethereum.Config{ID: "eth", ChainID: 1, Nodes: []string{"http://127.0.0.1:1"}, Batch: config}, nil)
		require.ErrorContains(t, err, text)
	}
}

// TestBatchesBeginWithTheContract: without a verified contract nothing shares a transaction, and no
// coin is sent to where the contract is not.
func TestBatchesBeginWithTheContract(t *testing.T) {
	b := setup(t)
	b.adoptBatches(nil)
	require.Zero(t, b.chain.MaxBatch(b.usdt))
	slot := b.next(b.hot)
	_, err := chaintest.Sign(t.Context(), b.chain, b.keys, slot, b.batchOf(chain.Native, outsider("one"), outsider("two")), nil)
	require.ErrorIs(t, err, chain.ErrNotNow)
	require.ErrorIs(t, err, ethereum.ErrNoContract)

	contract, err := ethereum.PayoutsContract()
	require.NoError(t, err)
	to := common.HexToAddress(contract.Deployer)
	b.as(b.dev.FaucetKey(), types.DynamicFeeTx{To: &to, Data: contract.Input, Gas: 5_000_000})
	b.mine(1)
	b.adoptBatches(nil)
	require.Zero(t, b.chain.MaxBatch(b.usdt), "the contract's block is not final")
	b.mine(3)
	b.adoptBatches(nil)
	require.Equal(t, 100, b.chain.MaxBatch(b.usdt))
	require.Equal(t, 100, b.chain.MaxBatch(chain.Native))
	require.Zero(t, b.chain.MaxBatch(asset(outsider("no token"))))
	require.Equal(t, contract.Address, b.chain.BatchTo(b.usdt))
	b.adoptBatches(func(c *ethereum.Config) { c.Batch.Coin = false })
	require.Zero(t, b.chain.MaxBatch(chain.Native))
	require.Equal(t, 100, b.chain.MaxBatch(b.usdt))
	b.adoptBatches(func(c *ethereum.Config) { c.Batch = ethereum.Batch{} })
	require.Zero(t, b.chain.MaxBatch(b.usdt))
	_, err = b.chain.CheckAddress(contract.Address, "")
	require.ErrorIs(t, err, chain.ErrAddress, "what is paid to the contract is lost")
}

func TestSeparate(t *testing.T) {
	b := batches(t)
	known, delegated := outsider("known"), testKey("delegated")
	b.must(b.dev.SendETH(known, big.NewInt(1)))
	b.must(b.dev.SendETH(crypto.PubkeyToAddress(delegated.PublicKey), ether(1)))
	b.mine(1)
	b.delegate(delegated, b.dev.Contracts().USDT)
	pay := func(of chain.Asset, to common.Address, edit ...func(*chain.Payment)) chain.Payment {
		p := credit(of, to, 5)
		for _, e := range edit {
			e(&p)
		}
		return p
	}
	label := func(p *chain.Payment) { p.Label = "L" }
	wide := func(p *chain.Payment) { p.Amount = chain.MustAmount("340282366920938463463374607431768211456") }
	got, err := b.chain.Separate(t.Context(), []chain.Payment{
		pay(chain.Native, known), pay(b.usdt, known), pay(b.usdt, b.dev.Contracts().BatchPayer), pay(b.usdt, outsider("new")),
		pay(chain.Native, known, label), pay(b.usdt, known, label), pay(b.usdt, known, wide),
		pay(chain.Native, b.dev.Contracts().BatchPayer), pay(chain.Native, outsider("new")), pay(chain.Native, addr(b.hot)),
		pay(chain.Native, crypto.PubkeyToAddress(delegated.PublicKey)), pay(chain.Native, known),
	})
	require.NoError(t, err)
	require.Equal(t, []bool{false, false, false, false, true, true, true, true, true, true, true, false}, got)
}

// delegate lets an account run a contract's code (EIP-7702).
func (b *bundle) delegate(key *ecdsa.PrivateKey, to common.Address) {
	b.Helper()
	from := crypto.PubkeyToAddress(key.PublicKey)
	id := uint256.NewInt(b.dev.ChainID())
	auth, err := types.SignSetCode(key, types.SetCodeAuthorization{ChainID: *id, Address: to, Nonce: 1})
	require.NoError(b, err)
	tx, err := types.SignNewTx(key, types.LatestSignerForChainID(id.ToBig()), &types.SetCodeTx{
		ChainID: id, GasTipCap: uint256.NewInt(1e9), GasFeeCap: uint256.NewInt(100e9), Gas: 200_000, To: from, AuthList: []types.SetCodeAuthorization{auth},
	})
	require.NoError(b, err)
	require.NoError(b, b.dev.Client().SendTransaction(b.Context(), tx))
	b.mine(1)
}

// TestBatchToOurAddress: what a batch pays to an address of ours is reported as what any contract
// pays it; the return to the account is not reported.
func TestBatchToOurAddress(t *testing.T) {
	for name, fork := range map[string][]func(*ethnode.Config){"traces": nil, "logs": {amsterdam}, "untraced": {public}} {
		t.Run(name, func(t *testing.T) {
			b := batches(t, fork...)
			rejector := b.deploy(contracts.RejectorMetaData.Bin)
			b.must(b.dev.SendETH(addr(b.inbox), big.NewInt(1)))
			b.mine(1)
			pay := b.batchOf(chain.Native, addr(b.inbox), rejector)
			pay.Members[1].Amount, pay.Amount = pay.Members[0].Amount, chain.NewAmount(2000) // what returns is as much as what is paid
			own, block, _ := b.pay(pay)
			require.Equal(t, []chain.Outcome{paid, void}, own.Members)
			require.Equal(t, chain.NewAmount(1000), own.Value)
			if name == "untraced" {
				require.Empty(t, block.Transfers)
				require.Equal(t, chain.Untraced, block.Tracing)
				return
			}
			require.Len(t, block.Transfers, 1)
			require.Equal(t, b.inbox.Account, block.Transfers[0].To)
			require.Equal(t, own.To, block.Transfers[0].From)
			require.Equal(t, chain.NewAmount(1000), block.Transfers[0].Amount)

			toItself := b.batchOf(chain.Native, addr(b.hot), rejector) // what it gets and what returns are equal
			toItself.Members[1].Amount, toItself.Amount = toItself.Members[0].Amount, chain.NewAmount(2000)
			own, block, _ = b.pay(toItself)
			require.Equal(t, chain.NewAmount(1000), own.Value)
			require.Len(t, block.Transfers, 1)
			require.Equal(t, b.hot.Account, block.Transfers[0].To)
		})
	}
}

// TestBatchSurvivesAReorg: the batch is mined again in another block.
func TestBatchSurvivesAReorg(t *testing.T) {
	b := batches(t)
	b.allow(b.usdt)
	b.dev.HoldFinality(true)
	pay := b.batchOf(b.usdt, outsider("one"), outsider("two"))
	pay.Members[0].Amount, pay.Members[1].Amount, pay.Amount = chain.NewAmount(600_000_000), chain.NewAmount(400_000_000), chain.NewAmount(1_000_000_000)
	attempt := b.sign(b.next(b.hot), pay)
	b.broadcast(attempt)
	first := b.block(b.mine(1))
	require.Equal(t, []chain.Outcome{paid, paid}, first.OwnTxs[0].Members)
	b.must(b.dev.Reorg(1, ethnode.Return))
	b.mine(1)
	for height := first.Height; height <= b.height(); height++ {
		block := b.block(height)
		require.NotEqual(t, first.Hash, block.Hash)
		for _, own := range block.OwnTxs {
			require.Equal(t, attempt.Hash, own.Tx)
			require.Equal(t, []chain.Outcome{paid, paid}, own.Members)
			return
		}
	}
	t.Fatal("the batch was not mined again")
}

// TestDescribedBatch: operators and the signer read a batch and an allowance from their bytes.
func TestDescribedBatch(t *testing.T) {
	b := batches(t)
	b.allow(b.usdt)
	for _, of := range []chain.Asset{chain.Native, b.usdt} {
		pay := b.batchOf(of, outsider("one"), outsider("two"))
		own, _, _ := b.pay(pay)
		out, err := b.chain.Describe(t.Context(), own.Tx)
		require.NoError(t, err)
		want := chain.Outgoing{Asset: of, To: pay.To, Amount: pay.Amount}
		for _, m := range pay.Members {
			want.Members = append(want.Members, chain.Outgoing{Asset: of, To: m.To, Amount: m.Amount})
		}
		require.Equal(t, want, out)
	}
	allow := chain.Payment{ID: 99, Purpose: chain.Allow, Asset: b.usdt, To: b.chain.BatchTo(b.usdt)}
	own, _, _ := b.pay(allow)
	out, err := b.chain.Describe(t.Context(), own.Tx)
	require.NoError(t, err)
	require.Equal(t, chain.Outgoing{Asset: b.usdt, To: allow.To}, out)
	require.True(t, out.Did(allow.Fingerprint()))
}

// TestAllowanceWithoutItsEvent is void, and the account allows nothing.
func TestAllowanceWithoutItsEvent(t *testing.T) {
	b := setup(t)
	forwarder := b.deploy(contracts.SilentTokenMetaData.Bin)
	b.deployPayouts()
	b.adoptBatches(func(c *ethereum.Config) { c.Tokens = append(c.Tokens, asset(forwarder)) })
	_, err := b.chain.Estimate(t.Context(), b.hot.Account, chain.Payment{Purpose: chain.Allow, Asset: asset(forwarder), To: b.chain.BatchTo(b.usdt)})
	require.ErrorIs(t, err, chain.ErrRefused, "it has no approve")
	allowed, err := b.chain.Allowed(t.Context(), b.hot.Account, b.usdt, chain.NewAmount(1))
	require.NoError(t, err)
	require.False(t, allowed)
	b.allow(b.usdt)
	allowed, err = b.chain.Allowed(t.Context(), b.hot.Account, b.usdt, chain.MustAmount("115792089237316195423570985008687907853269984665640564039457584007913129639935"))
	require.NoError(t, err)
	require.True(t, allowed)
}

// TestBatchIsReplaced: the same calls with higher fees and no less gas.
func TestBatchIsReplaced(t *testing.T) {
	b := batches(t)
	b.allow(b.usdt)
	slot, pay := b.next(b.hot), b.batchOf(b.usdt, outsider("one"), outsider("two"))
	first := b.sign(slot, pay)
	second := b.sign(slot, pay, first)
	was, is := decode(t, first), decode(t, second)
	require.Equal(t, was.Data(), is.Data())
	require.Equal(t, was.Gas(), is.Gas())
	require.Equal(t, 1, is.GasTipCap().Cmp(was.GasTipCap()))
	other := b.batchOf(b.usdt, outsider("one"), outsider("three"))
	_, err := chaintest.Sign(t.Context(), b.chain, b.keys, slot, other, []chain.Attempt{first})
	require.ErrorContains(t, err, "other data")
}

// TestSharedPayoutCost: users pay for one payment of a batch of ten where batches are on, and for a
// transaction where the gateway keeps the saving.
func TestSharedPayoutCost(t *testing.T) {
	b := batches(t)
	plain := b.adapter(b.config())
	kept := func(c *ethereum.Config) { c.Batch.Saving = "gateway" }
	for of, shares := range map[chain.Asset]uint64{chain.Native: 12_500, b.usdt: 80_000 - 24_000 + 3_400} {
		shared, err := b.chain.PayoutCost(t.Context(), of)
		require.NoError(t, err)
		full, err := plain.PayoutCost(t.Context(), of)
		require.NoError(t, err)
		gas := map[chain.Asset]uint64{chain.Native: 21_000, b.usdt: 80_000}[of]
		want, _, err := full.MulDiv(shares, gas)
		require.NoError(t, err)
		require.Equal(t, want, shared)
		b.adoptBatches(kept)
		require.Equal(t, 100, b.chain.MaxBatch(of))
		cost, err := b.chain.PayoutCost(t.Context(), of)
		require.NoError(t, err)
		require.Equal(t, full, cost)
		b.adoptBatches(nil)
	}
}

// TestSharedCostIsLearned: after batches the expected cost follows what they took, on every fork.
func TestSharedCostIsLearned(t *testing.T) {
	forks(t, func(t *testing.T, b *bundle, _ bool) {
		b.deployPayouts()
		b.adoptBatches(nil)
		b.allow(b.usdt)
		payees := people(10, "learned")
		for _, to := range payees {
			b.must(b.dev.SendETH(to, big.NewInt(1)))
			b.must(b.dev.SendToken(b.dev.Contracts().USDT, to, big.NewInt(1)))
			b.mine(1)
		}
		for _, of := range []chain.Asset{chain.Native, b.usdt} {
			_, _, receipt := b.pay(b.batchOf(of, payees...))
			cost, err := b.chain.PayoutCost(t.Context(), of)
			require.NoError(t, err)
			now, err := b.chain.Fees(t.Context())
			require.NoError(t, err)
			each := new(big.Int).Div(cost.Uint256().ToBig(), now.Price.Uint256().ToBig()).Uint64() * 8 / 9 // without the eighth
			require.InEpsilon(t, receipt.GasUsed/10, each, 0.03, of)
		}
	})
}

// TestPayoutsContract calls the contract itself with room for what payees might do there.
func TestPayoutsContract(t *testing.T) {
	b := batches(t)
	payouts, contract := contracts.NewPayouts(), common.HexToAddress(b.chain.BatchTo(chain.Native))
	pack := func(amount int64, to ...common.Address) (all []byte) {
		for _, a := range to {
			all = append(append(all, a[:]...), common.LeftPadBytes(big.NewInt(amount).Bytes(), 16)...)
		}
		return all
	}
	send := func(value int64, gas uint64, data []byte) *types.Receipt {
		hash := b.as(b.dev.FaucetKey(), types.DynamicFeeTx{To: &contract, Value: big.NewInt(value), Gas: gas, Data: data})
		b.mine(1)
		receipt, err := b.dev.Client().TransactionReceipt(t.Context(), hash)
		require.NoError(t, err)
		return receipt
	}
	again := b.deploy(contracts.HostilePayeeMetaData.Bin)
	b.call(again, 0, contracts.NewHostilePayee().PackSet(big.NewInt(4), outsider("third")))
	b.mine(1)
	one, two := outsider("one"), outsider("two")

	receipt := send(30, 2_000_000, payouts.PackPayCoin(big.NewInt(300_000), pack(10, one, again, two)))
	require.EqualValues(t, 1, receipt.Status)
	require.Len(t, receipt.Logs, 2, "the payee's own call, and ours after it")
	last, err := payouts.UnpackPaidEvent(receipt.Logs[1])
	require.NoError(t, err)
	require.Equal(t, cryptoAddress(b.dev), last.Payer)
	require.EqualValues(t, 7, last.Paid.Uint64())
	require.EqualValues(t, []uint64{10, 10, 7, 3}, []uint64{b.coin(one).Uint64(), b.coin(two).Uint64(), b.coin(again).Uint64(), b.coin(outsider("third")).Uint64()})

	for name, failing := range map[string]*types.Receipt{
		"less value than its payees get":   send(29, 2_000_000, payouts.PackPayCoin(big.NewInt(300_000), pack(10, one, two, one))),
		"no payee":                         send(29, 2_000_000, payouts.PackPayCoin(big.NewInt(0), nil)),
		"half a payee":                     send(29, 2_000_000, payouts.PackPayCoin(big.NewInt(0), pack(10, one)[:35])),
		"too many":                         send(2570, 8_000_000, payouts.PackPayCoin(big.NewInt(0), pack(10, people(257, "many")...))),
		"a payee's share that nobody has":  send(10, 2_000_000, payouts.PackPayCoin(new(big.Int).Lsh(big.NewInt(1), 255), pack(10, one))),
		"less gas than its payees may use": send(20, 330_000, payouts.PackPayCoin(big.NewInt(300_000), pack(10, one, two))),
		"coin with tokens":                 send(5, 2_000_000, payouts.PackPayToken(b.dev.Contracts().USDT, big.NewInt(60_000), pack(0, one))),
		"no token":                         send(0, 2_000_000, payouts.PackPayToken(one, big.NewInt(60_000), pack(1, two))),
		"nothing allowed":                  send(0, 2_000_000, payouts.PackPayToken(b.dev.Contracts().USDT, big.NewInt(60_000), pack(1, two))),
		"no function":                      send(5, 2_000_000, []byte{1, 2, 3, 4}),
		"plain coin":                       send(5, 2_000_000, nil),
	} {
		require.Zero(t, failing.Status, name)
	}
	require.Zero(t, b.coin(contract).Sign())
	require.EqualValues(t, 10, b.coin(one).Uint64())

	// Whatever the gas limit is, no payee fails by it: the batch does.
	burner := b.deploy(contracts.HostilePayeeMetaData.Bin)
	b.call(burner, 0, contracts.NewHostilePayee().PackSet(big.NewInt(2), one))
	b.mine(1)
	call := payouts.PackPayCoin(big.NewInt(50_000), pack(1, one, burner, two, one))
	for gas := uint64(60_000); gas < 320_000; gas += 5_000 {
		if receipt := send(4, gas, call); receipt.Status == 1 {
			event, err := payouts.UnpackPaidEvent(receipt.Logs[0])
			require.NoError(t, err)
			require.EqualValues(t, 0b1101, event.Paid.Uint64(), gas)
		}
	}
}

// TestBatchNeedsMoreGasOnAmsterdam: there a new holder takes more gas than a batch gives otherwise,
// and a replacement keeps what the first attempt gave.
func TestBatchNeedsMoreGasOnAmsterdam(t *testing.T) {
	b := batches(t, amsterdam)
	b.allow(b.usdt)
	pay, slot := b.batchOf(b.usdt, people(5, "new")...), b.next(b.hot)
	first := b.sign(slot, pay)
	require.Equal(t, decode(t, first).Data(), decode(t, b.sign(slot, pay, first)).Data())
	b.broadcast(first)
	b.mine(1)
	require.Equal(t, []chain.Outcome{paid, paid, paid, paid, paid}, b.newest().OwnTxs[0].Members)
	known := b.sign(b.next(b.hot), pay)
	require.Less(t, decode(t, known).Gas(), decode(t, first).Gas(), "holders need no more than elsewhere")
	require.NotEqual(t, decode(t, first).Data(), decode(t, known).Data())
}

// TestWhyABatchFailed: too little gas is our fault, payees that all refuse are not.
func TestWhyABatchFailed(t *testing.T) {
	b := batches(t)
	at := b.hostileToken()
	refusing := people(2, "refusing")
	for _, to := range refusing {
		b.call(at, 0, contracts.NewHostileToken().PackSet(to, big.NewInt(1)))
	}
	b.mine(1)
	contract := common.HexToAddress(b.chain.BatchTo(chain.Native))
	for _, c := range []struct {
		payees []common.Address
		gas    uint64
		ours   bool
	}{
		{people(2, "willing"), 100_000, true}, // the contract itself reverts
		{people(2, "willing"), 26_000, true},  // out of gas
		{refusing, 400_000, false},
	} {
		pay, nonce := b.batchOf(asset(at), c.payees...), b.next(b.hot).Nonce
		data := decode(t, b.sign(b.next(b.hot), pay)).Data()
		hash := b.as(testKey("ours 0"), types.DynamicFeeTx{Nonce: nonce, To: &contract, Data: data, Gas: c.gas})
		b.mine(1)
		own := b.newest().OwnTxs[0]
		require.True(t, own.Void)
		tx, _, err := b.dev.Client().TransactionByHash(t.Context(), hash)
		require.NoError(t, err)
		raw, err := tx.MarshalBinary()
		require.NoError(t, err)
		ours, err := b.chain.FailedForUs(t.Context(), b.height(), b.hot.Account, pay, chain.Amount{}, chain.Attempt{Hash: hash.Hex(), Raw: raw})
		require.NoError(t, err)
		require.Equal(t, c.ours, ours, "%d gas", c.gas)
	}
}

// TestOneNodeDecidesNoBatch: one node of three that lies about the contract, payees or allowances
// changes nothing, and two that do not answer leave it open.
func TestOneNodeDecidesNoBatch(t *testing.T) {
	b := batches(t)
	b.allow(b.usdt)
	known := outsider("known")
	rich := b.deploy(contracts.ForwarderMetaData.Bin)
	b.must(b.dev.SendETH(known, big.NewInt(1)))
	b.must(b.dev.SendETH(rich, big.NewInt(1)))
	b.mine(1)
	contract := b.chain.BatchTo(b.usdt)
	for name, l := range map[string]lie{
		"no code":      about("eth_getCode", instead("0x")),
		"code":         about("eth_getCode", instead("0x6001")),
		"no coin":      about("eth_getBalance", instead("0x0")),
		"no allowance": about("eth_call", instead("0x"+strings.Repeat("0", 64))),
	} {
		nodes := []string{newLiar(t, b.dev.URL(), l).url, newLiar(t, b.dev.URL(), truth).url, newLiar(t, b.dev.URL(), truth).url}
		b.adoptBatches(func(c *ethereum.Config) { c.Nodes = nodes })
		require.Equal(t, 100, b.chain.MaxBatch(b.usdt), name)
		apart, err := b.chain.Separate(t.Context(), []chain.Payment{credit(chain.Native, known, 5), credit(chain.Native, rich, 5)})
		require.NoError(t, err)
		require.Equal(t, []bool{false, true}, apart, name)
		allowed, err := b.chain.Allowed(t.Context(), b.hot.Account, b.usdt, chain.NewAmount(1))
		require.NoError(t, err)
		require.True(t, allowed, name)
		_, err = b.chain.Estimate(t.Context(), b.hot.Account, b.batchOf(b.usdt, known, outsider("two")))
		require.NoError(t, err, name)
	}
	silent := about("eth_getCode", func(any) any { return rpcError{-32000, "busy"} })
	nodes := []string{newLiar(t, b.dev.URL(), silent).url, newLiar(t, b.dev.URL(), silent).url, newLiar(t, b.dev.URL(), truth).url}
	b.adoptBatches(func(c *ethereum.Config) { c.Nodes = nodes })
	require.Zero(t, b.chain.MaxBatch(b.usdt))
	_, err := b.chain.Separate(t.Context(), []chain.Payment{credit(chain.Native, known, 5)})
	require.ErrorIs(t, err, chain.ErrUnavailable)
	require.Equal(t, contract, b.chain.BatchTo(b.usdt))
}
