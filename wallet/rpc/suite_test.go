package rpc

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTransports: one suite over all three ways to the server.
func TestTransports(t *testing.T) {
	for _, way := range []string{"http", "ws", "ipc"} {
		t.Run(way, func(t *testing.T) {
			r := start(t, nil)
			r.recover()
			send := r.transports()[way]
			r.suite(send)
			r.limits(way, send)
		})
	}
}

// suite is a wallet's life: texts are a real node's where it has one (testdata/wallet.jsonl).
func (r *rig) suite(send func(string) string) {
	for _, c := range []struct {
		method string
		params []any
		want   string
	}{
		{"isUnlocked", []any{alice}, "false"},
		{"deriveByIndex", []any{alice, 0}, "-32002 the crypto store is locked"},
		{"findAddr", []any{alice, alice}, "-32002 the crypto store is locked"},
		{"unlock", []any{alice, "wrong"}, "-34001 error decrypt store"},
		{"unlock", []any{bob, password}, "-32002 error given store not found "},
		{"unlock", []any{"../" + alice, password}, "-32002 error given store not found "},
		{"unlock", []any{alice}, "-32602 missing value for required argument 1"},
		{"unlock", []any{alice, password, "x"}, "-32602 too many arguments, want at most 2"},
		{"unlock", []any{alice, password}, "null"},
		{"isUnlocked", []any{alice}, "true"},
		{"deriveByFullPath", []any{alice, "m/44/666666/0"}, "-32002 invalid derivation path"},
		{"deriveByIndex", []any{alice, 1 << 31}, "-32002 no public derivation for ed25519"},
		{"deriveForIndexPath", []any{alice, 1 << 31}, "-32002 no public derivation for ed25519"},
		{"deriveForIndexPath", []any{alice, 0}, fmt.Sprintf(`{"bip44Path":"m/44'/666666'/0'","address":%q,`+
			`"privateKey":"+8kCh8fDD6ZnINBBsuDTeEOq0/CKuT4nHS6bUOR1SVtUy6lwMbV9L/EOue5oJXgaAP0x/yjYGaAmYyy+ALaneg=="}`, alice)},
		{"listEntropyStoreAddresses", []any{alice, 0, 2}, fmt.Sprintf("[%q,%q]", alice, bob)},
		{"listEntropyStoreAddresses", []any{alice, 2, 2}, "[]"},
		{"listEntropyStoreAddresses", []any{alice, 5, 3}, "-32002 from value > to"},
		{"listEntropyStoreAddresses", []any{alice, 0, 5001}, "-32002 endIndex-startIndex must be less than 5000"},
		{"listEntropyStoreAddresses", []any{alice, -1, 3}, "-32602 invalid argument 1: json: cannot unmarshal number -1 into Go value of type uint32"},
		{"isAddrUnlocked", []any{alice, bob}, "true"},
		{"isAddrUnlocked", []any{alice, "vite_zz"}, "-32602 invalid argument 1: error hex address or prefix"},
		{"isAddrUnlocked", []any{alice, 7}, "-32602 invalid argument 1: not valid string"},
		{"globalCheckAddrUnlocked", []any{bob}, "true"},
		{"recoverEntropyStoreFromMnemonic", []any{testMnemonic, "other"}, "-32002 entropy store exists; it is not overwritten"},
		{"recoverEntropyStoreFromMnemonic", []any{"zoo zoo", "other"}, "-32002 Invalid mnenomic"},
		{"addEntropyStore", []any{alice}, "null"},
		{"addEntropyStore", []any{alice, carol}, fmt.Sprintf(`{"entropyStoreFile":%q,"index":2}`, r.wallet.Known()[0])},
		{"lock", []any{alice}, "null"},
		{"lock", []any{alice}, "null"},
		{"lock", []any{bob}, "-32002 error given store not found "},
		{"addEntropyStore", []any{alice, carol}, "-32002 the crypto store is locked"},
		{"globalFindAddr", []any{bob}, "-32002 not found the given address in the crypto store file"},
		{"findAddrWithPassphrase", []any{alice, "wrong", bob}, "-34001 error decrypt store"},
		{"findAddrWithPassphrase", []any{alice, password, bob}, fmt.Sprintf(`{"entropyStoreFile":%q,"index":1}`, r.wallet.Known()[0])},
		{"extractMnemonic", []any{alice, password}, fmt.Sprintf("%q", testMnemonic)},
		{"isUnlocked", []any{alice}, "false"},
		{"none", nil, "-32601 the method wallet_none does not exist/is not available"},
	} {
		require.Equal(r.t, c.want, call(r.t, send, c.method, c.params...).String(), "%s %v", c.method, c.params)
	}
	r.life(send)
}

