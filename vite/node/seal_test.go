package node

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
	"gatewayd/vite/store"
)

// TestSealsAsRealNodesDo computes the hashes of snapshot blocks, with and without content, from
// what is shown of them.
func TestSealsAsRealNodesDo(t *testing.T) {
	l := setup(t)
	l.do(l.rich, l.transfer(l.rich, l.staked.addr, 1))
	l.snapshot()
	l.snapshot()
	l.Read(func(v *View) {
		require.NotEmpty(t, v.SnapshotByHeight(2).Content)
		for height := uint64(1); height <= 3; height++ {
			require.True(t, fits(v.SnapshotByHeight(height)), "height %d", height)
		}
	})
}

func fits(b *SnapshotBlock) bool {
	s := core.Seal{
		PreviousHash: b.Previous, Height: b.Height, Time: b.Time.Unix(), Seed: b.Seed,
		Content: map[core.Address]core.HashHeight{}, Upgrade: "14", Version: b.Version,
	}
	if b.SeedHash != nil {
		s.SeedHash = *b.SeedHash
	}
	for a, id := range b.Content {
		s.Content[a] = core.HashHeight{Hash: id.Hash, Height: id.Height}
	}
	return s.Fits(b.Hash)
}

// TestOlderLogKeepsItsHashes continues a log of a version that had its own hashes.
func TestOlderLogKeepsItsHashes(t *testing.T) {
	dir := t.TempDir()
	g, err := testGenesis(t).Normalised()
	require.NoError(t, err)
	digest := g.Digest()
	require.NoError(t, os.WriteFile(filepath.Join(dir, LogName), append([]byte(store.OlderHashesMagic), digest[:]...), 0o600))
	config := Config{Dir: dir, Genesis: testGenesis(t), SnapshotInterval: -1, StateEvery: 1}
	l := open(t, config)
	l.do(l.rich, l.transfer(l.rich, l.staked.addr, 1))
	for range 5 {
		l.snapshot()
	}
	want := l.digest()
	hash := func(height uint64) (h core.Hash) {
		l.Read(func(v *View) {
			b := v.SnapshotByHeight(height)
			require.False(t, fits(b))
			h = b.Hash
		})
		return h
	}
	first, second := hash(1), hash(2)
	require.NoError(t, l.Close())
	l = open(t, config)
	require.Equal(t, want, l.digest())
	require.Equal(t, first, hash(1))
	require.Equal(t, second, hash(2))
}
