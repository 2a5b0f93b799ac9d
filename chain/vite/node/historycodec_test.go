package node

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain/vite/core"
)

func FuzzHistoryEntry(f *testing.F) {
	l := setup(f)
	l.issue(l.rich, gtt)
	l.do(l.rich, l.transfer(l.rich, l.staked.addr, 1))
	l.snapshot()
	for _, a := range l.state.accounts {
		for _, e := range a.blocks.recent {
			w := &writer{}
			w.entry(e)
			f.Add(w.data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r := &reader{data: data}
		e := r.entry()
		if r.err != nil {
			require.ErrorIs(t, r.err, ErrCorrupt)
			return
		}
		w, again := &writer{}, &writer{}
		w.entry(e)
		r = &reader{data: w.data}
		again.entry(r.entry())
		require.NoError(t, r.err)
		require.Empty(t, r.data)
		require.Equal(t, w.data, again.data)
	})
}

func FuzzHistoryRun(f *testing.F) {
	l := setup(f)
	l.snapshot()
	l.do(l.rich, l.transfer(l.rich, l.staked.addr, 1))
	l.snapshot()
	l.snapshot()
	w := &writer{}
	w.run(l.state.chain)
	f.Add(w.data)
	how := l.state.rules.sealing()
	f.Fuzz(func(t *testing.T, data []byte) {
		r := &reader{data: data}
		list := r.run(7, how)
		if r.err != nil {
			require.ErrorIs(t, r.err, ErrCorrupt)
			return
		}
		if len(list) == 0 {
			return
		}
		w := &writer{}
		w.run(list)
		r = &reader{data: w.data}
		require.Equal(t, list, r.run(7, how))
		require.NoError(t, r.err)
	})
}

func FuzzWhereabouts(f *testing.F) {
	for _, p := range []whereabouts{
		{core.DexFundContract, spot{1 << 40, 3}, BlockID{}},
		{core.DexFundContract, spot{5, 0}, BlockID{9, core.Hash{1}}},
	} {
		w := &writer{}
		w.whereabouts(p)
		r := &reader{data: w.data}
		require.Equal(f, p, r.whereabouts())
		f.Add(w.data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r := &reader{data: data}
		p := r.whereabouts()
		if r.err != nil {
			require.ErrorIs(t, r.err, ErrCorrupt)
			return
		}
		w := &writer{}
		w.whereabouts(p)
		again := &reader{data: w.data}
		require.Equal(t, p, again.whereabouts())
	})
}
