package exchange

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func played(t *testing.T, s *stream, e engine) totals {
	for at := 0; at < len(s.steps); at += atOnce {
		part := s.steps[at:min(at+atOnce, len(s.steps))]
		require.NoError(t, e.ready(part))
		for i := range part {
			e.play(i)
		}
	}
	made, err := e.result()
	require.NoError(t, err)
	return made
}

// TestRecorded plays the stream of which three engines of other people make the same.
func TestRecorded(t *testing.T) {
	s, err := recorded()
	require.NoError(t, err)
	made := played(t, s, newPlainBook())
	require.Equal(t, []uint64{3061, 103_718, 3014}, []uint64{uint64(made.trades), made.volume, uint64(made.cancels)})
}

// TestBooksTradeAlike: on every stream the exchange's book, however many orders share a second, makes the plain book's trades.
func TestBooksTradeAlike(t *testing.T) {
	for name, s := range map[string]*stream{"nw1": nw1(20_000), "w2-normal": w2Normal(10_000), "gaps": gaps(10_000)} {
		want := played(t, s, newPlainBook())
		require.Greater(t, want.trades, len(s.steps)/20, name)
		require.Greater(t, want.cancels, len(s.steps)/10, name)
		for _, rate := range []int{1, 7, 1 << 16} {
			b, err := newExchangeBook(s, rate)
			require.NoError(t, err)
			require.Equal(t, want, played(t, s, b), "%s, %d orders a second", name, rate)
		}
	}
}

// TestStreamsAreFixed: a stream is the same on every machine and in every run.
func TestStreamsAreFixed(t *testing.T) {
	hashes := map[string]uint64{}
	for name, s := range map[string]*stream{"nw1": nw1(20_000), "w2-normal": w2Normal(20_000), "gaps": gaps(20_000)} {
		hashes[name] = played(t, s, newPlainBook()).hash
	}
	require.Equal(t, map[string]uint64{"nw1": 0x872676a49d7eb753, "w2-normal": 0x1ff56ca9aeb5b5c7, "gaps": 0x35d73d5a2add5332}, hashes)
}
