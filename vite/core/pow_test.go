package core

import (
	"encoding/binary"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
)

type powVectors struct {
	Samples []struct {
		Address, PreviousHash, DataHashHex, Difficulty, TargetHex, NonceHex string
		Valid                                                               bool
		Note                                                                string
	}
	Targets []struct{ Difficulty, TargetHex string }
}

func bigInt(t testing.TB, s string) *big.Int {
	n, ok := new(big.Int).SetString(s, 10)
	require.True(t, ok, s)
	return n
}

func TestPoWVectors(t *testing.T) {
	var v powVectors
	loadVectors(t, "pow.json", &v)
	require.NotEmpty(t, v.Samples)
	for _, c := range v.Samples {
		a, err := ParseAddress(c.Address)
		require.NoError(t, err)
		previous, err := ParseHash(c.PreviousHash)
		require.NoError(t, err)
		dataHash := PoWDataHash(a, previous)
		require.Equal(t, c.DataHashHex, dataHash.String())
		require.Equal(t, c.Valid, CheckPoW(dataHash, unhex(t, c.NonceHex), bigInt(t, c.Difficulty)), c.Note)
	}
	for _, c := range v.Targets {
		target, ok := Target(bigInt(t, c.Difficulty))
		require.True(t, ok)
		require.Equal(t, c.TargetHex, target.String(), c.Difficulty)
	}
}

func TestTargetAtTheEnds(t *testing.T) {
	target, ok := Target(new(big.Int))
	require.True(t, ok)
	require.True(t, target.IsZero())
	last := new(big.Int).Lsh(big.NewInt(1), 64)
	for _, d := range []*big.Int{big.NewInt(-1), last, new(big.Int).Lsh(last, 8)} {
		_, ok := Target(d)
		require.False(t, ok, d)
		require.False(t, CheckPoW(Hash{}, make([]byte, NonceSize), d))
	}
}

func TestCheckPoWWantsEightBytes(t *testing.T) {
	for _, size := range []int{0, 7, 9} {
		require.False(t, CheckPoW(Hash{}, make([]byte, size), new(big.Int)), size)
	}
	require.True(t, CheckPoW(Hash{}, make([]byte, 8), new(big.Int)))
}

func TestGrindFindsTheVectorsNonces(t *testing.T) {
	var v powVectors
	loadVectors(t, "pow.json", &v)
	for _, c := range v.Samples {
		difficulty := bigInt(t, c.Difficulty)
		if !c.Valid || difficulty.Cmp(big.NewInt(100_000)) > 0 {
			continue
		}
		dataHash, want := Hash(unhex(t, c.DataHashHex)), unhex(t, c.NonceHex)
		nonce, ok := Grind(dataHash, difficulty, 0, 1_000_000)
		require.True(t, ok)
		require.Equal(t, want, nonce[:])
		_, ok = Grind(dataHash, difficulty, 0, binary.BigEndian.Uint64(want))
		require.False(t, ok, "one try too few")
	}
	_, ok := Grind(Hash{}, big.NewInt(-1), 0, 1)
	require.False(t, ok)
}
