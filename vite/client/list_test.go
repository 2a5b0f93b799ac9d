package client

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEmptyElementsTakeNoMemory: a list of what is nothing is refused at its first element.
func TestEmptyElementsTakeNoMemory(t *testing.T) {
	for _, element := range []string{"{}", "null", "0"} {
		nothing := "[" + strings.Repeat(element+",", 1<<16) + element + "]"
		for text, into := range map[string]any{
			`{"SnapshotBlock":{},"AccountBlocks":` + nothing + `}`: new(Chunk),
			`{"sendBlockList":` + nothing + `}`:                    new(AccountBlock),
			`{"triggeredSendBlockList":` + nothing + `}`:           new(AccountBlock),
		} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			require.ErrorIs(t, json.Unmarshal([]byte(text), into), errShort)
			runtime.ReadMemStats(&after)
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(8*len(text)))
		}
		_, err := readList(json.RawMessage(nothing), func(*Chunk, []byte) error { return nil })
		require.ErrorIs(t, err, errShort)
	}
}
