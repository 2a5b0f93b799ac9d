package signer_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/chaintest"
	"gatewayd/records/signguard"
	"gatewayd/signer"
	"gatewayd/vite/core"
)

// testKeys are keys that return their addresses.
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

// TestAddressesAreOurs: only an address of a key of ours is given out, to one user; a label counts
// from the block at which it was given.
func TestAddressesAreOurs(t *testing.T) {
	w := seeing(t)
	w.Signer = signer.New(signer.Parts{
		Keys: testKeys{w}, Guard: w.guard, Ledgers: map[chain.ID]signer.Ledger{"eth": w.eth}, Now: func() time.Time { return w.clock },
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
	require.ErrorIs(t, err, chain.ErrTaken)

	w.eth.Mine(7)
	label := signguard.Binding{Network: "main", Chain: "eth", Label: "ABCD2345", User: "alice"}
	require.NoError(t, w.GiveLabel(t.Context(), label))
	given, _, err := w.guard.OfLabel(t.Context(), "main", label.Label)
	require.NoError(t, err)
	head, err := w.eth.Head(t.Context())
	require.NoError(t, err)
	require.Equal(t, head.Latest.Height, given.Since)
	b.Index, b.Address = 2, w.eth.Address("deposit 2")
	_, err = w.GiveAddress(t.Context(), b)
	require.NoError(t, err)
	given, _, err = w.guard.OfAddress(t.Context(), "eth", b.Address)
	require.NoError(t, err)
	require.Equal(t, head.Latest.Height, given.Since, "whatever the daemon names")
	w.eth.Lie(chaintest.Always(chaintest.Refuse, chaintest.CallHead))
	w.clock = head.Time
	label.Label = "ABCD2346"
	require.NoError(t, w.GiveLabel(t.Context(), label))
	b.Index, b.Address = 3, w.eth.Address("deposit 3")
	_, err = w.GiveAddress(t.Context(), b)
	require.NoError(t, err)
	since := func(want uint64) {
		t.Helper()
		given, _, err = w.guard.OfLabel(t.Context(), "main", label.Label)
		require.NoError(t, err)
		require.Equal(t, want, given.Since)
		given, _, err = w.guard.OfAddress(t.Context(), "eth", b.Address)
		require.NoError(t, err)
		require.Equal(t, want, given.Since)
	}
	since(signguard.SinceUnknown)
	require.Error(t, w.SettleBindings(t.Context()))
	since(signguard.SinceUnknown)
	w.eth.Lie(chaintest.Honest)
	require.NoError(t, w.SettleBindings(t.Context()))
	since(signguard.SinceUnknown) // nodes that are still behind
	w.eth.Mine(5)
	require.NoError(t, w.SettleBindings(t.Context()))
	since(head.Latest.Height + 5)
	w.eth.Mine(5)
	require.NoError(t, w.SettleBindings(t.Context()))
	since(head.Latest.Height + 5)
}

// TestBindingsKeepTheHighestBlock: nodes that go back do not let a binding reach back.
func TestBindingsKeepTheHighestBlock(t *testing.T) {
	w := seeing(t)
	nodes := &returning{Ledger: w.eth}
	w.Signer = signer.New(signer.Parts{Guard: w.guard, Ledgers: map[chain.ID]signer.Ledger{"eth": nodes}})
	w.eth.Mine(9)
	label := signguard.Binding{Network: "main", Chain: "eth", Label: "ABCD2345", User: "alice"}
	require.NoError(t, w.GiveLabel(t.Context(), label))
	head, err := w.eth.Head(t.Context())
	require.NoError(t, err)
	nodes.behind = 3
	label.Label = "ABCD2346"
	require.NoError(t, w.GiveLabel(t.Context(), label))
	given, _, err := w.guard.OfLabel(t.Context(), "main", label.Label)
	require.NoError(t, err)
	require.Equal(t, head.Latest.Height, given.Since)
}

// TestBindingsOfAnOutage: nodes go away and return behind the chain. A label that a thief takes for
// a deposit that came meanwhile counts from a later block, also when another one was given before.
// A clock that was ahead delays no binding.
func TestBindingsOfAnOutage(t *testing.T) {
	w := seeing(t)
	w.eth.Mine(9)
	head, err := w.eth.Head(t.Context())
	require.NoError(t, err)
	away := chaintest.Always(chaintest.Refuse, chaintest.CallHead)
	give := func(label string, at time.Time) {
		w.clock = at
		w.eth.Lie(away)
		require.NoError(t, w.GiveLabel(t.Context(), signguard.Binding{Network: "main", Chain: "eth", Label: label, User: "alice"}))
		require.Error(t, w.SettleBindings(t.Context()))
		w.eth.Lie(chaintest.Honest)
	}
	since := func(label string) uint64 {
		given, _, err := w.guard.OfLabel(t.Context(), "main", label)
		require.NoError(t, err)
		return given.Since
	}
	give("ABCD2345", head.Time)
	w.eth.Mine(5) // the deposit is in the last
	deposit, err := w.eth.Head(t.Context())
	require.NoError(t, err)
	give("ABCD2346", deposit.Time)
	w.eth.Lie(chaintest.Always(chaintest.Stale, chaintest.CallHead))
	require.NoError(t, w.SettleBindings(t.Context()))
	require.Equal(t, signguard.SinceUnknown, since("ABCD2346"))
	w.eth.Lie(chaintest.Honest)
	w.eth.Mine(1)
	require.NoError(t, w.SettleBindings(t.Context()))
	require.Equal(t, deposit.Latest.Height+1, since("ABCD2345"))
	require.Equal(t, deposit.Latest.Height+1, since("ABCD2346"))

	give("ABCD2347", deposit.Time.AddDate(1, 0, 0))
	w.clock = deposit.Time.Add(time.Minute)
	require.NoError(t, w.SettleBindings(t.Context()))
	w.eth.Mine(20)
	require.NoError(t, w.SettleBindings(t.Context()))
	require.Equal(t, deposit.Latest.Height+21, since("ABCD2347"))
}

// returning is a ledger whose nodes may be some blocks behind.
type returning struct {
	signer.Ledger
	behind uint64
}

// Head returns an earlier block.
func (r *returning) Head(ctx context.Context) (chain.Head, error) {
	head, err := r.Ledger.Head(ctx)
	head.Latest.Height -= r.behind
	return head, err
}

// TestBindingsOfOtherChains: a binding counts by the blocks of its network's source chain, so none
// is given on another chain.
func TestBindingsOfOtherChains(t *testing.T) {
	w := seeing(t)
	label := signguard.Binding{Network: "main", Chain: "bsc", Label: "ABCD2345", User: "eve"}
	require.ErrorIs(t, w.GiveLabel(t.Context(), label), signer.ErrRefused, "no nodes of it")
	source := func(network string) (chain.ID, bool) { return "eth", network == "main" }
	w.Signer = signer.New(signer.Parts{Guard: w.guard, Source: source, Ledgers: map[chain.ID]signer.Ledger{"eth": w.eth, "vite": w.vite}})
	label.Chain = "vite"
	require.ErrorContains(t, w.GiveLabel(t.Context(), label), `no network "main" with deposits on "vite"`)
	label.Network = "other"
	require.ErrorContains(t, w.GiveLabel(t.Context(), label), `no network "other"`)
	label.Network, label.Chain = "main", "eth"
	require.NoError(t, w.GiveLabel(t.Context(), label))
}

// TestLabelsHaveOneFormat: a label that resembles a user's, or that fills the disk, is refused in
// words.
func TestLabelsHaveOneFormat(t *testing.T) {
	w := seeing(t)
	for name, label := range map[string]string{
		"a letter like another": "ABCD2I45", "a digit like a letter": "ABCD2O45", "a space behind": "ABCD2345 ", "a space in front": " ABCD234", "too short": "ABCD234",
		"too long": "ABCD23456", "zero width": "ABCD234\u200b", "zero width, by length": "ABCDE\u200b", "full width": "\uff21\uff22CD2345", "full width, by length": "\uff21\uff2223",
		"NUL": "ABCD234\x00", "not UTF-8": "ABCD234\xff", "small letters": "abcd2345", "Greek": "\u0391BCD234", "a new line": "ABCD234\n", "much": strings.Repeat("A", 100_000), "none": "",
	} {
		err := w.GiveLabel(t.Context(), signguard.Binding{Network: "main", Chain: "eth", Label: label, User: "eve"})
		require.ErrorIs(t, err, signer.ErrRefused, name)
		require.Less(t, len(err.Error()), 300, name)
		require.NotContains(t, err.Error(), "\n", name)
	}
	for name, b := range map[string]signguard.Binding{
		"a long user": {User: strings.Repeat("u", 100_000)}, "a user with NUL": {User: "eve\x00"}, "a user that is not UTF-8": {User: "eve\xff"},
	} {
		b.Network, b.Chain, b.Label = "main", "eth", "ABCD2345"
		require.ErrorIs(t, w.GiveLabel(t.Context(), b), signer.ErrRefused, name)
		b.Label, b.Index, b.Address = "", 1, w.eth.Address("deposit 1")
		_, err := w.GiveAddress(t.Context(), b)
		require.ErrorIs(t, err, signer.ErrRefused, name)
	}
}

// TestBindingsAreBounded: bindings cannot fill the disk. A refused one uses up nothing, and an hour
// allows more.
func TestBindingsAreBounded(t *testing.T) {
	w := seeing(t)
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	w.Signer = signer.New(signer.Parts{Guard: w.guard, Now: func() time.Time { return now }})
	give := func(user string) error {
		return w.GiveLabel(t.Context(), signguard.Binding{Network: "main", Chain: "eth", Label: "ABCD2345", User: user})
	}
	for range 10_000 {
		require.NoError(t, give("alice"))
	}
	require.ErrorIs(t, give("alice"), chain.ErrNotNow)
	require.ErrorIs(t, give("alice"), signer.ErrRefused)
	now = now.Add(time.Hour)
	require.ErrorIs(t, give("eve"), chain.ErrTaken)
	for range 2_000 {
		require.NoError(t, give("alice"))
	}
	require.ErrorIs(t, give("alice"), chain.ErrNotNow)
}
