package ethereum

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzRound: for any answer of a feed, a price is above zero, of sensible size, of its own round
// and has a time.
func FuzzRound(f *testing.F) {
	word := func(last ...byte) []byte { return append(make([]byte, wordSize-len(last)), last...) }
	good := bytes.Join([][]byte{word(2), word(7), word(1), word(3), word(2)}, nil)
	f.Add(good)
	f.Add(good[:wordSize])
	f.Add(append(bytes.Clone(good), 0))
	f.Add(bytes.Repeat([]byte{0xff}, 5*wordSize))
	f.Add(bytes.Join([][]byte{word(2), word(7), word(1), word(3), word(1)}, nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := readRound(data)
		if err != nil {
			require.Zero(t, r)
			return
		}
		require.Len(t, data, 5*wordSize)
		require.Positive(t, r.answer.Sign())
		require.LessOrEqual(t, r.answer.BitLen(), maxFeedBits)
		require.False(t, r.updated.IsZero())
		require.LessOrEqual(t, r.updated.Uint64(), uint64(maxFeedTime))
		require.LessOrEqual(t, bytes.Compare(data[:wordSize], data[4*wordSize:]), 0)
	})
}
