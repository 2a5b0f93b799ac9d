package core

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// loadVectors reads one of the published vector files into dst.
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

func testKey(t testing.TB, external string) PrivateKey {
	t.Helper()
	k, err := NewPrivateKey(unhex(t, external)[:SeedSize])
	require.NoError(t, err)
	require.Equal(t, external, hex.EncodeToString(k.Bytes()))
	return k
}
