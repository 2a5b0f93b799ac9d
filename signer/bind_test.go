package signer_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/chain/chaintest"
	"gatewayd/records/signguard"
	"gatewayd/signer"
	"gatewayd/vite/core"
)

// testKeys are keys that tell their addresses.
type testKeys struct{ *env }

func (k testKeys) Sign(ctx context.Context, path string, digest []byte) (public, signature []byte, err error) {
	return k.env.Sign(ctx, path, digest)
}
func (k testKeys) Account(_ chain.ID, path string) (string, error) { return k.eth.Address(path), nil }
func (testKeys) Deposit(_ chain.ID, index uint32) (string, error) {
	return fmt.Sprint("deposit ", index), nil
}
func (testKeys) DepositKey(chain.ID) (key signer.DepositKey, err error) {
	return key, signer.ErrRefused
}
func (testKeys) Agent(string) (a core.Address, err error) { return a, signer.ErrRefused }

// TestAddressesAreOurs: only an address of a key of ours is given out, to one user; a label counts from the block at which it was given.
func TestAddressesAreOurs(t *testing.T) {
	w := seeing(t)
	w.Signer = signer.New(signer.Parts{
		Keys: testKeys{w}, Guard: w.guard, Ledgers: map[chain.ID]signer.Ledger{"eth": w.eth},
	})
	b := signguard.Binding{Network: "main", Chain: "eth", Index: 1, Address: w.eth.Address("deposit 1"), User: "alice", Since: 99}
	other := b
	other.Address = w.eth.Address("thief")
	_, err := w.GiveAddress(t.Context(), other)
	require.ErrorIs(t, err, signer.ErrRefused)
	address, err := w.GiveAddress(t.Context(), b)
	require.NoError(t, err)
	require.Equal(t, b.Address, address)
	b.User = "eve"
	_, err = w.GiveAddress(t.Context(), b)
	require.ErrorIs(t, err, signguard.ErrTaken)

	w.eth.Mine(7)
	require.NoError(t, w.GiveLabel(t.Context(), signguard.Binding{Network: "main", Chain: "eth", Label: "L", User: "alice"}))
	given, _, err := w.guard.OfLabel(t.Context(), "main", "L")
	require.NoError(t, err)
	head, err := w.eth.Head(t.Context())
	require.NoError(t, err)
	require.Equal(t, head.Latest.Height, given.Since)
	w.eth.Lie(chaintest.Always(chaintest.Refuse, chaintest.CallHead))
	require.Error(t, w.GiveLabel(t.Context(), signguard.Binding{Network: "main", Chain: "eth", Label: "M", User: "alice"}), "nobody tells since when")
}
