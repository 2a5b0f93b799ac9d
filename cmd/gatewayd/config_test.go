package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records"
)

func TestMinRefund(t *testing.T) {
	token := TokenConfig{
		Token: "tti_687d8a93915393b219212c73", Asset: chain.Native, MinWithdraw: chain.NewAmount(250), Deposits: records.Depth{Count: 1}, Withdrawals: records.Depth{Count: 1},
		Fee: records.Fee{Kind: "flat"},
	}
	for _, c := range []struct {
		min, want uint64
		set       bool
		says      string
	}{
		{want: 2},
		{set: true, min: 0, want: 0},
		{set: true, min: 250, want: 250},
		{set: true, min: 251, want: 251, says: "min_refund is above min_withdraw"},
	} {
		token.MinRefund = nil
		if c.set {
			amount := chain.NewAmount(c.min)
			token.MinRefund = &amount
		}
		require.Equal(t, chain.NewAmount(c.want), token.token().Policy.MinRefund)
		if err := token.Check(); c.says == "" {
			require.NoError(t, err)
		} else {
			require.EqualError(t, err, c.says)
		}
	}
}
