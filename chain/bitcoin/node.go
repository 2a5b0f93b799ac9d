package bitcoin

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"gatewayd/chain"
	"gatewayd/chain/bitcoin/network"
	"gatewayd/chain/quorum"
	"gatewayd/internal/tracing"
)

const (
	// triesOfOne bounds the tries of one call to the only node, triesOfSeveral those to one of
	// several nodes.
	triesOfOne     = 5
	triesOfSeveral = 3
	firstBackoff   = 50 * time.Millisecond

	// pageHeaders bounds the headers of one batch.
	pageHeaders = 250

	// maxBuffer is the largest answer whose buffer is used again.
	maxBuffer = 16 << 20
)

// node is one endpoint.
type node struct {
	*quorum.Node
	name    string // without user and password
	network *network.Network
	timeout time.Duration
	limit   int64
	only    bool // no other node is configured
	timed   func(method string, took time.Duration)
	rpc     *rpcClient

	keeps atomic.Bool // it was seen to replace no transaction by another

	answers sync.Pool // *bytes.Buffer: room of earlier answers

	mu         sync.Mutex
	rightChain bool
}

func newNode(index int, address string, config Config, of *network.Network, authorities *x509.CertPool) (*node, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("the node's address is not a URL")
	}
	client, err := newRPCClient(address, config, authorities)
	if err != nil {
		return nil, err
	}
	alone := len(config.Nodes) == 1
	n := &node{
		Node:    quorum.New(u.Host, alone, config.Log),
		name:    fmt.Sprintf("node %d (%s)", index+1, u.Host),
		network: of, timeout: config.Timeout, limit: config.MaxResponse, only: alone,
		timed: func(string, time.Duration) {}, rpc: client,
	}
	if observe := config.Timed; observe != nil {
		n.timed = func(method string, took time.Duration) { observe(u.Host, method, took) }
	}
	return n, nil
}

func tlsOf(authorities *x509.CertPool) *tls.Config {
	return &tls.Config{RootCAs: authorities, MinVersion: tls.VersionTLS12}
}

func (n *node) close() {
	n.Node.Close()
	n.rpc.http.CloseIdleConnections()
}

// call asks one thing, of the right chain only.
func (n *node) call(ctx context.Context, out any, method string, params ...any) error {
	if err := n.ready(ctx); err != nil {
		return err
	}
	return n.ask(ctx, out, method, params...)
}

func (n *node) ask(ctx context.Context, out any, method string, params ...any) error {
	read := func(text []byte) error { return readResult(text, out) }
	return n.exchange(ctx, method, newRequest(1, method, params), min(n.limit, maxPlain), read)
}

// ready checks the first block until it was right once: nodes of several networks have one name.
func (n *node) ready(ctx context.Context) error {
	n.mu.Lock()
	right := n.rightChain
	n.mu.Unlock()
	if right {
		return nil
	}
	var genesis string
	if err := n.ask(ctx, &genesis, "getblockhash", 0); err != nil {
		return err
	}
	if genesis != n.network.Genesis.String() {
		return n.RecordWrong("chain", fmt.Errorf("%s: %w: its first block is %s, not that of %s", n.name, ErrWrongChain, printable(genesis), n.network.Name))
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.rightChain = true
	return nil
}

// doubt has the first block checked again: another node may answer at the address now.
func (n *node) doubt() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.rightChain = false
}

// printable is a node's text for an error.
func printable(text string) string { return fmt.Sprintf("%.70q", text) }

// exchange runs one request and counts failures. Transient failures are retried within the time
// limit of one call. read must not keep parts of the answer's text.
func (n *node) exchange(ctx context.Context, method string, content any, limit int64, read func(text []byte) error) (err error) {
	if err := n.Ready(); err != nil {
		return err
	}
	ctx, done := tracing.Call(ctx, method, n.name)
	defer func() { done(err) }()
	timeout := n.timeout
	if method == "scantxoutset" {
		timeout = scanTimeout
	}
	waiting, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	tries := triesOfSeveral
	if n.only {
		tries = triesOfOne
	}
	until, _ := waiting.Deadline()
	for wait := firstBackoff; ; wait *= 2 {
		err = n.try(waiting, method, content, limit, read)
		if tries--; err == nil || tries == 0 || !transient(err) || time.Until(until) < 2*wait {
			break
		}
		select {
		case <-waiting.Done():
		case <-time.After(wait):
		}
	}
	n.record(ctx, err)
	if err == nil {
		return nil
	}
	err = fmt.Errorf("%s: %s: %w", n.name, method, err)
	if errors.Is(err, errMalformed) || errors.Is(err, errTooLarge) {
		return n.RecordWrong("answer", err)
	}
	return err
}

