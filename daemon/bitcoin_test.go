package daemon

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/chain/bitcoin"
	"gatewayd/chain/ethereum"
	"gatewayd/config"
	"gatewayd/records"
	"gatewayd/records/signguard"
	"gatewayd/signer"
	"gatewayd/wallet"
)

// coinsOf is a configuration with a chain of Bitcoin, whose nodes nothing asks here.
func coinsOf(kind string) config.Config {
	return config.Config{
		Bitcoin:  []bitcoin.Config{{ID: "btc", Network: "bitcoin", Addresses: kind, Nodes: []string{"http://127.0.0.1:1"}}},
		Networks: []config.Network{{Name: "btc", Source: "btc", Exchange: "vite"}},
	}
}

func coinSigner(t *testing.T, cfg config.Config) *signer.Signer {
	t.Helper()
	return coinSignerOf(t, cfg, coinRing(t))
}

func coinRing(t *testing.T) *wallet.Ring {
	t.Helper()
	keys, err := wallet.FromMnemonic("abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about")
	require.NoError(t, err)
	return wallet.NewRing(keys)
}

func coinSignerOf(t *testing.T, cfg config.Config, keys *wallet.Ring) *signer.Signer {
	t.Helper()
	guard, err := signguard.Open(filepath.Join(t.TempDir(), "guard.db"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, guard.Close()) })
	rules, err := signingRules(config.Config{Bitcoin: cfg.Bitcoin}, keys)
	require.NoError(t, err)
	s, _, err := newSigner(t.Context(), cfg, keys, guard, rules, nil)
	require.NoError(t, err)
	return s
}

// TestCoinAddresses: the daemon derives the addresses of BIP-84 and BIP-86 from the signer's public
// key, as the signer itself does from the seed.
func TestCoinAddresses(t *testing.T) {
	for kind, want := range map[string][3]string{
		"":     {"bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu", "bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g", "bc1q8c6fshw2dlwun7ekn9qwf37cu2rn755upcp6el"},
		"p2tr": {"bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr", "bc1p4qhjn9zdvkux4e44uhx8tc55attvtyu358kutcqkudyccelu0was9fqzwh", "bc1p3qkhfews2uk44qtvauqyr2ttdsw7svhkl9nkm9s9c3x4ax5h60wqwruhk7"},
	} {
		cfg := coinsOf(kind)
		source, _ := cfg.Chain("btc")
		s := coinSigner(t, cfg)
		d := &Daemon{Config: cfg, signer: s, deps: Dependencies{Signer: s}}
		derive, err := d.deriver(t.Context(), records.Network{Name: "btc", Source: "btc"})
		require.NoError(t, err)
		for index := range uint32(2) {
			address, path, err := derive(t.Context(), fmt.Sprint("vite_user", index), index)
			require.NoError(t, err, "signer and daemon derive the same")
			require.Equal(t, want[index], address)
			require.Equal(t, fmt.Sprintf("%s/0/%d", source.Coins, index), path)
		}
		_, err = s.GiveAddress(t.Context(), signguard.Binding{Network: "btc", Chain: "btc", Index: 2, Address: want[0], User: "vite_other"})
		require.ErrorIs(t, err, signer.ErrRefused)

		with, err := d.withAccount(t.Context(), source)
		require.NoError(t, err)
		pool, err := with.Settings.(bitcoin.Config).Pool()
		require.NoError(t, err)
		require.Equal(t, want[2], pool.Text)
		accounts, err := s.Accounts(t.Context(), "btc", source.Coins.Pool())
		require.NoError(t, err)
		require.Equal(t, []string{pool.Text}, accounts)
	}
}

// TestNewSeedBesideAPool: with a new seed, users of EVM chains get addresses of it. A pool stays
// with the first seed: its address, its users' addresses and its key.
func TestNewSeedBesideAPool(t *testing.T) {
	second, err := wallet.FromMnemonic("legal winner thank year wave sausage worth useful legal winner thank yellow")
	require.NoError(t, err)
	cfg := coinsOf("")
	cfg.Ethereum = []ethereum.Config{{ID: "eth", ChainID: 1, Nodes: []string{"http://127.0.0.1:1"}}}
	cfg.Networks = append(cfg.Networks, config.Network{Name: "eth", Source: "eth", Exchange: "vite"})
	ring := coinRing(t)
	s := coinSignerOf(t, cfg, ring)
	first, err := ring.Address(wallet.SourcePaths(ethereum.CoinType).Deposit(0))
	require.NoError(t, err)
	ring.Take([]wallet.Successor{{Keys: second, Accounts: []string{"m/44'/60'/1'/1/1"}}})
	d := &Daemon{Config: cfg, signer: s, deps: Dependencies{Signer: s}}
	derived := func(network string) string {
		derive, err := d.deriver(t.Context(), records.Network{Name: network, Source: chain.ID(network)})
		require.NoError(t, err)
		address, _, err := derive(t.Context(), "vite_user", 0)
		require.NoError(t, err, "signer and daemon derive the same")
		own, err := OwnDeposit(ring, cfg, chain.ID(network), 0, address)
		require.NoError(t, err)
		require.True(t, own)
		own, err = OwnDeposit(ring, cfg, chain.ID(network), 0, "other")
		require.NoError(t, err)
		require.False(t, own)
		return address
	}
	want, err := second.Address(wallet.SourcePaths(ethereum.CoinType).Deposit(0))
	require.NoError(t, err)
	require.Equal(t, want, derived("eth"))
	require.NotEqual(t, first, want)
	require.Equal(t, "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu", derived("btc"))

	source, _ := cfg.Chain("btc")
	with, err := d.withAccount(t.Context(), source)
	require.NoError(t, err)
	pool, err := with.Settings.(bitcoin.Config).Pool()
	require.NoError(t, err)
	require.Equal(t, "bc1q8c6fshw2dlwun7ekn9qwf37cu2rn755upcp6el", pool.Text)
	digest := make([]byte, 32)
	public, _, err := ring.Sign(t.Context(), pool.Path, digest)
	require.NoError(t, err)
	require.Equal(t, pool.Public, public)
}

// wrongKey is a signer whose public key is of a child of the account.
type wrongKey struct{ signer.Service }

func (s wrongKey) DepositKey(ctx context.Context, id chain.ID) (key signer.DepositKey, err error) {
	if key, err = s.Service.DepositKey(ctx, id); err != nil {
		return key, err
	}
	account, err := wallet.ParseDepositKey(key.Public, key.Chain)
	if err != nil {
		return key, err
	}
	child, err := account.AccountKey().Child(0)
	key.Public, key.Chain = child.Bytes()
	return key, err
}

// TestWrongAccountKey: a public key that is not the account's is refused before any address is
// given.
func TestWrongAccountKey(t *testing.T) {
	cfg := coinsOf("")
	source, _ := cfg.Chain("btc")
	d := &Daemon{Config: cfg, deps: Dependencies{Signer: wrongKey{coinSigner(t, cfg)}}}
	_, err := d.withAccount(t.Context(), source)
	require.ErrorContains(t, err, "the signer's public key is not that of m/84'/0'/0'")
}

// TestOwnCoinDeposit: imported bindings must have the addresses of the wallet.
func TestOwnCoinDeposit(t *testing.T) {
	keys, err := wallet.FromMnemonic("abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about")
	require.NoError(t, err)
	cfg := coinsOf("")
	own, err := OwnDeposit(keys, cfg, "btc", 1, "bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g")
	require.NoError(t, err)
	require.True(t, own)
	own, err = OwnDeposit(keys, cfg, "btc", 0, "bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g")
	require.NoError(t, err)
	require.False(t, own)
}
