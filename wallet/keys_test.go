package wallet

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/crypto"
	"github.com/stretchr/testify/require"

	"gatewayd/internal/budget"
	"gatewayd/vite/core"
	"gatewayd/wallet/keystore"
)

const (
	abandon = "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about"
	junk    = "test test test test test test test test test test test junk"
)

func TestAddress(t *testing.T) {
	tests := []struct{ mnemonic, path, want string }{
		{abandon, GatewayPath(0), "vite_75e6d2a1006018c1c4adc3418e899ca47487720f96e1d4572e"},
		{junk, SourcePaths(60).Deposit(0), "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"},
		{junk, SourcePaths(60).Deposit(1), "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"},
	}
	for _, tt := range tests {
		keys, err := FromMnemonic(tt.mnemonic)
		require.NoError(t, err)
		address, err := keys.Address(tt.path)
		require.NoError(t, err)
		require.Equal(t, tt.want, address)
	}
}

func TestPathsOfOtherLedgersAreRefused(t *testing.T) {
	keys, err := FromMnemonic(abandon)
	require.NoError(t, err)
	for _, path := range []string{"", "m", "m/44'/0'/0'/0/0", "m/44'/666666'/x'", "m/44'/60'/0'/0/-1"} {
		_, err := keys.Address(path)
		require.ErrorIs(t, err, ErrPath, path)
		_, _, err = keys.Sign(context.Background(), path, make([]byte, 32))
		require.ErrorIs(t, err, ErrPath, path)
	}
}

func TestSignaturesVerify(t *testing.T) {
	keys, err := FromMnemonic(junk)
	require.NoError(t, err)
	digest := bytes.Repeat([]byte{7}, 32)

	pub, sig, err := keys.Sign(context.Background(), GatewayPath(3), digest)
	require.NoError(t, err)
	require.True(t, core.Verify(pub, digest, sig))

	_, sig, err = keys.Sign(context.Background(), SourcePaths(60).Hot(0), digest)
	require.NoError(t, err)
	key, err := crypto.SigToPub(digest, sig)
	require.NoError(t, err)
	hot, err := keys.Address(SourcePaths(60).Hot(0))
	require.NoError(t, err)
	require.Equal(t, hot, crypto.PubkeyToAddress(*key).Hex())
}

func TestUnlock(t *testing.T) {
	secret, err := keystore.ParseMnemonic(junk)
	require.NoError(t, err)
	store, err := keystore.Seal(secret, "correct", keystore.LightCost(), time.Unix(1, 0))
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "store")
	require.NoError(t, os.WriteFile(path, store.Encode(), 0o600))

	keys, err := Unlock(path, "correct")
	require.NoError(t, err)
	address, err := keys.Address(SourcePaths(60).Deposit(0))
	require.NoError(t, err)
	require.Equal(t, "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266", address)
	_, err = Unlock(path, "wrong")
	require.Error(t, err)
	_, err = Unlock(path+"x", "correct")
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestKeysPrintNothing(t *testing.T) {
	keys, err := FromMnemonic(junk)
	require.NoError(t, err)
	for _, format := range []string{"%v", "%+v", "%s", "%#v"} {
		require.NotContains(t, fmt.Sprintf(format, keys), "fe5d1", format)
	}
	require.Equal(t, "keys", fmt.Sprintf("%v", keys))
}

// Keys that have signed stay derived, and each signs for its own path only.
func TestSignersAreKept(t *testing.T) {
	keys, err := FromMnemonic(junk)
	require.NoError(t, err)
	digest := bytes.Repeat([]byte{7}, 32)
	for range 2 {
		for n := range uint32(3) {
			pub, sig, err := keys.Sign(t.Context(), GatewayPath(n), digest)
			require.NoError(t, err)
			require.True(t, core.Verify(pub, digest, sig))
			address, err := keys.Address(GatewayPath(n))
			require.NoError(t, err)
			require.Equal(t, address, core.UserAddress(core.PublicKey(pub)).String())
		}
	}
	require.Equal(t, 3, keys.signers.Len(), "an address alone keeps nothing")
}

// TestSourceSignersAreKept: a key of a source chain signs for its own path only, while it is cached
// and after its eviction, and deriving addresses caches nothing.
func TestSourceSignersAreKept(t *testing.T) {
	keys, err := FromMnemonic(junk)
	require.NoError(t, err)
	digest := bytes.Repeat([]byte{7}, 32)
	eth := SourcePaths(60)
	sign := func(path string) {
		_, sig, err := keys.Sign(t.Context(), path, digest)
		require.NoError(t, err)
		key, err := crypto.SigToPub(digest, sig)
		require.NoError(t, err)
		address, err := keys.Address(path)
		require.NoError(t, err)
		require.Equal(t, address, crypto.PubkeyToAddress(*key).Hex(), path)
	}
	for range 2 {
		for _, path := range []string{eth.Hot(0), eth.Hot(1), eth.Gas(), eth.Deposit(0), eth.Deposit(1), "m/44'/60'/7'", "m/44'/60'/7'/0'/3"} {
			sign(path)
		}
	}
	require.Equal(t, 7+5, keys.sources.Len(), "with their parents")
	_, err = keys.Address(eth.Deposit(2))
	require.NoError(t, err)
	require.Equal(t, 12, keys.sources.Len(), "an address alone keeps nothing")
	for n := range uint32(maxSigners + 10) {
		_, _, err := keys.Sign(t.Context(), eth.Deposit(n), digest)
		require.NoError(t, err)
	}
	require.Equal(t, maxSigners, keys.sources.Len(), "it is bounded")
	sign(eth.Deposit(0))
	_, _, err = keys.Sign(t.Context(), "m/44'/60'/4294967295", digest)
	require.ErrorIs(t, err, ErrPath)
}

// BenchmarkBudgetSign compares a signature by a key at a path with one by the bare key, on a source
// chain: by the hot account, and by deposit addresses in turn of which none has signed before.
// Budgets: 1.15 times and 4 times.
func BenchmarkBudgetSign(b *testing.B) {
	const signatures = 2000
	keys, err := FromMnemonic(junk)
	require.NoError(b, err)
	digest, eth := bytes.Repeat([]byte{7}, 32), SourcePaths(60)
	bare, err := keys.source.Derive(eth.Hot(0))
	require.NoError(b, err)
	yardstick := func() budget.Cost {
		return budget.Measure(signatures, func() {
			for range signatures {
				_, err := crypto.Sign(digest, bare.Private())
				require.NoError(b, err)
			}
		})
	}
	next := uint32(0)
	for _, c := range []struct {
		name   string
		budget float64
		path   func() string
	}{
		{"hot", 1.15, func() string { return eth.Hot(0) }},
		{"new", 4, func() string { next++; return eth.Deposit(next) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			budget.Compare(b, c.budget, budget.Cost.PerCPU, func() budget.Cost {
				return budget.Measure(signatures, func() {
					for range signatures {
						_, _, err := keys.Sign(b.Context(), c.path(), digest)
						require.NoError(b, err)
					}
				})
			}, yardstick)
		})
	}
}
