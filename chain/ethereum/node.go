package ethereum

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/rpc"

	"gatewayd/chain"
	"gatewayd/chain/quorum"
	"gatewayd/internal/tracing"
)

// keepIdle connections per node serve the blocks that are fetched ahead.
const keepIdle = 8

// node is one endpoint. It connects when first asked.
type node struct {
	*quorum.Node
	address string // may hold a key: never shown
	name    string
	chainID uint64
	timeout time.Duration
	limit   int64
	only    bool // the only node is never left alone
	timed   func(method string, took time.Duration)
	limiter *nodeLimiter

	mu     sync.Mutex
	client *rpc.Client
	http   *http.Client

	answers sync.Pool // *bytes.Buffer: room of earlier answers

	blockBytes, receiptBytes atomic.Int64 // of one block's answer, by the last answers

	batches    batchSize
	perCall    atomic.Int32 // balances that it reads in one call; 0: it does not override state
	rightChain atomic.Bool
	hasFinal   atomic.Bool // it has shown a final block
	noReceipts atomic.Bool // eth_getBlockReceipts is not offered
	tracer     tracer
	denials    denials // of blocks
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
		timed:   func(string, time.Duration) {},
		limiter: newNodeLimiter(config.RequestsPerSecond),
	}
	if observe := config.Timed; observe != nil {
		host := hostOf(address)
		n.timed = func(method string, took time.Duration) { observe(host, method, took) }
	}
	n.perCall.Store(balancePage)
	if config.Log != nil {
		n.tracer.log = config.Log.WithField("node", hostOf(address))
	}
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
		err := client.CallContext(plain(ctx), out, method, args...)
		if method == sendMethod {
			err = refusalByStatus(err)
		}
		return err
	})
}

// refusalByStatus is a node's refusal of a transaction by the HTTP status alone, in
// the words of its answer.
func refusalByStatus(err error) error {
	var status rpc.HTTPError
	if !errors.As(err, &status) || status.StatusCode != http.StatusBadRequest && status.StatusCode != http.StatusForbidden {
		return err
	}
	var told struct {
		Error struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	text := strings.TrimSpace(string(status.Body))
	if json.Unmarshal(status.Body, &told) == nil && told.Error.Message != "" {
		return remoteError{told.Error.Code, told.Error.Message}
	}
	if text == "" || strings.HasPrefix(text, "<") { // a page for people
		text = http.StatusText(status.StatusCode)
	}
	return remoteError{text: fmt.Sprintf("HTTP status %d: %s", status.StatusCode, text)}
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
		return n.RecordWrong("chain", fmt.Errorf("%s: %w: its chain id is %d, chain_id in the configuration is %d", n.name, ErrWrongChain, id, n.chainID))
	}
	return nil
}

