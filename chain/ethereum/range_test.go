package ethereum_test

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/chain/ethereum"
)

// oneByOne returns the blocks that a range has to be equal to.
func (b *bundle) oneByOne(from, to uint64) (list []chain.Block) {
	b.Helper()
	for height := from; height <= to; height++ {
		list = append(list, b.block(height))
	}
	return list
}

// busy makes a chain with empty and full blocks and returns its height.
func busy(b *bundle) uint64 {
	b.Helper()
	b.mine(5)
	for range 10 {
		for range 3 {
			b.must(b.dev.SendETH(addr(b.inbox), ether(1)))
		}
		b.must(b.dev.SendToken(b.dev.Contracts().USDT, addr(b.inbox), ether(0).SetInt64(7)))
		b.mine(3)
	}
	return b.height()
}

func TestRangesAreWhatBlocksAre(t *testing.T) {
	b := eventful(t)
	height := busy(b)
	want := b.oneByOne(1, height)
	proxied := func() string { return newLiar(t, b.dev.URL(), truth).url }
	for name, nodes := range map[string][]string{
		"HTTP": {b.dev.URL()}, "WebSocket": {b.dev.WSURL()}, "three": {b.dev.URL(), b.dev.WSURL(), proxied()},
		"without receipts of blocks": {newLiar(t, b.dev.URL(), about(receipts, instead(rpcError{-32601, "method not found"}))).url},
	} {
		for _, unverified := range []bool{false, true} {
			t.Run(name+map[bool]string{false: "", true: ", unverified"}[unverified], func(t *testing.T) {
				config := b.config()
				config.Nodes, config.Unverified = nodes, unverified
				adapter := adapterWith(t, b, config)
				for range 2 { // sizes of batches are learned
					got, err := adapter.Blocks(t.Context(), 1, height)
					require.NoError(t, err)
					require.Equal(t, want, got)
				}
				_, err := adapter.Blocks(t.Context(), height+1, height+5)
				require.ErrorIs(t, err, chain.ErrNotFound)
				got, err := adapter.Blocks(t.Context(), height-1, height+5)
				if err == nil || len(got) > 0 {
					require.Equal(t, want[height-2:], got)
				}
			})
		}
	}
}

func adapterWith(t *testing.T, b *bundle, config ethereum.Config) *ethereum.Chain {
	t.Helper()
	adapter, err := ethereum.New(config, b.keys)
	require.NoError(t, err)
	t.Cleanup(adapter.Close)
	return adapter
}

// counter counts the calls that reach a node, by method and first parameter, and the requests.
type counter struct {
	url string

	mu       sync.Mutex
	requests int
	calls    map[string]int
}

func counted(t *testing.T, to string) *counter {
	t.Helper()
	c := &counter{calls: map[string]int{}}
	through := newLiar(t, to, truth)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		list := body
		if !bytes.HasPrefix(body, []byte("[")) {
			list = slices.Concat([]byte("["), body, []byte("]"))
		}
		var calls []request
		_ = json.Unmarshal(list, &calls) // what is not JSON is the node's to refuse
		c.mu.Lock()
		c.requests++
		for _, q := range calls {
			if q.Method == fullBlock && q.Params[1] == true {
				c.calls[q.Params[0].(string)]++
			}
		}
		c.mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(body))
		through.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	c.url = server.URL
	return c
}

