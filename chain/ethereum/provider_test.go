package ethereum

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math/big"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/rpc"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
)

// provider is a node of empty blocks in memory, with a habit of providers. It works in the time of
// a synctest bubble.
type provider struct {
	headers []*types.Header
	habit   habit
	random  *rand.Rand

	mu       sync.Mutex
	requests int // HTTP requests
	calls    int // calls in them
}

// habit answers a request in the place of the provider; nil: it does not. The provider's lock is
// held.
type habit func(p *provider, calls []call) *http.Response

type call struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params []any           `json:"params"`
}

func newProvider(blocks int, h habit) *provider {
	return &provider{habit: h, random: rand.New(rand.NewPCG(1, 2)), headers: emptyChain()[:blocks+1]}
}

// emptyChain is a chain of empty blocks.
var emptyChain = sync.OnceValue(func() (line []*types.Header) {
	const blocks = 8000
	parent := common.Hash{}
	for n := range blocks + 1 {
		header := &types.Header{
			ParentHash: parent, UncleHash: types.EmptyUncleHash, TxHash: types.EmptyTxsHash, ReceiptHash: types.EmptyReceiptsHash,
			Difficulty: new(big.Int), Number: big.NewInt(int64(n)), GasLimit: 30e6, Time: uint64(1_700_000_000 + 12*n), BaseFee: big.NewInt(1),
		}
		line, parent = append(line, header), header.Hash()
	}
	return line
})

