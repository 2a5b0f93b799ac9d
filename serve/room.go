package serve

import (
	"net"
	"sync"
	"syscall"
)

// room is a listener with so many connections open at a time; further ones wait. Unlike those of netutil's, its connections can be asked for their
// socket: who takes one over may write to it without a goroutine that waits.
type room struct {
	net.Listener
	places chan struct{} // one for each open connection, and the one that is waited for
	closed chan struct{}
	close  func()
}

func newRoom(l net.Listener, most int) *room {
	r := &room{Listener: l, places: make(chan struct{}, most), closed: make(chan struct{})}
	r.close = sync.OnceFunc(func() { close(r.closed) })
	return r
}

// Accept waits for a place, then for a connection.
func (r *room) Accept() (net.Conn, error) {
	select {
	case r.places <- struct{}{}:
	case <-r.closed:
		return nil, net.ErrClosed
	}
	c, err := r.Listener.Accept()
	if err != nil {
		<-r.places
		return nil, err
	}
	return &guest{Conn: c, leave: sync.OnceFunc(func() { <-r.places })}, nil
}

// Close lets nobody in any more; who is there may stay.
func (r *room) Close() error {
	r.close()
	return r.Listener.Close()
}

// guest is a connection that has a place in a room until it is closed.
type guest struct {
	net.Conn
	leave func()
}

// Close gives the place back.
func (g *guest) Close() error {
	defer g.leave()
	return g.Conn.Close()
}

// NetConn is the connection itself, as that of crypto/tls.
func (g *guest) NetConn() net.Conn { return g.Conn }

// SyscallConn is the connection's socket; syscall.EINVAL if it has none.
func (g *guest) SyscallConn() (syscall.RawConn, error) {
	c, ok := g.Conn.(syscall.Conn)
	if !ok {
		return nil, syscall.EINVAL
	}
	return c.SyscallConn()
}
