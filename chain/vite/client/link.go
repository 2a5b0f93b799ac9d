package client

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/ethereum/go-ethereum/rpc"
)

// link is a connection that is made when it is first wanted. Once made, the library makes it anew after a break.
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

// reachableScheme tells whether there could be a node at the target at another time.
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
