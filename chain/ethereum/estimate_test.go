package ethereum_test

import (
	"math/big"
	"strings"
	"sync"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
)

// The fee that a payment is held against is the most that what Sign makes may cost.
func TestEstimateIsWhatSignOffers(t *testing.T) {
	b := setup(t)
	for _, asset := range []chain.Asset{chain.Native, b.usdt} {
		pay := credit(asset, outsider("payee"), 77)
		fee, err := b.chain.Estimate(t.Context(), b.hot.Account, pay)
		require.NoError(t, err)
		tx := decode(t, b.sign(b.next(b.hot), pay))
		require.Equal(t, chain.MustAmount(new(big.Int).Mul(tx.GasFeeCap(), bigInt(tx.Gas())).String()), fee)
		pay.MaxFee = chain.NewAmount(tx.Gas()) // a wei per gas
		_, err = b.chain.Estimate(t.Context(), b.hot.Account, pay)
		require.ErrorIs(t, err, chain.ErrFeeCeiling)
	}
	sweep := credit(chain.Native, addr(b.inbox), 77)
	sweep.Purpose = chain.Sweep
	fee, err := b.chain.Estimate(t.Context(), b.hot.Account, sweep)
	require.NoError(t, err)
	require.Zero(t, fee, "it comes out of what is swept")
}

// A payout fails for sure when a majority of all nodes sees it fail. Until then it waits.
func TestEstimateByAMajority(t *testing.T) {
	b := setup(t)
	says := func(code int, text string) lie { return about("eth_estimateGas", instead(rpcError{code, text})) }
	reverted, costly := says(3, "execution reverted"), says(-32000, "gas required exceeds allowance (100000)")
	unfunded, odd := says(-32000, "insufficient funds for gas * price + value"), says(-32000, "not today")
	dead := about("eth_estimateGas", instead(raw{503, nil}))
	for _, c := range []struct {
		name  string
		nodes []lie
		want  error
	}{
		{"one of three refuses", []lie{truth, truth, reverted}, nil},
		{"two of three refuse", []lie{reverted, truth, reverted}, chain.ErrRefused},
		{"two of three refuse in other words", []lie{reverted, truth, costly}, chain.ErrRefused},
		{"two of three want too much gas", []lie{costly, truth, costly}, chain.ErrGasLimit},
		{"one refuses, one is dead", []lie{reverted, truth, dead}, chain.ErrNotNow},
		{"one refuses, one talks", []lie{reverted, truth, odd}, chain.ErrNotNow},
		{"one refuses, two are dead", []lie{reverted, dead, dead}, chain.ErrUnavailable},
		{"no coin", []lie{unfunded, truth, unfunded}, chain.ErrNotNow},
		{"the only one refuses", []lie{reverted}, chain.ErrRefused},
	} {
		t.Run(c.name, func(t *testing.T) {
			sub := *b
			sub.T = t
			_, err := sub.nodes(c.nodes...).Estimate(t.Context(), b.hot.Account, credit(chain.Native, outsider("payee"), 77))
			require.ErrorIs(t, err, c.want)
		})
	}
}

// One node of three that wants much more or less gas than the others changes no fee: fees are held
// against what users paid.
func TestEstimateIsTheMiddleOne(t *testing.T) {
	b := setup(t)
	for _, asset := range []chain.Asset{chain.Native, b.usdt} {
		pay := credit(asset, outsider("payee"), 77)
		want, err := b.chain.Estimate(t.Context(), b.hot.Account, pay)
		require.NoError(t, err)
		for _, gas := range []string{"0x493e0", "0x1"} {
			got, err := b.nodes(about("eth_estimateGas", instead(gas)), truth, truth).Estimate(t.Context(), b.hot.Account, pay)
			require.NoError(t, err)
			require.Equal(t, want, got, "%s of %s", gas, asset)
		}
	}
}

// Tokens that the account does not have are no refusal by anybody.
func TestEstimateOfTokensThatAreMissing(t *testing.T) {
	b := setup(t)
	_, err := b.chain.Estimate(t.Context(), b.hot.Account, credit(b.usdt, outsider("payee"), 1e12))
	require.ErrorIs(t, err, chain.ErrNotNow)
	require.NotErrorIs(t, err, chain.ErrRefused)
}

// A node tries a payment of coin with so much gas as the payee may use, and no more.
func TestEstimateIsBounded(t *testing.T) {
	b := setup(t)
	var mu sync.Mutex
	var gas any
	listening := newLiar(t, b.dev.URL(), func(q request, result any) any {
		if q.Method == "eth_estimateGas" {
			mu.Lock()
			defer mu.Unlock()
			gas = q.Params[0].(map[string]any)["gas"]
		}
		return result
	})
	config := b.config()
	config.Nodes, config.MaxNativeGas = []string{listening.url}, 120_000
	_, err := b.adapter(config).Estimate(t.Context(), b.hot.Account, credit(chain.Native, outsider("payee"), 77))
	require.NoError(t, err)
	mu.Lock()
	defer mu.Unlock()
	require.Equal(t, hexutil.EncodeUint64(120_000), gas)
}

// What several payments of a group need is asked in one request. Estimate and Prepare ask for none
// of them again, but for one that the node does not estimate.
func TestEstimateGroup(t *testing.T) {
	b := setup(t)
	var mu sync.Mutex
	asked := map[string]int{} // by receiver
	listening := newLiar(t, b.dev.URL(), func(q request, result any) any {
		if q.Method != "eth_estimateGas" {
			return result
		}
		mu.Lock()
		defer mu.Unlock()
		to := q.Params[0].(map[string]any)["to"].(string)
		if asked[to]++; asked[to] == 1 && strings.EqualFold(to, outsider("refusing").Hex()) {
			return rpcError{3, "execution reverted"}
		}
		return result
	})
	config := b.config()
	config.Nodes = []string{listening.url}
	c := b.adapter(config)
	payees := []common.Address{outsider("ann"), outsider("ben"), outsider("refusing")}
	var pays []chain.Payment
	for _, to := range payees {
		pays = append(pays, credit(chain.Native, to, 77))
	}
	group := chain.InGroup(t.Context())
	c.EstimateGroup(group, b.hot.Account, pays)
	slot := b.next(b.hot)
	for _, pay := range pays {
		want, err := b.chain.Estimate(t.Context(), b.hot.Account, pay)
		require.NoError(t, err)
		got, err := c.Estimate(group, b.hot.Account, pay)
		require.NoError(t, err)
		require.Equal(t, want, got)
		_, err = c.Prepare(group, slot, pay, nil)
		require.NoError(t, err)
	}
	counts := make([]int, len(payees))
	for i, to := range payees {
		counts[i] = asked[strings.ToLower(to.Hex())]
	}
	require.Equal(t, []int{1, 1, 2}, counts)
}
