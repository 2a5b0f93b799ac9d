package ethereum_test

import (
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/rpc"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"gatewayd/chain"
	"gatewayd/chain/ethereum"
	"gatewayd/dev/ethnode"
)

func TestEveryTransport(t *testing.T) {
	b := eventful(t)
	socket := filepath.Join(t.TempDir(), "node.ipc")
	listener, server := ipcProxy(t, b.dev, socket)
	t.Cleanup(func() { require.NoError(t, listener.Close()); server.Stop() })
	for name, address := range map[string]string{"HTTP": b.dev.URL(), "WebSocket": b.dev.WSURL(), "IPC": socket} {
		t.Run(name, func(t *testing.T) {
			config := b.config()
			config.Nodes, config.Traces = []string{address}, "off"
			adapter := b.adapter(config)
			head, err := adapter.Head(t.Context())
			require.NoError(t, err)
			block, err := adapter.Block(t.Context(), head.Latest.Height)
			require.NoError(t, err)
			require.Equal(t, head.Latest, block.Point)
			require.Len(t, block.Transfers, 2)
		})
	}
}

// answers is a node that gives every client the same answer.
func answers(t *testing.T, handler http.HandlerFunc) ethereum.Config {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return ethereum.Config{ID: "eth", ChainID: 1, Nodes: []string{server.URL}, MaxResponse: 1 << 16, Timeout: 5 * time.Second}
}

func adapterOf(t *testing.T, config ethereum.Config) *ethereum.Chain {
	t.Helper()
	keys := newKeyring()
	adapter, err := ethereum.New(config, keys)
	require.NoError(t, err)
	t.Cleanup(adapter.Close)
	return adapter
}

func TestAnswersAreBounded(t *testing.T) {
	var sent atomic.Int64
	endless := func(w http.ResponseWriter, write func([]byte) (int, error)) {
		chunk := make([]byte, 1<<12)
		for i := range chunk {
			chunk[i] = '['
		}
		for range 1 << 14 { // 64 MiB unless stopped
			n, err := write(chunk)
			if err != nil {
				return
			}
			sent.Add(int64(n))
		}
	}
	t.Run("plain", func(t *testing.T) {
		config := answers(t, func(w http.ResponseWriter, _ *http.Request) { endless(w, w.Write) })
		_, err := adapterOf(t, config).Head(t.Context())
		require.ErrorIs(t, err, chain.ErrUnavailable)
		require.Less(t, sent.Load(), int64(1<<24), "the connection is cut long before the end")
	})
	t.Run("what is short by its nature", func(t *testing.T) {
		sent.Store(0)
		config := answers(t, func(w http.ResponseWriter, _ *http.Request) { endless(w, w.Write) })
		config.MaxResponse = 0 // the default
		_, err := adapterOf(t, config).Head(t.Context())
		require.ErrorIs(t, err, chain.ErrUnavailable)
		require.Less(t, sent.Load(), int64(1<<24))
	})
	t.Run("compressed", func(t *testing.T) {
		config := answers(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			packed := gzip.NewWriter(w)
			endless(w, packed.Write)
			packed.Close()
		})
		_, err := adapterOf(t, config).Head(t.Context())
		require.ErrorIs(t, err, chain.ErrUnavailable)
	})
	t.Run("a block", func(t *testing.T) {
		sent.Store(0)
		config := answers(t, func(w http.ResponseWriter, r *http.Request) {
			if body, _ := io.ReadAll(r.Body); strings.Contains(string(body), "eth_chainId") {
				io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":"0x1"}`)
				return
			}
			endless(w, w.Write)
		})
		_, err := adapterOf(t, config).Block(t.Context(), 1)
		require.ErrorIs(t, err, chain.ErrUnavailable)
		require.Less(t, sent.Load(), int64(1<<24))
	})
	t.Run("an error page", func(t *testing.T) {
		config := answers(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500); endless(w, w.Write) })
		_, err := adapterOf(t, config).Head(t.Context())
		require.ErrorContains(t, err, "HTTP status 500")
	})
}

func TestSlowNodesAreCutOff(t *testing.T) {
	config := answers(t, func(http.ResponseWriter, *http.Request) { <-t.Context().Done() })
	config.Timeout = 20 * time.Millisecond
	_, err := adapterOf(t, config).Head(t.Context())
	require.ErrorIs(t, err, chain.ErrUnavailable)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestADeadNodeOfSeveralIsLeftAlone(t *testing.T) {
	b := setup(t)
	var asked atomic.Int32
	dead := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(http.StatusBadGateway)
	}))
	t.Cleanup(dead.Close)
	adapter := b.suspicious(2, &liar{url: dead.URL})
	for range 20 {
		_, err := adapter.Head(t.Context())
		require.NoError(t, err)
	}
	require.EqualValues(t, 9, asked.Load(), "three calls, each tried three times")

	alone := b.config()
	alone.Nodes = []string{dead.URL}
	only := b.adapter(alone)
	for range 4 {
		_, err := only.Head(t.Context())
		require.ErrorIs(t, err, chain.ErrUnavailable)
	}
	require.EqualValues(t, 9+4*5, asked.Load(), "the last node is always asked")
}

func TestNothingIsLeftRunning(t *testing.T) {
	b := setup(t)
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	config := b.config()
	config.Nodes = []string{b.dev.URL(), b.dev.WSURL()}
	keys := newKeyring()
	adapter, err := ethereum.New(config, keys)
	require.NoError(t, err)
	_, err = adapter.Head(t.Context())
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = adapter.Block(ctx, 1)
	require.ErrorIs(t, err, context.Canceled)
	adapter.Close()
}

// passOn answers from another node.
type passOn struct{ to *rpc.Client }

func (p passOn) ChainId(ctx context.Context) (out any, err error) {
	return out, p.to.CallContext(ctx, &out, "eth_chainId")
}

func (p passOn) GetBlockByNumber(ctx context.Context, at string, full bool) (out any, err error) {
	return out, p.to.CallContext(ctx, &out, "eth_getBlockByNumber", at, full)
}

func (p passOn) GetBlockReceipts(ctx context.Context, at string) (out any, err error) {
	return out, p.to.CallContext(ctx, &out, "eth_getBlockReceipts", at)
}

// ipcProxy serves what reading a block needs on a socket.
func ipcProxy(t *testing.T, dev *ethnode.Node, socket string) (interface{ Close() error }, *rpc.Server) {
	t.Helper()
	listener, server, err := rpc.StartIPCEndpoint(socket, []rpc.API{{Namespace: "eth", Service: passOn{dev.Client().Client()}}})
	require.NoError(t, err)
	return listener, server
}