func (n *node) try(ctx context.Context, method string, content any, limit int64, read func(text []byte) error) error {
	answer := n.buffer()
	defer n.putBuffer(answer)
	begun := time.Now()
	err := n.rpc.post(ctx, content, limit, answer)
	n.timed(method, time.Since(begun))
	if err != nil {
		return err
	}
	return read(answer.Bytes())
}

// record keeps how a call ended after its last try: a refusal is an answer, and so is a wrong one.
func (n *node) record(ctx context.Context, err error) {
	if refused(err) || errors.Is(err, errMalformed) || errors.Is(err, errTooLarge) || errors.Is(err, chain.ErrLimited) {
		err = nil
	}
	n.RecordCall(ctx, err)
}

// buffer is room for an answer: that of an earlier one, if there was one.
func (n *node) buffer() *bytes.Buffer {
	if b, ok := n.answers.Get().(*bytes.Buffer); ok {
		b.Reset()
		return b
	}
	return new(bytes.Buffer)
}

func (n *node) putBuffer(answer *bytes.Buffer) {
	if answer.Cap() <= maxBuffer {
		n.answers.Put(answer)
	}
}

// batch asks a node a method once for each element of params, in one request. The results of
// refused elements are empty where some may be missing; else they are an error.
func batch[T any](ctx context.Context, n *node, method string, params [][]any, someMissing bool) ([]T, error) {
	if err := n.ready(ctx); err != nil {
		return nil, err
	}
	requests := make([]request, len(params))
	for i, p := range params {
		requests[i] = newRequest(i, method, p)
	}
	var results []T
	read := func(text []byte) (err error) {
		results, err = readBatch[T](text, len(params), someMissing)
		return err
	}
	err := n.exchange(ctx, method, requests, min(n.limit, maxBatch), read)
	return results, err
}

// readBatch sorts the answers to a batch.
func readBatch[T any](text []byte, count int, someMissing bool) ([]T, error) {
	if text[0] == '{' { // a refusal of the batch
		return nil, readResult(text, new(string))
	}
	var answers []response
	if err := json.Unmarshal(text, &answers); err != nil {
		return nil, fmt.Errorf("%w: %w", errMalformed, err)
	}
	results, found := make([]T, count), make([]bool, count)
	for _, a := range answers {
		if a.ID == nil || *a.ID < 0 || *a.ID >= count || found[*a.ID] {
			return nil, fmt.Errorf("%w: it answers what it was not asked", errMalformed)
		}
		if err := a.take(*a.ID, &results[*a.ID]); err != nil && !(someMissing && refused(err)) {
			return nil, err
		}
		found[*a.ID] = true
	}
	if len(answers) != count {
		return nil, fmt.Errorf("%w: %d answers to %d calls", errMalformed, len(answers), count)
	}
	return results, nil
}

// position is a node's own account of itself.
type position struct {
	Blocks      uint64  `json:"blocks"`
	Headers     uint64  `json:"headers"`
	Best        string  `json:"bestblockhash"`
	Syncing     bool    `json:"initialblockdownload"`
	Pruned      bool    `json:"pruned"`
	PruneHeight *uint64 `json:"pruneheight"`
}

func (n *node) position(ctx context.Context) (p position, tip chainhash.Hash, err error) {
	if err := n.call(ctx, &p, "getblockchaininfo"); err != nil {
		return p, tip, err
	}
	if err := chainhash.Decode(&tip, p.Best); err != nil || p.Blocks > maxHeight {
		return p, tip, n.RecordWrong("head", fmt.Errorf("%s: its best block is %s at height %d", n.name, printable(p.Best), p.Blocks))
	}
	return p, tip, nil
}

