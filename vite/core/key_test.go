package core

import (
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

type signatureVectors struct {
	Valid []struct {
		SeedHex, PrivateKeyHex, PublicKeyHex, Address, MessageHex, SignatureHex string
	}
	Invalid []struct{ Reason, MessageHex, SignatureHex, PublicKeyHex string }
}

func TestSignatureVectors(t *testing.T) {
	var v signatureVectors
	loadVectors(t, "ed25519-blake2b.json", &v)
	require.NotEmpty(t, v.Valid)
	for _, c := range v.Valid {
		key := testKey(t, c.PrivateKeyHex)
		public := key.Public()
		require.Equal(t, c.PublicKeyHex, public.String())
		require.Equal(t, c.Address, key.Address().String())
		require.Equal(t, c.PrivateKeyHex, hex.EncodeToString(key.Bytes()))
		message := unhex(t, c.MessageHex)
		require.Equal(t, c.SignatureHex, hex.EncodeToString(key.Sign(message)))
		require.True(t, Verify(public[:], message, unhex(t, c.SignatureHex)))
	}
	for _, c := range v.Invalid {
		require.False(t, Verify(unhex(t, c.PublicKeyHex), unhex(t, c.MessageHex), unhex(t, c.SignatureHex)), c.Reason)
	}
}

func TestVerifyRefusesForeignShapes(t *testing.T) {
	key, err := NewPrivateKey(make([]byte, SeedSize))
	require.NoError(t, err)
	public, message := key.Public(), []byte("message")
	signature := key.Sign(message)
	require.True(t, Verify(public[:], message, signature))
	require.False(t, Verify(nil, message, signature))
	require.False(t, Verify(public[:31], message, signature))
	require.False(t, Verify(public[:], message, signature[:63]))
	require.False(t, Verify(public[:], []byte("massage"), signature))
	offCurve := make([]byte, PublicKeySize)
	offCurve[0] = 2
	require.False(t, Verify(offCurve, message, signature))
}

func TestPrivateKeyRefusesBadBytes(t *testing.T) {
	_, err := NewPrivateKey(make([]byte, 31))
	require.ErrorIs(t, err, ErrKey)
}

func TestPrivateKeyDoesNotPrint(t *testing.T) {
	key, err := NewPrivateKey([]byte("0123456789abcdef0123456789abcdef"))
	require.NoError(t, err)
	holder := struct{ key PrivateKey }{key}
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%x", "%q"} {
		for _, value := range []any{key, &key, holder} {
			text := fmt.Sprintf(format, value)
			require.NotContains(t, text, "30313233", format)
			require.NotContains(t, text, "0123456789", format)
			require.NotContains(t, text, "48 49 50", format)
		}
	}
	require.True(t, PrivateKey{}.IsZero())
	require.False(t, key.IsZero())
}

func FuzzVerify(f *testing.F) {
	var v signatureVectors
	loadVectors(f, "ed25519-blake2b.json", &v)
	for _, c := range v.Valid {
		f.Add(unhex(f, c.PublicKeyHex), unhex(f, c.MessageHex), unhex(f, c.SignatureHex))
	}
	for _, c := range v.Invalid {
		f.Add(unhex(f, c.PublicKeyHex), unhex(f, c.MessageHex), unhex(f, c.SignatureHex))
	}
	f.Fuzz(func(t *testing.T, public, message, signature []byte) {
		if !Verify(public, message, signature) {
			return
		}
		signature[len(signature)-1] ^= 0x10 // adds the group order's top bit: never canonical
		require.False(t, Verify(public, message, signature))
	})
}
