package ethereum

import (
	"encoding/json"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/stretchr/testify/require"
)

func TestHeaderOfEveryForkHashesAlike(t *testing.T) {
	word, count := common.Hash{3}, uint64(4)
	header := &types.Header{Number: big.NewInt(5), Difficulty: big.NewInt(6), Extra: []byte("x"), Bloom: types.Bloom{1}, Nonce: types.EncodeNonce(7)}
	for _, fork := range []func(){
		func() {},
		func() { header.BaseFee = big.NewInt(8) },
		func() { header.WithdrawalsHash = &word },
		func() { header.BlobGasUsed, header.ExcessBlobGas, header.ParentBeaconRoot = &count, &count, &word },
		func() { header.RequestsHash = &word },
		func() { header.BlockAccessListHash, header.SlotNumber = &word, &count },
	} {
		fork()
		text, err := header.MarshalJSON()
		require.NoError(t, err)
		var read wireBlock
		require.NoError(t, json.Unmarshal(text, &read))
		require.NoError(t, read.Check())
		require.Equal(t, header.Hash(), read.Header().Hash())
	}
}
