package exchange

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/cmd/gatewaybench/bench"
	"gatewayd/cmd/gatewaybench/exchange/ladder"
)

// TestRecordedTotals: both engines make of the built-in stream what three independent ones make of it.
func TestRecordedTotals(t *testing.T) {
	for _, c := range matchingCases()[:1] {
		for side, part := range map[string]bench.Part{"ours": c.Ours, "ladder": c.Yardsticks[0].Part} {
			f, err := part(t.Context(), &bench.Run{Scale: 0.001, Dir: t.TempDir()})
			require.NoError(t, err)
			for name, want := range map[string]string{"trades": "9183", "volume": "311154", "cancels that hit": "9042"} {
				i := slices.IndexFunc(f.Notes, func(n bench.Note) bool { return n.Name == name })
				require.GreaterOrEqual(t, i, 0, name)
				require.Equal(t, want, f.Notes[i].Text, "%s of %s, %s", name, c.Name, side)
			}
		}
	}
}

func TestStreamOfTheUser(t *testing.T) {
	path := filepath.Join(t.TempDir(), "stream")
	require.NoError(t, os.WriteFile(path, recording[:ladder.RecordSize*2000], 0o600))
	s, err := ReadStream(path)
	require.NoError(t, err)
	require.Len(t, s.Steps, 2000)
	require.Equal(t, 1000, s.Prefill)
	c := matchingCases()[0]
	f, err := c.Ours(t.Context(), &bench.Run{Scale: 0.001, Stream: path})
	require.NoError(t, err)
	require.Equal(t, 3000, f.Units, "at three rates")
}

func TestStreamRefusals(t *testing.T) {
	record := func(change func(*ladder.Record)) []byte {
		list := []ladder.Record{{ID: 1, Quantity: 1, Price: 1}, {ID: 2, Quantity: 1, Price: 1}, {ID: 3, Quantity: 1, Price: 1}}
		change(&list[2])
		return ladder.Encode(list)
	}
	kind := record(func(*ladder.Record) {})
	kind[2*ladder.RecordSize] = 7
	for name, c := range map[string]struct {
		raw  []byte
		want string
	}{
		"empty":          {nil, "no records"},
		"torn":           {recording[:100], "100 bytes are not whole records"},
		"kind":           {kind, "record 2: invalid record: kind 7"},
		"price":          {record(func(r *ladder.Record) { r.Price = 0 }), "record 2: invalid record: price 0"},
		"quantity":       {record(func(r *ladder.Record) { r.Quantity = 0 }), "record 2: invalid record: price 1, quantity 0"},
		"twice":          {record(func(r *ladder.Record) { r.ID = 1 }), "record 2 of order 1"},
		"nothing to go":  {record(func(r *ladder.Record) { r.Kind, r.ID = ladder.Cancel, 9 }), "record 2 of order 9"},
		"price too high": {record(func(r *ladder.Record) { r.Price = 1e15 }), "a price above 999999999999999 ticks"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "stream")
			require.NoError(t, os.WriteFile(path, c.raw, 0o600))
			_, err := ReadStream(path)
			require.ErrorContains(t, err, path)
			require.ErrorContains(t, err, c.want)
		})
	}
	_, err := ReadStream(filepath.Join(t.TempDir(), "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

// TestLatencies compares with sorting.
func TestLatencies(t *testing.T) {
	var l latencies
	var all []time.Duration
	for i := range 5000 {
		d := time.Duration(i * i % 40_000)
		l.add(d)
		all = append(all, d)
	}
	slices.Sort(all)
	for _, part := range []int{1, 500, 900, 990, 999} {
		require.Equal(t, all[5*part-1], l.at(part), part)
	}
	var more latencies
	more.add(time.Hour)
	l.merge(&more)
	require.Equal(t, 5001, l.count)
	require.Equal(t, time.Hour, l.at(1000))
	require.Equal(t, time.Duration(0), new(latencies).at(500))
}

func TestTicks(t *testing.T) {
	for _, decimals := range []int{0, 3, 9, 12} {
		s := newTickScale(decimals)
		for _, ticks := range []int64{1, 999, 1000, 123_456_789, 999_999_999_999} {
			require.Equal(t, uint64(ticks), s.ticks(s.price(ticks)))
		}
	}
}
