package ladder

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func recorded(t testing.TB) []Record {
	raw, err := os.ReadFile("testdata/stream-20k.bin")
	require.NoError(t, err)
	records, err := Decode(raw)
	require.NoError(t, err)
	require.True(t, bytes.Equal(raw, Encode(records)))
	return records
}

// TestRecorded plays the stream that three engines of other people agree on (docs/performance.md).
func TestRecorded(t *testing.T) {
	s, err := NewStream("recorded", recorded(t), 10_000, 3)
	require.NoError(t, err)
	l := New(s)
	l.Play(s.Steps)
	require.Equal(t, []uint64{3061, 103_718, 3014}, []uint64{uint64(l.Trades), l.Volume, uint64(l.Cancels)})
}

func streams(t testing.TB, steps int) []*Stream {
	var list []*Stream
	add := func(s *Stream, err error) {
		require.NoError(t, err)
		list = append(list, s)
	}
	add(NW1(steps, 42))
	for _, name := range Scenarios() {
		add(Swing(name, steps, 23))
	}
	add(Gaps(steps, 7))
	return list
}

// TestAgainstReplay: on each stream the ladder does what the plainest book does.
func TestAgainstReplay(t *testing.T) {
	for _, s := range streams(t, 30_000) {
		t.Run(s.Name, func(t *testing.T) {
			l, p := New(s), newReplay()
			for i := range s.Steps {
				step := &s.Steps[i]
				l.Step(step)
				p.step(s, step)
			}
			require.Equal(t, p.Totals, l.Totals)
			require.Equal(t, len(p.orders), l.Resting())
			require.Greater(t, l.Trades, len(s.Steps)/20)
			require.Greater(t, l.Cancels, len(s.Steps)/5)
		})
	}
}

// step plays a step, whose numbers stand for ids.
func (p *replay) step(s *Stream, step *Step) {
	if step.Leaves != 0 && !p.cancel(uint64(step.Leaves)) || step.Enters == 0 {
		return
	}
	p.enter(&Record{Sell: step.Sell, Immediate: step.Immediate, Quantity: step.Quantity, ID: uint64(step.Enters), Price: s.Prices[step.Tick]})
}

// TestStreamsAreFixed: a stream is the same on every machine and in every run.
func TestStreamsAreFixed(t *testing.T) {
	hashes := map[string]uint64{}
	for _, s := range streams(t, 20_000) {
		l := New(s)
		l.Play(s.Steps)
		hashes[s.Name] = l.Hash
	}
	require.Equal(t, map[string]uint64{
		"NW1": 0x872676a49d7eb753, "W2 static": 0xa867f5c1220b6f7f, "W2 normal": 0x3691fcda39b8ff4d, "W2 swing-25": 0xa1144e0e59f376b4,
		"W2 swing-40": 0x88b892380b52d2cb, "W2 flash-crash": 0xbfc13782dd85fa5a, "gaps": 0x35d73d5a2add5332,
	}, hashes)
}

// TestNW1 compares the shape of the neutral workload with the published one's: 599,394 passive, 300,985 cancels, 99,621
// crossing; 295,966 trades, volume 10,021,956, 110,065 resting at the end.
func TestNW1(t *testing.T) {
	s, err := NW1(1_000_000, 42)
	require.NoError(t, err)
	l := New(s)
	l.Play(s.Steps[:s.Prefill])
	require.Zero(t, l.Trades)
	l.Play(s.Steps[s.Prefill:])
	require.InEpsilon(t, 300_985, l.Cancels, 0.01)
	require.InEpsilon(t, 295_966, l.Trades, 0.01)
	require.InEpsilon(t, 10_021_956, l.Volume, 0.01)
	require.InEpsilon(t, 110_065, l.Resting(), 0.01)
}

func TestBadRecords(t *testing.T) {
	good := Record{Quantity: 1, ID: 1, Price: 1}
	for name, change := range map[string]func(b []byte) []byte{
		"cut":      func(b []byte) []byte { return b[:RecordSize-1] },
		"kind":     func(b []byte) []byte { b[0] = 3; return b },
		"side":     func(b []byte) []byte { b[1] = 2; return b },
		"flag":     func(b []byte) []byte { b[2] = 2; return b },
		"reserved": func(b []byte) []byte { b[3] = 1; return b },
		"quantity": func(b []byte) []byte { b[4] = 0; return b },
		"price":    func(b []byte) []byte { b[16] = 0; return b },
		"negative": func(b []byte) []byte { b[23] = 0x80; return b },
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Decode(change(Encode([]Record{good})))
			require.ErrorIs(t, err, ErrRecord)
		})
	}
	_, err := NewStream("", []Record{good, good}, 0, 0)
	require.ErrorIs(t, err, ErrRecord, "twice")
	_, err = NewStream("", []Record{{Kind: Cancel, ID: 1}}, 0, 0)
	require.ErrorIs(t, err, ErrRecord, "never entered")
	_, err = NewStream("", []Record{good}, 2, 0)
	require.ErrorIs(t, err, ErrRecord, "prefill")
}

func FuzzDecode(f *testing.F) {
	f.Add(Encode([]Record{{Quantity: 1, ID: 1, Price: 1}, {Kind: Modify, Sell: true, Quantity: 2, ID: 1, Price: 9}}))
	f.Fuzz(func(t *testing.T, raw []byte) {
		records, err := Decode(raw)
		if err != nil {
			return
		}
		require.True(t, bytes.Equal(raw, Encode(records)))
		s, err := NewStream("fuzz", records, 0, 0)
		if err != nil {
			return
		}
		l, p := New(s), newReplay()
		for i := range s.Steps {
			l.Step(&s.Steps[i])
			p.step(s, &s.Steps[i])
		}
		require.Equal(t, p.Totals, l.Totals)
	})
}

func BenchmarkLadder(b *testing.B) {
	for _, s := range streams(b, 1_000_000) {
		b.Run(s.Name, func(b *testing.B) {
			for n := 0; n < b.N; {
				b.StopTimer()
				l := New(s)
				l.Play(s.Steps[:s.Prefill])
				part := s.Steps[s.Prefill:][:min(b.N-n, len(s.Steps)-s.Prefill)]
				b.StartTimer()
				l.Play(part)
				n += len(part)
			}
		})
	}
}
