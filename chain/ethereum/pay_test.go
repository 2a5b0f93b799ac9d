package ethereum_test

import (
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/chain/ethereum"
	"gatewayd/chain/ethereum/contracts"
	"gatewayd/internal/testing/chaintest"
)

func credit(of chain.Asset, to common.Address, amount uint64) chain.Payment {
	return chain.Payment{ID: 1, Purpose: chain.Credit, Asset: of, To: to.Hex(), Amount: chain.NewAmount(amount)}
}

// holding is the chain's own balance of an account.
func (b *bundle) holding(of chain.Asset, account common.Address) uint64 {
	b.Helper()
	balance, err := b.chain.Balance(b.Context(), account.Hex(), of)
	require.NoError(b, err)
	return balance.Uint256().Uint64()
}

func TestPayments(t *testing.T) {
	forks(t, func(t *testing.T, b *bundle, _ bool) {
		cases := []struct {
			name  string
			asset chain.Asset
			label string
		}{
			{"native", chain.Native, ""},
			{"native with a label", chain.Native, "100200"},
			{"token", b.usdt, ""},
			{"token with a label", b.usdt, "memo é"},
		}
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				payee, slot := outsider(c.name), b.next(b.hot)
				pay := credit(c.asset, payee, 4321)
				pay.Label = c.label
				attempt := b.sign(slot, pay)
				require.Zero(t, b.holding(c.asset, payee))
				b.broadcast(attempt)
				b.mine(1)
				require.EqualValues(t, 4321, b.holding(c.asset, payee))
				block := b.newest()
				require.Empty(t, block.Transfers)
				require.Len(t, block.OwnTxs, 1)
				effect := block.OwnTxs[0]
				want := chain.OwnTx{Account: b.hot.Account, Number: slot.Nonce, Tx: attempt.Hash, OK: true, Fee: b.feeOf(attempt)}
				if c.asset == chain.Native {
					want.To, want.Value = payee.Hex(), chain.NewAmount(4321)
				}
				require.Equal(t, want, effect)
			})
		}
	})
}

// feeOf is the node's figure of an attempt's fee.
func (b *bundle) feeOf(a chain.Attempt) chain.Amount {
	b.Helper()
	receipt, err := b.dev.Client().TransactionReceipt(b.Context(), common.HexToHash(a.Hash))
	require.NoError(b, err)
	return chain.MustAmount(new(big.Int).Mul(receipt.EffectiveGasPrice, new(big.Int).SetUint64(receipt.GasUsed)).String())
}

func TestLabelsArriveAsTheySaid(t *testing.T) {
	b := setup(t)
	b.keys.mu.Lock()
	b.keys.ours = map[string]bool{b.inbox.Account: true}
	b.keys.mu.Unlock()
	for _, of := range []chain.Asset{chain.Native, b.usdt} {
		pay := credit(of, addr(b.inbox), 5)
		pay.Label = "user 42"
		b.broadcast(b.sign(b.next(b.hot), pay))
		b.mine(1)
		transfers := b.newest().Transfers
		require.Len(t, transfers, 1)
		require.Equal(t, "user 42", transfers[0].Memo.Label)
	}
}

func TestOurOwnMovesAreNoTransfers(t *testing.T) {
	b := setup(t)
	gas := credit(chain.Native, addr(b.inbox), 1e17)
	gas.Purpose = chain.Gas
	b.broadcast(b.sign(b.next(b.hot), gas))
	b.mine(1)
	require.Empty(t, b.newest().Transfers)
	require.Len(t, b.newest().OwnTxs, 1)

	b.must(b.dev.SendToken(b.dev.Contracts().USDT, addr(b.inbox), big.NewInt(50)))
	b.mine(1)
	sweep := credit(b.usdt, addr(b.hot), 50)
	sweep.Purpose = chain.Sweep
	b.broadcast(b.sign(b.next(b.inbox), sweep))
	b.mine(1)
	block := b.newest()
	require.Empty(t, block.Transfers)
	require.Len(t, block.OwnTxs, 1)
	require.True(t, block.OwnTxs[0].OK)
	require.Equal(t, b.inbox.Account, block.OwnTxs[0].Account)
}

