package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSecretsArePrintedByNobody(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vectors.json")
	vectors := `{"valid":[{"mnemonic":"zoo zoo zoo zoo wrong","seedHex":"0000000000000000","address":"vite_everybody_may_see","accounts":[{"privateKeyHex":"0123456789abcdef0123"}]}]}`
	require.NoError(t, os.WriteFile(path, []byte(vectors), 0o600))
	known, err := readSecrets(path)
	require.NoError(t, err)
	require.Equal(t, secrets{"0123456789abcdef0123", "zoo zoo zoo zoo wrong"}, known)
	_, err = readSecrets(path + "x")
	require.ErrorIs(t, err, os.ErrNotExist)

	for _, c := range []struct {
		output string
		well   bool
		ends   string
	}{
		{`vite_everybody_may_see 0000000000000000`, true, "2 passed, 0 failed\n"},
		{`key 0123456789abcdef0123 found`, false, "1 passed, 1 failed\n"},
		{`words: zoo zoo zoo zoo wrong`, false, "1 passed, 1 failed\n"},
	} {
		var out bytes.Buffer
		s := newSummary(&out, 1, 0)
		s.secrets = known
		s.line([]byte(`{"Action":"output","Package":"p","Test":"TestA","Output":"` + c.output + `"}`))
		require.Equal(t, c.well, s.finish())
		require.Contains(t, out.String(), c.ends)
		require.NotContains(t, out.String(), "0123456789abcdef0123")
	}
}
