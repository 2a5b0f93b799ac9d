package ethereum_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/chaintest"
)

// A token payment failed for our account's lack of the token if the account lacked it then. The
// lack may be original or caused by its own earlier payments; the present balance does not matter.
func TestFailedForUs(t *testing.T) {
	b := setup(t)
	const all = 1_000_000_000
	pays := func(amount uint64) chain.Payment { return credit(b.usdt, outsider("payee"), amount) }
	first, second := pays(all-5), pays(6)
	slot := b.next(b.hot)
	a := b.sign(slot, first)
	slot.Nonce++
	late := b.sign(slot, second)
	b.broadcast(a)
	b.broadcast(late)
	height := b.mine(1)
	effects := b.newest().OwnTxs
	require.Len(t, effects, 2)
	require.True(t, effects[0].OK)
	require.True(t, effects[1].Void)
	b.must(b.dev.SendToken(b.dev.Contracts().USDT, addr(b.hot), bigInt(all)))
	b.mine(1)
	ours := func(pay chain.Payment, moved uint64, a chain.Attempt) bool {
		yes, err := b.chain.FailedForUs(t.Context(), height, b.hot.Account, pay, chain.NewAmount(moved), a)
		require.NoError(t, err)
		return yes
	}
	require.True(t, ours(second, all-5, late))
	require.False(t, ours(second, 0, late), "as if nothing had been taken before it: then it was not us")
	require.True(t, ours(pays(all+1), 0, late))
	require.False(t, ours(pays(all), 0, late))
	_, err := b.chain.FailedForUs(t.Context(), height+1, b.hot.Account, pays(1), chain.Amount{}, late)
	require.ErrorIs(t, err, chain.ErrUnavailable, "it stands in another block")
}

// What used up all the gas that it was given failed for want of ours as long as the configuration
// allows more; what had as much as a payment may use failed by its payee.
func TestFailedForGas(t *testing.T) {
	b := setup(t)
	pay := credit(b.usdt, outsider("payee"), 5)
	enough := decode(t, b.sign(b.hot, pay)).Gas()
	config := b.config()
	config.MaxGas, config.TokenGas = enough/2, enough/2
	tight := b.adapter(config)
	a, err := chaintest.Sign(t.Context(), tight, b.keys, b.hot, pay, nil)
	require.NoError(t, err)
	require.Equal(t, enough/2, decode(t, a).Gas())
	b.broadcast(a)
	height := b.mine(1)
	effects := b.newest().OwnTxs
	require.Len(t, effects, 1)
	require.True(t, effects[0].Void)

	ours, err := b.chain.FailedForUs(t.Context(), height, b.hot.Account, pay, chain.Amount{}, a)
	require.NoError(t, err)
	require.True(t, ours, "more is allowed")
	ours, err = tight.FailedForUs(t.Context(), height, b.hot.Account, pay, chain.Amount{}, a)
	require.NoError(t, err)
	require.False(t, ours, "it had all that is allowed")
}
