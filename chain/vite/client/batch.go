package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/ethereum/go-ethereum/rpc"
)

// Bounds of what is sent at once. A node takes bodies of 128 KiB over HTTP, and over a WebSocket only messages of one frame.
const (
	maxRequest    = 128 << 10
	maxBatch      = 100      // requests in one JSON-RPC batch
	maxBatchBytes = 64 << 10 // of one
	envelopeBytes = 64       // of a request's JSON around its method and parameters
)

// ErrRequestTooLarge is a single request that no node takes. It is not sent.
var ErrRequestTooLarge = errors.New("the request is too large for a node")

// batchLimit is what one batch may have.
type batchLimit struct{ requests, bytes int }

// batch runs one method for many parameter lists; results[i] is decoded into what result(i) points to. Lists that are too long for one batch are cut.
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

// batchOnce asks in one request and answers how many elements succeeded before the first that did not.
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
