package keystore

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"
	"github.com/stretchr/testify/require"
)

// TestPublicDerivation: below a public key come the public keys of the private one's children, and
// nothing hardened.
func TestPublicDerivation(t *testing.T) {
	root, err := NewExtendedKey(Seed(junk, ""))
	require.NoError(t, err)
	account, err := root.Derive("m/44'/60'/0'")
	require.NoError(t, err)
	public, err := ParseExtendedPublicKey(account.Public().Bytes())
	require.NoError(t, err)
	for _, path := range []string{"m", "m/0", "m/0/0", "m/0/1", "m/0/999999", "m/1/2147483647"} {
		private, err := account.Derive(path)
		require.NoError(t, err)
		derived, err := publicAt(public, path)
		require.NoError(t, err)
		require.True(t, derived.Key().Equal(&private.Private().PublicKey), path)
	}
	third, err := publicAt(public, "m/0/2")
	require.NoError(t, err)
	require.Equal(t, "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC", crypto.PubkeyToAddress(*third.Key()).Hex())
	for _, path := range []string{"m/0'", "m/0/1'"} {
		_, err := publicAt(public, path)
		require.ErrorIs(t, err, ErrPath, path)
	}
}

// publicAt is the key at a path of levels without hardening below k.
func publicAt(k ExtendedPublicKey, path string) (ExtendedPublicKey, error) {
	levels, err := parsePath(path)
	for i := 0; err == nil && i < len(levels); i++ {
		k, err = k.Child(levels[i])
	}
	return k, err
}

// BIP-32's own vector: the public chain of the second seed, children of children without hardening.
func TestPublicVector(t *testing.T) {
	const parent = "xprv9s21ZrQH143K31xYSDQpPDxsXRTUcvj2iNHm5NUtrGiGG5e2DtALGdso3pGz6ssrdK4PFmM8NSpSBHNqPqm55Qn3LqFtT2emdEXVYsCzC2U"
	const child = "xprv9vHkqa6EV4sPZHYqZznhT2NPtPCjKuDKGY38FBWLvgaDx45zo9WQRUT3dKYnjwih2yJD9mkrocEZXo1ex8G81dwSM1fwqWpWkeS3v86pgKt"
	chain, private := parseXprv(t, parent)
	key, err := newExtended(node{key: [32]byte(private), chain: [32]byte(chain)})
	require.NoError(t, err)
	derived, err := key.Public().Child(0)
	require.NoError(t, err)
	wantChain, wantPrivate := parseXprv(t, child)
	want, err := crypto.ToECDSA(wantPrivate)
	require.NoError(t, err)
	require.True(t, derived.Key().Equal(&want.PublicKey))
	_, code := derived.Bytes()
	require.Equal(t, wantChain, code)
}

func TestPublicKeyFaults(t *testing.T) {
	root, err := NewExtendedKey(make([]byte, 16))
	require.NoError(t, err)
	public, chain := root.Public().Bytes()
	for name, parts := range map[string][2][]byte{
		"no point":      {bytes.Repeat([]byte{0xff}, 33), chain},
		"short point":   {public[:32], chain},
		"short chain":   {public, chain[:31]},
		"nothing":       {nil, nil},
		"uncompressed":  {crypto.FromECDSAPub(root.Public().Key()), chain},
		"private bytes": {root.secret().key[:], chain},
	} {
		_, err := ParseExtendedPublicKey(parts[0], parts[1])
		require.Error(t, err, name)
	}
	require.NotContains(t, fmt.Sprintf("%v %+v", root, root.Public()), fmt.Sprintf("%x", root.secret().key[:]))
}
