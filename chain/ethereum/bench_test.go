package ethereum_test

import (
	"encoding/json"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/ethclient"
	"github.com/stretchr/testify/require"

	"gatewayd/chain/ethereum"
	"gatewayd/chain/ethereum/devnode"
)

// canned answers with a recorded block of 100 token payments, so that the time is the client's.
func canned(b *testing.B) (url string, height uint64) {
	dev, err := devnode.Start(devnode.Config{})
	require.NoError(b, err)
	for range 100 {
		_, err := dev.SendToken(dev.Contracts().USDT, outsider("bench"), big.NewInt(1))
		require.NoError(b, err)
	}
	_, err = dev.Mine(1)
	require.NoError(b, err)
	height, err = dev.Client().BlockNumber(b.Context())
	require.NoError(b, err)
	answers := map[string]json.RawMessage{"eth_chainId": json.RawMessage(`"0x539"`)}
	for method, args := range map[string][]any{fullBlock: {hexutil.EncodeUint64(height), true}, receipts: {hexutil.EncodeUint64(height)}} {
		var answer json.RawMessage
		require.NoError(b, dev.Client().Client().Call(&answer, method, args...))
		answers[method] = answer
	}
	require.NoError(b, dev.Close())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		for method, answer := range answers {
			if strings.Contains(string(body), method) {
				w.Header().Set("Content-Type", "application/json")
				io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":`)
				w.Write(answer)
				io.WriteString(w, "}")
			}
		}
	}))
	b.Cleanup(server.Close)
	return server.URL, height
}

// BenchmarkBlock reads the same block with the usual client, which proves nothing and reads no receipts, and with the adapter, which
// reads both and proves both.
func BenchmarkBlock(b *testing.B) {
	url, height := canned(b)
	b.Run("ethclient", func(b *testing.B) {
		client, err := ethclient.Dial(url)
		require.NoError(b, err)
		defer client.Close()
		for b.Loop() {
			block, err := client.BlockByNumber(b.Context(), bigInt(height))
			require.NoError(b, err)
			require.Len(b, block.Transactions(), 100)
		}
	})
	for name, unverified := range map[string]bool{"proven": false, "unproven": true} {
		b.Run(name, func(b *testing.B) {
			keys := newKeyring()
			adapter, err := ethereum.New(ethereum.Config{ID: "eth", ChainID: 1337, Nodes: []string{url}, Traces: "off", Unverified: unverified}, keys, keys)
			require.NoError(b, err)
			defer adapter.Close()
			for b.Loop() {
				_, err := adapter.Block(b.Context(), height)
				require.NoError(b, err)
			}
		})
	}
}
