package rpc

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
)

// vitejs gives the path of the public client library, installed by our script where it is not there
// yet.
func vitejs(t *testing.T) string {
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("the comparison with the JavaScript client needs %s, which is not on this machine", program)
		}
	}
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	library := filepath.Join(root, "build/npm/node_modules/@vite/vitejs")
	if _, err := os.Stat(library); err != nil {
		out, err := exec.CommandContext(t.Context(), filepath.Join(root, "scripts/npm-install.sh")).CombinedOutput()
		require.NoError(t, err, string(out))
	}
	return library
}

// TestPublicClientLibrary: the library derives the same accounts from the words that our wallet
// drew. It accepts our signature and makes the same. It computes the same hash for the block that
// our wallet sent and the chain accepted.
func TestPublicClientLibrary(t *testing.T) {
	library := vitejs(t)
	r := start(t, nil)
	r.recover()
	require.Nil(t, call(t, r.overWS, "unlock", alice, password).Error)
	message := strings.Repeat("ab", 32)
	var sig signedResult
	require.NoError(t, json.Unmarshal(call(t, r.overWS, "signData", bob, message).Result, &sig))
	sent := call(t, r.overWS, "createTxWithPassphrase", transfer(map[string]any{
		"selfAddr": bob, "toAddr": alice, "amount": "123456789012345678901234", "difficulty": "500",
		"data": base64.StdEncoding.EncodeToString([]byte("from our wallet")),
	}))
	require.Nil(t, sent.Error)
	var hash string
	require.NoError(t, json.Unmarshal(sent.Result, &hash))
	var block map[string]any
	require.NoError(t, r.chain.Call(t.Context(), &block, "ledger_getAccountBlockByHash", hash))

	const count = 20
	var theirs struct {
		Addresses, Keys           []string
		Verified, VerifiedFlipped bool
		Signature, Hash           string
		BlockSignature            string
	}
	script(t, library, map[string]any{
		"words": testMnemonic, "count": count, "message": message, "signature": sig.SignedData, "publicKey": sig.PubKey, "block": block,
	}, &theirs)

	var addresses []string
	require.NoError(t, json.Unmarshal(call(t, r.overWS, "listEntropyStoreAddresses", alice, 0, count).Result, &addresses))
	require.Equal(t, theirs.Addresses, addresses)
	for i, key := range theirs.Keys {
		var d derivedResult
		require.NoError(t, json.Unmarshal(call(t, r.overWS, "deriveByIndex", alice, i).Result, &d))
		require.Equal(t, key, hex.EncodeToString(d.PrivateKey))
	}
	require.True(t, theirs.Verified)
	require.False(t, theirs.VerifiedFlipped)
	require.Equal(t, theirs.Signature, sig.SignedData)
	require.Equal(t, theirs.Hash, hash)
	h, err := core.ParseHash(hash)
	require.NoError(t, err)
	b, err := r.chain.AccountBlockByHash(t.Context(), h)
	require.NoError(t, err)
	require.Equal(t, theirs.BlockSignature, hex.EncodeToString(b.Signature))
}

func script(t *testing.T, library string, input map[string]any, output any) {
	text, err := json.Marshal(input)
	require.NoError(t, err)
	run := exec.CommandContext(t.Context(), "node", "testdata/vitejs/check.js", library)
	run.Stdin = bytes.NewReader(text)
	var out, faults bytes.Buffer
	run.Stdout, run.Stderr = &out, &faults
	require.NoError(t, run.Run(), faults.String())
	require.NoError(t, json.Unmarshal(out.Bytes(), output), out.String())
}
