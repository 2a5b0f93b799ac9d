package ethereum

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/rpc"

	"gatewayd/chain"
	"gatewayd/chain/ethereum/wire"
	"gatewayd/chain/quorum"
	"gatewayd/internal/tracing"
)

// keepIdle connections per node serve the blocks that are fetched ahead.
const keepIdle = 8

// maxPlain is how long an answer over HTTP may be that is not read with a Scanner. An RPC client needs a hundred times the room of a text that is made for
// that. The longest there is are two headers, which come with the hashes of all transactions.
const maxPlain = 2 << 20

var errTooLarge = errors.New("the answer is larger than max_response, or than any to this question")

// plainAnswer is the key of requests that maxPlain holds for.
type plainAnswer struct{}

func plain(ctx context.Context) context.Context { return context.WithValue(ctx, plainAnswer{}, true) }

// node is one endpoint. It connects when first asked.
type node struct {
	*quorum.Node
	address string // may hold a key: never shown
	name    string
	chainID uint64
	timeout time.Duration
	limit   int64
	only    bool // the only node is never left alone
	limiter *nodeLimiter

	mu     sync.Mutex
	client *rpc.Client
	http   *http.Client

	answers sync.Pool // *bytes.Buffer: room of earlier answers

	most       atomic.Int32 // elements that it takes in a batch
	perCall    atomic.Int32 // balances that it reads in one call; 0: it does not override state
	rightChain atomic.Bool
	noReceipts atomic.Bool // eth_getBlockReceipts is not offered
	tracing    atomic.Int32
}

func newNode(index int, address string, config Config) *node {
	alone := len(config.Nodes) == 1
	n := &node{
		Node:    quorum.New(hostOf(address), alone, config.Log),
		address: address,
		name:    fmt.Sprintf("node %d (%s)", index+1, hostOf(address)),
		chainID: config.ChainID,
		timeout: config.Timeout,
		limit:   config.MaxResponse,
		only:    alone,
		limiter: newNodeLimiter(config.RequestsPerSecond),
	}
	n.most.Store(int32(n.limiter.most()))
	n.perCall.Store(balancePage)
	return n
}

// hostOf is the part of an address that holds no secret.
func hostOf(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return u.Host
	}
	return "ipc"
}

// call asks one thing, of the right chain only. A null answer leaves out as it is.
func (n *node) call(ctx context.Context, out any, method string, args ...any) error {
	if err := n.ready(ctx); err != nil {
		return err
	}
	return n.exchange(ctx, method, 1, func(ctx context.Context, client *rpc.Client) error {
		return client.CallContext(plain(ctx), out, method, args...)
	})
}

// ready asks for the chain id until it was right once.
func (n *node) ready(ctx context.Context) error {
	if n.rightChain.Load() {
		return nil
	}
	var id hexutil.Uint64
	err := n.exchange(ctx, "eth_chainId", 1, func(ctx context.Context, client *rpc.Client) error {
		return client.CallContext(plain(ctx), &id, "eth_chainId")
	})
	if err != nil {
		return err
	}
	return n.checkChain(uint64(id))
}

func (n *node) checkChain(id uint64) error {
	n.rightChain.Store(id == n.chainID)
	if id != n.chainID {
		return n.RecordWrong("chain", fmt.Errorf("%s: %w: %d, not %d", n.name, ErrWrongChain, id, n.chainID))
	}
	return nil
}

// exchange runs one request, of count calls, within the time limit, and keeps count of failures. A node that refuses it for coming too soon is
// asked again after its pause if there is no other node to ask.
func (n *node) exchange(ctx context.Context, method string, count int, do func(context.Context, *rpc.Client) error) (err error) {
	if err := n.Ready(); err != nil {
		return err
	}
	ctx, done := tracing.Call(ctx, method, n.name)
	defer func() { done(err) }()
	waiting, cancel := context.WithTimeout(ctx, n.timeout)
	defer cancel()
	for {
		if err := n.limiter.wait(waiting, count, n.only); err != nil {
			return n.fault(method, err)
		}
		err := n.try(ctx, do)
		switch {
		case err == nil:
			n.limiter.accepted()
			return nil
		case classify(err) != verdictLimited:
			return n.fault(method, err)
		}
		n.limiter.refused()
		if !n.only {
			return n.fault(method, err)
		}
	}
}

func (n *node) try(ctx context.Context, do func(context.Context, *rpc.Client) error) error {
	ctx, cancel := context.WithTimeout(ctx, n.timeout)
	defer cancel()
	client, err := n.connect(ctx)
	if err == nil {
		err = do(ctx, client)
	}
	if classify(err) == verdictTransport { // a refusal is an answer
		n.RecordCall(ctx, plainError(err))
	} else {
		n.RecordCall(ctx, nil)
	}
	return err
}

// fault names what was asked of whom. An answer that is not of the shape that the method has is wrong.
func (n *node) fault(method string, err error) error {
	err = fmt.Errorf("%s: %s: %w", n.name, method, plainError(err))
	var shape *json.UnmarshalTypeError
	if errors.As(err, &shape) || errors.Is(err, wire.ErrMalformed) {
		return n.RecordWrong("answer", err)
	}
	return err
}

// Willing reports whether the node is asked first: one that refuses requests for coming too soon is not.
func (n *node) Willing() bool { return n.Node.Willing() && (n.only || n.limiter.left() <= 0) }

