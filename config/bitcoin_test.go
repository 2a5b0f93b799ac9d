package config

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/chain/bitcoin"
	"gatewayd/records"
	"gatewayd/wallet"
	"gatewayd/wallet/keystore"
)

const about = "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about"

// coinConfig is liveConfig with a chain of Bitcoin and its network.
func coinConfig() Config {
	cfg := liveConfig()
	cfg.Bitcoin = []bitcoin.Config{{ID: "btc", Network: "bitcoin", Nodes: []string{"http://user:secret@127.0.0.1:8332"}}}
	cfg.Networks = append(cfg.Networks, Network{
		Name: "btc", Path: "/gateway/btc", Source: "btc", Exchange: cfg.Networks[0].Exchange, Account: 7,
		Tokens: []Token{{
			Token: "tti_80f3751485e4e83456059473", Symbol: "BTC-000", Decimals: 8, Asset: chain.Native, AssetDecimals: 8, MinWithdraw: chain.NewAmount(20_000),
			Deposits: records.Depth{Count: 6}, Withdrawals: records.Depth{Count: 180}, Fee: records.Fee{Kind: "network"},
		}},
	})
	return cfg
}

// TestCoinChain: the chain has the figures of its network, one paying account, and no gas account.
func TestCoinChain(t *testing.T) {
	cfg := coinConfig()
	cfg.Wallet.Successors = []Successor{{Store: "later", PasswordEnv: "PASSWORD", Accounts: []string{"m/44'/60'/1'/1/1"}}}
	cfg.Fill()
	require.NoError(t, cfg.Check(), "the other chains' accounts may move to a new seed")
	k, ok := cfg.Chain("btc")
	require.True(t, ok)
	require.Equal(t, []any{"bitcoin", true, uint8(8), uint32(0), 1}, []any{k.Kind, k.Source, k.Decimals, k.CoinType, k.Accounts})
	record := cfg.NetworkRecord(cfg.Networks[1])
	require.EqualValues(t, 8, record.CoinDecimals)
	require.True(t, record.NoSenders, "what comes to the pool is funding")
	source := func(n Network) (list []string) {
		for _, a := range cfg.OwnAccounts(n) {
			if a.Chain == n.Source {
				list = append(list, string(a.Kind)+" "+a.KeyPath)
			}
		}
		return list
	}
	require.Equal(t, []string{"hot m/84'/0'/0'/1/0"}, source(cfg.Networks[1]))
	require.Contains(t, source(cfg.Networks[0]), "gas m/44'/60'/1'/0/1")
	require.Equal(t, "m/84'/0'/0'/0/9", k.DepositPath(9))
	require.Contains(t, cfg.AssetAmount("btc", chain.Native, chain.NewAmount(250_000_000)), "2.5 ")

	require.Equal(t, "has 5 native", cfg.InWholeUnits("has 5 native"), "of which of two coins it does not name")
	require.NotEqual(t, "has 5 native", liveConfig().InWholeUnits("has 5 native"))

	text, err := cfg.Show()
	require.NoError(t, err)
	require.Contains(t, string(text), "network: bitcoin")
	require.NotContains(t, string(text), "secret")
	policy, err := cfg.Policy()
	require.NoError(t, err)
	cfg.Bitcoin[0].Confirmations = 7
	changed, err := cfg.Policy()
	require.NoError(t, err)
	require.Equal(t, []string{"chain btc"}, policy.Differences(changed))
}

// TestCoinRules: each violation of what such a chain can do is an error that names the field.
func TestCoinRules(t *testing.T) {
	for want, change := range map[string]func(*Config){
		`bitcoin btc: network: "dogecoin": must be one of`:                     func(c *Config) { c.Bitcoin[0].Network = "dogecoin" },
		`bitcoin btc: networks: exactly one must have it as its source, not 0`: func(c *Config) { c.Networks = c.Networks[:1] },
		`bitcoin btc: networks: exactly one must have it as its source, not 2`: func(c *Config) {
			n := c.Networks[1]
			n.Name, n.Path, n.Account = "again", "/again", 8
			c.Networks = append(c.Networks, n)
		},
		`bitcoin btc: wallet.successors: accounts: "m/84'/0'/0'/1/0": the pool's keys stay with the first seed`: func(c *Config) {
			c.Wallet.Successors = []Successor{{Store: "later", PasswordEnv: "PASSWORD", Accounts: []string{"m/44'/60'/1'/1/1", "m/84'/0'/0'/1/0"}}}
		},
		`btc token tti_80f3751485e4e83456059473: asset "` + someContract + `": must be native`: func(c *Config) { c.Networks[1].Tokens[0].Asset = chain.Asset(someContract) },
		`btc token tti_80f3751485e4e83456059473: asset_decimals: must be 8`:                    func(c *Config) { c.Networks[1].Tokens[0].AssetDecimals = 18 },
		`btc token tti_80f3751485e4e83456059473: type 1: must be 0`: func(c *Config) {
			c.Networks[1].Tokens[0].Type, c.Networks[1].Tokens[0].LabelName = 1, "Memo"
		},
		`cold: not a payable address: another network: it is an address of litecoin, not of bitcoin`: func(c *Config) {
			c.Networks[1].Tokens[0].Cold = "ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9"
		},
		`cold: not a payable address: it is neither base58 nor bech32 with the prefix bc1`: func(c *Config) { c.Networks[1].Tokens[0].Cold = coldAddress },
		`is not an address of chain eth`: func(c *Config) {
			c.Networks[0].Tokens[0].Cold = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"
		},
		`btc: funders: "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4" is not an address`: func(c *Config) {
			c.Networks[1].Funders = []string{"bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"}
		},
		`two chains have the same id`: func(c *Config) { c.Bitcoin[0].ID = "eth" },
	} {
		t.Run(want, func(t *testing.T) {
			cfg := coinConfig()
			change(&cfg)
			cfg.Fill()
			require.ErrorContains(t, cfg.Check(), want)
		})
	}
	for _, key := range []string{"accounts: 2", "retired: [0]", "tokens: []"} { // the kind has no such keys
		path := filepath.Join(t.TempDir(), "config.yaml")
		require.NoError(t, os.WriteFile(path, []byte("bitcoin:\n  - id: btc\n    network: bitcoin\n    "+key+"\n"), 0o600))
		_, err := Load(path)
		require.ErrorContains(t, err, "unknown field")
	}
}

