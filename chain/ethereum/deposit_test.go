package ethereum_test

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/chain/ethereum/contracts"
	"gatewayd/dev/ethnode"
)

// incoming is a transfer as most tests expect it.
func (b *bundle) incoming(tx common.Hash, place string, from common.Address, of chain.Asset, amount uint64) chain.Transfer {
	return chain.Transfer{
		Ref: tx.Hex() + ":" + place, Tx: tx.Hex(), From: from.Hex(), To: b.inbox.Account,
		Asset: of, Amount: chain.NewAmount(amount), Memo: chain.Memo{Type: -1},
	}
}

func (b *bundle) faucet() common.Address { return cryptoAddress(b.dev) }

// forks runs a test under the rules before and after Amsterdam.
func forks(t *testing.T, test func(t *testing.T, b *bundle, isAmsterdam bool)) {
	t.Run("berlin", func(t *testing.T) { test(t, setup(t, legacy), false) })
	t.Run("osaka", func(t *testing.T) { test(t, setup(t), false) })
	t.Run("amsterdam", func(t *testing.T) { test(t, setup(t, amsterdam), true) })
}

func TestNativeDeposit(t *testing.T) {
	forks(t, func(t *testing.T, b *bundle, _ bool) {
		tx := b.must(b.dev.SendETH(addr(b.inbox), big.NewInt(12345)))
		height := b.mine(1)
		block := b.block(height)
		require.Equal(t, []chain.Transfer{b.incoming(tx, "val", b.faucet(), chain.Native, 12345)}, block.Transfers)
		require.Empty(t, block.OwnTxs)
		require.Equal(t, height, block.Height)
		parent := b.block(height - 1)
		require.Equal(t, parent.Hash, block.Parent)
		require.True(t, block.Time.After(parent.Time))
	})
}

func TestTokenDeposit(t *testing.T) {
	forks(t, func(t *testing.T, b *bundle, _ bool) {
		tx := b.must(b.dev.SendToken(b.dev.Contracts().USDT, addr(b.inbox), big.NewInt(777)))
		b.mine(1)
		require.Equal(t, []chain.Transfer{b.incoming(tx, "log:0", b.faucet(), b.usdt, 777)}, b.newest().Transfers)
	})
}

func TestNothingForUs(t *testing.T) {
	b := setup(t)
	b.must(b.dev.SendETH(outsider("somebody"), big.NewInt(5)))
	b.must(b.dev.SendToken(b.dev.Contracts().USDT, outsider("somebody"), big.NewInt(5)))
	b.must(b.dev.SendETH(addr(b.inbox), new(big.Int)))
	b.must(b.dev.SendToken(b.dev.Contracts().USDT, addr(b.inbox), new(big.Int)))
	b.mine(1)
	block := b.newest()
	require.Empty(t, block.Transfers)
	require.Empty(t, block.OwnTxs)
}

func TestBatchIsCreditedOneByOne(t *testing.T) {
	forks(t, func(t *testing.T, b *bundle, isAmsterdam bool) {
		payer, usdt := b.dev.Contracts().BatchPayer, b.dev.Contracts().USDT
		second := b.keys.add(2)
		b.call(usdt, 0, token().PackApprove(payer, big.NewInt(1000)))
		b.mine(1)
		batch := contracts.NewBatchPayer()
		receivers := []common.Address{addr(b.inbox), outsider("x"), addr(second), addr(b.inbox)}
		amounts := []*big.Int{big.NewInt(10), big.NewInt(20), big.NewInt(30), big.NewInt(40)}
		tokens := b.call(payer, 0, batch.PackPayToken(usdt, receivers, amounts))
		native := b.call(payer, 100, batch.PackPayNative(receivers, amounts))
		b.mine(1)

		to := func(tr chain.Transfer, s chain.Slot) chain.Transfer { tr.To = s.Account; return tr }
		want := []chain.Transfer{
			b.incoming(tokens, "log:0", b.faucet(), b.usdt, 10),
			to(b.incoming(tokens, "log:2", b.faucet(), b.usdt, 30), second),
			b.incoming(tokens, "log:3", b.faucet(), b.usdt, 40),
		}
		places := []string{"call:0", "call:2", "call:3"}
		if isAmsterdam {
			places = []string{"log:1", "log:3", "log:4"}
		}
		want = append(want,
			b.incoming(native, places[0], payer, chain.Native, 10),
			to(b.incoming(native, places[1], payer, chain.Native, 30), second),
			b.incoming(native, places[2], payer, chain.Native, 40),
		)
		require.Equal(t, want, b.newest().Transfers)
	})
}

