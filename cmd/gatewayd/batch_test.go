package main

import (
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/chain/ethereum/contracts"
)

// TestBatchPayouts pays two users in one transaction of a contract, as exchanges do: in coin, which
// only traces show, and in tokens. Each is credited their own amount, under a reference of its own.
func TestBatchPayouts(t *testing.T) {
	t.Parallel()
	for _, symbol := range []string{"ETH", "USDT"} {
		t.Run(symbol, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			one, two := r.newUser(t, symbol), r.newUser(t, symbol)
			hash := r.batch(t, one, []string{depositAddress(t, one), depositAddress(t, two), depositAddress(t, one)}, []uint64{3, 5, 4})

			waitFor(t, "three deposits", func() bool { return len(r.listRecords(t, "--hash", hash)) == 3 })
			require.NoError(t, one.Collect(t.Context(), one.Times(7)))
			require.NoError(t, two.Collect(t.Context(), two.Times(5)))
			r.waitUntilSettled(t)
			require.Equal(t, one.Times(7).String(), one.spendable(t).String())
			require.Equal(t, two.Times(5).String(), two.spendable(t).String())
			credits := map[string]bool{}
			for _, row := range r.listRecords(t, "--hash", hash) {
				require.Equal(t, "TOT_CONFIRMED", row.Public)
				credits[row.OutTx] = true
			}
			require.Len(t, credits, 3, "a payment each")
		})
	}
}

// batch sends multiples of the minimum to each receiver in one transaction of the faucet's batch
// payer.
func (r *rig) batch(t *testing.T, u *testUser, to []string, multiples []uint64) string {
	t.Helper()
	payer, total := contracts.NewBatchPayer(), chain.Amount{}
	receivers, amounts := make([]common.Address, len(to)), make([]*big.Int, len(to))
	for i := range to {
		receivers[i], amounts[i] = common.HexToAddress(to[i]), u.Times(multiples[i]).Uint256().ToBig()
		sum, err := total.Add(u.Times(multiples[i]))
		require.NoError(t, err)
		total = sum
	}
	at := r.Source.Contracts().BatchPayer
	call, value := payer.PackPayNative(receivers, amounts), total.Uint256().ToBig()
	if u.Token.Asset != "native" {
		call, value = payer.PackPayToken(common.HexToAddress(u.Token.Asset), receivers, amounts), new(big.Int)
		approval := contracts.NewTestToken().PackApprove(at, total.Uint256().ToBig())
		_, err := u.Faucet.Send(t.Context(), common.HexToAddress(u.Token.Asset), new(big.Int), approval)
		require.NoError(t, err)
	}
	hash, err := u.Faucet.Send(t.Context(), at, value, call)
	require.NoError(t, err)
	return hash.Hex()
}
