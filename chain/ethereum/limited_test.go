package ethereum_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/chain/ethereum"
)

// gate is a proxy before a node that passes requests, or answers them itself.
type gate struct {
	url   string
	asked atomic.Int32 // HTTP requests
	calls atomic.Int32 // calls let through, those of a batch one by one
}

// newGate asks refuse before each request, with how many calls are in it; true means that it has
// answered.
func newGate(t *testing.T, honest string, refuse func(w http.ResponseWriter, asked, calls int) bool) *gate {
	t.Helper()
	g, through := new(gate), newLiar(t, honest, func(_ request, result any) any { return result })
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		calls := 1
		var batch []json.RawMessage
		if json.Unmarshal(body, &batch) == nil {
			calls = len(batch)
		}
		if refuse(w, int(g.asked.Add(1)), calls) {
			return
		}
		g.calls.Add(int32(calls))
		r.Body = io.NopCloser(bytes.NewReader(body))
		through.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	g.url = server.URL
	return g
}

// tooMany is a provider's refusal: by status with or without a time, or in a JSON-RPC answer.
func tooMany(kind string) func(w http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/json")
		switch kind {
		case "status":
			w.WriteHeader(http.StatusTooManyRequests)
		case "retry-after":
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
		case "unavailable":
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusServiceUnavailable)
		case "answer":
			io.WriteString(w, `{"jsonrpc":"2.0","id":1,"error":{"code":-32005,"message":"limit exceeded"}}`)
		}
	}
}

// TestALimitedNodeIsWaitedFor: the only node refuses for coming too soon. Whoever asks gets an
// answer all the same, a little later.
func TestALimitedNodeIsWaitedFor(t *testing.T) {
	for _, kind := range []string{"status", "retry-after", "answer"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			g := newGate(t, b.dev.URL(), func(w http.ResponseWriter, asked, calls int) bool {
				if asked%3 != 1 || calls > 1 { // the first, the fourth ...
					return false
				}
				tooMany(kind)(w)
				return true
			})
			config := b.config()
			config.Nodes = []string{g.url}
			adapter := b.adapter(config)
			balance, err := adapter.Balance(t.Context(), b.hot.Account, chain.Native)
			require.NoError(t, err)
			require.False(t, balance.IsZero())
			report := adapter.Probe(t.Context())[0]
			require.NoError(t, report.Err)
			require.NotZero(t, report.Limited)
		})
	}
}

// TestALimitedNodeOfThreeIsSpared: it is asked again after its pause only, is never called broken,
// and the others answer meanwhile.
func TestALimitedNodeOfThreeIsSpared(t *testing.T) {
	for _, kind := range []string{"status", "retry-after", "unavailable"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			var open atomic.Bool
			g := newGate(t, b.dev.URL(), func(w http.ResponseWriter, _, _ int) bool {
				if !open.Load() {
					tooMany(kind)(w)
				}
				return !open.Load()
			})
			config := b.config()
			config.Nodes = []string{g.url, b.dev.URL(), b.dev.WSURL()}
			adapter := b.adapter(config)
			for range 20 {
				_, err := adapter.Head(t.Context())
				require.NoError(t, err)
				_, err = adapter.Block(t.Context(), b.height())
				require.NoError(t, err)
			}
			require.LessOrEqual(t, g.asked.Load(), int32(3), "two pauses would be over at the most")
			open.Store(true)
			require.Eventually(t, func() bool { // "left alone" would last fifteen seconds
				_, err := adapter.Head(t.Context())
				return err == nil && g.calls.Load() > 0
			}, 20*time.Second, 20*time.Millisecond)
		})
	}
}

// TestBatchesAreCutToWhatANodeTakes: providers take 1, 3, 100 or 1,000 calls in a batch, and refuse
// larger ones in many ways.
func TestBatchesAreCutToWhatANodeTakes(t *testing.T) {
	refusals := map[string]func(w http.ResponseWriter){
		"an error page": func(w http.ResponseWriter) { w.WriteHeader(http.StatusBadRequest) },
		"too large":     func(w http.ResponseWriter) { w.WriteHeader(http.StatusRequestEntityTooLarge) },
		"one object": func(w http.ResponseWriter) {
			io.WriteString(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"batch limit 3 exceeded"}}`)
		},
		"a list of one": func(w http.ResponseWriter) {
			io.WriteString(w, `[{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"batch too large"}}]`)
		},
	}
	b := setup(t)
	for range 10 {
		b.must(b.dev.SendETH(addr(b.inbox), ether(1)))
	}
	height := b.mine(1)
	for name, refusal := range refusals {
		for _, most := range []int{3, 1} {
			t.Run(name+" over "+strconv.Itoa(most), func(t *testing.T) {
				oneByOne := newLiar(t, b.dev.URL(), about("eth_getBlockReceipts", instead(rpcError{-32601, "method not found"})))
				g := newGate(t, oneByOne.url, func(w http.ResponseWriter, _, calls int) bool {
					if calls <= most {
						return false
					}
					w.Header().Set("Content-Type", "application/json")
					refusal(w)
					return true
				})
				config := b.config()
				config.Nodes, config.Traces = []string{g.url}, "off"
				adapter := b.adapter(config)
				block, err := adapter.Block(t.Context(), height)
				require.NoError(t, err)
				require.Len(t, block.Transfers, 10)
				_, err = adapter.AccountHead(t.Context(), b.hot.Account)
				require.NoError(t, err)
			})
		}
	}
}

func TestConfiguredRateIsKept(t *testing.T) {
	b := setup(t)
	g := newGate(t, b.dev.URL(), func(http.ResponseWriter, int, int) bool { return false })
	config := b.config()
	config.Nodes, config.RequestsPerSecond = []string{g.url}, 1
	adapter := b.adapter(config)
	begin := time.Now()
	_, err := adapter.Head(t.Context()) // chain id and three calls: all that may go at once
	require.NoError(t, err)
	require.EqualValues(t, 4, g.calls.Load())
	for err == nil { // the next needs some seconds, however long the first took
		hasty, cancel := context.WithTimeout(t.Context(), time.Second)
		_, err = adapter.Head(hasty)
		cancel()
	}
	require.ErrorIs(t, err, chain.ErrUnavailable)
	require.ErrorContains(t, err, "limit of requests")
	require.LessOrEqual(t, float64(g.calls.Load()), 4+time.Since(begin).Seconds())
	config.RequestsPerSecond = -1
	require.ErrorContains(t, config.Check(), "requests_per_second")
}

// TestALimitedWebSocket is refused before it is opened.
func TestALimitedWebSocket(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { tooMany("status")(w) }))
	t.Cleanup(server.Close)
	config := ethereum.Config{ID: "eth", ChainID: 1, Nodes: []string{"ws" + strings.TrimPrefix(server.URL, "http")}, Timeout: 3 * time.Second}
	report := adapterOf(t, config).Probe(t.Context())[0]
	require.ErrorContains(t, report.Err, "limit of requests")
	require.NotZero(t, report.Limited)
}
