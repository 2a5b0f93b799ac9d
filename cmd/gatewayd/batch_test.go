package main

import (
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/chain/ethereum/contracts"
)

// TestBatchPayouts pays two users in one transaction of a contract, as exchanges do: in coin, which only traces show, and in tokens. Each is
// credited what was sent to them, under a reference of its own.
func TestBatchPayouts(t *testing.T) {
	t.Parallel()
	for _, symbol := range []string{"ETH", "USDT"} {
		t.Run(symbol, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			one, two := r.user(t, symbol), r.user(t, symbol)
			hash := r.batch(t, one, []string{depositAddress(t, one), depositAddress(t, two), depositAddress(t, one)}, []uint64{3, 5, 4})

			waitFor(t, "three deposits", func() bool { return len(r.listed(t, "--hash", hash)) == 3 })
			require.NoError(t, one.collect(t.Context(), one.times(7)))
			require.NoError(t, two.collect(t.Context(), two.times(5)))
			r.settled(t)
			require.Equal(t, one.times(7).String(), one.has(t).String())
			require.Equal(t, two.times(5).String(), two.has(t).String())
			credits := map[string]bool{}
			for _, row := range r.listed(t, "--hash", hash) {
				require.Equal(t, "TOT_CONFIRMED", row.Public)
				credits[row.OutTx] = true
			}
			require.Len(t, credits, 3, "a payment each")
		})
	}
}

// batch sends multiples of the minimum to each receiver in one transaction of the faucet's batch payer.
func (r *rig) batch(t *testing.T, u *bridgeUser, to []string, multiples []uint64) string {
	t.Helper()
	payer, total := contracts.NewBatchPayer(), chain.Amount{}
	receivers, amounts := make([]common.Address, len(to)), make([]*big.Int, len(to))
	for i := range to {
		receivers[i], amounts[i] = common.HexToAddress(to[i]), u.times(multiples[i]).Uint256().ToBig()
		sum, err := total.Add(u.times(multiples[i]))
		require.NoError(t, err)
		total = sum
	}
	at := r.source.Contracts().BatchPayer
	call, value := payer.PackPayNative(receivers, amounts), total.Uint256().ToBig()
	if u.token.Asset != "native" {
		call, value = payer.PackPayToken(common.HexToAddress(u.token.Asset), receivers, amounts), new(big.Int)
		approval := contracts.NewTestToken().PackApprove(at, total.Uint256().ToBig())
		_, err := u.faucet.send(t.Context(), common.HexToAddress(u.token.Asset), new(big.Int), approval)
		require.NoError(t, err)
	}
	hash, err := u.faucet.send(t.Context(), at, value, call)
	require.NoError(t, err)
	return hash.Hex()
}