func TestRefusedPaymentsFailOnTheChain(t *testing.T) {
	b := setup(t)
	rejector := b.deploy(contracts.RejectorMetaData.Bin)
	attempt := b.sign(b.next(b.hot), credit(chain.Native, rejector, 5))
	require.EqualValues(t, 100_000, decode(t, attempt).Gas())
	b.broadcast(attempt)
	b.mine(1)
	effects := b.newest().OwnTxs
	require.Len(t, effects, 1)
	require.False(t, effects[0].OK)
	require.False(t, effects[0].Fee.IsZero())
	require.Empty(t, b.newest().Transfers)
}

func TestTokenWithoutItsEventIsNotPaid(t *testing.T) {
	b := setup(t)
	liar := b.deploy(contracts.LyingTokenMetaData.Bin)
	fee := b.deploy(contracts.FeeTokenMetaData.Bin)
	b.call(fee, 0, token().PackMint(addr(b.hot), big.NewInt(1_000_000)))
	b.mine(1)
	silent := b.deploy(contracts.SilentTokenMetaData.Bin)
	b.must(b.dev.SendToken(silent, addr(b.hot), big.NewInt(1000)))
	b.mine(1)
	config := b.config()
	config.Tokens = append(config.Tokens, asset(liar), asset(fee), asset(silent))
	b.chain = b.adapter(config)
	for at, ok := range map[common.Address]bool{liar: false, fee: false, silent: true} {
		b.broadcast(b.sign(b.next(b.hot), credit(asset(at), outsider("payee"), 1000)))
		b.mine(1)
		effects := b.newest().OwnTxs
		require.Len(t, effects, 1)
		require.Equal(t, ok, effects[0].OK)
		require.Equal(t, at == liar, effects[0].Void, "the fee token has moved something")
	}
}

func TestSignSaysWhy(t *testing.T) {
	b := setup(t)
	b.next(b.hot)
	poor := b.keys.add(9)
	payee := outsider("payee")
	with := func(change func(*chain.Payment)) chain.Payment {
		pay := credit(chain.Native, payee, 5)
		change(&pay)
		return pay
	}
	cases := []struct {
		name string
		slot chain.Slot
		pay  chain.Payment
		want error
	}{
		{"receiver", b.hot, with(func(p *chain.Payment) { p.To = "0x12" }), chain.ErrAddress},
		{"label", b.hot, with(func(p *chain.Payment) { p.Label = "a\tb" }), chain.ErrLabel},
		{"zero", b.hot, with(func(p *chain.Payment) { p.Amount = chain.Amount{} }), chain.ErrAmount},
		{"the token's contract", b.hot, with(func(p *chain.Payment) { p.To = string(b.usdt) }), chain.ErrAddress},
		{"a ceiling of one wei", b.hot, with(func(p *chain.Payment) { p.MaxFee = chain.NewAmount(1) }), chain.ErrFeeCeiling},
		{"no coins", poor, credit(chain.Native, payee, 5), chain.ErrNotNow},
		{"no tokens", b.hot, credit(b.usdt, payee, 1e12), chain.ErrNotNow},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := chaintest.Sign(t.Context(), b.chain, b.keys, c.slot, c.pay, nil)
			require.ErrorIs(t, err, c.want)
		})
	}
	for name, pay := range map[string]chain.Payment{
		"receive":       with(func(p *chain.Payment) { p.Purpose = chain.Receive }),
		"unknown token": credit(asset(payee), payee, 5),
	} {
		_, err := chaintest.Sign(t.Context(), b.chain, b.keys, b.hot, pay, nil)
		require.Error(t, err, name)
	}
	stranger := b.hot
	stranger.Key = b.inbox.Key
	_, err := chaintest.Sign(t.Context(), b.chain, b.keys, stranger, credit(chain.Native, payee, 5), nil)
	require.ErrorContains(t, err, "wrong key")
}

