// Package client is a typed client of a Vite node's JSON-RPC: of a real node and of the embedded
// one alike.
//
// It owns the transport (HTTP, WebSocket, Unix socket) with its bounds, the node's JSON shapes in
// both generations of member names, and the node's errors as sentinel values. It does not sign,
// does not retry, does not resubscribe and decides nothing about money: the adapter does
// (chain/vite).
//
// Shapes and methods: docs/exchange-chain-rpc.md 5.3 to 5.7. Amounts are unsigned 256-bit integers
// in the token's smallest unit.
package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/rpc"
	"github.com/gorilla/websocket"
	"github.com/sirupsen/logrus"
)

// Default limits of Options.
const (
	defaultTimeout     = 30 * time.Second
	defaultMaxResponse = 32 << 20
)

// dialer makes a connection.
type dialer = func(ctx context.Context, network, address string) (net.Conn, error)

// Options bound what a node may cost us. The zero value means the defaults.
type Options struct {
	Timeout time.Duration // of one call, connecting included; 30 s
	// bytes of one response or message; 32 MiB. A Unix socket is not bounded: its other end is our
	// own machine
	MaxResponse int64
	// Dial makes the connections of HTTP and WebSocket where not the network does: to a node in the
	// same process.
	Dial dialer
	// HTTP is the same node's address over HTTP, for when its WebSocket ends at a request again and
	// again. Without it the usual places are tried.
	HTTP string
	// Lazy makes a node that cannot be reached no error of Dial: each call connects then, until one
	// has.
	Lazy bool
	// Log receives a message when requests switch to another transport. It should name the node,
	// which the client does not: its address may contain a secret. May be nil.
	Log logrus.FieldLogger
	// Called is called at the end of each request: with nil when the node answered, even with a
	// refusal, else with the failure. May be nil.
	Called func(ctx context.Context, failure error)
	// Timed receives the duration of each request, by the method of its first call. May be nil.
	Timed func(method string, took time.Duration)
}

func (o Options) withDefaults() Options {
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	if o.MaxResponse <= 0 {
		o.MaxResponse = defaultMaxResponse
	}
	if o.Dial == nil {
		o.Dial = (&net.Dialer{Timeout: o.Timeout}).DialContext
	}
	if o.Called == nil {
		o.Called = func(context.Context, error) {}
	}
	if o.Timed == nil {
		o.Timed = func(string, time.Duration) {}
	}
	if o.Log == nil {
		silent := logrus.New()
		silent.SetOutput(io.Discard)
		o.Log = silent
	}
	return o
}

// Client talks to one node. It is safe for concurrent use.
type Client struct {
	link     *link
	http     *http.Client
	host     string // of the node, for traces
	timeout  time.Duration
	fallback *fallback // nil but over a WebSocket
	called   func(ctx context.Context, failure error)
	timed    func(method string, took time.Duration)
}

// Dial prepares a client of the node at target: "http(s)://host:port", "ws(s)://host:port" or the
// path of a Unix socket. Over HTTP nothing is sent yet. The other two connect now, and reconnect
// automatically at the first call after a break.
func Dial(ctx context.Context, target string, o Options) (*Client, error) {
	o = o.withDefaults()
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	over := httpClient(o)
	f := newFallback(target, o, over)
	if f != nil {
		o.Dial = f.counting(o.Dial)
	}
	l := newLink(func(ctx context.Context) (*rpc.Client, error) {
		return rpc.DialOptions(ctx, target,
			rpc.WithHTTPClient(over),
			rpc.WithWebsocketDialer(webSocketDialer(o)),
			rpc.WithWebsocketMessageSizeLimit(o.MaxResponse),
			rpc.WithBatchItemLimit(maxBatch))
	})
	if _, err := l.get(ctx); err != nil && !(o.Lazy && reachableScheme(target)) {
		return nil, err
	}
	return &Client{link: l, http: over, host: hostOf(target), timeout: o.Timeout, fallback: f, called: o.Called, timed: o.Timed}, nil
}

// hostOf is the part of an address that holds no key; empty for a socket.
func hostOf(target string) string {
	if u, err := url.Parse(target); err == nil {
		return u.Host
	}
	return ""
}

// Close ends the connection and with it all subscriptions. Over HTTP it ends the connections that
// no call uses.
func (c *Client) Close() {
	c.link.close()
	c.http.CloseIdleConnections()
}

// Call runs any method: for modules without a method of their own here (dex_, dexfund_, ...). A
// null result leaves result as it was. A node's refusal is an *Error.
func (c *Client) Call(ctx context.Context, result any, method string, params ...any) error {
	args, size, err := encoded(method, params)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	err = c.do(ctx, request{method, 1, size}, func(over *rpc.Client) error { return over.CallContext(ctx, result, method, args...) })
	if err != nil {
		return fmt.Errorf("%s: %w", method, fromRPC(err))
	}
	return nil
}

// fromRPC turns the transport library's errors into ours: a node's refusal into *Error, the rest
// without the node's address (it may carry a provider's key) and without a body of unknown size.
func fromRPC(err error) error {
	var coded rpc.Error
	if errors.As(err, &coded) {
		return &Error{Code: coded.ErrorCode(), Message: coded.Error()}
	}
	var status rpc.HTTPError
	if errors.As(err, &status) {
		return fmt.Errorf("the node answered HTTP %d", status.StatusCode)
	}
	return withoutAddress(err)
}

func withoutAddress(err error) error {
	var at *url.Error
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// httpClient follows no redirect: a node does not redirect, and a body of signed blocks goes to the
// configured host only.
func httpClient(o Options) *http.Client {
	transport := &http.Transport{
		DialContext:           o.Dial,
		Proxy:                 http.ProxyFromEnvironment,
		MaxIdleConnsPerHost:   16,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   10 * time.Second,
		ResponseHeaderTimeout: o.Timeout,
	}
	return &http.Client{
		Transport:     boundedTransport{transport, o.MaxResponse},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// webSocketReadBuffer is large enough for most answers.
const webSocketReadBuffer = 8 << 10

// webSocketDialer has a write buffer for the largest request. The library sends the contents of its
// buffer as a frame, and a node takes every frame for a complete message. The pool lends the buffer
// for the time of one write.
func webSocketDialer(o Options) websocket.Dialer {
	return websocket.Dialer{
		NetDialContext: o.Dial, Proxy: http.ProxyFromEnvironment, HandshakeTimeout: o.Timeout,
		ReadBufferSize: webSocketReadBuffer, WriteBufferSize: maxRequest, WriteBufferPool: new(sync.Pool),
	}
}

// boundedTransport cuts response bodies that are larger than max.
type boundedTransport struct {
	http.RoundTripper
	max int64
}

func (t boundedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := t.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	resp.Body = &boundedBody{ReadCloser: resp.Body, left: t.max}
	return resp, nil
}

// CloseIdleConnections lets http.Client reach the pool below.
func (t boundedTransport) CloseIdleConnections() {
	if c, ok := t.RoundTripper.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

type boundedBody struct {
	io.ReadCloser
	left int64
}

// Read fails with ErrTooLarge when more bytes than the bound have arrived.
func (b *boundedBody) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	if b.left < 0 {
		return 0, ErrTooLarge
	}
	return n, err
}