// RoundTrip answers as a node behind HTTP.
func (p *provider) RoundTrip(r *http.Request) (*http.Response, error) {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	var calls []call
	batch := bytes.HasPrefix(text, []byte("["))
	if !batch {
		text = append(append([]byte("["), text...), ']')
	}
	if err := json.Unmarshal(text, &calls); err != nil {
		return nil, err
	}
	select { // on the way
	case <-r.Context().Done():
		return nil, r.Context().Err()
	case <-time.After(50 * time.Millisecond):
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests++
	p.calls += len(calls)
	if answer := p.habit(p, calls); answer != nil {
		return answer, nil
	}
	answers := make([]string, len(calls))
	for i, c := range calls {
		answers[i] = `{"jsonrpc":"2.0","id":` + string(c.ID) + `,` + p.answer(c) + `}`
	}
	if !batch {
		return httpAnswer(http.StatusOK, "application/json", answers[0]), nil
	}
	return httpAnswer(http.StatusOK, "application/json", "["+strings.Join(answers, ",")+"]"), nil
}

func (p *provider) answer(c call) string {
	if c.Method == "eth_chainId" {
		return `"result":"0x1"`
	}
	if c.Method != "eth_getBlockByNumber" {
		return `"error":{"code":-32601,"message":"method not found"}`
	}
	height := uint64(len(p.headers) - 1)
	if at := c.Params[0].(string); strings.HasPrefix(at, "0x") {
		height = hexutil.MustDecodeUint64(at)
	}
	if height >= uint64(len(p.headers)) {
		return `"result":null`
	}
	return `"result":` + blockText(p.headers[height])
}

// blockText is an empty block as nodes write it.
func blockText(h *types.Header) string {
	text, err := json.Marshal(h)
	if err != nil {
		panic(err)
	}
	return string(text[:len(text)-1]) + `,"transactions":[],"uncles":[],"size":"0x200"}`
}

func httpAnswer(status int, kind, body string) *http.Response {
	return &http.Response{
		StatusCode: status, Status: strconv.Itoa(status) + " " + http.StatusText(status), Header: http.Header{"Content-Type": {kind}},
		Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
	}
}

// noOwned is a gateway without addresses.
type noOwned struct{}

func (noOwned) Owned(context.Context, chain.ID, []string) (map[string]bool, error) { return nil, nil }

// behindProviders is a chain whose nodes are providers.
func behindProviders(t *testing.T, providers ...*provider) *Chain {
	t.Helper()
	config := Config{ID: "eth", ChainID: 1, Traces: "off"}
	for i := range providers {
		config.Nodes = append(config.Nodes, "http://node"+strconv.Itoa(i))
	}
	c, err := New(config, noOwned{})
	require.NoError(t, err)
	for i, n := range c.nodes {
		n.http = &http.Client{Transport: boundedTransport{providers[i], n.limit, n.limiter}}
		n.client, err = rpc.DialOptions(t.Context(), n.address, rpc.WithHTTPClient(n.http))
		require.NoError(t, err)
	}
	return c
}

// sometimes has a habit in so many of a hundred requests.
func sometimes(percent int, h habit) habit {
	return func(p *provider, calls []call) *http.Response {
		if p.random.IntN(100) < percent {
			return h(p, calls)
		}
		return nil
	}
}

func page(status int) habit {
	return func(*provider, []call) *http.Response {
		return httpAnswer(status, "text/html", "<html><body>Bad Gateway</body></html>")
	}
}

// perSecond refuses the calls above a number in each second, and all for some seconds after that.
func perSecond(most int, named time.Duration) habit {
	var second, closed time.Time
	used := 0
	return func(_ *provider, calls []call) *http.Response {
		now := time.Now()
		if now.Sub(second) >= time.Second {
			second, used = now, 0
		}
		if used+len(calls) > most {
			closed = now.Add(named)
		} else {
			used += len(calls)
		}
		if now.Before(closed) {
			answer := httpAnswer(http.StatusTooManyRequests, "application/json", `{}`)
			answer.Header.Set("Retry-After", strconv.Itoa(int(named.Seconds())))
			return answer
		}
		return nil
	}
}

func tooMany(*provider, []call) *http.Response {
	answer := httpAnswer(http.StatusTooManyRequests, "application/json", `{}`)
	answer.Header.Set("Retry-After", "5")
	return answer
}

// atMost refuses larger batches.
func atMost(most int, refusal func() *http.Response) habit {
	return func(_ *provider, calls []call) *http.Response {
		if len(calls) > most {
			return refusal()
		}
		return nil
	}
}

// unknown answers calls for blocks by number as if the node did not have them.
func unknown(text string) habit {
	return func(_ *provider, calls []call) *http.Response {
		if len(calls) > 1 || calls[0].Method != "eth_getBlockByNumber" {
			return nil
		}
		return httpAnswer(http.StatusOK, "application/json", `{"jsonrpc":"2.0","id":`+string(calls[0].ID)+`,`+text+`}`)
	}
}

func cutAnswer(*provider, []call) *http.Response {
	return httpAnswer(http.StatusOK, "application/json", `{"jsonrpc":"2.0","id":1,"result":{"number":"0x`)
}

func refused(status int, body string) func() *http.Response {
	return func() *http.Response { return httpAnswer(status, "application/json", body) }
}

// bothHabits has the first habit of the list that answers.
func bothHabits(list ...habit) habit {
	return func(p *provider, calls []call) *http.Response {
		for _, h := range list {
			if answer := h(p, calls); answer != nil {
				return answer
			}
		}
		return nil
	}
}

func honest(*provider, []call) *http.Response { return nil }

// habits are the known faults of providers.
func habits() map[string]func() habit {
	always := func(h habit) func() habit { return func() habit { return h } }
	return map[string]func() habit{
		"none":                  always(honest),
		"HTML 502":              always(sometimes(30, page(502))),
		"HTML 200":              always(sometimes(20, page(200))),
		"cut":                   always(sometimes(20, cutAnswer)),
		"text":                  always(sometimes(20, func(*provider, []call) *http.Response { return httpAnswer(200, "application/json", "upstream error") })),
		"header not found":      always(sometimes(20, unknown(`"error":{"code":-32000,"message":"header not found"}`))),
		"null":                  always(sometimes(20, unknown(`"result":null`))),
		"ten a second":          func() habit { return perSecond(10, 5*time.Second) },
		"three a second":        func() habit { return perSecond(3, 2*time.Second) },
		"no batch, 403":         always(atMost(1, refused(403, `{}`))),
		"no batch, 429":         always(atMost(1, refused(429, `{}`))),
		"no batch, error":       always(atMost(1, refused(200, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"batch is not allowed"}}`))),
		"at most 10 in a batch": always(atMost(10, refused(200, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"batch too large"}}`))),
		"all at once": func() habit {
			return bothHabits(perSecond(25, 2*time.Second), sometimes(15, page(502)), sometimes(10, page(200)), atMost(10, refused(403, `{}`)))
		},
	}
}