func TestFeesStayUnderTheCeiling(t *testing.T) {
	b := setup(t)
	pay := credit(chain.Native, outsider("payee"), 5)
	free := decode(t, b.sign(b.next(b.hot), pay))
	base := b.dev.BaseFee()
	require.Zero(t, new(big.Int).Add(new(big.Int).Mul(base, big.NewInt(2)), free.GasTipCap()).Cmp(free.GasFeeCap()))

	tight := new(big.Int).Add(base, big.NewInt(2e7))
	pay.MaxFee = chain.MustAmount(new(big.Int).Mul(tight, big.NewInt(21_000)).String())
	attempt := b.sign(b.next(b.hot), pay)
	require.Zero(t, decode(t, attempt).GasFeeCap().Cmp(tight))
	_, err := chaintest.Sign(t.Context(), b.chain, b.keys, b.next(b.hot), pay, []chain.Attempt{attempt})
	require.ErrorIs(t, err, chain.ErrFeeCeiling)
	b.broadcast(attempt)
	b.mine(1)
	require.Len(t, b.newest().OwnTxs, 1)
}

func TestReplacementKeepsTheMessage(t *testing.T) {
	b := setup(t)
	slot, pay := b.next(b.hot), credit(b.usdt, outsider("payee"), 77)
	pay.Label = "L"
	first := b.sign(slot, pay)
	b.broadcast(first)
	second := b.sign(slot, pay, first)
	one, two := decode(t, first), decode(t, second)
	require.Equal(t, one.Nonce(), two.Nonce())
	require.Equal(t, one.To(), two.To())
	require.Equal(t, one.Data(), two.Data())
	require.Zero(t, one.Value().Cmp(two.Value()))
	require.GreaterOrEqual(t, two.Gas(), one.Gas())
	require.Equal(t, 1, second.Seq)
	b.broadcast(second)
	require.Equal(t, []common.Hash{two.Hash()}, b.dev.Pending())
	b.mine(1)
	require.Equal(t, second.Hash, b.newest().OwnTxs[0].Tx)
}

func TestReplacementRefusesAnotherMessage(t *testing.T) {
	b := setup(t)
	slot, pay := b.next(b.hot), credit(chain.Native, outsider("payee"), 77)
	first := b.sign(slot, pay)
	change := func(f func(*chain.Payment)) chain.Payment { p := pay; f(&p); return p }
	for name, other := range map[string]chain.Payment{
		"receiver": change(func(p *chain.Payment) { p.To = outsider("other").Hex() }),
		"amount":   change(func(p *chain.Payment) { p.Amount = chain.NewAmount(78) }),
		"label":    change(func(p *chain.Payment) { p.Label = "x" }),
		"asset":    change(func(p *chain.Payment) { p.Asset = b.usdt }),
	} {
		_, err := chaintest.Sign(t.Context(), b.chain, b.keys, slot, other, []chain.Attempt{first})
		require.ErrorContains(t, err, "it pays another", name)
	}
	elsewhere := slot
	elsewhere.Nonce++
	_, err := chaintest.Sign(t.Context(), b.chain, b.keys, elsewhere, pay, []chain.Attempt{first})
	require.ErrorContains(t, err, "nonce")
	_, err = chaintest.Sign(t.Context(), b.chain, b.keys, chain.Slot{Account: b.inbox.Account, Key: b.inbox.Key, Nonce: slot.Nonce}, pay, []chain.Attempt{first})
	require.ErrorContains(t, err, "not signed by the slot's account")
	broken := first
	broken.Raw = broken.Raw[:len(broken.Raw)-1]
	_, err = chaintest.Sign(t.Context(), b.chain, b.keys, slot, pay, []chain.Attempt{broken})
	require.ErrorContains(t, err, "decoding")
}

func TestCancelTakesTheSlot(t *testing.T) {
	b := setup(t)
	slot, pay := b.next(b.hot), credit(chain.Native, outsider("payee"), 77)
	first := b.sign(slot, pay)
	b.broadcast(first)
	cancel := b.sign(slot, chain.Payment{ID: 1, Purpose: chain.Cancel}, first)
	tx := decode(t, cancel)
	require.Equal(t, addr(b.hot), *tx.To())
	require.Zero(t, tx.Value().Sign())
	require.Empty(t, tx.Data())
	b.broadcast(cancel)
	b.mine(1)
	require.Zero(t, b.holding(chain.Native, outsider("payee")))
	require.Equal(t, cancel.Hash, b.newest().OwnTxs[0].Tx)
	_, err := chaintest.Sign(t.Context(), b.chain, b.keys, slot, pay, []chain.Attempt{first, cancel})
	require.Error(t, err)
}

