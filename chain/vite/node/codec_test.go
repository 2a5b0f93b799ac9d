package node

import (
	"math/big"
	"testing"

	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"

	"gatewayd/chain/vite/core"
)

func TestBlockCodecKeepsEveryField(t *testing.T) {
	h := core.Hash{3}
	for _, b := range []*core.AccountBlock{
		{},
		{
			BlockType: core.SendCall, Height: 1 << 60, PreviousHash: core.Hash{1}, Address: core.Address{1},
			ToAddress: core.AssetContract, Amount: *new(uint256.Int).SetAllOne(), TokenID: core.VITE,
			SendBlockHash: core.Hash{2}, Data: []byte("data"), Fee: *vite(10), VMLogHash: &h, Nonce: []byte{1, 2},
			Difficulty: big.NewInt(67108863), Hash: core.Hash{4}, PublicKey: []byte{5}, Signature: []byte{6},
		},
		{Data: []byte{}, Nonce: []byte{}, Difficulty: new(big.Int)},
	} {
		w := &writer{}
		w.block(b)
		r := &reader{data: w.data}
		require.Equal(t, b, r.block())
		require.NoError(t, r.err)
		require.Empty(t, r.data)
		for size := range w.data {
			cut := &reader{data: w.data[:size]}
			cut.block()
			require.ErrorIs(t, cut.err, ErrCorrupt, "%d bytes", size)
		}
	}
}

func FuzzBlockCodec(f *testing.F) {
	l := setup(f)
	f.Add(blockRecord(signed(l.rich, l.transfer(l.rich, l.staked.addr, 1)))[1:])
	f.Add(blockRecord(signed(l.rich, l.call(l.rich, core.AssetContract, core.IssueToken, gtt.args()...)))[1:])
	f.Fuzz(func(t *testing.T, data []byte) {
		r := &reader{data: data}
		b := r.block()
		if r.err != nil {
			require.ErrorIs(t, r.err, ErrCorrupt)
			return
		}
		w := &writer{}
		w.block(b)
		again, copied := &reader{data: w.data}, &writer{}
		copied.block(again.block())
		require.NoError(t, again.err)
		require.Equal(t, w.data, copied.data)
	})
}
