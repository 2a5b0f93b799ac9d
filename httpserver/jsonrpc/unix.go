package jsonrpc

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	gethrpc "github.com/ethereum/go-ethereum/rpc"
)

// listenUnix makes a socket that is never reachable by users whom its mode excludes. It is created
// in a private directory, gets its mode, and moves to its place. There it replaces the socket of an
// ended process, but nothing else.
func listenUnix(path string, mode fs.FileMode) (net.Listener, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	if err := mayReplace(path); err != nil {
		return nil, err
	}
	hidden, err := os.MkdirTemp(filepath.Dir(path), ".rpc")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(hidden) }()
	made := filepath.Join(hidden, "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: made, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	if err := errors.Join(os.Chmod(made, mode), os.Rename(made, path)); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return &socket{l, path}, nil
}

func mayReplace(path string) error {
	old, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if old.Mode()&os.ModeSocket == 0 {
		return fmt.Errorf("%s is there and no socket", path)
	}
	if c, err := (&net.Dialer{Timeout: time.Second}).DialContext(context.Background(), "unix", path); err == nil {
		_ = c.Close()
		return fmt.Errorf("%s is in use: %w", path, syscall.EADDRINUSE)
	}
	return nil
}

// socket is a listener that removes its file.
type socket struct {
	net.Listener
	path string
}

func (s *socket) Close() error { return errors.Join(os.Remove(s.path), s.Listener.Close()) }

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
		conn := &messageConn{Conn: c, name: "ipc-" + strconv.Itoa(id), limit: s.cfg.MaxMessage, left: s.cfg.MaxMessage, backlog: newBacklog()}
		s.peers.add(conn.name, c)
		serving.Go(func() {
			defer s.peers.remove(conn.name)
			s.geth.ServeCodec(gethrpc.NewCodec(namedConn{conn}), 0)
		})
	}
}

var errMessageSize = errors.New("message is too large")

// messageConn bounds each JSON text of a stream, where the library reads without a bound, and the
// number of unanswered ones. It parses strings and brackets just far enough to find the end of an
// object or array; bytes between them count with the next.
type messageConn struct {
	net.Conn
	*backlog
	name   string
	limit  int
	left   int // bytes that the text may still have
	depth  int
	quoted bool
	escape bool
	ahead  []byte // what has been read, and not been given yet
	buffer [4 << 10]byte
	text   []byte // as far as it has been given
}

// Read gives the bytes of one text at most.
func (c *messageConn) Read(p []byte) (int, error) {
	if len(c.ahead) == 0 {
		n, err := c.Conn.Read(c.buffer[:])
		if c.ahead = c.buffer[:n]; n == 0 {
			return 0, err
		}
	}
	for n := range min(len(p), len(c.ahead)) {
		b := c.ahead[n]
		if c.left--; c.left < 0 {
			return 0, errMessageSize
		}
		c.text = append(c.text, b)
		if c.ends(b) {
			c.left = c.limit
			err := c.asked(c.text)
			c.text = nil
			if err != nil {
				return 0, err
			}
			return c.give(p, n+1), nil
		}
	}
	return c.give(p, min(len(p), len(c.ahead))), nil
}

func (c *messageConn) give(p []byte, n int) int {
	copy(p, c.ahead[:n])
	c.ahead = c.ahead[n:]
	return n
}

// Write gets one message at a time.
func (c *messageConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.wrote(p)
	if err != nil {
		_ = c.Close()
	}
	return n, err
}

func (c *messageConn) Close() error {
	c.close()
	return c.Conn.Close()
}

// ends advances the text by one byte and reports whether that was its last.
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

// namedConn has the name by which the library knows a connection: Unix sockets have no address of
// their own.
type namedConn struct{ *messageConn }

func (c namedConn) RemoteAddr() string { return c.name }
