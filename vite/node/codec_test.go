package node

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
	"gatewayd/vite/ledger"
)

func FuzzBlockCodec(f *testing.F) {
	l := setup(f)
	f.Add(ledger.BlockRecord(signed(l.rich, l.transfer(l.rich, l.staked.addr, 1)))[1:])
	f.Add(ledger.BlockRecord(signed(l.rich, l.call(l.rich, core.AssetContract, core.IssueToken, gtt.args()...)))[1:])
	f.Fuzz(func(t *testing.T, data []byte) {
		r := &ledger.Reader{Data: data}
		b := r.Block()
		if r.Err != nil {
			require.ErrorIs(t, r.Err, ledger.ErrCorrupt)
			return
		}
		w := &ledger.Writer{}
		w.Block(b)
		again, copied := &ledger.Reader{Data: w.Data}, &ledger.Writer{}
		copied.Block(again.Block())
		require.NoError(t, again.Err)
		require.Equal(t, w.Data, copied.Data)
	})
}

func FuzzHistoryEntry(f *testing.F) {
	l := setup(f)
	l.issue(l.rich, gtt)
	l.do(l.rich, l.transfer(l.rich, l.staked.addr, 1))
	l.snapshot()
	for _, a := range l.state.Accounts {
		for _, e := range a.Blocks.Recent {
			w := &ledger.Writer{}
			w.Entry(e)
			f.Add(w.Data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r := &ledger.Reader{Data: data}
		e := r.Entry()
		if r.Err != nil {
			require.ErrorIs(t, r.Err, ledger.ErrCorrupt)
			return
		}
		w, again := &ledger.Writer{}, &ledger.Writer{}
		w.Entry(e)
		r = &ledger.Reader{Data: w.Data}
		again.Entry(r.Entry())
		require.NoError(t, r.Err)
		require.Empty(t, r.Data)
		require.Equal(t, w.Data, again.Data)
	})
}

func FuzzHistoryRun(f *testing.F) {
	l := setup(f)
	l.snapshot()
	l.do(l.rich, l.transfer(l.rich, l.staked.addr, 1))
	l.snapshot()
	l.snapshot()
	w := &ledger.Writer{}
	w.Run(l.state.Chain)
	f.Add(w.Data)
	how := l.state.Rules.Sealing()
	f.Fuzz(func(t *testing.T, data []byte) {
		r := &ledger.Reader{Data: data}
		list := r.Run(7, how)
		if r.Err != nil {
			require.ErrorIs(t, r.Err, ledger.ErrCorrupt)
			return
		}
		if len(list) == 0 {
			return
		}
		w := &ledger.Writer{}
		w.Run(list)
		r = &ledger.Reader{Data: w.Data}
		require.Equal(t, list, r.Run(7, how))
		require.NoError(t, r.Err)
	})
}
