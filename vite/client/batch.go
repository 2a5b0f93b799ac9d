package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"

	"github.com/ethereum/go-ethereum/rpc"
)

// Bounds of what is sent at once. A node takes bodies of 128 KiB over HTTP, and over a WebSocket
// only messages of one frame.
const (
	maxRequest    = 128 << 10
	maxBatch      = 100      // requests in one JSON-RPC batch
	maxBatchBytes = 64 << 10 // of one
	envelopeBytes = 64       // of a request's JSON around its method and parameters
)

// ErrRequestTooLarge is a single request that no node takes. It is not sent.
var ErrRequestTooLarge = errors.New("the request is too large for a node")

// batchLimit is the maximum size of one batch.
type batchLimit struct{ requests, bytes int }

// batch runs one method for many parameter lists; results[i] is decoded into what result(i) points
// to. Lists that are too long for one batch are cut.
func (c *Client) batch(ctx context.Context, method string, n int, params func(int) []any, result func(int) any) error {
	_, err := c.batchDone(ctx, method, n, params, result)
	return err
}

// batchDone is batch that also answers how many requests succeeded before the first that did not.
func (c *Client) batchDone(ctx context.Context, method string, n int, params func(int) []any, result func(int) any) (done int, err error) {
	var elems []rpc.BatchElem
	size := 0
	send := func() error {
		good, err := c.batchOnce(ctx, elems, size)
		done += good
		if err != nil {
			return fmt.Errorf("batch of %s: %w", method, err)
		}
		elems, size = nil, 0
		return nil
	}
	for i := range n {
		args, bytes, err := encoded(method, params(i))
		if err != nil {
			return done, err
		}
		limit := c.batchLimit()
		if len(elems) >= limit.requests || len(elems) > 0 && size+bytes > limit.bytes {
			if err := send(); err != nil {
				return done, err
			}
		}
		elems, size = append(elems, rpc.BatchElem{Method: method, Args: args, Result: result(i)}), size+bytes
	}
	if len(elems) == 0 {
		return done, nil
	}
	err = send()
	return done, err
}

// batchOnce asks in one request and answers how many elements succeeded before the first that did
// not.
func (c *Client) batchOnce(ctx context.Context, elems []rpc.BatchElem, size int) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	r := request{elems[0].Method, len(elems), size}
	if err := c.do(ctx, r, func(over *rpc.Client) error { return over.BatchCallContext(ctx, elems) }); err != nil {
		return 0, fromRPC(err)
	}
	for i := range elems {
		if err := elems[i].Error; err != nil {
			return i, fromRPC(err)
		}
	}
	return len(elems), nil
}

// encoded gives parameters as they go onto the wire and the size of their request.
func encoded(method string, params []any) (args []any, size int, err error) {
	size = envelopeBytes + len(method)
	for i, p := range params {
		raw, err := json.Marshal(p)
		if err != nil {
			return nil, 0, fmt.Errorf("%s: parameter %d: %w", method, i+1, err)
		}
		args, size = append(args, json.RawMessage(raw)), size+len(raw)+1
	}
	if size > maxRequest {
		return nil, 0, fmt.Errorf("%s: %w: %d bytes", method, ErrRequestTooLarge, size)
	}
	return args, size, nil
}

// link is a connection that is made on first use. After that, the library reconnects after a break.
type link struct {
	dial func(context.Context) (*rpc.Client, error)
	lock chan struct{} // one place: for it one waits no longer than a context lasts; guards what follows
	over *rpc.Client   // nil until the node has been reached
	done bool
}

var errClosed = errors.New("the client is closed")

func newLink(dial func(context.Context) (*rpc.Client, error)) *link {
	return &link{dial: dial, lock: make(chan struct{}, 1)}
}

// get is the connection, made now unless it was before. Its error is without the node's address.
func (l *link) get(ctx context.Context) (*rpc.Client, error) {
	select {
	case l.lock <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("connecting to the exchange chain's node: %w", ctx.Err())
	}
	defer func() { <-l.lock }()
	switch {
	case l.done:
		return nil, errClosed
	case l.over != nil:
		return l.over, nil
	}
	over, err := l.dial(ctx)
	if err != nil {
		return nil, fmt.Errorf("connecting to the exchange chain's node: %w", withoutAddress(err))
	}
	l.over = over
	return over, nil
}

func (l *link) close() {
	l.lock <- struct{}{}
	defer func() { <-l.lock }()
	l.done = true
	if l.over != nil {
		l.over.Close()
	}
}

// reachableScheme reports whether there could be a node at the target at another time.
func reachableScheme(target string) bool {
	u, err := url.Parse(target)
	if err != nil {
		return false
	}
	switch u.Scheme {
	case "http", "https", "ws", "wss", "":
		return true
	}
	return false
}