func TestNativeSweepEmptiesItsAddress(t *testing.T) {
	forks(t, func(t *testing.T, b *bundle, _ bool) {
		b.must(b.dev.SendETH(addr(b.inbox), big.NewInt(1e17)))
		b.mine(1)
		cost, err := b.chain.SweepCost(t.Context())
		require.NoError(t, err)
		amount, err := chain.NewAmount(1e17).Sub(cost)
		require.NoError(t, err)
		sweep := chain.Payment{ID: 7, Purpose: chain.Sweep, Asset: chain.Native, To: b.hot.Account, Amount: amount}
		slot := b.next(b.inbox)
		first := b.sign(slot, sweep)
		b.broadcast(first)
		second := b.sign(slot, sweep, first) // there is room for one
		require.Zero(t, decode(t, first).Value().Cmp(decode(t, second).Value()))
		b.broadcast(second)
		third := b.sign(slot, sweep, first, second) // its fee comes out of what it moves
		b.broadcast(third)
		tx := decode(t, third)
		require.Equal(t, chain.NewAmount(1e17).String(), new(big.Int).Add(tx.Value(), new(big.Int).Mul(tx.GasFeeCap(), bigInt(tx.Gas()))).String())
		b.mine(1)
		require.Len(t, b.newest().OwnTxs, 1)
		require.Empty(t, b.newest().Transfers)
	})
}

// TestNativeSweepShrinks has the node forget a sweep that is just worth it, and the base fee rise:
// the replacement brings what its fee leaves, but never less than half.
func TestNativeSweepShrinks(t *testing.T) {
	b := setup(t)
	cost, err := b.chain.SweepCost(t.Context())
	require.NoError(t, err)
	fund, err := cost.Mul(3)
	require.NoError(t, err)
	b.must(b.dev.SendETH(addr(b.inbox), fund.Uint256().ToBig()))
	b.mine(1)
	before := b.holding(chain.Native, addr(b.hot))
	slot := b.next(b.inbox)
	amount, err := fund.Sub(cost)
	require.NoError(t, err)
	sweep := chain.Payment{ID: 7, Purpose: chain.Sweep, Asset: chain.Native, To: b.hot.Account, Amount: amount}
	first := b.sign(slot, sweep)
	b.broadcast(first)
	b.dev.DropAll()
	base := b.dev.BaseFee()
	attempts, brought := []chain.Attempt{first}, amount
	for _, times := range []int64{3, 12} {
		require.NoError(t, b.dev.SetBaseFee(new(big.Int).Mul(base, big.NewInt(times))))
		next := b.sign(slot, sweep, attempts...)
		less, err := b.chain.Swept(next)
		require.NoError(t, err)
		require.True(t, less.Less(brought))
		attempts, brought = append(attempts, next), less
	}
	half, _, err := amount.MulDiv(1, 2)
	require.NoError(t, err)
	require.False(t, brought.Less(half))
	_, err = chaintest.Sign(t.Context(), b.chain, b.keys, slot, sweep, attempts)
	require.ErrorIs(t, err, chain.ErrFeeCeiling, "more than half would burn")

	require.NoError(t, b.dev.SetBaseFee(new(big.Int).Mul(base, big.NewInt(3))))
	last := attempts[len(attempts)-1]
	b.broadcast(last)
	b.mine(1)
	require.Equal(t, []chain.OwnTx{{
		Account: b.inbox.Account, Number: slot.Nonce, Tx: last.Hash, OK: true, Fee: b.feeOf(last), To: b.hot.Account, Value: brought,
	}}, b.newest().OwnTxs)
	arrived, err := chain.NewAmount(b.holding(chain.Native, addr(b.hot))).Sub(chain.NewAmount(before))
	require.NoError(t, err)
	require.Equal(t, brought, arrived)
}

func TestSweepsGoToUsOnly(t *testing.T) {
	b := setup(t)
	for _, of := range []chain.Asset{chain.Native, b.usdt} {
		sweep := chain.Payment{ID: 7, Purpose: chain.Sweep, Asset: of, To: outsider("thief").Hex(), Amount: chain.NewAmount(50)}
		_, err := chaintest.Sign(t.Context(), b.chain, b.keys, b.next(b.hot), sweep, nil)
		require.ErrorIs(t, err, chain.ErrAddress)
	}
}

