package network

import (
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/address/v2/base58"
	"github.com/btcsuite/btcd/address/v2/bech32"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
)

// vectors are the lines of a file of testdata, each cut into a number of fields.
func vectors(t testing.TB, name string, fields int) (list [][]string) {
	t.Helper()
	raw, err := os.ReadFile("testdata/" + name)
	require.NoError(t, err)
	for line := range strings.Lines(string(raw)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			list = append(list, strings.SplitN(line, " ", fields))
			require.Len(t, list[len(list)-1], fields, line)
		}
	}
	require.NotEmpty(t, list)
	return list
}

func TestAddresses(t *testing.T) {
	for _, v := range vectors(t, "addresses.txt", 4) {
		n := Named(v[0])
		require.NotNil(t, n, v[0])
		if v[2] == "=" {
			v[2] = v[1]
		}
		got, err := n.Parse(v[1])
		require.NoError(t, err, v[1])
		require.Equal(t, v[2], got.Text)
		if v[3] != "*" {
			require.Equal(t, v[3], hex.EncodeToString(got.Script), v[1])
		}
		again, ok := n.Of(got.Script)
		require.True(t, ok)
		require.Equal(t, got, again)
	}
}

func TestRefusedAddresses(t *testing.T) {
	for _, v := range vectors(t, "refused.txt", 3) {
		_, err := Named(v[0]).Parse(v[1])
		require.ErrorIs(t, err, chain.ErrAddress, v[1])
		require.ErrorContains(t, err, v[2], v[1])
	}
	for _, text := range []string{"", "1", "bc1", strings.Repeat("1", 1_000), "bc1q" + strings.Repeat("q", 100)} {
		_, err := Named("bitcoin").Parse(text)
		require.ErrorIs(t, err, chain.ErrAddress, text)
	}
}

// TestLitecoinScriptHashes: P2SH has two versions, of which the older is also Bitcoin's.
func TestLitecoinScriptHashes(t *testing.T) {
	hash := make([]byte, hashSize)
	for name, starts := range map[string][2]string{"litecoin": {"M", "3"}, "litecoin-testnet": {"Q", "2"}, "litecoin-regtest": {"Q", "2"}} {
		n := Named(name)
		newer, err := n.Parse(base58.CheckEncode(hash, n.hash))
		require.NoError(t, err)
		older, err := n.Parse(base58.CheckEncode(hash, n.olderHash))
		require.NoError(t, err)
		require.Equal(t, newer, older, "one canonical form")
		require.Equal(t, starts[0], newer.Text[:1])
		require.Equal(t, starts[1], base58.CheckEncode(hash, n.olderHash)[:1])
	}
	bitcoin, err := Named("bitcoin").Parse("3P14159f73E4gFr7JterCCQh9QjiTjiZrG")
	require.NoError(t, err)
	require.Equal(t, "3P14159f73E4gFr7JterCCQh9QjiTjiZrG", bitcoin.Text)
}

func TestMWEBIsRefused(t *testing.T) {
	for _, n := range networks {
		if n.MWEB == "" {
			continue
		}
		text, err := bech32.Encode(n.MWEB, make([]byte, 107))
		require.NoError(t, err)
		_, err = n.Parse(text)
		require.ErrorIs(t, err, chain.ErrAddress)
		require.ErrorContains(t, err, "MWEB extension, which is not paid")
		_, err = Named("bitcoin").Parse(text)
		require.ErrorContains(t, err, "it is an address of litecoin")
		require.ErrorIs(t, err, chain.ErrOtherNetwork)
	}
}

// TestOtherScriptsHaveNoAddress: no script of another form is taken for one of the five kinds.
func TestOtherScriptsHaveNoAddress(t *testing.T) {
	for _, script := range []string{
		"", "6a", "6a0568656c6c6f", // OP_RETURN
		"51024e73",         // pay to anchor
		"6002751e",         // an unknown witness version
		"0013" + zeros(19), // a short program
		"5220" + zeros(32), // version 2
		"21" + zeros(33) + "ac",
		"76a914" + zeros(20) + "88ac00", "76a914" + zeros(20) + "88ad", "a914" + zeros(20) + "88",
	} {
		raw, err := hex.DecodeString(script)
		require.NoError(t, err)
		_, ok := Named("bitcoin").Of(raw)
		require.False(t, ok, script)
	}
}

func zeros(n int) string { return strings.Repeat("00", n) }

func TestMake(t *testing.T) {
	for _, n := range networks {
		for _, f := range forms {
			made, err := n.Make(f.kind, make([]byte, f.size))
			require.NoError(t, err)
			read, err := n.Parse(made.Text)
			require.NoError(t, err)
			require.Equal(t, made, read)
			_, err = n.Make(f.kind, make([]byte, f.size+1))
			require.ErrorIs(t, err, chain.ErrAddress)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, v := range vectors(f, "addresses.txt", 4) {
		f.Add(v[0], v[1])
	}
	for _, v := range vectors(f, "refused.txt", 3) {
		f.Add(v[0], v[1])
	}
	f.Fuzz(func(t *testing.T, name, text string) {
		n := Named(name)
		if n == nil {
			return
		}
		a, err := n.Parse(text)
		if err != nil {
			require.ErrorIs(t, err, chain.ErrAddress)
			return
		}
		again, err := n.Parse(a.Text)
		require.NoError(t, err)
		require.Equal(t, a, again)
		of, ok := n.Of(a.Script)
		require.True(t, ok)
		require.Equal(t, a, of)
	})
}
