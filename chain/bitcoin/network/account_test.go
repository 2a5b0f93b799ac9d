package network

import (
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/wallet/keystore"
)

const abandon = "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about"

// accountOf derives an account from the words.
func accountOf(t testing.TB, n *Network, words, path string) (Account, error) {
	t.Helper()
	root, err := keystore.NewExtendedKey(keystore.Seed(words, ""))
	require.NoError(t, err)
	key, err := root.Derive(path)
	require.NoError(t, err)
	return n.NewAccount(path, key.Public())
}

// TestAccountVectors has the vectors of BIP-84 and BIP-86.
func TestAccountVectors(t *testing.T) {
	for _, v := range vectors(t, "accounts.txt", 4) {
		a, err := accountOf(t, Named("bitcoin"), abandon, v[0])
		require.NoError(t, err)
		var branch, index uint32
		_, err = fmt.Sscanf(v[1], "%d/%d", &branch, &index)
		require.NoError(t, err)
		own, err := a.Own(branch, index)
		require.NoError(t, err)
		require.Equal(t, v[2], own.Text)
		require.Equal(t, v[3], hex.EncodeToString(own.Public)[66-len(v[3]):])
		require.Equal(t, v[0]+"/"+v[1], own.Path)
		found, err := OwnAt([]Account{a}, own.Levels, own.Script)
		require.NoError(t, err)
		require.Equal(t, own, found)
	}
}

func TestAccountPaths(t *testing.T) {
	for path, fault := range map[string]string{
		"m/44'/0'/0'":          "must be m/84'",
		"m/84'/0'":             "must be m/84'",
		"m/84'/0'/0":           "must be m/84'",
		"m/84'/0'/0'/0":        "must be m/84'",
		"m/84'/2'/0'":          "the coin type of bitcoin is 0",
		"m/84'/0'/2147483648'": "out of range",
	} {
		_, err := Named("bitcoin").NewAccount(path, keystore.ExtendedPublicKey{})
		require.ErrorContains(t, err, fault, path)
	}
}

// TestOwnAtFindsNothingElse: a script is ours only at its own path, and a branch is one of two.
func TestOwnAtFindsNothingElse(t *testing.T) {
	n := Named("bitcoin")
	segwit, err := accountOf(t, n, abandon, "m/84'/0'/0'")
	require.NoError(t, err)
	taproot, err := accountOf(t, n, abandon, "m/86'/0'/0'")
	require.NoError(t, err)
	all := []Account{segwit, taproot}
	own, err := segwit.Own(Internal, 5)
	require.NoError(t, err)
	other, err := taproot.Own(Internal, 5)
	require.NoError(t, err)
	for name, levels := range map[string][]uint32{
		"index": {84 | hardened, hardened, hardened, 1, 6}, "branch": {84 | hardened, hardened, hardened, 0, 5}, "no branch": {84 | hardened, hardened, hardened, 2, 5},
		"hardened": {84 | hardened, hardened, hardened, 1, 5 | hardened}, "purpose": other.Levels, "short": own.Levels[:4], "none": nil, "long": append(own.Levels, 0),
	} {
		_, err := OwnAt(all, levels, own.Script)
		require.ErrorIs(t, err, errNotOurs, name)
	}
	_, err = segwit.Own(2, 0)
	require.ErrorContains(t, err, "branch 2")
	_, err = segwit.Own(0, hardened)
	require.ErrorIs(t, err, keystore.ErrPath)
}
