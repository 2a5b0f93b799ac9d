package config

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestChainNames(t *testing.T) {
	for want, c := range map[string]Chain{
		"Ethereum":               {ID: "eth", Kind: "ethereum", ChainID: 1},
		"Sepolia":                {ID: "eth", Kind: "ethereum", ChainID: 11155111},
		"Ethereum (development)": {ID: "eth", Kind: "ethereum", ChainID: 1337},
		"mine":                   {ID: "mine", Kind: "ethereum", ChainID: 987654321},
		"Bitcoin":                {ID: "btc", Kind: "bitcoin", Network: "bitcoin"},
		"Litecoin (testnet)":     {ID: "ltc", Kind: "bitcoin", Network: "litecoin-testnet"},
		"Vite":                   {ID: "vite", Kind: "vite"},
	} {
		require.Equal(t, want, c.title())
	}
}

// The configuration's own names go before.
func TestNetworkNames(t *testing.T) {
	cfg, err := Load("testdata/config.yaml")
	require.NoError(t, err)
	n := cfg.Networks[0]
	r := cfg.NetworkRecord(n)
	require.Equal(t, []any{"Ethereum", "Vite", uint64(1)}, []any{r.SourceName, r.ExchangeName, r.ChainID})
	n.SourceName, n.ExchangeName = "Our chain", "Its bridge"
	r = cfg.NetworkRecord(n)
	require.Equal(t, []string{"Our chain", "Its bridge"}, []string{r.SourceName, r.ExchangeName})
}
