package store

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
	"gatewayd/vite/ledger"
)

func FuzzBlockLocation(f *testing.F) {
	for _, p := range []Location{
		{core.DexFundContract, ledger.Position{Height: 1 << 40, Number: 3}, ledger.BlockID{}},
		{core.DexFundContract, ledger.Position{Height: 5, Number: 0}, ledger.BlockID{Height: 9, Hash: core.Hash{1}}},
	} {
		w := &ledger.Writer{}
		p.encode(w)
		r := &ledger.Reader{Data: w.Data}
		require.Equal(f, p, decodeLocation(r))
		f.Add(w.Data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r := &ledger.Reader{Data: data}
		p := decodeLocation(r)
		if r.Err != nil {
			require.ErrorIs(t, r.Err, ledger.ErrCorrupt)
			return
		}
		w := &ledger.Writer{}
		p.encode(w)
		again := &ledger.Reader{Data: w.Data}
		require.Equal(t, p, decodeLocation(again))
	})
}
