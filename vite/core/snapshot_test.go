package core

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

type sealVector struct {
	Name         string
	Hash         Hash
	PreviousHash Hash
	Height       uint64
	Timestamp    int64
	Seed         uint64
	SeedHash     *Hash
	Content      map[Address]HashHeight
	Upgrade      string
	Version      uint32
}

func (v sealVector) seal() Seal {
	s := Seal{
		PreviousHash: v.PreviousHash, Height: v.Height, Time: v.Timestamp, Seed: v.Seed, Content: v.Content,
		Upgrade: v.Upgrade, Version: v.Version,
	}
	if v.SeedHash != nil {
		s.SeedHash = *v.SeedHash
	}
	return s
}

func TestSealVectors(t *testing.T) {
	var vectors []sealVector
	loadVectors(t, "snapshot-blocks.json", &vectors)
	require.Len(t, vectors, 6)
	for _, v := range vectors {
		s := v.seal()
		require.Equal(t, v.Hash, s.ComputeHash(), v.Name)
		require.True(t, s.Fits(v.Hash), v.Name)
		for name, change := range map[string]func(*Seal){
			"previous hash": func(s *Seal) { s.PreviousHash[0]++ },
			"height":        func(s *Seal) { s.Height++ },
			"time":          func(s *Seal) { s.Time++ },
			"seed":          func(s *Seal) { s.Seed++ },
			"seed hash":     func(s *Seal) { s.SeedHash[31]++ },
			"version":       func(s *Seal) { s.Version++ },
			"content":       func(s *Seal) { s.Content = map[Address]HashHeight{{1}: {Hash{2}, 3}} },
		} {
			changed := v.seal()
			change(&changed)
			require.False(t, changed.Fits(v.Hash), "%s: %s", v.Name, name)
		}
	}
}

// TestSealHidesNothingInAName: a node moves a part of the content into the upgrade's name.
func TestSealHidesNothingInAName(t *testing.T) {
	honest := Seal{Content: map[Address]HashHeight{{1}: {Hash{2}, 3}}, Upgrade: "14", Version: 14}
	h := honest.ComputeHash()
	forged := Seal{Upgrade: string(honest.content()) + "14", Version: 14}
	require.Equal(t, h, forged.ComputeHash())
	require.False(t, forged.Fits(h))
	require.Greater(t, sealEntry, MaxUpgradeName)
	require.False(t, (&Seal{Upgrade: strings.Repeat("x", MaxUpgradeName+1)}).Fits(h))
}

func TestSealTakesAnyOrder(t *testing.T) {
	s := Seal{Content: map[Address]HashHeight{{1}: {Hash{2}, 3}, {4}: {Hash{5}, 6}}, Upgrade: "14", Version: 14}
	version := s.tail()[2:]
	for _, other := range [][]byte{
		slices.Concat(s.head(), s.tail(), s.content()),
		slices.Concat(s.head(), []byte("14"), s.content(), version),
	} {
		require.NotEqual(t, s.ComputeHash(), hash256(other))
		require.True(t, s.Fits(hash256(other)))
	}
	require.False(t, s.Fits(hash256(slices.Concat(s.head(), version, s.content(), []byte("14")))))
}

func hash256(p []byte) (h Hash) {
	digest(h[:], p)
	return h
}
