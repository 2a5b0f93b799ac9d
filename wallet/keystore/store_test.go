package keystore

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
)

type storeVectors struct {
	Valid []struct{ File, Password, EntropyHex, Mnemonic, PrimaryAddress string }
	Bad   []struct{ File, Password, Reason string }
}

func storeText(t testing.TB, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", file))
	require.NoError(t, err)
	return text
}

// TestStoreVectors opens files of the node's cost one after the other: 256 MiB and a second each.
func TestStoreVectors(t *testing.T) {
	var v storeVectors
	loadVectors(t, "entropystore.json", &v)
	require.NotEmpty(t, v.Valid)
	for _, c := range v.Valid {
		text := storeText(t, c.File)
		s, err := ParseStore(text)
		require.NoError(t, err, c.File)
		require.Equal(t, c.PrimaryAddress, s.PrimaryAddress().String())
		require.Equal(t, string(text), string(s.Encode()), "byte for byte what was read")
		entropy, err := s.Open(c.Password)
		require.NoError(t, err, c.File)
		require.Equal(t, c.EntropyHex, hex.EncodeToString(entropy))
		words, err := Mnemonic(entropy)
		require.NoError(t, err)
		require.Equal(t, c.Mnemonic, words)
	}
}

func TestBadStoreVectors(t *testing.T) {
	var v storeVectors
	loadVectors(t, "entropystore.json", &v)
	require.NotEmpty(t, v.Bad)
	opens := map[string]error{ // parse, but do not open
		"bad-wrong-password": ErrPassword, "bad-ciphertext": ErrPassword, "bad-salt": ErrPassword,
		"bad-address": ErrAddressMismatch,
	}
	texts := map[string]string{ // do not parse
		"bad-version": "version number error : 2", "bad-cipher": `cipherName  error : "aes-128-gcm"`,
		"bad-kdf": `scryptName  error : "pbkdf2"`, "bad-address-text": "address invalid ： ",
		"bad-not-json": "invalid character 'h' looking for beginning of value",
	}
	require.Len(t, v.Bad, len(opens)+len(texts))
	for _, c := range v.Bad {
		name := filepath.Base(c.File)
		s, err := ParseStore(storeText(t, c.File))
		if want, ok := opens[name]; ok {
			require.NoError(t, err, c.Reason)
			_, err = s.Open(c.Password)
			require.ErrorIs(t, err, want, c.Reason)
			continue
		}
		require.ErrorIs(t, err, ErrStore, c.Reason)
		require.ErrorContains(t, err, texts[name], c.Reason)
	}
}

// change returns the light vector file with a member replaced; "/" separates levels.
func change(t *testing.T, path string, value any) []byte {
	var file map[string]any
	require.NoError(t, json.Unmarshal(storeText(t, "entropystore/light-scrypt"), &file))
	levels := strings.Split(path, "/")
	at := file
	for _, level := range levels[:len(levels)-1] {
		at = at[level].(map[string]any)
	}
	at[levels[len(levels)-1]] = value
	text, err := json.Marshal(file)
	require.NoError(t, err)
	return text
}

