package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/dev"
	"gatewayd/vite/core"
)

// recovered makes a store of the development words with a password file and returns its directory,
// name and password file.
func recovered(t *testing.T) (dir, store, password string) {
	t.Helper()
	return recoveredOf(t, dev.Mnemonic)
}

func recoveredOf(t *testing.T, words string) (dir, store, password string) {
	t.Helper()
	dir = t.TempDir()
	password = filepath.Join(dir, "password")
	require.NoError(t, os.WriteFile(password, []byte("correct horse battery staple\n"), 0o600))
	var out bytes.Buffer
	w := testStreams(t)
	w.stdin, w.stdout = strings.NewReader(words+"\n"), &out
	dir = filepath.Join(dir, "wallet")
	require.NoError(t, run(t.Context(), []string{"wallet", "recover", "--dir", dir, "--password-file", password}, w))
	found := regexp.MustCompile(`(?m)^Store: (.*)$`).FindStringSubmatch(out.String())
	require.Len(t, found, 2)
	return dir, filepath.Base(found[1]), password
}

func TestWalletSign(t *testing.T) {
	t.Parallel()
	dir, store, password := recovered(t)
	sign := func(args ...string) (string, error) {
		var out bytes.Buffer
		w := testStreams(t)
		w.stdout = &out
		err := run(t.Context(), append([]string{"wallet", "sign", store, "--dir", dir, "--password-file", password}, args...), w)
		return out.String(), err
	}
	const text = "vite_0000000000000000000000000000000000000006e82b8ba657_1614571200"
	addresses := map[string]bool{}
	for _, index := range []string{"0", "7"} {
		answer, err := sign("--text", text, "--index", index, "--json")
		require.NoError(t, err)
		var got signedText
		require.NoError(t, json.Unmarshal([]byte(answer), &got))
		public, err := hex.DecodeString(got.PublicKey)
		require.NoError(t, err)
		signature, err := hex.DecodeString(got.Signature)
		require.NoError(t, err)
		require.True(t, core.Verify(public, []byte(text), signature))
		require.Equal(t, core.UserAddress(core.PublicKey(public)).String(), got.Address)
		addresses[got.Address] = true
	}
	require.Len(t, addresses, 2)
	answer, err := sign("--text", text)
	require.NoError(t, err)
	require.Regexp(t, `^Address: vite_\S+\nPublic key: [0-9a-f]{64}\nSignature: [0-9a-f]{128}\n$`, answer)
	for bad, want := range map[string]string{
		"": "1 to 1024", strings.Repeat("x", 1025): "1 to 1024", strings.Repeat("x", 32): "length of a block hash", "a\nb": "printable ASCII", "héllo": "printable ASCII",
	} {
		_, err := sign("--text", bad)
		require.ErrorContains(t, err, want)
	}
}