func TestTokenSweepCostIsEnough(t *testing.T) {
	b := setup(t)
	need, err := b.chain.TokenSweepCost(t.Context())
	require.NoError(t, err)
	b.must(b.dev.SendETH(addr(b.inbox), need.Uint256().ToBig()))
	b.must(b.dev.SendToken(b.dev.Contracts().USDT, addr(b.inbox), big.NewInt(50)))
	b.mine(1)
	sweep := chain.Payment{ID: 7, Purpose: chain.Sweep, Asset: b.usdt, To: b.hot.Account, Amount: chain.NewAmount(50)}
	slot := b.next(b.inbox)
	first := b.sign(slot, sweep)
	b.broadcast(first)
	b.broadcast(b.sign(slot, sweep, first))
	b.mine(1)
	require.True(t, b.newest().OwnTxs[0].OK)
}

func TestPayoutCostLearns(t *testing.T) {
	b := setup(t)
	native, err := b.chain.PayoutCost(t.Context(), chain.Native)
	require.NoError(t, err)
	before, err := b.chain.PayoutCost(t.Context(), b.usdt)
	require.NoError(t, err)
	require.True(t, native.Less(before))
	attempt := b.sign(b.next(b.hot), credit(b.usdt, outsider("payee"), 5))
	b.broadcast(attempt)
	b.mine(1)
	require.True(t, b.newest().OwnTxs[0].OK)
	after, err := b.chain.PayoutCost(t.Context(), b.usdt)
	require.NoError(t, err)
	require.NotEqual(t, before, after)
	require.False(t, after.Less(b.feeOf(attempt)))
	_, err = b.chain.PayoutCost(t.Context(), asset(outsider("no token")))
	require.Error(t, err)
}

func TestDroppedTransactionIsSentAgain(t *testing.T) {
	b := setup(t)
	attempt := b.sign(b.next(b.hot), credit(chain.Native, outsider("payee"), 77))
	b.broadcast(attempt)
	b.broadcast(attempt) // already known
	dropped, err := b.dev.Drop(common.HexToHash(attempt.Hash))
	require.NoError(t, err)
	require.True(t, dropped)
	b.mine(1)
	require.Empty(t, b.newest().OwnTxs)
	b.broadcast(attempt)
	b.mine(1)
	require.Len(t, b.newest().OwnTxs, 1)
	require.ErrorContains(t, chaintest.Send(t.Context(), b.chain, attempt), "nonce already used")
}

func TestBroadcastRefusesBytesOfAnotherHash(t *testing.T) {
	b := setup(t)
	attempt := b.sign(b.next(b.hot), credit(chain.Native, outsider("payee"), 77))
	attempt.Hash = common.Hash{1}.Hex()
	require.ErrorContains(t, chaintest.Send(t.Context(), b.chain, attempt), "its bytes have the hash")
	require.Empty(t, b.dev.Pending())
}

func TestBroadcastOfANodeThatTookOtherBytes(t *testing.T) {
	b := setup(t)
	attempt := b.sign(b.next(b.hot), credit(chain.Native, outsider("payee"), 77))
	lying := newLiar(t, b.dev.URL(), about("eth_sendRawTransaction", instead(common.Hash{1}.Hex())))
	require.ErrorIs(t, chaintest.Send(t.Context(), b.suspicious(0, lying), attempt), chain.ErrUnavailable)
	require.NoError(t, chaintest.Send(t.Context(), b.suspicious(1, lying), attempt), "the other has it already")
}

func TestTip(t *testing.T) {
	b := setup(t)
	b.mine(4)
	require.Equal(t, chain.AccountHead{Settled: true}, b.tip(b.hot))
	attempt := b.sign(b.next(b.hot), credit(chain.Native, outsider("payee"), 77))
	b.broadcast(attempt)
	require.Equal(t, chain.AccountHead{Next: 0}, b.tip(b.hot))
	b.mine(1)
	require.Equal(t, chain.AccountHead{Next: 1}, b.tip(b.hot))
	b.mine(4)
	require.Equal(t, chain.AccountHead{Next: 1, Settled: true}, b.tip(b.hot))
	_, err := b.chain.AccountHead(t.Context(), "hot")
	require.ErrorIs(t, err, chain.ErrAddress)
}

