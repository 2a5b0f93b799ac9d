package rpc

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
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
