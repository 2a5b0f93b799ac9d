package bitcoin_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain/bitcoin"
	"gatewayd/chain/bitcoin/network"
	gateway "gatewayd/wallet"
)

const mnemonic = "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about"

// accountOf is an account of the test seed.
func accountOf(t testing.TB, of, path string) network.Account {
	t.Helper()
	keys, err := gateway.FromMnemonic(mnemonic)
	require.NoError(t, err)
	key, err := keys.AccountKey(path)
	require.NoError(t, err)
	account, err := network.Named(of).NewAccount(path, key)
	require.NoError(t, err)
	return account
}

func TestPayConfig(t *testing.T) {
	good := func() bitcoin.Config {
		return bitcoin.Config{ID: "coin", Network: "bitcoin", Nodes: []string{"http://localhost:1"}}
	}
	for want, change := range map[string]func(*bitcoin.Config){
		`addresses: "p2pkh": must be p2wpkh or p2tr`: func(c *bitcoin.Config) { c.Addresses = "p2pkh" },
		"addresses: p2tr, but account m/84'/0'/0'": func(c *bitcoin.Config) {
			c.Addresses, c.Accounts = "p2tr", []network.Account{accountOf(t, "bitcoin", "m/84'/0'/0'")}
		},
		"batch.most: must be from 1 to 100":                       func(c *bitcoin.Config) { c.Batch.Most = 101 },
		"batch.wait: must be from 0":                              func(c *bitcoin.Config) { c.Batch.Wait = -1 },
		"min_fee_rate: must be from 1":                            func(c *bitcoin.Config) { c.MinFeeRate = -1 },
		"max_fee_rate: must be from min_fee_rate (10) to 10000 s": func(c *bitcoin.Config) { c.Network, c.MaxFeeRate = "litecoin", 9 },
		"max_fee: must be above 0":                                func(c *bitcoin.Config) { c.MaxFee = -1 },
	} {
		config := good()
		require.NoError(t, config.Check())
		change(&config)
		require.ErrorContains(t, config.Check(), want)
	}
	config := good()
	require.Equal(t, "m/84'/0'/0'", config.AccountPath())
	config.Accounts = []network.Account{accountOf(t, "bitcoin", config.AccountPath())}
	require.NoError(t, config.Check())
	pool, err := config.Pool()
	require.NoError(t, err)
	require.Equal(t, "bc1q8c6fshw2dlwun7ekn9qwf37cu2rn755upcp6el", pool.Text, "BIP-84's own example")
	require.Equal(t, "m/84'/0'/0'/1/0", pool.Path)
	config.Addresses = "p2tr"
	require.Equal(t, "m/86'/0'/0'", config.AccountPath())
}
