package config

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/chain/vite"
	"gatewayd/exchangeapi"
	"gatewayd/httpserver"
)

func TestBridged(t *testing.T) {
	const usdt = "0xdAC17F958D2ee523a2206206994597C13D831ec7"
	c := Config{
		Vite: []vite.Config{{ID: "vite"}, {ID: "other"}},
		Networks: []Network{
			{Name: "eth", Path: "/gateway/eth", Exchange: "vite", Tokens: []Token{
				{Token: "tti_1", Asset: chain.Native, AssetDecimals: 18}, {Token: "tti_2", Asset: usdt, AssetDecimals: 6},
			}},
			{Name: "bsc", Path: "/gateway/bsc", Exchange: "vite", Tokens: []Token{{Token: "tti_2", Asset: usdt, AssetDecimals: 18}}},
			{Name: "far", Exchange: "other", Tokens: []Token{{Token: "tti_3", Asset: chain.Native}}},
		},
	}
	require.Equal(t, map[string][]exchangeapi.Bridged{
		"tti_1": {{Platform: "ETH", Path: "/gateway/eth", Decimals: 18}},
		"tti_2": {
			{Platform: "ETH", Path: "/gateway/eth", Address: usdt, Standard: "ERC20", Decimals: 6},
			{Platform: "BSC", Path: "/gateway/bsc", Address: usdt, Standard: "ERC20", Decimals: 18},
		},
	}, c.bridged())
	require.Empty(t, Config{Networks: c.Networks}.bridged())
}

func TestPublicURL(t *testing.T) {
	files, domain := httpserver.TLS{Cert: "a", Key: "b"}, httpserver.ACME{Domains: []string{"gateway.example"}}
	tests := map[string]httpserver.Config{
		"http://127.0.0.1:8080":        {Listen: "127.0.0.1:8080"},
		"http://[::1]:8080":            {Listen: "[::1]:8080"},
		"https://gateway.example":      {Listen: ":443", ACME: domain},
		"https://gateway.example:8443": {Listen: "0.0.0.0:8443", ACME: domain},
		"https://192.0.2.1":            {Listen: "192.0.2.1:443", TLS: files},
	}
	for want, c := range tests {
		require.Equal(t, want, publicURL(c))
	}
	for _, listen := range []string{":8080", "0.0.0.0:8080", "[::]:443", "127.0.0.1:0", ""} {
		require.Empty(t, publicURL(httpserver.Config{Listen: listen, TLS: files}), listen)
	}
}
