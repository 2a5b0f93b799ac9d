package exchange

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/cmd/gatewaybench/exchange/ladder"
)

// TestBookTradesAsTheLadder: on every stream the exchange's book, however many orders share a second, makes the
// ladder's trades.
func TestBookTradesAsTheLadder(t *testing.T) {
	var streams []*ladder.Stream
	add := func(s *ladder.Stream, err error) {
		require.NoError(t, err)
		streams = append(streams, s)
	}
	add(ladder.NW1(20_000, 42))
	for _, name := range ladder.Scenarios() {
		add(ladder.Swing(name, 10_000, 23))
	}
	add(ladder.Gaps(10_000, 7))
	for _, s := range streams {
		l := ladder.New(s)
		l.Play(s.Steps)
		require.NotZero(t, l.Trades)
		for _, rate := range []int{1, 7, 1 << 16} {
			b, err := newExchangeBook(s, rate)
			require.NoError(t, err)
			for at := 0; at < len(s.Steps); at += atOnce {
				part := s.Steps[at:min(at+atOnce, len(s.Steps))]
				require.NoError(t, b.prepare(part))
				for i := range part {
					b.play(i)
				}
			}
			totals, err := b.totals()
			require.NoError(t, err)
			require.Equal(t, l.Totals, totals, "%s, %d orders a second", s.Name, rate)
		}
	}
}
