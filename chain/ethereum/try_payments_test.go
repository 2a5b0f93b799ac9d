package ethereum_test

import (
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/chain/ethereum/contracts"
)

// freezable deploys a token that can be frozen, of which the hot account has a million, and makes
// it a configured one.
func (b *bundle) freezable() common.Address {
	b.Helper()
	at := b.deploy(contracts.FreezableTokenMetaData.Bin, contracts.NewFreezableToken().PackConstructor("Freezable", "FRZ", 6)...)
	b.call(at, 0, token().PackMint(addr(b.hot), big.NewInt(1_000_000)))
	b.mine(1)
	config := b.config()
	config.Tokens = append(config.Tokens, asset(at))
	b.chain = b.adapter(config)
	return at
}

// What a token would do with payments is known without sending them, on any block.
func TestPaymentsAreTried(t *testing.T) {
	b := setup(t)
	at, frozen := b.freezable(), contracts.NewFreezableToken()
	payee, other := outsider("payee"), outsider("other")
	refused, short := chain.ErrRefused, chain.ErrNotNow
	pays := []chain.Payment{credit(asset(at), payee, 1000), credit(asset(at), other, 1000), credit(asset(at), other, 1), credit(asset(at), other, 1_000_001)}
	before := b.height()
	for _, c := range []struct {
		name string
		set  [][]byte
		want []error
	}{
		{"nothing", nil, []error{nil, nil, nil, short}},
		{"the payee is frozen", [][]byte{frozen.PackFreeze(payee, true)}, []error{refused, nil, nil, short}},
		{"the account is frozen", [][]byte{frozen.PackFreeze(payee, false), frozen.PackFreeze(addr(b.hot), true)}, []error{refused, refused, refused, short}},
		{"and the token answers false", [][]byte{frozen.PackSetQuiet(true)}, []error{chain.ErrFalse, chain.ErrFalse, chain.ErrFalse, short}},
		{"it is paused", [][]byte{frozen.PackSetQuiet(false), frozen.PackFreeze(addr(b.hot), false), frozen.PackPause(true)}, []error{refused, refused, refused, short}},
		{"amounts are bounded", [][]byte{frozen.PackPause(false), frozen.PackSetLimit(big.NewInt(999))}, []error{refused, refused, nil, short}},
	} {
		for _, data := range c.set {
			b.call(at, 0, data)
		}
		b.mine(1)
		got, err := b.chain.Try(t.Context(), 0, b.hot.Account, pays)
		require.NoError(t, err, c.name)
		require.Equal(t, c.want, got, c.name)
	}
	got, err := b.chain.Try(t.Context(), before, b.hot.Account, pays)
	require.NoError(t, err)
	require.Equal(t, []error{nil, nil, nil, short}, got, "on an earlier block")

	_, err = b.nodes(truth, about("eth_call", instead(raw{503, nil})), about("eth_call", instead(rpcError{3, "execution reverted"}))).Try(t.Context(), 0, b.hot.Account, []chain.Payment{credit(b.usdt, payee, 1)})
	require.ErrorIs(t, err, chain.ErrUnavailable, "no majority")
	_, err = b.chain.Try(t.Context(), 0, b.hot.Account, []chain.Payment{credit(chain.Native, payee, 1)})
	require.Error(t, err, "coin is not tried")
}

// A token payment that succeeds without its event is void if the account's balances prove that
// nothing moved. It is neither paid nor void if they do not, or if no node returns them.
func TestSilentPaymentIsVoidByItsBalances(t *testing.T) {
	b := setup(t)
	at, frozen := b.freezable(), contracts.NewFreezableToken()
	pay := credit(asset(at), outsider("payee"), 1000)
	b.call(at, 0, frozen.PackSetQuiet(true))
	b.mine(1)
	raw := b.sign(b.next(b.hot), pay)
	b.call(at, 0, frozen.PackFreeze(addr(b.hot), true))
	b.mine(1)
	b.broadcast(raw)
	b.mine(1)
	effects := b.newest().OwnTxs
	require.Len(t, effects, 1)
	require.Equal(t, []bool{false, true}, []bool{effects[0].OK, effects[0].Void})

	newest := b.newest().Hash
	drained := func(q request, result any) any { // the balance after the block is lower
		if q.Method != "eth_call" {
			return result
		}
		if at, is := q.Params[1].(map[string]any); is && at["blockHash"] == newest {
			return "0x" + strings.Repeat("0", 64)
		}
		return result
	}
	moved, err := b.nodes(drained).Block(t.Context(), b.height())
	require.NoError(t, err)
	require.Equal(t, []bool{false, false}, []bool{moved.OwnTxs[0].OK, moved.OwnTxs[0].Void}, "something moved without an event")

	quiet := b.nodes(about("eth_call", instead(rpcError{-32000, "missing trie node"})))
	block, err := quiet.Block(t.Context(), b.height())
	require.NoError(t, err)
	require.Equal(t, []bool{false, false}, []bool{block.OwnTxs[0].OK, block.OwnTxs[0].Void}, "without balances nothing is proven")
}
