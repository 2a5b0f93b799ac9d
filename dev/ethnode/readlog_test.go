package ethnode

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/rlp"
	"github.com/stretchr/testify/require"
)

// FuzzReadLog: for any content of the file, reading it does not panic, and the result is the same
// when the rest is cut.
func FuzzReadLog(f *testing.F) {
	head := logHead(1, common.Hash{1})
	payload, err := rlp.EncodeToBytes(step{Blocks: []*types.Block{types.NewBlockWithHeader(&types.Header{})}, Tip: tip{Head: common.Hash{2}}})
	require.NoError(f, err)
	record := binary.BigEndian.AppendUint32(nil, uint32(len(payload)))
	record = append(binary.BigEndian.AppendUint32(record, checksum(payload)), payload...)
	f.Add(append(append([]byte{}, head...), record...))
	f.Add(append(append(append([]byte{}, head...), record...), record[:20]...))
	f.Add(append(append([]byte{}, head...), 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 1))
	f.Add(head)
	f.Fuzz(func(t *testing.T, content []byte) {
		past, good, err := readLog(content, head)
		if err != nil {
			return
		}
		again, whole, err := readLog(content[:good], head)
		require.NoError(t, err)
		require.Equal(t, good, whole)
		require.Equal(t, past.tip, again.tip)
		require.Len(t, again.blocks, len(past.blocks))
		if _, err := past.line(common.Hash{1}); err != nil {
			require.True(t, errors.Is(err, ErrDamaged))
		}
	})
}
