package wallet_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/wallet"
)

// TestRing: each path is one seed's, for address and signature, and the newest seed gives the
// deposit addresses.
func TestRing(t *testing.T) {
	words := []string{
		"abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about",
		"legal winner thank year wave sausage worth useful legal winner thank yellow",
	}
	first, err := wallet.FromMnemonic(words[0])
	require.NoError(t, err)
	second, err := wallet.FromMnemonic(words[1])
	require.NoError(t, err)
	const p = wallet.SourcePaths(60)
	ring := wallet.NewRing(first)
	is := func(keys *wallet.Keys, path, below string) {
		t.Helper()
		want, err := keys.Address(below)
		require.NoError(t, err)
		got, err := ring.Address(path)
		require.NoError(t, err)
		require.Equal(t, want, got)
		digest := make([]byte, 32)
		_, signed, err := keys.Sign(t.Context(), below, digest)
		require.NoError(t, err)
		_, signature, err := ring.Sign(t.Context(), path, digest)
		require.NoError(t, err)
		require.Equal(t, signed, signature)
	}
	deposits := func(keys *wallet.Keys) {
		t.Helper()
		want, err := keys.DepositKey(p)
		require.NoError(t, err)
		got, err := ring.DepositKey(p)
		require.NoError(t, err)
		want.Seed = ring.Seeds() - 1
		require.Equal(t, want, got)
	}
	deposits(first)
	_, err = ring.Address(wallet.SeedPath(1, p.Deposit(0)))
	require.ErrorIs(t, err, wallet.ErrPath)

	ring.Take([]wallet.Successor{{Keys: second, Accounts: []string{p.Hot(1)}}})
	require.Equal(t, 2, ring.Seeds())
	deposits(second)
	is(first, p.Deposit(7), p.Deposit(7))
	is(second, wallet.SeedPath(1, p.Deposit(7)), p.Deposit(7))
	is(first, p.Hot(0), p.Hot(0))
	is(second, p.Hot(1), p.Hot(1))
	is(first, wallet.GatewayPath(0), wallet.GatewayPath(0))
	for _, wrong := range []string{"2:" + p.Hot(0), "0:" + p.Hot(0), "01:" + p.Hot(0), "x:" + p.Hot(0), ":" + p.Hot(0), "-1:" + p.Hot(0)} {
		_, err := ring.Address(wrong)
		require.ErrorIs(t, err, wallet.ErrPath)
		_, _, err = ring.Sign(t.Context(), wrong, make([]byte, 32))
		require.ErrorIs(t, err, wallet.ErrPath)
	}
}