// connect dials once; HTTP has nothing to dial, WebSocket and IPC reconnect by themselves afterwards.
func (n *node) connect(ctx context.Context) (*rpc.Client, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.client != nil {
		return n.client, nil
	}
	// An IPC socket belongs to a node on this machine under the operator's own rights; its answers are bounded in time only.
	web := n.httpClient()
	client, err := rpc.DialOptions(ctx, n.address, rpc.WithHTTPClient(web), rpc.WithWebsocketMessageSizeLimit(n.limit))
	if err != nil {
		return nil, err
	}
	n.client, n.http = client, web
	return client, nil
}

func (n *node) close() {
	n.Node.Close()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.client != nil {
		n.client.Close()
		n.http.CloseIdleConnections()
	}
}

// httpClient reads bounded answers, follows no redirects and asks a node on this machine not to compress: that costs more than it saves.
func (n *node) httpClient() *http.Client {
	transport := &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: n.timeout}).DialContext,
		ForceAttemptHTTP2:   true,
		MaxIdleConnsPerHost: keepIdle,
		IdleConnTimeout:     time.Minute,
		TLSHandshakeTimeout: n.timeout,
		DisableCompression:  isLoopback(n.address),
	}
	return &http.Client{
		Transport:     boundedTransport{transport, n.limit, n.limiter},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func isLoopback(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	return u.Hostname() == "localhost" || strings.HasPrefix(u.Hostname(), "127.") || u.Hostname() == "::1"
}

// boundedTransport cuts answers off after limit bytes (uncompressed), with an error, and heeds those that ask for a pause.
type boundedTransport struct {
	base    *http.Transport
	limit   int64
	limiter *nodeLimiter
}

func (t boundedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := t.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	t.limiter.pauseAsTold(response)
	limit := t.limit
	if r.Context().Value(plainAnswer{}) != nil {
		limit = min(limit, maxPlain)
	}
	response.Body = &boundedBody{response.Body, limit}
	return response, nil
}

// CloseIdleConnections lets http.Client end kept connections.
func (t boundedTransport) CloseIdleConnections() { t.base.CloseIdleConnections() }

type boundedBody struct {
	io.ReadCloser
	left int64
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooLarge
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// unavailable is chain.ErrUnavailable with what the nodes said, on one line.
func unavailable(faults []error) error {
	if len(faults) == 0 {
		return chain.ErrUnavailable
	}
	format := strings.TrimSuffix(strings.Repeat("%w; ", len(faults)), "; ")
	args := make([]any, len(faults))
	for i, fault := range faults {
		args[i] = fault
	}
	return fmt.Errorf("%w: %w", chain.ErrUnavailable, fmt.Errorf(format, args...))
}

// batch asks several things in one request, or in as many as the node wants it cut into. Each element's own Error is made plain but left to
// the caller.
func (n *node) batch(ctx context.Context, elems []rpc.BatchElem) error {
	if err := n.ready(ctx); err != nil {
		return err
	}
	for len(elems) > 0 {
		size := min(len(elems), int(n.most.Load()))
		err := n.batchOnce(ctx, elems[:size])
		if size > 1 && classify(err) == verdictBatchSize {
			n.most.Store(int32(size / 2))
			continue
		}
		if err != nil {
			return err
		}
		elems = elems[size:]
	}
	return nil
}

// batchOnce asks in one request. A node that takes no batches is asked without.
func (n *node) batchOnce(ctx context.Context, elems []rpc.BatchElem) error {
	if n.most.Load() == 1 {
		return n.single(ctx, &elems[0])
	}
	return n.exchange(ctx, elems[0].Method, len(elems), func(ctx context.Context, client *rpc.Client) error {
		for i := range elems {
			elems[i].Error = nil // of an earlier try
		}
		if err := client.BatchCallContext(plain(ctx), elems); err != nil {
			return wholeBatch(err)
		}
		return n.plainErrors(elems)
	})
}

// errBatchSize is a node that refuses a batch as a whole.
var errBatchSize = errors.New("the node takes no batch of that size")

// wholeBatch reads the refusal of a whole batch: an error page, or one object where a list should be.
func wholeBatch(err error) error {
	var status rpc.HTTPError
	var shape *json.UnmarshalTypeError
	refused := errors.As(err, &status) && (status.StatusCode == http.StatusBadRequest || status.StatusCode == http.StatusRequestEntityTooLarge)
	if refused || errors.As(err, &shape) && shape.Value == "object" && shape.Field == "" {
		return errBatchSize
	}
	return err
}

// plainErrors makes errors of elements plain, and those errors of the whole batch that say to ask otherwise or later.
func (n *node) plainErrors(elems []rpc.BatchElem) error {
	missing := 0
	for i := range elems {
		err := elems[i].Error
		if v := classify(err); v == verdictLimited || v == verdictBatchSize {
			return err
		}
		if errors.Is(err, rpc.ErrMissingBatchResponse) {
			missing++
		}
		if err != nil {
			elems[i].Error = n.fault(elems[i].Method, err)
		}
	}
	if missing == len(elems) { // it answered, but none of them
		return errBatchSize
	}
	return nil
}

func (n *node) single(ctx context.Context, elem *rpc.BatchElem) error {
	elem.Error = nil // of an earlier try
	err := n.call(ctx, elem.Result, elem.Method, elem.Args...)
	var refusal rpc.Error
	if errors.As(err, &refusal) && classify(err) != verdictLimited {
		elem.Error = err
		return nil
	}
	return err
}
