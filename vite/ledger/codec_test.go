package ledger

import (
	"math/big"
	"testing"

	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
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
		w := &Writer{}
		w.Block(b)
		r := &Reader{Data: w.Data}
		require.Equal(t, b, r.Block())
		require.NoError(t, r.Err)
		require.Empty(t, r.Data)
		for size := range w.Data {
			cut := &Reader{Data: w.Data[:size]}
			cut.Block()
			require.ErrorIs(t, cut.Err, ErrCorrupt, "%d bytes", size)
		}
	}
}
