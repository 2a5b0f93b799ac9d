package client

import (
	"context"
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

	"github.com/ethereum/go-ethereum/rpc"
	"github.com/gorilla/websocket"
	"github.com/sirupsen/logrus"

	"gatewayd/internal/tracing"
)

// A node, or a proxy before it, may close the WebSocket at every attempt of a request: the message
// is too large for it, or the answer. A plain repetition would never succeed, so after some
// attempts the client changes the transport and logs it.
const (
	cutsToFallBack = 3
	fallbackFor    = 10 * time.Minute // then it is tried as usual again
	findTimeout    = 10 * time.Second // for finding the node's HTTP
	smallBatch     = 10               // requests
	smallBytes     = 4 << 10
)

// way is the transport of requests to a node that is reached over a WebSocket.
type way int

const (
	usual   way = iota // batches as large as any node takes
	small              // small batches
	posting            // over HTTP
	last               // small batches, and no other way is known
)

// request identifies repetitions of a request: a method and a rounded batch size.
type request struct {
	method   string
	requests int
	bytes    int
}

// cut counts the connection's ends at a method, and the smallest request among them.
type cut struct{ times, bytes int }

// fallback chooses the way. A client without a WebSocket has none.
type fallback struct {
	target string // the WebSocket's URL: it may hold a secret
	given  string // HTTP address from Options
	dial   func(ctx context.Context, target string) (*rpc.Client, error)
	log    logrus.FieldLogger
	now    func() time.Time

	ends atomic.Uint64 // connections that have ended

	mu    sync.Mutex
	cuts  map[string]cut // by method
	way   way
	since time.Time   // of a way other than the usual
	posts *rpc.Client // while posting
}

// newFallback is nil for a target that is no WebSocket.
func newFallback(target string, o Options, over *http.Client) *fallback {
	if !strings.HasPrefix(target, "ws://") && !strings.HasPrefix(target, "wss://") {
		return nil
	}
	dial := func(ctx context.Context, target string) (*rpc.Client, error) {
		return rpc.DialOptions(ctx, target, rpc.WithHTTPClient(over), rpc.WithBatchItemLimit(maxBatch))
	}
	return &fallback{target: target, given: o.HTTP, dial: dial, log: o.Log, now: time.Now, cuts: map[string]cut{}}
}

// current is the way now, with the client to go it where that is not the WebSocket's.
func (f *fallback) current() (way, *rpc.Client) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.way != usual && f.now().Sub(f.since) >= fallbackFor {
		f.way, f.posts, f.cuts = usual, nil, map[string]cut{}
		f.log.Info("the exchange chain's node is asked over the WebSocket as usual again, to see whether it works now")
	}
	return f.way, f.posts
}

// answered forgets cuts at requests that are no larger than one that was answered.
func (f *fallback) answered(r request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c, ok := f.cuts[r.method]; ok && c.bytes <= r.bytes {
		delete(f.cuts, r.method)
	}
}

// wasCut counts an end of the connection, and reports whether to change the transport.
func (f *fallback) wasCut(r request) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	c, known := f.cuts[r.method]
	if !known || r.bytes < c.bytes {
		c.bytes = r.bytes
	}
	if c.times++; c.times >= cutsToFallBack {
		delete(f.cuts, r.method)
		return true
	}
	f.cuts[r.method] = c
	return false
}

// switchTo changes the transport from now on. It reports whether that is a change.
func (f *fallback) switchTo(w way, posts *rpc.Client) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.way == w {
		return false
	}
	f.way, f.posts, f.since, f.cuts = w, posts, f.now(), map[string]cut{}
	return true
}

// do runs a request the way that requests go now, and learns from how it ends.
func (c *Client) do(ctx context.Context, r request, run func(over *rpc.Client) error) error {
	ctx, done := tracing.Call(ctx, r.method, c.host)
	sent := time.Now()
	err := c.try(ctx, r, run)
	c.timed(r.method, time.Since(sent))
	done(err)
	var refused rpc.Error
	if err == nil || errors.As(err, &refused) || errors.Is(err, ErrTooLarge) {
		c.called(ctx, nil)
	} else {
		c.called(ctx, fromRPC(err))
	}
	return err
}

func (c *Client) try(ctx context.Context, r request, run func(over *rpc.Client) error) error {
	over, err := c.link.get(ctx)
	if err != nil {
		return err
	}
	f := c.fallback
	if f == nil {
		return run(over)
	}
	ends := f.ends.Load()
	if _, posts := f.current(); posts != nil {
		err := run(posts)
		f.posted(err)
		return err
	}
	err = run(over)
	var refused rpc.Error
	switch {
	case err == nil || errors.As(err, &refused):
		f.answered(r)
	case (cutOff(err) || errors.Is(err, context.DeadlineExceeded) && f.ends.Load() > ends) && f.wasCut(r):
		// The library does not report a connection that ends just after the request was written;
		// the request waits until its timeout.
		c.fallBack(ctx, r, err)
	}
	return err
}

