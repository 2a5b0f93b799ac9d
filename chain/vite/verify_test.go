package vite

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/vite/client"
	"gatewayd/vite/core"
)

// TestRealNodesBlocks checks what a live node answered (see vite/rpc/testdata): nothing true is
// taken for a lie.
func TestRealNodesBlocks(t *testing.T) {
	var sends, fromContracts, own int
	for _, b := range recordedBlocks(t) {
		if b.BlockType == core.SendCreate {
			continue // goes to a contract, never to us
		}
		switch {
		case b.BlockType.IsSend():
			require.NoError(t, checkSend(&b, b.ToAddress))
			sends++
			if b.Address.IsContract() {
				fromContracts++
			}
		case !b.Address.IsContract():
			require.NoError(t, checkOwn(&b, b.Address, b.Height, b.Hash))
			own++
		}
		_, _, _, err := place(&b)
		require.NoError(t, err)
	}
	require.NotZero(t, fromContracts)
	require.Greater(t, sends, fromContracts+15)
	require.Greater(t, own, 5)
}

// recordedBlocks are the account blocks of all answers that hold one or a list.
func recordedBlocks(t *testing.T) (blocks []client.AccountBlock) {
	t.Helper()
	recording, err := os.ReadFile("../../vite/rpc/testdata/ledger.jsonl")
	require.NoError(t, err)
	lines := bufio.NewScanner(bytes.NewReader(recording))
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var call struct {
			Request  struct{ Method string }
			Response struct{ Result json.RawMessage }
		}
		if json.Unmarshal(lines.Bytes(), &call) != nil || call.Request.Method == "ledger_getRawBlockByHash" {
			continue // the latter shows members under other names and no confirmations
		}
		var list []json.RawMessage
		if json.Unmarshal(call.Response.Result, &list) != nil {
			list = []json.RawMessage{call.Response.Result}
		}
		for _, item := range list {
			var members map[string]json.RawMessage
			if json.Unmarshal(item, &members) != nil || members["blockType"] == nil {
				continue
			}
			var b client.AccountBlock
			require.NoError(t, json.Unmarshal(item, &b), call.Request.Method)
			blocks = append(blocks, b)
		}
	}
	require.NoError(t, lines.Err())
	return blocks
}
