package ethereum

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net/http"
	"os"
	"time"

	"github.com/ethereum/go-ethereum/rpc"

	"gatewayd/chain"
)

const (
	// firstBackoff is the wait before the second try of a call. Each further wait is twice as long,
	// up to lastBackoff.
	firstBackoff = 50 * time.Millisecond
	lastBackoff  = 800 * time.Millisecond

	// triesOfOne bounds the tries of one call to the only node, triesOfSeveral those to one of
	// several nodes.
	triesOfOne     = 5
	triesOfSeveral = 3
	// triesAnnounced bounds how often the only node is asked for a block that it has announced: 3
	// seconds in total.
	triesAnnounced = 8
)

// backoff is the policy for repeating a call: few tries, longer waits between them, and no try
// after a deadline.
type backoff struct {
	left  int // tries after the current one
	next  time.Duration
	until time.Time
}

// newBackoff allows a number of tries, the first included, all of which begin within a duration.
func newBackoff(tries int, within time.Duration) *backoff {
	return &backoff{left: tries - 1, next: firstBackoff, until: time.Now().Add(within)}
}

// wait reports whether another try is allowed, and returns when it is due.
func (b *backoff) wait(ctx context.Context) bool {
	length := b.next/2 + rand.N(b.next/2) // callers that failed together do not return together
	if b.left <= 0 || !time.Now().Add(length).Before(b.until) {
		return false
	}
	b.left, b.next = b.left-1, min(2*b.next, lastBackoff)
	select {
	case <-ctx.Done():
		return false
	case <-time.After(length):
		return true
	}
}

// tries bounds the tries of one call. With several nodes the others answer meanwhile.
func (n *node) tries() int {
	if n.only {
		return triesOfOne
	}
	return triesOfSeveral
}

// again repeats a question about a block that the node has announced while the answer is that it
// has no such block: behind one address there may be several nodes, some of which receive a block
// later.
func (n *node) again(ctx context.Context, ask func() error) error {
	tries := triesOfSeveral
	if n.only {
		tries = triesAnnounced
	}
	b := newBackoff(tries, n.timeout)
	for {
		if err := ask(); !missing(err) || !b.wait(ctx) {
			return err
		}
	}
}

// missing reports whether a node does not know a block, or what belongs to it.
func missing(err error) bool {
	return errors.Is(err, chain.ErrNotFound) || errors.Is(err, errNoReceipts) || errors.Is(err, errNoLatest) || err != nil && classify(err) == verdictUnknownBlock
}

// announced reports whether the node's latest block is at a height or above.
func (n *node) announced(height uint64) bool { return height <= n.State().Head }

// transient reports whether the same call may succeed a moment later. Refusals in JSON-RPC, answers
// of another shape, answers that are too long and exceeded time limits are not transient.
func transient(err error) bool {
	var status rpc.HTTPError
	var shape *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case err == nil, classify(err) != verdictTransport:
		return false
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), os.IsTimeout(err):
		return false
	case errors.Is(err, errTooLarge), errors.Is(err, ErrWrongChain), errors.As(err, &shape):
		return false
	case errors.As(err, &syntax):
		return isNotJSON(err)
	case errors.As(err, &status):
		return status.StatusCode == http.StatusRequestTimeout || status.StatusCode >= 500 && status.StatusCode != http.StatusNotImplemented
	case errors.Is(err, errMalformed):
		return errors.Is(err, errCut)
	}
	return true
}
