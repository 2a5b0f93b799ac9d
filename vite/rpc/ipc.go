package rpc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	gethrpc "github.com/ethereum/go-ethereum/rpc"
)

// listenUnix makes the socket at path, reachable by its owner only. It is made in a private directory and moved to its
// place with its final mode, so nobody else can connect in between; the move also replaces a dead process's socket.
func listenUnix(path string) (net.Listener, error) {
	if c, err := (&net.Dialer{Timeout: time.Second}).Dial("unix", path); err == nil {
		_ = c.Close()
		return nil, fmt.Errorf("%s is in use", path)
	}
	if old, err := os.Lstat(path); err == nil && old.Mode()&os.ModeSocket == 0 {
		return nil, fmt.Errorf("%s is there and no socket", path)
	}
	private, err := os.MkdirTemp(filepath.Dir(path), ".ipc")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(private)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(private, "s"), Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	if err := errors.Join(os.Chmod(filepath.Join(private, "s"), 0o600), os.Rename(filepath.Join(private, "s"), path)); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return &unixListener{l, path}, nil
}

// unixListener removes its socket file when it closes.
type unixListener struct {
	net.Listener
	path string
}

func (l *unixListener) Close() error {
	os.Remove(l.path)
	return l.Listener.Close()
}

// serveUnix accepts connections until the listener closes, and returns when the last one has ended.
func (s *Server) serveUnix(l net.Listener) error {
	var serving sync.WaitGroup
	defer serving.Wait()
	for id := 1; ; id++ {
		c, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("accepting on the Unix socket: %w", err)
		}
		conn := &messageConn{conn: c, name: "ipc-" + strconv.Itoa(id), left: maxMessage}
		s.peers.add(conn.name, c)
		serving.Go(func() {
			defer s.peers.remove(conn.name)
			s.geth.ServeCodec(gethrpc.NewCodec(conn), 0)
		})
	}
}

var errMessageSize = errors.New("message is too large")

// messageConn bounds each JSON text of a stream, where the library reads without a bound. It follows strings and
// brackets just far enough to see where an object or array ends; what stands between them counts with the next.
type messageConn struct {
	conn   net.Conn
	name   string
	left   int // bytes that the text may still have
	depth  int
	quoted bool
	escape bool
}

func (c *messageConn) Read(p []byte) (int, error) {
	n, err := c.conn.Read(p)
	for _, b := range p[:n] {
		if c.left--; c.left < 0 {
			return 0, errMessageSize
		}
		if c.ends(b) {
			c.left = maxMessage
		}
	}
	return n, err
}

// ends follows the text by one byte and tells whether that was its last.
func (c *messageConn) ends(b byte) bool {
	switch {
	case c.escape:
		c.escape = false
	case c.quoted:
		c.escape, c.quoted = b == '\\', b != '"'
	case b == '"':
		c.quoted = true
	case b == '{' || b == '[':
		c.depth++
	case (b == '}' || b == ']') && c.depth > 0:
		c.depth--
		return c.depth == 0
	}
	return false
}

func (c *messageConn) Write(p []byte) (int, error)        { return c.conn.Write(p) }
func (c *messageConn) Close() error                       { return c.conn.Close() }
func (c *messageConn) SetWriteDeadline(t time.Time) error { return c.conn.SetWriteDeadline(t) }

// RemoteAddr names the connection for the library; Unix sockets have no address of their own.
func (c *messageConn) RemoteAddr() string { return c.name }

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
