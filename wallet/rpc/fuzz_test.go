package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
	"gatewayd/wallet"
	"gatewayd/wallet/keystore"
)

// FuzzRequest: for any request, the answer is JSON-RPC, no method crashes, and no store appears or
// opens by chance.
func FuzzRequest(f *testing.F) {
	for _, l := range recording(f) {
		f.Add(string(l.Request))
	}
	f.Add(`[{"jsonrpc":"2.0","id":1,"method":"wallet_lock","params":[""]},{}]`)
	m, err := wallet.NewManager(wallet.Config{
		Dir: filepath.Join(f.TempDir(), "wallet"), Cost: keystore.Cost{N: 2, R: 1, P: 1}, AutoLock: -1,
	})
	require.NoError(f, err)
	made, err := m.Recover(context.Background(), testMnemonic, password)
	require.NoError(f, err)
	require.NoError(f, m.Unlock(context.Background(), made.Path, password))
	s, err := New(Config{}, Parts{Wallet: m, Ledger: emptyLedger{}, Log: quiet()})
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, text string) {
		req := httptest.NewRequest("POST", "/", strings.NewReader(text))
		req.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		s.geth.ServeHTTP(w, req)
		if w.Body.Len() == 0 {
			return // a notification
		}
		require.True(t, json.Valid(w.Body.Bytes()) || w.Code != 200, w.Body.String())
		require.NotContains(t, w.Body.String(), "-32603", "a method crashed")
		require.NotContains(t, w.Body.String(), password)
	})
}

// emptyLedger is a ledger without accounts.
type emptyLedger struct{}

func (emptyLedger) Tip(context.Context, core.Address) (uint64, core.Hash, bool, error) {
	return 0, core.Hash{}, false, nil
}
func (emptyLedger) HasToken(context.Context, core.TokenID) (bool, error) { return true, nil }
func (emptyLedger) Submit(context.Context, *core.AccountBlock) error {
	return &Refusal{Code: -32000, Message: "nowhere"}
}

// FuzzToken: a token that the secret has not signed is refused, whatever its form.
func FuzzToken(f *testing.F) {
	secret, now := bytes.Repeat([]byte{9}, secretSize), time.Unix(1_000_000, 0)
	other := signToken([]byte("other"), `{"alg":"HS256"}`, `{"iat":1000000}`)
	f.Add(other)
	f.Add("..")
	f.Add(other + ".")
	f.Fuzz(func(t *testing.T, token string) {
		require.Error(t, checkToken(secret, token, now))
	})
}