func TestParseStoreBoundsWhatAFileAsks(t *testing.T) {
	for _, c := range []struct {
		member string
		value  any
		want   string
	}{
		{"crypto/scryptparams/n", 1 << 30, "cost over"},
		{"crypto/scryptparams/n", 1 << 62, "cost over"},
		{"crypto/scryptparams/n", 1 << 19, "cost over"}, // with p 6
		{"crypto/scryptparams/n", 4095, "no power of two"},
		{"crypto/scryptparams/n", 1, "no power of two"},
		{"crypto/scryptparams/n", 0, "no power of two"},
		{"crypto/scryptparams/n", -4096, "no power of two"},
		{"crypto/scryptparams/r", 1 << 20, "cost over"},
		{"crypto/scryptparams/r", 0, "must be positive"},
		{"crypto/scryptparams/p", 1 << 20, "cost over"},
		{"crypto/scryptparams/p", -1, "must be positive"},
		{"crypto/scryptparams/keylen", 31, "keylen"},
		{"crypto/scryptparams/keylen", 1 << 30, "keylen"},
		{"crypto/scryptparams/salt", "", "salt"},
		{"crypto/scryptparams/salt", strings.Repeat("00", 129), "salt"},
		{"crypto/scryptparams/salt", "xy", "hexadecimal"},
		{"crypto/nonce", "00", "nonce"},
		{"crypto/ciphertext", strings.Repeat("00", 31), "ciphertext"},
		{"crypto/ciphertext", strings.Repeat("00", 52), "ciphertext"},
		{"seedstoreversion", 0, "version number error : 0"},
		{"seedstoreversion", "1", "cannot unmarshal"},
		{"padding", strings.Repeat(" ", MaxStoreSize), "over 2048 bytes"},
	} {
		_, err := ParseStore(change(t, c.member, c.value))
		require.ErrorIs(t, err, ErrStore, "%s %v", c.member, c.value)
		require.ErrorContains(t, err, c.want, "%s %v", c.member, c.value)
	}
	_, err := ParseStore(change(t, "note", "unknown members are passed over"))
	require.NoError(t, err)
}

func TestSealAndOpen(t *testing.T) {
	created := time.Unix(1_700_000_000, 999)
	for _, size := range []int{16, 20, 24, 28, 32} {
		secret := bytes.Repeat([]byte{0xa5, 0x17}, size/2)
		s, err := Seal(secret, "пароль", LightCost(), created)
		require.NoError(t, err)
		back, err := ParseStore(s.Encode())
		require.NoError(t, err)
		require.Equal(t, s, back)
		require.Equal(t, created.Unix(), back.Created().Unix())
		opened, err := back.Open("пароль")
		require.NoError(t, err)
		require.Equal(t, secret, opened)
		_, err = back.Open("пароль ")
		require.EqualError(t, err, "error decrypt store")
		require.NotContains(t, string(s.Encode()), hex.EncodeToString(secret))
	}
}

func TestSealNeverRepeatsItself(t *testing.T) {
	secret := make([]byte, 16)
	first, err := Seal(secret, "pw", LightCost(), time.Unix(0, 0))
	require.NoError(t, err)
	second, err := Seal(secret, "pw", LightCost(), time.Unix(0, 0))
	require.NoError(t, err)
	require.NotEqual(t, first.crypto.Nonce, second.crypto.Nonce)
	require.NotEqual(t, first.crypto.ScryptParams.Salt, second.crypto.ScryptParams.Salt)
}

func TestSealRefuses(t *testing.T) {
	_, err := Seal(make([]byte, 15), "pw", LightCost(), time.Unix(0, 0))
	require.ErrorIs(t, err, ErrSize)
	_, err = Seal(make([]byte, 16), "pw", Cost{N: 3, R: 8, P: 1}, time.Unix(0, 0))
	require.ErrorIs(t, err, ErrStore)
	require.NoError(t, StandardCost().check())
}

// TestKeyLengthBeyondTheKey reads a file whose keylen is over 32: its first 32 bytes are the key.
func TestKeyLengthBeyondTheKey(t *testing.T) {
	s, err := ParseStore(change(t, "crypto/scryptparams/keylen", 64))
	require.NoError(t, err)
	entropy, err := s.Open("123456")
	require.NoError(t, err)
	require.Equal(t, make([]byte, 16), entropy)
}

func FuzzParseStore(f *testing.F) {
	var v storeVectors
	loadVectors(f, "entropystore.json", &v)
	for _, c := range v.Valid {
		f.Add(storeText(f, c.File))
	}
	for _, c := range v.Bad {
		f.Add(storeText(f, c.File))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := ParseStore(text)
		if err != nil {
			require.True(t, errors.Is(err, ErrStore))
			return
		}
		again, err := ParseStore(s.Encode())
		require.NoError(t, err)
		require.Equal(t, s, again)
		_, err = core.ParseAddress(s.PrimaryAddress().String())
		require.NoError(t, err)
	})
}
