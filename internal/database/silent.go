package database

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// A host that has not answered for tooLong is passed over by the next attempt within silentFor.
// Callers that give up earlier show nothing about it.
const (
	tooLong   = 500 * time.Millisecond
	silentFor = 3 * time.Second
)

var errSilent = errors.New("it did not answer a moment ago")

// hosts are several servers of one address. A caller with little time gives up at the first that is
// cut off; the next one then begins with another.
type hosts struct {
	mu     sync.Mutex
	silent map[string]time.Time // until when the next attempt passes each over
}

// dial connects to one of the hosts, unless it has not answered a moment ago.
func (h *hosts) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if h.passedOver(address) {
		return nil, errSilent
	}
	begun := time.Now()
	conn, err := dial(ctx, network, address)
	if err != nil {
		h.pass(address, begun)
		return nil, err
	}
	return &hostConn{Conn: conn, hosts: h, address: address, begun: begun}, nil
}

// passedOver reports whether a host is passed over now. The next attempt begins with it again: the
// others may be standbys, and this one only slow.
func (h *hosts) passedOver(address string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	until := h.silent[address]
	delete(h.silent, address)
	return time.Now().Before(until)
}

// pass has a host passed over that has not answered since begun.
func (h *hosts) pass(address string, begun time.Time) {
	if time.Since(begun) < tooLong {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.silent == nil {
		h.silent = map[string]time.Time{}
	}
	h.silent[address] = time.Now().Add(silentFor)
}

// hostConn is a connection that notes whether its host has ever answered.
type hostConn struct {
	net.Conn
	hosts    *hosts
	address  string
	begun    time.Time
	answered atomic.Bool
}

func (c *hostConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 {
		c.answered.Store(true)
	}
	return n, err
}

func (c *hostConn) Close() error {
	if !c.answered.Load() {
		c.hosts.pass(c.address, c.begun)
	}
	return c.Conn.Close()
}
