package rpc

import (
	"io"
	"net"
	"sync"
)

// peerTable knows the open connections by remote address, so that a subscriber who does not keep up can be cut off: the
// JSON-RPC library offers no way to close a connection from inside.
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

// drop closes a connection; an unknown one has closed already.
func (t *peerTable) drop(peer string) {
	t.mu.Lock()
	c := t.open[peer]
	t.mu.Unlock()
	if c != nil {
		c.Close()
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