// exchange runs one request, of count calls, and counts failures. Transient failures are retried
// within the time limit of one call. A node that refuses the request as too frequent is asked again
// after its pause, if there is no other node and the request fits the rate that follows from the
// refusal.
func (n *node) exchange(ctx context.Context, method string, count int, do func(context.Context, *rpc.Client) error) (err error) {
	if err := n.Ready(); err != nil {
		return err
	}
	ctx, done := tracing.Call(ctx, method, n.name)
	defer func() { done(err) }()
	waiting, cancel := context.WithTimeout(ctx, n.timeout)
	defer cancel()
	again := newBackoff(n.tries(), n.timeout)
	for {
		begun := time.Now()
		if err := n.limiter.wait(waiting, count, n.only); err != nil {
			return n.fault(method, err)
		}
		sent := time.Now()
		err := n.try(ctx, do)
		n.timed(method, time.Since(sent))
		switch {
		case err == nil:
			n.record(ctx, nil)
			n.limiter.accepted(count)
			if n.batches.accepted(sent, count) {
				n.limiter.restore()
			}
			return nil
		case errors.Is(ctx.Err(), context.DeadlineExceeded) && sent.Sub(begun) > time.Since(sent): // our own limit used up the caller's time
			return n.fault(method, chain.ErrLimited)
		case classify(err) == verdictLimited:
			n.limiter.refused()
			n.batches.refused(count)
			if !n.only || count > n.mostCalls() {
				n.record(ctx, nil)
				return n.fault(method, err)
			}
		case !transient(err) || !again.wait(waiting):
			n.record(ctx, err)
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
	return err
}

// record keeps how a call ended after its last try: a refusal is an answer.
func (n *node) record(ctx context.Context, err error) {
	if classify(err) != verdictTransport {
		err = nil
	}
	if err != nil && ctx.Value(optionalCall{}) != nil {
		return
	}
	if err != nil {
		err = plainError(err)
	}
	n.RecordCall(ctx, err)
}

// fault names what was asked of whom. An answer that is not of the shape that the method has is
// wrong.
func (n *node) fault(method string, err error) error {
	err = fmt.Errorf("%s: %s: %w", n.name, method, plainError(err))
	var shape *json.UnmarshalTypeError
	if errors.As(err, &shape) || errors.Is(err, errMalformed) {
		return n.RecordWrong("answer", err)
	}
	return err
}

// Willing reports whether the node is asked first: one that refuses requests for coming too soon is
// not.
func (n *node) Willing() bool { return n.Node.Willing() && (n.only || n.limiter.left() <= 0) }

// connect dials once. HTTP needs no dialling; WebSocket and IPC reconnect automatically afterwards.
func (n *node) connect(ctx context.Context) (*rpc.Client, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.client != nil {
		return n.client, nil
	}
	// An IPC socket belongs to a node on this machine under the operator's own rights; its answers
	// are bounded in time only.
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

// unavailable returns chain.ErrUnavailable with the nodes' errors, on one line.
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

// batch asks several things in one request, or in as many as the node wants it cut into. Each
// element's own Error is made plain but left to the caller.
func (n *node) batch(ctx context.Context, elems []rpc.BatchElem) error {
	if err := n.ready(ctx); err != nil {
		return err
	}
	for len(elems) > 0 {
		size := min(len(elems), n.mostCalls())
		err := n.batchOnce(ctx, elems[:size])
		if n.cut(size, err) {
			continue
		}
		if err != nil {
			return err
		}
		elems = elems[size:]
	}
	return nil
}

// mostCalls returns the number of calls that the next request may have.
func (n *node) mostCalls() int { return min(n.batches.most(time.Now()), n.limiter.most()) }

// cut reports whether a refused batch of a size is to be asked for in smaller ones.
func (n *node) cut(size int, err error) bool {
	if size == 1 || err == nil {
		return false
	}
	switch classify(err) {
	case verdictBatchSize:
		n.batches.tooLarge(time.Now(), size)
		return true
	case verdictLimited:
		return n.only && size > n.mostCalls()
	}
	return false
}

// batchOnce asks in one request. A single call needs no batch, which some nodes refuse.
func (n *node) batchOnce(ctx context.Context, elems []rpc.BatchElem) error {
	if len(elems) == 1 {
		return n.single(ctx, &elems[0])
	}
	err := n.exchange(ctx, elems[0].Method, len(elems), func(ctx context.Context, client *rpc.Client) error {
		for i := range elems {
			elems[i].Error = nil // of an earlier try
		}
		if err := client.BatchCallContext(plain(ctx), elems); err != nil {
			return wholeBatch(err)
		}
		return n.plainErrors(elems)
	})
	if n.losesRefusals() && len(elems) > 1 && errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil && n.single(ctx, &elems[0]) == nil {
		return errBatchSize
	}
	return err
}

// losesRefusals reports whether the refusal of a batch gets lost. Over WebSocket and IPC it names
// no call, so that the RPC client waits for its time limit. The answer to a single call then shows
// that the batch was the reason.
func (n *node) losesRefusals() bool { return !strings.HasPrefix(n.address, "http") }

// errBatchSize marks a node that refuses a batch as a unit.
var errBatchSize = errors.New("the node does not accept a batch of that size")

// batchRefusals are the HTTP statuses of nodes that refuse batches. What they refuse for another
// reason they refuse call by call too.
var batchRefusals = []int{http.StatusBadRequest, http.StatusForbidden, http.StatusRequestEntityTooLarge}

// wholeBatch reads the refusal of a complete batch: an error page, or one object in place of a
// list.
func wholeBatch(err error) error {
	var status rpc.HTTPError
	var shape *json.UnmarshalTypeError
	refused := errors.As(err, &status) && slices.Contains(batchRefusals, status.StatusCode)
	if refused || errors.As(err, &shape) && shape.Value == "object" && shape.Field == "" {
		return errBatchSize
	}
	return err
}

// plainErrors simplifies errors of elements, and returns those that require another batch size or a
// later attempt as errors of the complete batch.
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
	if errors.As(err, &refusal) && classify(err) != verdictLimited || notOffered(err) {
		elem.Error = err
		return nil
	}
	return err
}
