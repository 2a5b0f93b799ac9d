package keystore

import (
	"encoding/hex"
	"encoding/json"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

type derived struct {
	Index                                           uint32
	Path, ChainCodeHex, PrivateKeyHex, PublicKeyHex string
	Address                                         string
}

type hdVectors struct {
	Valid []struct {
		Mnemonic, Language, Passphrase, EntropyHex, SeedHex string
		MasterKeyHex, MasterChainCodeHex                    string
		Accounts, OtherPaths                                []derived
	}
	InvalidMnemonics []struct{ Mnemonic, Reason string }
	InvalidPaths     []struct{ Path string }
}

func loadVectors(t testing.TB, name string, dst any) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, dst))
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	require.NoError(t, err)
	return b
}

const junk = "test test test test test test test test test test test junk"

func TestWordListIsThePublishedOne(t *testing.T) {
	require.Len(t, english, 2048)
	require.True(t, slices.IsSorted(english))
	require.Equal(t, uint32(0xc1dbd296), crc32.ChecksumIEEE([]byte(englishText)))
}

func TestMnemonicVectors(t *testing.T) {
	var v hdVectors
	loadVectors(t, "hd-derivation.json", &v)
	require.NotEmpty(t, v.Valid)
	for _, c := range v.Valid {
		require.Equal(t, c.SeedHex, hex.EncodeToString(Seed(c.Mnemonic, c.Passphrase)), c.Mnemonic)
		if c.Language != "english" {
			_, err := ParseMnemonic(c.Mnemonic)
			require.Error(t, err, "the node knows English only")
			continue
		}
		entropy, err := ParseMnemonic(c.Mnemonic)
		require.NoError(t, err)
		require.Equal(t, c.EntropyHex, hex.EncodeToString(entropy))
		words, err := Mnemonic(entropy)
		require.NoError(t, err)
		require.Equal(t, c.Mnemonic, words)
	}
	for _, c := range v.InvalidMnemonics {
		_, err := ParseMnemonic(c.Mnemonic)
		require.Error(t, err, c.Reason)
	}
}

func TestParseMnemonicFaults(t *testing.T) {
	abandon := strings.Repeat("abandon ", 11)
	for text, want := range map[string]error{
		"":                                     ErrWordCount,
		strings.Repeat("abandon ", 11):         ErrWordCount,
		strings.Repeat("abandon ", 13):         ErrWordCount,
		strings.Repeat("abandon ", 27):         ErrWordCount,
		strings.Repeat(" ", maxMnemonicText+1): ErrWordCount,
		abandon + "abandon":                    ErrChecksum,
	} {
		_, err := ParseMnemonic(text)
		require.ErrorIs(t, err, want, text)
	}
	_, err := ParseMnemonic(abandon + "aboutt")
	var wrong *WordError
	require.ErrorAs(t, err, &wrong)
	require.Equal(t, WordError{Position: 12, Word: "aboutt"}, *wrong)
	require.NotContains(t, err.Error(), "aboutt", "the word may be part of a secret")
}

func TestMnemonicIsNormalised(t *testing.T) {
	want, err := ParseMnemonic(junk)
	require.NoError(t, err)
	for _, text := range []string{
		"  " + strings.ReplaceAll(junk, " ", "  ") + "\n",
		strings.ToUpper(junk),
		strings.ReplaceAll(junk, " ", "\u3000"),
		strings.ReplaceAll(junk, "test", "\uff54est"), // a full-width t
	} {
		got, err := ParseMnemonic(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got)
		require.Equal(t, Seed(junk, ""), Seed(text, ""), "words and seed see the same text")
	}
}

func TestMnemonicSizes(t *testing.T) {
	for _, size := range []int{0, 15, 17, 31, 33, 36} {
		_, err := Mnemonic(make([]byte, size))
		require.ErrorIs(t, err, ErrSize)
		_, err = KeysOf(make([]byte, size))
		require.ErrorIs(t, err, ErrSize)
	}
}

func FuzzParseMnemonic(f *testing.F) {
	var v hdVectors
	loadVectors(f, "hd-derivation.json", &v)
	for _, c := range v.Valid {
		f.Add(c.Mnemonic)
	}
	for _, c := range v.InvalidMnemonics {
		f.Add(c.Mnemonic)
	}
	f.Fuzz(func(t *testing.T, text string) {
		entropy, err := ParseMnemonic(text)
		if err != nil {
			return
		}
		words, err := Mnemonic(entropy)
		require.NoError(t, err)
		require.Equal(t, Normalize(text), words)
	})
}
