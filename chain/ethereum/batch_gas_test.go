package ethereum_test

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
)

// TestBatchGas measures payments alone and in batches (docs/adr/029), and holds them against the
// goals.
func TestBatchGas(t *testing.T) {
	b := batches(t)
	b.must(b.dev.SendToken(b.dev.Contracts().USDT, addr(b.hot), big.NewInt(1e12)))
	b.mine(1)
	alone := func(of chain.Asset, to common.Address) uint64 {
		own, _, receipt := b.pay(credit(of, to, 1_234_567))
		require.True(t, own.OK)
		return receipt.GasUsed
	}
	first := alone(b.usdt, outsider("holder"))
	next := alone(b.usdt, outsider("holder"))
	_, _, allowed := b.pay(chain.Payment{ID: 99, Purpose: chain.Allow, Asset: b.usdt, To: b.chain.BatchTo(b.usdt)})
	t.Logf("alone: coin %d, token to a holder %d, to a new holder %d, approve %d", alone(chain.Native, outsider("new")), next, first, allowed.GasUsed)
	for _, count := range []int{10, 50, 100} {
		for _, of := range []chain.Asset{chain.Native, b.usdt} {
			payees := people(count, fmt.Sprint("payee", count, of))
			each := make([]uint64, 2)
			limits := make([]uint64, 2)
			for round := range each { // new payees, then the same again
				pay := b.batchOf(of, payees...)
				slot := b.next(b.hot)
				limits[round] = decode(t, b.sign(slot, pay)).Gas() / uint64(count)
				own, _, receipt := b.pay(pay)
				require.True(t, own.OK)
				require.NotContains(t, own.Members, chain.MemberVoid)
				require.NotContains(t, own.Members, chain.MemberDiffers)
				each[round] = receipt.GasUsed / uint64(count)
			}
			t.Logf("%3d of %s: to new payees %d (limit %d), to known ones %d (limit %d)", count, of, each[0], limits[0], each[1], limits[1])
			if of == chain.Native && count == 50 {
				require.LessOrEqual(t, each[1], uint64(21_000*55/100))
			}
			if of != chain.Native && count == 50 {
				require.LessOrEqual(t, each[1], next*70/100)
			}
		}
	}
}
