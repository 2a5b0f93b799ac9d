package operator

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/chain/bitcoin"
	"gatewayd/chain/ethereum"
	"gatewayd/config"
	"gatewayd/records"
)

// TestWorthOf: the value of an amount by the price of a whole token, as the signer reports it.
func TestWorthOf(t *testing.T) {
	require.Equal(t, "2500.00 USD", worthOf(chain.MustAmount("2000000000"), 6, "1.25 USD"))
	require.Equal(t, "0.01 EUR", worthOf(chain.NewAmount(5), 3, "1 EUR"))
	require.Empty(t, worthOf(chain.NewAmount(5), 3, ""))
}

// TestMostCost: the maximum cost of a payment is the gas limit at the highest gas price, or the
// ceiling of its fee if that is lower.
func TestMostCost(t *testing.T) {
	d := &Session{Config: config.Config{
		Ethereum: []ethereum.Config{{ID: "eth", MaxFeeGwei: "100"}}, Bitcoin: []bitcoin.Config{{ID: "btc"}},
	}}
	network := records.Network{Source: "eth", CoinDecimals: 18}
	token := records.Token{TokenID: "tti", Asset: chain.Native, AssetDecimals: 18, Decimals: 18}
	token.Policy.Fee = records.Fee{Kind: "flat"}
	for _, one := range []struct {
		name string
		id   chain.ID
		p    records.Payment
		fee  uint64
		want string
	}{
		{"a token", "eth", records.Payment{Asset: "0xusdt", Purpose: chain.Refund}, 0, "50000000000000000"}, // 500,000 gas at 100 gwei
		{"the coin", "eth", records.Payment{Asset: chain.Native, Purpose: chain.Refund}, 0, "30000000000000000"},
		{"a lower ceiling", "eth", records.Payment{Asset: chain.Native, Purpose: chain.Credit}, 1000, "5000"},
		{"satoshi", "btc", records.Payment{Asset: chain.Native, Purpose: chain.Refund}, 0, "2000000"},
	} {
		one.p.Chain = one.id
		most, err := d.mostCost(Waiting{Payment: one.p, Transfer: records.Transfer{Fee: chain.NewAmount(one.fee)}}, network, token)
		require.NoError(t, err, one.name)
		require.Equal(t, one.want, most.String(), one.name)
	}
	most, err := d.mostCost(Waiting{Payment: records.Payment{Chain: "vite"}}, network, token)
	require.NoError(t, err)
	require.Nil(t, most)
}