// hashAt is the hash of the node's block at a height; chain.ErrNotFound: it does not reach there.
func (n *node) hashAt(ctx context.Context, height uint64) (hash chainhash.Hash, err error) {
	var text string
	err = n.call(ctx, &text, "getblockhash", height)
	if refused(err) {
		return hash, fmt.Errorf("%s: block %d: %w", n.name, height, chain.ErrNotFound)
	}
	if err != nil {
		return hash, err
	}
	if err := chainhash.Decode(&hash, text); err != nil {
		return hash, n.RecordWrong("block", fmt.Errorf("%s: block %d: its hash is %s", n.name, height, printable(text)))
	}
	return hash, nil
}

// header is the header of a hash, proven by it.
func (n *node) header(ctx context.Context, hash chainhash.Hash) (wire.BlockHeader, error) {
	var text string
	if err := n.call(ctx, &text, "getblockheader", hash.String(), false); err != nil {
		return wire.BlockHeader{}, err
	}
	return n.readHeader(text, hash)
}

func (n *node) readHeader(text string, hash chainhash.Hash) (h wire.BlockHeader, err error) {
	raw, err := decodeHex([]byte(text[:min(len(text), 2*maxHeaderSize+1)]))
	if err == nil && len(raw) != headerSize {
		err = fmt.Errorf("it has %d bytes", len(raw))
	}
	if err == nil {
		err = h.Deserialize(bytes.NewReader(raw))
	}
	if err == nil && h.BlockHash() != hash {
		err = fmt.Errorf("it has the hash %s", h.BlockHash())
	}
	if err != nil {
		return h, n.RecordWrong("header", fmt.Errorf("%s: header of %s: %w", n.name, hash, err))
	}
	return h, nil
}

// headersDown returns the headers from a height up to that of a hash, in order of height. Each is
// proven by the one above, and the last by the hash.
func (n *node) headersDown(ctx context.Context, from, to uint64, hash chainhash.Hash) ([]wire.BlockHeader, error) {
	list := make([]wire.BlockHeader, to-from+1)
	for top := to; ; top -= pageHeaders {
		low := from
		if top-from >= pageHeaders {
			low = top - pageHeaders + 1
		}
		if err := n.headerPage(ctx, list[low-from:top-from+1], low, hash); err != nil {
			return nil, err
		}
		if hash = list[low-from].PrevBlock; low == from {
			return list, nil
		}
	}
}

func (n *node) headerPage(ctx context.Context, list []wire.BlockHeader, from uint64, hash chainhash.Hash) error {
	params := make([][]any, len(list))
	for i := range params {
		params[i] = []any{from + uint64(i)}
	}
	hashes, err := batch[string](ctx, n, "getblockhash", params, false)
	if err != nil {
		return err
	}
	for i, h := range hashes {
		params[i] = []any{h, false}
	}
	texts, err := batch[string](ctx, n, "getblockheader", params, false)
	if err != nil {
		return err
	}
	for i := len(list) - 1; i >= 0; i-- {
		if hashes[i] != hash.String() {
			return fmt.Errorf("%s: its line changes while it is read: block %d is %s, not %s: %w", n.name, from+uint64(i), printable(hashes[i]), hash, chain.ErrUnavailable)
		}
		if list[i], err = n.readHeader(texts[i], hash); err != nil {
			return err
		}
		hash = list[i].PrevBlock
	}
	return nil
}

// rawBlock is a block's bytes as the node has them; chain.ErrNotFound: it does not have it.
func (n *node) rawBlock(ctx context.Context, hash chainhash.Hash) (raw []byte, err error) {
	if err := n.ready(ctx); err != nil {
		return nil, err
	}
	read := func(text []byte) error {
		raw, err = readHex(text)
		return err
	}
	return raw, n.exchange(ctx, "getblock", newRequest(1, "getblock", []any{hash.String(), 0}), n.limit, read)
}

// pruned explains why a node lacks a block that it knows.
func (n *node) pruned(ctx context.Context, height uint64, err error) error {
	if !refused(err) {
		return err
	}
	p, _, other := n.position(ctx)
	if other != nil || !p.Pruned || p.PruneHeight != nil && height >= *p.PruneHeight {
		return err
	}
	from := "its newest blocks only"
	if p.PruneHeight != nil {
		from = fmt.Sprintf("blocks from %d on", *p.PruneHeight)
	}
	return fmt.Errorf("%s: %w: it keeps %s, not block %d: %w", n.name, ErrPruned, from, height, err)
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