// life creates a store and uses it under the newer names.
func (r *rig) life(send func(string) string) {
	var made fileResult
	require.NoError(r.t, json.Unmarshal(call(r.t, send, "createEntropyFile", "second "+password).Result, &made))
	seen.secret("second "+password, made.Mnemonic)
	require.Len(r.t, strings.Fields(made.Mnemonic), 24)
	require.Equal(r.t, filepath.Join(r.wallet.Dir(), made.Primary.String()), made.Path)
	info, err := os.Stat(made.Path)
	require.NoError(r.t, err)
	require.Equal(r.t, os.FileMode(0o600), info.Mode().Perm())
	require.Equal(r.t, "null", call(r.t, send, "unlock", made.Path, "second "+password).String())
	var d derivedResult
	require.NoError(r.t, json.Unmarshal(call(r.t, send, "deriveAddressByIndex", made.Path, 0).Result, &d))
	require.Equal(r.t, made.Primary, d.Address)
	require.Len(r.t, d.PrivateKey, 64)
}

// limits sends what is too large or no request.
func (r *rig) limits(way string, send func(string) string) {
	one := `{"jsonrpc":"2.0","id":1,"method":"wallet_getDataDir"}`
	batch := func(n int) string { return "[" + strings.Repeat(one+",", n-1) + one + "]" }
	var answers []answer
	require.NoError(r.t, json.Unmarshal([]byte(send(batch(maxBatch))), &answers))
	require.Len(r.t, answers, maxBatch)
	require.Equal(r.t, fmt.Sprintf("%q", r.wallet.Dir()), answers[maxBatch-1].String())

	require.NoError(r.t, json.Unmarshal([]byte(send(batch(maxBatch+1))), &answers))
	require.Equal(r.t, "-32600 batch too large", answers[0].String())
	require.Equal(r.t, "-32600 empty batch", parse(r.t, send("[]")).String())
	require.Equal(r.t, "-32600 invalid request", parse(r.t, send(`{"a":1}`)).String())

	large := strings.Replace(one, `"id"`, `"x":"`+strings.Repeat("x", maxBody)+`","id"`, 1)
	want := map[string]string{"http": "HTTP 413", "ws": closed, "ipc": closed}[way]
	require.Equal(r.t, want, send(large))
	require.Equal(r.t, fmt.Sprintf("%q", r.wallet.Dir()), parse(r.t, send(one)).String(), "it still serves")
	if answer := send("no JSON"); answer != closed {
		require.Contains(r.t, parse(r.t, answer).String(), "-32700")
	}
}

func TestFilesystemFaults(t *testing.T) {
	r := start(t, nil)
	r.recover()
	require.NoError(t, os.RemoveAll(r.wallet.Dir()))
	require.Equal(t, "-32001 server execute panic", call(t, r.overIPC, "newMnemonicAndEntropyStore", password).String())
	missing := "-32002 stat " + filepath.Join(r.wallet.Dir(), alice) + ": no such file or directory"
	require.Equal(t, missing, call(t, r.overIPC, "unlock", alice, password).String())
	require.Equal(t, "-32001 server execute panic", call(t, r.overIPC, "listEntropyFilesInStandardDir").String())
}

// TestThrottlingShows: the sixth guess is not looked at.
func TestThrottlingShows(t *testing.T) {
	r := start(t, nil)
	r.recover()
	for range 5 {
		require.Equal(t, "-34001 error decrypt store", call(t, r.overIPC, "unlock", alice, "wrong").String())
	}
	require.Equal(t, "-32005 too many wrong passwords: try again in 1 s", call(t, r.overIPC, "unlock", alice, password).String())
	require.Contains(t, seen.all(), "wallet call refused: too many wrong passwords")
}
