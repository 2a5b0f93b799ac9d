package ethereum_test

import (
	"math/big"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/chain/ethereum"
	"gatewayd/internal/testing/faults"
)

// untraceable are answers to a request for a block's traces by nodes that cannot give them now.
func untraceable() map[string]any {
	refusal := func(code int, text string) any { return rpcError{code, text} }
	lost := func(text string) any {
		return []any{map[string]any{"txHash": nil, "error": text}, map[string]any{"error": text}, map[string]any{"error": text}, map[string]any{"error": text}}
	}
	return map[string]any{
		"geth without the module":       refusal(-32601, "the method debug_traceBlockByHash does not exist/is not available"),
		"no such method":                refusal(-32601, "Method not found"),
		"the plan does not include it":  refusal(-32600, "debug_traceBlockByHash is not available on the Free tier - upgrade to Growth"),
		"not whitelisted":               refusal(-32601, "rpc method is not whitelisted"),
		"not authorized":                refusal(-32000, "Unauthorized: this method is not allowed for your key"),
		"unsupported by EIP-1474":       refusal(-32004, "unsupported"),
		"HTTP 401":                      raw{http.StatusUnauthorized, []byte("no")},
		"HTTP 403":                      raw{http.StatusForbidden, []byte(`{"error":"method blocked"}`)},
		"HTTP 405":                      raw{http.StatusMethodNotAllowed, nil},
		"geth without the state":        refusal(-32000, "required historical state unavailable (reexec=128)"),
		"a missing trie node":           refusal(-32000, "missing trie node 1f1f (path ) state 0x1f is not available"),
		"resource not found":            refusal(-32001, "Resource not found"),
		"pruned, by transaction":        lost("Resource not found"),
		"state missing, by transaction": lost("historical state unavailable"),
		"too slow, by transaction":      lost("execution timeout"),
		"no result, by transaction":     lost(""),
	}
}

// TestABlockThatNoNodeTracesPassesUntraced: one node, and three of them, lose the ability in any
// way after it worked.
func TestABlockThatNoNodeTracesPassesUntraced(t *testing.T) {
	b := eventful(t)
	for name, told := range untraceable() {
		t.Run(name, func(t *testing.T) {
			tell := about(traces, instead(told))
			node := newLiar(t, b.dev.URL(), truth)
			for _, adapter := range []*ethereum.Chain{
				b.suspicious(0, node), b.suspicious(0, node, newLiar(t, b.dev.URL(), tell), newLiar(t, b.dev.URL(), tell)),
			} {
				node.tell(truth)
				block, err := adapter.Block(t.Context(), b.height())
				require.NoError(t, err)
				require.Equal(t, b.newest(), block, "one node that traces is enough")
				require.Equal(t, chain.Traced, block.Tracing)

				node.tell(tell)
				for range 3 {
					block, err = adapter.Block(t.Context(), b.height())
					require.NoError(t, err)
					require.Equal(t, chain.Untraced, block.Tracing)
					require.Len(t, block.Transfers, 2, "what receipts show")
				}
				loss := adapter.TracingLoss()
				require.NotEmpty(t, loss.Why)
				require.Equal(t, b.height(), loss.Height)
				require.False(t, loss.Required)
				for _, n := range adapter.Nodes() {
					require.Zero(t, n.Faults, "it is no wrong node: %s", n.LastFault)
				}
			}

			config := b.config()
			config.Nodes, config.Traces = []string{node.url}, "on"
			strict := b.adapter(config)
			_, err := strict.Block(t.Context(), b.height())
			require.ErrorIs(t, err, chain.ErrUnavailable)
			require.ErrorContains(t, err, "no node can trace the block")
			require.True(t, strict.TracingLoss().Required)
		})
	}
}

// TestANodeThatTracesAgainIsUsedAgain: at once where one block was the reason, after a pause where
// it was the method. A block that needs no trace is enough to notice it.
func TestANodeThatTracesAgainIsUsedAgain(t *testing.T) {
	b := eventful(t)
	node := newLiar(t, b.dev.URL(), about(traces, instead(untraceable()["pruned, by transaction"])))
	adapter := b.suspicious(0, node)
	read := func(height uint64) chain.Tracing {
		block, err := adapter.Block(t.Context(), height)
		require.NoError(t, err)
		return block.Tracing
	}
	old := b.height()
	require.Equal(t, chain.Untraced, read(old))
	node.tell(truth)
	require.Equal(t, chain.Traced, read(old))
	require.Empty(t, adapter.TracingLoss())

	node.tell(about(traces, instead(untraceable()["HTTP 403"])))
	require.Equal(t, chain.Untraced, read(old))
	b.must(b.dev.SendETH(outsider("other"), big.NewInt(1)))
	plain := b.mine(1)
	require.Equal(t, chain.TracingUnneeded, read(plain))
	node.tell(truth)
	require.Eventually(t, func() bool { return read(plain) == chain.Traced }, time.Minute, 100*time.Millisecond)
	require.Empty(t, adapter.TracingLoss())
	require.Equal(t, chain.Traced, read(old))
}

// TestTracersThatDisagreeRemainADispute: a node that cannot trace does not decide between two that
// can.
func TestTracersThatDisagreeRemainADispute(t *testing.T) {
	b := eventful(t)
	invented := about(traces, item(3, within("result", set("calls", []any{map[string]any{
		"type": "CALL", "from": outsider("other").Hex(), "to": b.inbox.Account, "value": "0x99", "gas": "0x0", "gasUsed": "0x0", "input": "0x",
	}}))))
	silent := about(traces, instead(untraceable()["no such method"]))
	adapter := b.suspicious(0, newLiar(t, b.dev.URL(), truth), newLiar(t, b.dev.URL(), invented), newLiar(t, b.dev.URL(), silent))
	_, err := adapter.Block(t.Context(), b.height())
	require.ErrorIs(t, err, chain.ErrUnavailable)
	require.ErrorContains(t, err, "differently")
}

// TestBatchesThatAreRefusedOverWebSocket: the refusal names no call there, so it never reaches the
// caller. The calls are made one by one then.
func TestBatchesThatAreRefusedOverWebSocket(t *testing.T) {
	b := eventful(t)
	node, err := faults.Open(b.dev.URL())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, node.Close()) })
	refuses := faults.Batches("no batches", 1, 0)
	node.Fail(faults.Fault{Habit: &refuses})
	config := b.config()
	config.Nodes, config.Timeout = []string{node.SocketURL()}, time.Second
	adapter := b.adapter(config)
	head, err := adapter.Head(t.Context())
	require.NoError(t, err)
	require.Equal(t, b.newest().Point, head.Latest)
	_, err = adapter.Head(t.Context())
	require.NoError(t, err)
}
