package client

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"testing"

	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
)

// TestChunks reads the example of the public API documentation, of the main network.
func TestChunks(t *testing.T) {
	example, err := os.ReadFile("testdata/chunks.json")
	require.NoError(t, err)
	c := dial(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		require.Contains(t, string(body), `"method":"ledger_getChunks","params":["100","101"]`)
		w.Header().Set("Content-Type", "application/json")
		require.NoError(t, json.NewEncoder(w).Encode(map[string]any{"jsonrpc": "2.0", "id": 1, "result": json.RawMessage(example)}))
	}))
	chunks, err := c.Chunks(t.Context(), 100, 101)
	require.NoError(t, err)
	require.Len(t, chunks, 2)
	require.Empty(t, chunks[0].Blocks)
	require.Len(t, chunks[1].Blocks, 3)
	require.Len(t, chunks[1].Snapshot.Content, 3)
	for i := range chunks {
		b := &chunks[i].Snapshot
		seal := b.Seal("")
		require.True(t, seal.Fits(b.Hash))
		require.True(t, core.Verify(b.PublicKey, b.Hash[:], b.Signature))
		require.Equal(t, b.Producer, core.UserAddress(core.PublicKey(b.PublicKey)))
	}
	send, receive := &chunks[1].Blocks[0], &chunks[1].Blocks[2]
	require.Equal(t, uint64(4), send.Height)
	require.Equal(t, "1000000000000000000000", send.Amount.Dec(), "more than 2^64, as a number")
	require.Equal(t, core.QuotaContract, send.ToAddress)
	require.Equal(t, core.Receive, receive.BlockType)
	require.Equal(t, uint256.Int{}, receive.Amount)
	require.Equal(t, chunks[1].Blocks[1].Hash, receive.SendBlockHash)
	require.Len(t, receive.Nonce, core.NonceSize)
}

func TestChunkNames(t *testing.T) {
	for name, text := range map[string]string{
		"v1": `{"AccountBlocks":null,"SnapshotBlock":{"height":7}}`,
		"v2": `{"accountBlocks":null,"snapshotBlock":{"height":7}}`,
	} {
		var c Chunk
		require.NoError(t, json.Unmarshal([]byte(text), &c), name)
		require.Equal(t, uint64(7), c.Snapshot.Height)
	}
	for _, text := range []string{`{}`, `{"SnapshotBlock":null}`, `{"SnapshotBlock":[]}`, `[]`, `{"AccountBlocks":{},"SnapshotBlock":{}}`} {
		require.Error(t, json.Unmarshal([]byte(text), new(Chunk)), text)
	}
}

func FuzzChunk(f *testing.F) {
	example, err := os.ReadFile("testdata/chunks.json")
	require.NoError(f, err)
	var list []json.RawMessage
	require.NoError(f, json.Unmarshal(example, &list))
	for _, item := range list {
		f.Add([]byte(item))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var c Chunk
		if json.Unmarshal(text, &c) != nil {
			return
		}
		seal := c.Snapshot.Seal("14")
		require.True(t, seal.Fits(seal.ComputeHash()))
		require.Len(t, seal.Content, len(c.Snapshot.Content))
	})
}