// posted evaluates the result of a request over HTTP.
func (f *fallback) posted(err error) {
	if dialFailed(err) && f.switchTo(last, nil) {
		f.log.WithError(withoutAddress(err)).Warn("the exchange chain's node no longer answers over HTTP: using small batches over the WebSocket")
	}
}

// counting makes connections that count when they end.
func (f *fallback) counting(dial dialer) dialer {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &countedConn{c, f}, nil
	}
}

type countedConn struct {
	net.Conn
	f *fallback
}

func (c *countedConn) Close() error {
	c.f.ends.Add(1)
	return c.Conn.Close()
}

func (c *Client) batchLimit() batchLimit {
	if c.fallback != nil {
		if w, _ := c.fallback.current(); w == small || w == last {
			return batchLimit{smallBatch, smallBytes}
		}
	}
	return batchLimit{maxBatch, maxBatchBytes}
}

// fallBack takes the next way: small batches for a batch that is not small yet, then HTTP if the
// node is there.
func (c *Client) fallBack(ctx context.Context, r request, err error) {
	f := c.fallback
	log := f.log.WithFields(logrus.Fields{"method": r.method, "requests": r.requests, "bytes": r.bytes}).WithError(withoutAddress(err))
	happened := fmt.Sprintf("the exchange chain's node ended the WebSocket %d times at the same request", cutsToFallBack)
	if r.requests > smallBatch || r.requests > 1 && r.bytes > smallBytes {
		if f.switchTo(small, nil) {
			log.Warn(happened + ": it is asked in small batches now")
		}
		return
	}
	if w, _ := f.current(); w == last {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), findTimeout) // the request's own time may be over
	defer cancel()
	posts, findErr := c.findHTTP(ctx)
	switch {
	case findErr == nil && f.switchTo(posting, posts):
		log.Warn(happened + ": it is asked over HTTP now")
	case findErr != nil && f.switchTo(last, nil):
		log.Warnf("%s, and it is not known over HTTP (%v): it is asked in small batches", happened, findErr)
	}
}

// cutOff reports whether the connection ended while an answer was awaited.
func cutOff(err error) bool {
	var closed *websocket.CloseError
	var broken *net.OpError
	return errors.As(err, &closed) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, websocket.ErrReadLimit) ||
		errors.As(err, &broken) && broken.Op != "dial" && !broken.Timeout()
}

func dialFailed(err error) bool {
	var broken *net.OpError
	return errors.As(err, &broken) && broken.Op == "dial"
}

// errNoHTTP is deliberately without addresses, which may hold secrets.
var errNoHTTP = errors.New("no address at which the same chain answers")

// findHTTP searches for the same node's HTTP: at the configured address, else at the usual ones.
// Only a server with the same genesis is accepted.
func (c *Client) findHTTP(ctx context.Context) (*rpc.Client, error) {
	socket, err := c.link.get(ctx)
	if err != nil {
		return nil, err
	}
	want, err := genesisOf(ctx, socket)
	if err != nil {
		return nil, fmt.Errorf("reading the genesis: %w", fromRPC(err))
	}
	for _, target := range httpTargets(c.fallback.target, c.fallback.given) {
		over, err := c.fallback.dial(ctx, target)
		if err != nil {
			continue
		}
		if got, err := genesisOf(ctx, over); err == nil && got == want {
			return over, nil
		}
		over.Close()
	}
	return nil, errNoHTTP
}

// genesisOf is the hash of the first snapshot block.
func genesisOf(ctx context.Context, over *rpc.Client) (string, error) {
	var first struct {
		Hash string `json:"hash"`
	}
	err := over.CallContext(ctx, &first, "ledger_getSnapshotBlockByHeight", "1")
	if err == nil && first.Hash == "" {
		err = errNoHTTP
	}
	return first.Hash, err
}

// httpTargets lists the addresses where a node with a WebSocket at target may answer over HTTP: the
// usual ports of nodes, the same port, and the same path without its last part.
func httpTargets(target, given string) (list []string) {
	if given != "" {
		list = append(list, given)
	}
	u, err := url.Parse(target)
	if err != nil {
		return list
	}
	u.Scheme = map[string]string{"ws": "http", "wss": "https"}[u.Scheme]
	if port := u.Port(); port == "41420" || port == "31420" {
		usual := *u
		usual.Host = net.JoinHostPort(u.Hostname(), "48132")
		list = append(list, usual.String())
	}
	list = append(list, u.String())
	if path, ok := strings.CutSuffix(u.Path, "/ws"); ok {
		u.Path = path
		list = append(list, u.String())
	}
	return list
}