func TestInternalTransfers(t *testing.T) {
	forks(t, func(t *testing.T, b *bundle, isAmsterdam bool) {
		at, forwarder := b.deploy(contracts.ForwarderMetaData.Bin), contracts.NewForwarder()
		sent := b.call(at, 11, forwarder.PackForward(addr(b.inbox)))
		undone := b.call(at, 22, forwarder.PackForwardUndone(addr(b.inbox)))
		destroyed := b.call(at, 33, forwarder.PackForwardByDestruction(addr(b.inbox)))
		b.mine(1)
		block := b.newest()
		require.Len(t, block.Transfers, 2)
		require.NotContains(t, []string{block.Transfers[0].Tx, block.Transfers[1].Tx}, undone.Hex())

		places := []string{"call:0", "call:0.0"}
		if isAmsterdam {
			places = []string{"log:1", "log:2"}
		}
		require.Equal(t, b.incoming(sent, places[0], at, chain.Native, 11), block.Transfers[0])
		last := block.Transfers[1]
		require.Equal(t, destroyed.Hex()+":"+places[1], last.Ref)
		require.Equal(t, chain.NewAmount(33), last.Amount)
		require.Equal(t, !isAmsterdam, block.Tracing == chain.Traced)
	})
}

func TestTracesOff(t *testing.T) {
	b := setup(t)
	config := b.config()
	config.Traces = "off"
	b.chain = b.adapter(config)
	at := b.deploy(contracts.ForwarderMetaData.Bin)
	b.call(at, 11, contracts.NewForwarder().PackForward(addr(b.inbox)))
	b.mine(1)
	require.Empty(t, b.newest().Transfers)
}

// A failed token payment is reported if its sender had the amount before the block and called the
// token directly.
func TestFailedPaymentsAreToldIfTheSenderHadTheAmount(t *testing.T) {
	b := setup(t)
	const had, tooLittle = 9, 30_000 // of gas
	key, usdt, max := testKey("sender"), b.dev.Contracts().USDT, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1))
	b.must(b.dev.SendETH(outsider("sender"), ether(1)))
	b.must(b.dev.SendToken(usdt, outsider("sender"), big.NewInt(had)))
	b.mine(1)
	pay := func(amount *big.Int) common.Hash {
		tx := b.as(key, types.DynamicFeeTx{To: &usdt, Gas: tooLittle, Data: token().PackTransfer(addr(b.inbox), amount)})
		b.mine(1)
		receipt, err := b.dev.Client().TransactionReceipt(t.Context(), tx)
		require.NoError(t, err)
		require.Zero(t, receipt.Status, "it fails")
		return tx
	}
	want := b.incoming(pay(big.NewInt(had)), "fail", outsider("sender"), b.usdt, had)
	want.Failed = true
	block := b.height()
	require.Equal(t, []chain.Transfer{want}, b.newest().Transfers)
	for _, more := range []*big.Int{big.NewInt(had + 1), max} {
		pay(more)
		require.Empty(t, b.newest().Transfers)
	}
	other := b.deploy(contracts.LyingTokenMetaData.Bin)
	b.as(key, types.DynamicFeeTx{To: &other, Gas: tooLittle, Data: token().PackTransfer(addr(b.inbox), big.NewInt(1))})
	b.mine(1)
	require.Empty(t, b.newest().Transfers, "no call of a bridged token")

	config, no := b.config(), false
	config.ShowFailed = &no
	b.chain = b.adapter(config)
	require.Empty(t, b.block(block).Transfers)
}

// More failed payments in a block than anybody makes by mistake are not looked into.
func TestFailedPaymentsOfABlockAreBounded(t *testing.T) {
	b := setup(t)
	usdt := b.dev.Contracts().USDT
	const senders = 24
	for i := range senders {
		b.must(b.dev.SendETH(outsider(fmt.Sprint(i)), ether(1)))
		b.must(b.dev.SendToken(usdt, outsider(fmt.Sprint(i)), big.NewInt(1)))
	}
	b.mine(1)
	for i := range senders {
		b.as(testKey(fmt.Sprint(i)), types.DynamicFeeTx{To: &usdt, Gas: 30_000, Data: token().PackTransfer(addr(b.inbox), big.NewInt(1))})
	}
	b.mine(1)
	require.Len(t, b.newest().Transfers, 20)
}

func TestFeeTokenIsCreditedByWhatArrived(t *testing.T) {
	b := setup(t)
	at := b.deploy(contracts.FeeTokenMetaData.Bin)
	b.call(at, 0, token().PackMint(b.faucet(), big.NewInt(1_000_000)))
	b.mine(1)
	config := b.config()
	config.Tokens = append(config.Tokens, asset(at))
	b.chain = b.adapter(config)
	tx := b.must(b.dev.SendToken(at, addr(b.inbox), big.NewInt(10_000)))
	b.mine(1)
	require.Equal(t, []chain.Transfer{b.incoming(tx, "log:0", b.faucet(), asset(at), 9_900)}, b.newest().Transfers)
}

