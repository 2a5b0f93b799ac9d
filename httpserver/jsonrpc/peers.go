package jsonrpc

import (
	"context"
	"io"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
)

// Drop closes the connection that go-ethereum's PeerInfo names by its remote address; one that has
// closed already is no fault.
func (s *Server) Drop(peer string) { s.peers.drop(peer) }

// peerTable knows the open connections by remote address: the JSON-RPC library offers no way to
// close a connection from inside.
type peerTable struct {
	mu   sync.Mutex
	open map[string]io.Closer
}

func newPeerTable() *peerTable { return &peerTable{open: make(map[string]io.Closer)} }

func (t *peerTable) add(peer string, c io.Closer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open[peer] = c
}

func (t *peerTable) remove(peer string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.open, peer)
}

func (t *peerTable) drop(peer string) {
	t.mu.Lock()
	c := t.open[peer]
	t.mu.Unlock()
	if c != nil {
		_ = c.Close()
	}
}

// listener enters each accepted connection into the table until it closes.
func (t *peerTable) listener(l net.Listener) net.Listener { return &peerListener{l, t} }

type peerListener struct {
	net.Listener
	table *peerTable
}

func (l *peerListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.table.add(c.RemoteAddr().String(), c)
	return &peerConn{c, l.table}, nil
}

type peerConn struct {
	net.Conn
	table *peerTable
}

func (c *peerConn) Close() error {
	c.table.remove(c.RemoteAddr().String())
	return c.Conn.Close()
}

// pipes are connections from inside the process, which the WebSocket's server takes like those of
// its port.
type pipes struct {
	dialled chan net.Conn // capacity 0: who dials waits until the server takes the connection
	closed  chan struct{}
	end     sync.Once
	last    atomic.Uint64 // number of the newest
}

func newPipes() *pipes { return &pipes{dialled: make(chan net.Conn), closed: make(chan struct{})} }

// Dial connects from inside the process to the WebSocket, whatever the network and address, without
// a socket in between. It waits until Run takes the connection. It is a dialler of network
// connections in the form that clients want.
func (s *Server) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	p := s.pipes
	near, far := net.Pipe()
	name := pipeName("pipe-" + strconv.FormatUint(p.last.Add(1), 10))
	select {
	case p.dialled <- pipeEnd{far, name}:
		return pipeEnd{near, name}, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept waits for the next connection. net.ErrClosed after Close.
func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.dialled:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Close ends Accept and Dial; connections live on.
func (p *pipes) Close() error {
	p.end.Do(func() { close(p.closed) })
	return nil
}

// Addr is no address that anybody could dial.
func (p *pipes) Addr() net.Addr { return pipeName("pipe") }

// pipeEnd is one end of a connection, with the name that the server knows it by.
type pipeEnd struct {
	net.Conn
	name pipeName
}

func (e pipeEnd) RemoteAddr() net.Addr { return e.name }

type pipeName string

func (n pipeName) Network() string { return "pipe" }
func (n pipeName) String() string  { return string(n) }
