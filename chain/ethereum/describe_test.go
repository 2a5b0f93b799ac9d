package ethereum_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
)

func TestDescribe(t *testing.T) {
	b := setup(t)
	payee := outsider("payee")
	for _, c := range []struct {
		name string
		pay  chain.Payment
		want chain.Outgoing
	}{
		{"native", credit(chain.Native, payee, 4321), chain.Outgoing{Asset: chain.Native, To: payee.Hex(), Amount: chain.NewAmount(4321)}},
		{"token", credit(b.usdt, payee, 77), chain.Outgoing{Asset: b.usdt, To: payee.Hex(), Amount: chain.NewAmount(77)}},
		{"cancellation", chain.Payment{Purpose: chain.Cancel}, chain.Outgoing{Asset: chain.Native, To: b.hot.Account}},
	} {
		for _, label := range []string{"", "memo é"} {
			if label != "" && c.pay.Purpose == chain.Cancel {
				continue
			}
			t.Run(c.name+label, func(t *testing.T) {
				c.pay.Label, c.want.Label = label, label
				attempt := b.sign(b.next(b.hot), c.pay)
				_, err := b.chain.Describe(t.Context(), attempt.Hash)
				require.ErrorIs(t, err, chain.ErrNotFound, "not sent yet")
				b.broadcast(attempt)
				b.mine(1)
				got, err := b.chain.Describe(t.Context(), attempt.Hash)
				require.NoError(t, err)
				require.Equal(t, c.want, got)
			})
		}
	}
	_, err := b.chain.Describe(t.Context(), "0x12")
	require.ErrorContains(t, err, "32 bytes")
	_, err = b.chain.Describe(t.Context(), "0x"+strings.Repeat("ab", 32))
	require.ErrorIs(t, err, chain.ErrNotFound)
}
