package httpserver

import (
	"net"
	"net/netip"
	"sync"
	"syscall"
)

// clientShare is the part of a listener that one client can have, so that none shuts the others out
// by connecting alone.
const clientShare = 4

// limitListener is a listener with so many connections open at a time; further ones wait. A client
// who has his share is turned away; this machine and the proxies we trust are not counted, for they
// bring many clients. Unlike those of netutil's, its connections can be asked for their socket: who
// takes one over may write to it without a goroutine that waits.
type limitListener struct {
	net.Listener
	all     bool          // this machine's clients are counted, too
	slots   chan struct{} // one for each open connection, and the one that is waited for
	clients *ConnLimit
	proxies []netip.Prefix
	closed  chan struct{}
	close   func()
}

func newLimitListener(l net.Listener, most int, proxies []netip.Prefix) *limitListener {
	r := &limitListener{
		Listener: l, slots: make(chan struct{}, most), clients: NewConnLimit(max(1, most/clientShare)), proxies: proxies, closed: make(chan struct{}),
	}
	r.close = sync.OnceFunc(func() { close(r.closed) })
	return r
}

// LimitListener is a listener of which no more than most connections are open at a time; further
// ones wait. One client (an address, of IPv6 a /64) has a quarter of them, also one on this
// machine; his further ones are closed.
func LimitListener(l net.Listener, most int) net.Listener {
	r := newLimitListener(l, most, nil)
	r.all = true
	return r
}

// Accept waits for a place, then for a connection of a client who has places left.
func (r *limitListener) Accept() (net.Conn, error) {
	for {
		c, err := r.accept()
		if err != nil {
			return nil, err
		}
		client := r.client(c.RemoteAddr())
		if r.clients.Enter(client) {
			return &limitConn{Conn: c, leave: sync.OnceFunc(func() {
				r.clients.Leave(client)
				<-r.slots
			})}, nil
		}
		_ = c.Close() // its error does not matter
		<-r.slots
	}
}

// client returns the client that a connection is counted for; "" for none.
func (r *limitListener) client(from net.Addr) string {
	addr, err := netip.ParseAddrPort(from.String())
	if err != nil || isIn(r.proxies, addr.Addr()) {
		return ""
	}
	if client := clientOf(addr.Addr().String()); client != "" || !r.all {
		return client
	}
	return addr.Addr().Unmap().String()
}

// accept takes a place and a connection.
func (r *limitListener) accept() (net.Conn, error) {
	select {
	case r.slots <- struct{}{}:
	case <-r.closed:
		return nil, net.ErrClosed
	}
	c, err := r.Listener.Accept()
	if err != nil {
		<-r.slots
		return nil, err
	}
	return c, nil
}

// Close stops accepting connections; open connections may stay.
func (r *limitListener) Close() error {
	r.close()
	return r.Listener.Close()
}

// limitConn is a connection that has a place in a room until it is closed.
type limitConn struct {
	net.Conn
	leave func()
}

// Close gives the place back.
func (g *limitConn) Close() error {
	defer g.leave()
	return g.Conn.Close()
}

// NetConn is the connection itself, as that of crypto/tls.
func (g *limitConn) NetConn() net.Conn { return g.Conn }

// SyscallConn is the connection's socket; syscall.EINVAL if it has none.
func (g *limitConn) SyscallConn() (syscall.RawConn, error) {
	c, ok := g.Conn.(syscall.Conn)
	if !ok {
		return nil, syscall.EINVAL
	}
	return c.SyscallConn()
}
