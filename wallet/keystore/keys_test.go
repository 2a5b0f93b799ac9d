package keystore

import (
	"encoding/hex"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"
	"github.com/stretchr/testify/require"
)

func TestKeyVectors(t *testing.T) {
	var v hdVectors
	loadVectors(t, "hd-derivation.json", &v)
	require.NotEmpty(t, v.Valid)
	for _, c := range v.Valid {
		seed := unhex(t, c.SeedHex)
		master := viteMaster(seed)
		require.Equal(t, c.MasterKeyHex, hex.EncodeToString(master.key[:]))
		require.Equal(t, c.MasterChainCodeHex, hex.EncodeToString(master.chain[:]))
		keys := NewKeys(seed)
		for _, a := range c.Accounts {
			require.Equal(t, a.Path, IndexPath(a.Index))
			key, err := keys.ByIndex(a.Index)
			require.NoError(t, err)
			require.Equal(t, a.PrivateKeyHex, hex.EncodeToString(key.Bytes()))
			require.Equal(t, a.Address, key.Address().String())
			chain := keys.secret().account.viteChild(a.Index).chain
			require.Equal(t, a.ChainCodeHex, hex.EncodeToString(chain[:]))
		}
		for _, a := range append(c.OtherPaths, c.Accounts...) {
			key, err := keys.ByPath(a.Path)
			require.NoError(t, err, a.Path)
			require.Equal(t, a.PrivateKeyHex, hex.EncodeToString(key.Bytes()))
			require.Equal(t, a.Address, key.Address().String())
		}
		require.Equal(t, c.Accounts[0].Address, keys.PrimaryAddress().String())
	}
}

func TestPathFaults(t *testing.T) {
	keys := NewKeys(make([]byte, SeedSize))
	var v hdVectors
	loadVectors(t, "hd-derivation.json", &v)
	require.NotEmpty(t, v.InvalidPaths)
	for _, c := range v.InvalidPaths {
		_, err := keys.ByPath(c.Path)
		require.Error(t, err, c.Path)
	}
	for path, text := range map[string]string{
		"m/44'/666666'/2147483648'":        "no public derivation for ed25519",
		"m/44'/666666'/4294967295'":        "no public derivation for ed25519",
		"m/44'/666666'/4294967296'":        "invalid derivation path",
		"m/2147483648'/x":                  "invalid derivation path",
		"m/44'/666666'/0":                  "invalid derivation path",
		"m":                                "invalid derivation path",
		"m/":                               "invalid derivation path",
		"m/+1'":                            "invalid derivation path",
		"m/1''":                            "invalid derivation path",
		"m" + strings.Repeat("/0'", 1_000): "invalid derivation path",
	} {
		_, err := keys.ByPath(path)
		require.EqualError(t, err, text, path)
	}
	_, err := keys.ByIndex(hardened)
	require.ErrorIs(t, err, ErrNotHardened)
	_, err = keys.ByIndex(hardened - 1)
	require.NoError(t, err)
}

func TestSecretsDoNotPrint(t *testing.T) {
	seed := []byte(strings.Repeat("S", SeedSize))
	keys := NewKeys(seed)
	extended, err := NewExtendedKey(seed)
	require.NoError(t, err)
	account := keys.secret().account.key
	private := crypto.FromECDSA(extended.Private())
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%x", "%d", "%q"} {
		text := fmt.Sprintf(format, struct {
			Keys Keys
			keys Keys
			e    ExtendedKey
		}{keys, keys, extended})
		for _, secret := range []string{
			hex.EncodeToString(account[:4]), fmt.Sprint(account[0], account[1], account[2]),
			new(big.Int).SetBytes(private).String(), hex.EncodeToString(private),
		} {
			require.NotContains(t, text, secret, format)
		}
	}
	require.Equal(t, "keys", keys.String())
	require.Equal(t, "extended key", extended.String())
}

func FuzzPath(f *testing.F) {
	var v hdVectors
	loadVectors(f, "hd-derivation.json", &v)
	for _, c := range v.InvalidPaths {
		f.Add(c.Path)
	}
	f.Add("m/44'/666666'/0'")
	f.Add("m/44'/60'/0'/0/7")
	f.Fuzz(func(t *testing.T, path string) {
		strict, strictErr := parseHardened(path)
		levels, err := parsePath(path)
		if strictErr == nil {
			require.NoError(t, err, "the exchange chain's grammar is the narrower one")
			require.Equal(t, levels, strict)
		}
		if err != nil {
			return
		}
		again, err := parsePath(printPath(levels))
		require.NoError(t, err)
		require.Equal(t, levels, again)
	})
}

func printPath(levels []uint32) string {
	text := "m"
	for _, n := range levels {
		text += fmt.Sprintf("/%d", n&^hardened)
		if n >= hardened {
			text += "'"
		}
	}
	return text
}
