package wallet_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/wallet"
)

// TestDepositKeyHasTheAddresses: the public key derives the very addresses that the private keys
// sign for, and nothing hardened.
func TestDepositKeyHasTheAddresses(t *testing.T) {
	keys, err := wallet.FromMnemonic("test test test test test test test test test test test junk")
	require.NoError(t, err)
	paths := wallet.SourcePaths(60)
	made, err := keys.DepositKey(paths)
	require.NoError(t, err)
	key, err := wallet.ParseDepositKey(made.Bytes())
	require.NoError(t, err)
	for _, n := range []uint32{0, 1, 7, 1 << 20, 1<<31 - 1} {
		want, err := keys.Address(paths.Deposit(n))
		require.NoError(t, err)
		got, err := key.Address(n)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	_, err = key.Address(1 << 31)
	require.Error(t, err)
	_, err = wallet.ParseDepositKey(nil, nil)
	require.Error(t, err)
}