func TestForeignEventsNeverCountAsAToken(t *testing.T) {
	b := setup(t)
	at := b.deploy(contracts.LyingTokenMetaData.Bin)
	tx := b.call(at, 0, contracts.NewLyingToken().PackClaim(outsider("rich"), addr(b.inbox), big.NewInt(1e9)))
	b.mine(1)
	transfers := b.newest().Transfers
	require.Equal(t, []chain.Transfer{b.incoming(tx, "log:0", outsider("rich"), asset(at), 1e9)}, transfers)
	require.NotEqual(t, b.usdt, transfers[0].Asset)
}

func TestLabels(t *testing.T) {
	b := setup(t)
	usdt := b.dev.Contracts().USDT
	pay := token().PackTransfer(addr(b.inbox), big.NewInt(5))
	cases := []struct {
		name  string
		extra []byte
		want  chain.Memo
	}{
		{"none", nil, chain.Memo{Type: -1}},
		{"a number", []byte("100200"), chain.Memo{Raw: []byte("100200"), Type: -1, Label: "100200"}},
		{"other script", []byte("标签 7"), chain.Memo{Raw: []byte("标签 7"), Type: -1, Label: "标签 7"}},
		{"not text", []byte{0xff, 1}, chain.Memo{Raw: []byte{0xff, 1}, Type: -1, Fault: "not_utf8"}},
		{"line break", []byte("1\n2"), chain.Memo{Raw: []byte("1\n2"), Type: -1, Fault: "not_printable"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b.call(addr(b.inbox), 5, c.extra)
			b.call(usdt, 0, append(pay[:len(pay):len(pay)], c.extra...))
			b.mine(1)
			transfers := b.newest().Transfers
			require.Len(t, transfers, 2)
			require.Equal(t, c.want, transfers[0].Memo)
			require.Equal(t, c.want, transfers[1].Memo)
		})
	}
}

func TestLabelsOfABatchBelongToNobody(t *testing.T) {
	b := setup(t)
	payer, usdt := b.dev.Contracts().BatchPayer, b.dev.Contracts().USDT
	b.call(usdt, 0, token().PackApprove(payer, big.NewInt(1000)))
	b.mine(1)
	data := contracts.NewBatchPayer().PackPayToken(usdt, []common.Address{addr(b.inbox)}, []*big.Int{big.NewInt(10)})
	b.call(payer, 0, append(data, "100200"...))
	b.mine(1)
	transfers := b.newest().Transfers
	require.Len(t, transfers, 1)
	require.Equal(t, chain.Memo{Type: -1}, transfers[0].Memo)
}

func TestRefsStayOverReorgs(t *testing.T) {
	b := setup(t)
	b.dev.HoldFinality(true)
	native := b.must(b.dev.SendETH(addr(b.inbox), big.NewInt(7)))
	b.must(b.dev.SendToken(b.dev.Contracts().USDT, addr(b.inbox), big.NewInt(8)))
	b.mine(1)
	before := b.newest()
	require.Len(t, before.Transfers, 2)

	b.must(b.dev.Reorg(1, ethnode.Return))
	gone := b.newest()
	require.Empty(t, gone.Transfers)
	require.NotEqual(t, before.Hash, gone.Hash)
	b.must(b.dev.SendETH(outsider("other"), big.NewInt(1)))
	b.mine(1)
	require.ElementsMatch(t, before.Transfers, b.newest().Transfers)

	b.must(b.dev.Reorg(1, ethnode.Lose))
	b.mine(1)
	require.Empty(t, b.newest().Transfers)
	require.NotZero(t, native)
}

func TestBeyondTheHead(t *testing.T) {
	b := setup(t)
	_, err := b.chain.Block(t.Context(), b.height()+1)
	require.ErrorIs(t, err, chain.ErrNotFound)
	require.NotErrorIs(t, err, chain.ErrUnavailable)
}

func TestOwnAddressesAreAskedAfterTheBlock(t *testing.T) {
	b := setup(t)
	late := b.keys
	b.must(b.dev.SendETH(outsider("late"), big.NewInt(3)))
	b.mine(1)
	require.Empty(t, b.newest().Transfers)
	late.mu.Lock()
	late.ours[outsider("late").Hex()] = true
	late.mu.Unlock()
	require.Len(t, b.newest().Transfers, 1)
	late.fail = errStore
	_, err := b.chain.Block(t.Context(), b.height())
	require.ErrorIs(t, err, errStore)
	require.NotErrorIs(t, err, chain.ErrUnavailable)
}
