package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	gethrpc "github.com/ethereum/go-ethereum/rpc"
)

// listenUnix makes a socket that nobody but its owner can reach at any moment: in a private directory first, then moved to
// its place with its mode, where it replaces the socket of a process that has gone, but nothing else.
func listenUnix(path string) (net.Listener, error) {
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
	if err := errors.Join(os.Chmod(made, 0o600), os.Rename(made, path)); err != nil {
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
		c.Close()
		return fmt.Errorf("%s is in use", path)
	}
	return nil
}

// socket is a listener that removes its file.
type socket struct {
	net.Listener
	path string
}

func (s *socket) Close() error {
	return errors.Join(os.Remove(s.path), s.Listener.Close())
}

// serveUnix accepts connections until the listener closes, and returns when the last one has ended.
func (s *Server) serveUnix(l net.Listener) error {
	var serving sync.WaitGroup
	defer serving.Wait()
	for {
		c, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("accepting on the Unix socket: %w", err)
		}
		serving.Go(func() { s.geth.ServeCodec(gethrpc.NewCodec(newBounded(c)), 0) })
	}
}

// bounded hands on one whole JSON text at a time, none larger than maxBody, where the library would read without a bound.
type bounded struct {
	net.Conn
	limit *io.LimitedReader
	texts *json.Decoder
	rest  []byte // of the text that is being read
}

func newBounded(c net.Conn) *bounded {
	limit := &io.LimitedReader{R: c}
	return &bounded{Conn: c, limit: limit, texts: json.NewDecoder(limit)}
}

func (b *bounded) Read(p []byte) (int, error) {
	if len(b.rest) == 0 {
		var next json.RawMessage
		b.limit.N = maxBody
		if err := b.texts.Decode(&next); err != nil {
			return 0, err
		}
		b.rest = append(next, '\n')
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}
