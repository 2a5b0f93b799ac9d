package vite

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/chaintest"
	"gatewayd/vite/core"
)

func TestDescribe(t *testing.T) {
	l := newLedger(t)
	c := l.open(t)
	payee := l.newUser(t)
	sent := l.deposit(t, l.payer, 900, "")
	l.mine(t, 1)
	want := []chain.Outgoing{
		{Asset: chain.Asset(core.VITE.String()), To: payee.String(), Amount: chain.NewAmount(50), Payment: 1},
		{Source: sent.String()},
	}
	var paid string
	for i, pay := range []chain.Payment{l.credit(1, payee, 50), {ID: 2, Purpose: chain.Receive, Source: sent.String()}} {
		a, err := chaintest.Sign(t.Context(), c, l.keys, l.slot(t), pay, nil)
		require.NoError(t, err)
		_, err = c.Describe(t.Context(), a.Hash)
		require.ErrorIs(t, err, chain.ErrNotFound, "not sent yet")
		require.NoError(t, chaintest.Send(t.Context(), c, a))
		if i == 0 {
			paid = a.Hash
		}
		l.mine(t, 1)
		got, err := c.Describe(t.Context(), a.Hash)
		require.NoError(t, err)
		require.Equal(t, want[i], got)
	}
	_, err := c.Describe(t.Context(), "12")
	require.Error(t, err)
	_, err = c.Describe(t.Context(), strings.Repeat("ab", 32))
	require.ErrorIs(t, err, chain.ErrNotFound)

	liar := newLiar(t, l)
	liar.tell(onMethod("ledger_getAccountBlockByHash", func(_ string, _ []any, r any) any {
		commentAsFee(r.(map[string]any))
		return r
	}))
	_, err = l.open(t, liar.URL).Describe(t.Context(), paid)
	require.ErrorIs(t, err, chain.ErrUnavailable, "a block whose hash fits, without the payment in its data")
}