func TestTipOfDisagreeingNodes(t *testing.T) {
	b := setup(t)
	b.mine(4)
	count := func(tell func(q request) any) *liar {
		return newLiar(t, b.dev.URL(), func(q request, result any) any {
			if q.Method == "eth_getTransactionCount" {
				if told := tell(q); told != nil {
					return told
				}
			}
			return result
		})
	}
	ahead := func() *liar { return count(func(request) any { return "0x5" }) }
	pending := func() *liar {
		return count(func(q request) any {
			if q.Params[1] == "pending" {
				return "0x1"
			}
			return nil
		})
	}
	forgetful := func() *liar {
		return count(func(q request) any {
			if q.Params[1] == hexutil.EncodeUint64(b.head(b.chain).Final.Height) {
				return rpcError{-32000, "missing trie node 0a0b (path )"}
			}
			return nil
		})
	}
	cases := []struct {
		name   string
		honest int
		liars  []*liar
		want   chain.AccountHead
		err    error
	}{
		{"one of three ahead", 2, []*liar{ahead()}, chain.AccountHead{Settled: true}, nil},
		{"one of three sees something wait", 2, []*liar{pending()}, chain.AccountHead{Settled: true}, nil},
		{"two of three see something wait", 1, []*liar{pending(), pending()}, chain.AccountHead{}, nil},
		{"one ahead, one sees something wait", 1, []*liar{ahead(), pending()}, chain.AccountHead{}, nil},
		{"one of two ahead", 1, []*liar{ahead()}, chain.AccountHead{}, chain.ErrUnavailable},
		{"one ahead, one dead", 1, []*liar{ahead(), count(func(request) any { return raw{503, nil} })}, chain.AccountHead{}, chain.ErrUnavailable},
		{"something waits", 0, []*liar{pending()}, chain.AccountHead{}, nil},
		{"no state of the final block", 0, []*liar{forgetful()}, chain.AccountHead{}, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			tip, err := b.suspicious(c.honest, c.liars...).AccountHead(t.Context(), b.hot.Account)
			require.ErrorIs(t, err, c.err)
			require.Equal(t, c.want, tip)
		})
	}
}

// Nodes that are a block ahead of the agreed one return an account's state as of the agreed block,
// so they do not count as liars.
func TestTipIsOfTheAgreedBlock(t *testing.T) {
	b := setup(t)
	b.mine(4)
	before := b.height()
	b.broadcast(b.sign(b.next(b.hot), credit(chain.Native, outsider("payee"), 5)))
	b.mine(1)
	adapter := b.nodes(b.behind(before), b.behind(before), truth)
	tip, err := adapter.AccountHead(t.Context(), b.hot.Account)
	require.NoError(t, err)
	require.Zero(t, tip.Next)
	for _, n := range adapter.Nodes() {
		require.Zero(t, n.Faults, n.LastFault)
	}
}

func TestBalanceIsTheMiddleOne(t *testing.T) {
	b := setup(t)
	rich := func() *liar {
		return newLiar(t, b.dev.URL(), about("eth_getBalance", instead("0xffffffffffffffffffffffff")))
	}
	poor := func() *liar { return newLiar(t, b.dev.URL(), about("eth_getBalance", instead("0x0"))) }
	want, err := b.chain.Balance(t.Context(), b.hot.Account, chain.Native)
	require.NoError(t, err)
	for _, adapter := range []*ethereum.Chain{b.suspicious(2, rich()), b.suspicious(2, poor()), b.suspicious(1, rich(), poor()), b.suspicious(1, rich())} {
		got, err := adapter.Balance(t.Context(), b.hot.Account, chain.Native)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	_, err = b.chain.Balance(t.Context(), b.hot.Account, asset(outsider("no contract")))
	require.ErrorIs(t, err, chain.ErrUnavailable)
}

func TestSenderOfATypedTransactionIsRecovered(t *testing.T) {
	b := setup(t)
	b.must(b.dev.SendETH(outsider("rich"), ether(1)))
	b.mine(1)
	to := addr(b.inbox)
	tx := b.as(testKey("rich"), types.DynamicFeeTx{To: &to, Value: big.NewInt(3)})
	b.mine(1)
	require.Equal(t, []chain.Transfer{b.incoming(tx, "val", outsider("rich"), chain.Native, 3)}, b.newest().Transfers)
}
