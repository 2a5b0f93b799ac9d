package ethereum_test

import (
	"fmt"
	"math/big"
	"sync/atomic"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
)

// TestTokenBalancesAtABlock reads what many accounts hold of a token after one block, whatever the
// node's calls allow.
func TestTokenBalancesAtABlock(t *testing.T) {
	b := setup(t)
	token := b.dev.Contracts().USDT
	var accounts []string
	var want []chain.Amount
	for i := range 1_500 {
		someone := outsider(fmt.Sprint("somebody ", i))
		accounts = append(accounts, someone.Hex())
		if i%100 == 7 {
			b.must(b.dev.SendToken(token, someone, big.NewInt(int64(i))))
			want = append(want, chain.NewAmount(uint64(i)))
			continue
		}
		want = append(want, chain.Amount{})
	}
	height := b.mine(1)
	b.must(b.dev.SendToken(token, common.HexToAddress(accounts[3]), big.NewInt(9))) // after the block that is asked for
	b.mine(2)
	for name, tell := range map[string]lie{
		"overrides": func(_ request, result any) any { return result },
		"refused":   refuseOverrides,
		"ignored":   ignoreOverrides,
		"low gas":   lowGas,
	} {
		t.Run(name, func(t *testing.T) {
			var single atomic.Int32
			liar := newLiar(t, b.dev.URL(), func(q request, result any) any {
				if q.Method == "eth_call" && len(q.Params) == 2 {
					single.Add(1)
				}
				return tell(q, result)
			})
			config := b.config()
			config.Nodes = []string{liar.url}
			c := b.adapter(config)
			got, err := c.HoldingsAt(t.Context(), height, chain.Asset(token.Hex()), accounts)
			require.NoError(t, err)
			require.Equal(t, want, got)
			require.Equal(t, name == "overrides", single.Load() == 0, "accounts are asked for one by one where the program cannot run")
			_, err = c.HoldingsAt(t.Context(), height, chain.Asset(accounts[0]), accounts[:3])
			require.Error(t, err, "no contract there")
		})
	}
}
