package wallet

import (
	"bytes"
	"encoding/hex"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/stretchr/testify/require"

	"gatewayd/wallet/keystore"
)

// TestBitcoinSignatures: the keys are those of the vectors of BIP-84 and BIP-86, and each kind of
// path signs by its own scheme.
func TestBitcoinSignatures(t *testing.T) {
	keys, err := FromMnemonic(abandon)
	require.NoError(t, err)
	for path, want := range map[string]string{
		"m/84'/0'/0'/0/0": "0330d54fd0dd420a6e5f8d3624f5f3482cae350f79d5f0753bf5beef9c2d91af3c",
		"m/84'/0'/0'/1/0": "03025324888e429ab8e3dbaf1f7802648b9cd01e9b418485c5fa4c1b9b5700e1a6",
		"m/86'/0'/0'/0/1": "a82f29944d65b86ae6b5e5cc75e294ead6c59391a1edc5e016e3498c67fc7bbb",
		"m/86'/0'/0'/1/0": "882d74e5d0572d5a816cef0041a96b6c1de832f6f9676d9605c44d5e9a97d3dc",
	} {
		for n := range byte(20) {
			digest := bytes.Repeat([]byte{n}, 32)
			public, signature, err := keys.Sign(t.Context(), path, digest)
			require.NoError(t, err)
			require.Equal(t, want, hex.EncodeToString(public), path)
			require.Len(t, signature, 64)
			if len(public) == 33 {
				require.True(t, crypto.VerifySignature(public, digest, signature), "of the key, with S in the lower half")
				continue
			}
			key, err := schnorr.ParsePubKey(public)
			require.NoError(t, err)
			sig, err := schnorr.ParseSignature(signature)
			require.NoError(t, err)
			require.True(t, sig.Verify(digest, key))
		}
	}
}

func TestAccountKey(t *testing.T) {
	keys, err := FromMnemonic(abandon)
	require.NoError(t, err)
	ring := NewRing(keys)
	account, err := ring.AccountKey("m/84'/0'/0'")
	require.NoError(t, err)
	branch, err := account.Child(0)
	require.NoError(t, err)
	first, err := branch.Child(0)
	require.NoError(t, err)
	public, _ := first.Bytes()
	require.Equal(t, "0330d54fd0dd420a6e5f8d3624f5f3482cae350f79d5f0753bf5beef9c2d91af3c", hex.EncodeToString(public))
	for _, path := range []string{"m/44'/60'/0'", "m/44'/666666'/0'", "m", "", "m/84'/x'", "1:m/84'/0'/0'"} {
		_, err := ring.AccountKey(path)
		require.ErrorIs(t, err, ErrPath, path)
	}
	later, err := FromMnemonic(junk)
	require.NoError(t, err)
	ring.Take([]Successor{{Keys: later}})
	other, err := ring.AccountKey("1:m/84'/0'/0'")
	require.NoError(t, err)
	require.NotEqual(t, account, other)
	own, err := later.AccountKey("m/84'/0'/0'")
	require.NoError(t, err)
	require.Equal(t, keyText(own), keyText(other))
	for _, path := range []string{"m/84'/0'/0'/0/0", "m/86'/2'/0'/1/7"} {
		_, err := keys.Address(path)
		require.ErrorIs(t, err, ErrPath, "the address depends on the network")
	}
}

func keyText(k keystore.ExtendedPublicKey) string {
	public, chain := k.Bytes()
	return hex.EncodeToString(append(public, chain...))
}