// TestOneElementOfABatchCostsItself has one block fail in a batch in each of the ways that nodes
// know: the others are not asked for again.
func TestOneElementOfABatchCostsItself(t *testing.T) {
	b := setup(t)
	height := b.mine(40)
	want := b.oneByOne(1, height)
	for name, fault := range map[string]any{
		"null": nil, "header not found": rpcError{-32000, "header not found"}, "internal": rpcError{-32603, "internal error"}, "too large": rpcError{-32003, "response too large"},
	} {
		t.Run(name, func(t *testing.T) {
			failed := false
			var mu sync.Mutex
			flaky := newLiar(t, b.dev.URL(), func(q request, result any) any {
				mu.Lock()
				defer mu.Unlock()
				if q.Method == fullBlock && q.Params[0] == "0x7" && !failed {
					failed = true
					return fault
				}
				return result
			})
			c := counted(t, flaky.url)
			config := b.config()
			config.Nodes = []string{c.url}
			adapter := adapterWith(t, b, config)
			_, err := adapter.Head(t.Context())
			require.NoError(t, err)
			got, err := adapter.Blocks(t.Context(), 1, height)
			require.NoError(t, err)
			require.Equal(t, want, got)
			for h := uint64(1); h <= height; h++ {
				text := hexutil.EncodeUint64(h)
				if text == "0x7" {
					require.Equal(t, 2, c.calls[text])
				} else {
					require.Equal(t, 1, c.calls[text], "block %s", text)
				}
			}
		})
	}
}

// TestEmptyBlocksComeInFewRequests: for 200 blocks there are ten or so, once the size of an answer
// is known.
func TestEmptyBlocksComeInFewRequests(t *testing.T) {
	b := setup(t)
	height := b.mine(220)
	c := counted(t, b.dev.URL())
	config := b.config()
	config.Nodes = []string{c.url}
	adapter := adapterWith(t, b, config)
	_, err := adapter.Blocks(t.Context(), 1, 20)
	require.NoError(t, err)
	before := c.requests
	blocks, err := adapter.Blocks(t.Context(), 21, height)
	require.NoError(t, err)
	require.Len(t, blocks, int(height)-20)
	require.LessOrEqual(t, c.requests-before, 10)
}

// TestLargeAnswersAreCut: a bound on answers that one block fits in, and ten do not.
func TestLargeAnswersAreCut(t *testing.T) {
	b := setup(t)
	from := b.height() + 1
	for range 12 {
		for range 60 {
			b.must(b.dev.SendETH(addr(b.inbox), ether(0).SetInt64(5)))
		}
		b.mine(1)
	}
	config := b.config()
	config.MaxResponse, config.Traces = 1<<16, "off"
	adapter := adapterWith(t, b, config)
	blocks, err := adapter.Blocks(t.Context(), from, b.height())
	require.NoError(t, err)
	require.Equal(t, b.oneByOne(from, b.height()), blocks)
}

// readAll reads a range as the follower does: what is missing is asked for again. The follower does
// so forever, a test gives up.
func readAll(t *testing.T, adapter *ethereum.Chain, from, to uint64) (list []chain.Block, err error) {
	t.Helper()
	known := map[uint64]chain.Block{}
	for range 50 {
		var blocks []chain.Block
		blocks, err = adapter.Blocks(t.Context(), from, to)
		for _, b := range blocks {
			known[b.Height] = b
		}
		for _, ok := known[from]; ok; _, ok = known[from] {
			from++
		}
		if from > to {
			break
		}
	}
	for _, height := range slices.Sorted(maps.Keys(known)) {
		list = append(list, known[height])
	}
	return list, err
}

// TestALyingNodeIsNeverBelievedInRanges: whatever a node changes in a batch, no block with it is
// returned, and the others' blocks are read.
func TestALyingNodeIsNeverBelievedInRanges(t *testing.T) {
	b := eventful(t)
	height := b.mine(2)
	want := b.oneByOne(1, height)
	order := b.orderOfLies(height - 2)
	for name, tell := range lies(b) {
		t.Run(name, func(t *testing.T) {
			sub := *b
			sub.T = t
			one := newLiar(t, order, tell)
			blocks, err := readAll(t, sub.suspicious(2, one), 1, height)
			require.NoError(t, err, "one of three")
			require.Equal(t, want, blocks, "one of three")
			if unproven(name) {
				return
			}
			blocks, err = sub.suspicious(0, one).Blocks(t.Context(), 1, height)
			require.Error(t, err, "alone")
			for _, found := range blocks {
				require.Contains(t, want, found)
			}
		})
	}
}
