package dex

import (
	"encoding/binary"
	"os"
	"testing"

	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"
)

// streamed is one step of a recorded order stream: an order that comes, or one that goes.
type streamed struct {
	order  Order
	cancel bool
}

// stream reads testdata/stream-20k.bin: records of 24 bytes, {kind: 0 new, 1 cancel; side: 1 sell; flag: 1 no rest; 0;
// u32 quantity; u64 id; i64 price}, little endian. Prices become prices with decimals, quantities those of a token of 18
// decimals, when real is set.
func stream(t testing.TB, real bool) (steps []streamed, m Market) {
	raw, err := os.ReadFile("testdata/stream-20k.bin")
	require.NoError(t, err)
	m = Market{ID: 1, QuoteType: QuoteVITE}
	unit := uint256.NewInt(1)
	if real {
		m.TradeDecimals, m.QuoteDecimals = 18, 18
		unit = uint256.NewInt(1e17)
	}
	ids := map[uint64]OrderID{}
	for n := 0; n < len(raw); n += 24 {
		r := raw[n : n+24]
		id := binary.LittleEndian.Uint64(r[8:])
		require.LessOrEqual(t, r[0], uint8(1))
		if r[0] == 1 {
			steps = append(steps, streamed{Order{ID: ids[id]}, true})
			continue
		}
		p := Placement{Side: Side(r[1] == 1), Price: Price{Units: binary.LittleEndian.Uint64(r[16:])}, Time: int64(n), FeeTier: FeeTier{SVIP: !real}}
		if r[2] == 1 {
			p.Type = ImmediateOrCancel
		}
		if real {
			p.Price = Price{Units: p.Price.Units / 1000, Frac: p.Price.Units % 1000 * 1e9}
		}
		p.Quantity.Mul(uint256.NewInt(uint64(binary.LittleEndian.Uint32(r[4:]))), unit)
		p.Available.Lsh(uint256.NewInt(1), 150)
		o, err := m.Place(&p)
		require.NoError(t, err)
		ids[id] = o.ID
		steps = append(steps, streamed{order: o})
	}
	return steps, m
}

// run plays the stream and counts.
func run(b *Book, r *Result, steps []streamed) (trades, cancels int, volume uint256.Int) {
	for i := range steps {
		s := &steps[i]
		if s.cancel {
			if b.Remove(s.order.ID) {
				cancels++
			}
			continue
		}
		b.Match(&s.order, r)
		if b.Apply(r) != nil {
			panic("an id twice")
		}
		trades += len(r.Fills)
		for j := range r.Fills {
			volume.Add(&volume, &r.Fills[j].Quantity)
		}
	}
	return trades, cancels, volume
}

// TestStream plays the stream that three independent engines agree on.
func TestStream(t *testing.T) {
	steps, m := stream(t, false)
	trades, cancels, volume := run(bookOf(t, &m), &Result{}, steps)
	require.Equal(t, 3061, trades)
	require.Equal(t, "103718", volume.Dec())
	require.Equal(t, 3014, cancels)
}

func bookOf(t testing.TB, m *Market) *Book {
	scale, err := NewScale(m.TradeDecimals, m.QuoteDecimals)
	require.NoError(t, err)
	return NewBook(scale)
}

// BenchmarkStream plays the second half of the stream, whose first half fills the book. One operation is one step.
func BenchmarkStream(b *testing.B) {
	for name, real := range map[string]bool{"integers": false, "amounts": true} {
		b.Run(name, func(b *testing.B) {
			steps, m := stream(b, real)
			var r Result
			b.ReportAllocs()
			for n := 0; n < b.N; {
				b.StopTimer()
				book := bookOf(b, &m)
				run(book, &r, steps[:len(steps)/2])
				b.StartTimer()
				part := steps[len(steps)/2:][:min(b.N-n, len(steps)/2)]
				run(book, &r, part)
				n += len(part)
			}
		})
	}
}
