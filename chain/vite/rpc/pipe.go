package rpc

import (
	"context"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
)

// pipes are connections from inside the process, which the WebSocket's server takes like those of its port.
type pipes struct {
	dialled chan net.Conn // capacity 0: who dials waits until the server takes the connection
	closed  chan struct{}
	end     sync.Once
	last    atomic.Uint64 // number of the newest
}

func newPipes() *pipes { return &pipes{dialled: make(chan net.Conn), closed: make(chan struct{})} }

// Dial connects from inside the process to the WebSocket, whatever the network and address, without a socket in between. It waits until Run takes
// the connection. It is a dialler of network connections in the form that clients want.
func (s *Server) Dial(ctx context.Context, _, _ string) (net.Conn, error) { return s.pipes.dial(ctx) }

func (p *pipes) dial(ctx context.Context) (net.Conn, error) {
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

// Close ends Accept and dial; connections live on.
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