// TestCoinsOnReload: nodes are taken on reload, and what decides addresses or finality is not.
func TestCoinsOnReload(t *testing.T) {
	for want, change := range map[string]func(*Config){
		"bitcoin.btc.nodes":         func(c *Config) { c.Bitcoin[0].Nodes = []string{"http://127.0.0.1:1"} },
		"bitcoin.btc.addresses":     func(c *Config) { c.Bitcoin[0].Addresses = "p2tr" },
		"bitcoin.btc.confirmations": func(c *Config) { c.Bitcoin[0].Confirmations = 2 },
	} {
		now, next := coinConfig(), coinConfig()
		change(&next)
		taken := now.Taking(next)
		found := keys(t, now, taken)
		if want != "bitcoin.btc.nodes" {
			require.Empty(t, found)
			found = keys(t, taken, next)
		}
		require.Equal(t, []string{want}, found)
		require.Empty(t, keys(t, coinConfig(), now), "the one before is as it was")
	}
}

// TestColdCoins: the cold address is in the form of its chain.
func TestColdCoins(t *testing.T) {
	cfg := coinConfig()
	cfg.Bitcoin[0].Network = "litecoin"
	cfg.Networks[1].Tokens[0].Cold = "3CDJNfdWX8m2NwuGUV3nhXHXEeLygMXoAj" // with the older version byte
	cfg.Fill()
	require.NoError(t, cfg.Check())
	require.Equal(t, "MJRSgZ3UUFcTBTBAaN38XAXvZLwRe8WVw7", cfg.NetworkRecord(cfg.Networks[1]).Tokens[0].Cold)
}

// TestCoinAddresses: the addresses of a chain are those of the vectors of BIP-84 and BIP-86, and
// only those of its own account.
func TestCoinAddresses(t *testing.T) {
	keys, err := wallet.FromMnemonic(about)
	require.NoError(t, err)
	for kind, want := range map[string][2]string{
		"p2wpkh": {"bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu", "bc1q8c6fshw2dlwun7ekn9qwf37cu2rn755upcp6el"},
		"p2tr":   {"bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr", "bc1p3qkhfews2uk44qtvauqyr2ttdsw7svhkl9nkm9s9c3x4ax5h60wqwruhk7"},
	} {
		k := bitcoinChain(bitcoin.Config{ID: "btc", Network: "bitcoin", Addresses: kind, Nodes: []string{"http://127.0.0.1"}})
		deposit, err := k.Account(keys, k.DepositPath(0))
		require.NoError(t, err)
		pool, err := k.Account(keys, k.Coins.Pool())
		require.NoError(t, err)
		require.Equal(t, want, [2]string{deposit, pool})
		with, err := k.WithKeys(keys)
		require.NoError(t, err)
		own, err := with.Settings.(bitcoin.Config).Pool()
		require.NoError(t, err)
		require.Equal(t, pool, own.Text, "change goes where the pool is")
		require.NoError(t, with.Settings.Check())
		rules, err := with.Rules()
		require.NoError(t, err)
		require.NotNil(t, rules)
		for _, path := range []string{"m/44'/0'/0'/0/0", "m/84'/1'/0'/0/0", "m/86'/1'/0'/0/0", string(k.Coins), string(k.Coins) + "/0", string(k.Coins) + "/0/0/0", string(k.Coins) + "/00/0", string(k.Coins) + "/2/0", string(k.Coins) + "/0/0'"} {
			_, err := k.Account(keys, path)
			require.Error(t, err, path)
		}
	}
	key, err := keys.AccountKey("m/84'/0'/0'")
	require.NoError(t, err)
	stored := AccountKey{}
	stored.Public, stored.Chain = key.Bytes()
	read, err := stored.AccountKey("")
	require.NoError(t, err)
	require.Equal(t, textOf(key), textOf(read))
}

func textOf(k keystore.ExtendedPublicKey) string {
	public, chainCode := k.Bytes()
	return hex.EncodeToString(append(public, chainCode...))
}
