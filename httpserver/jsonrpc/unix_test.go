package jsonrpc

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A dead process's socket is replaced, a live one and any other file are not.
func TestUnixSocketInPlace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "s")
	l, err := listenUnix(path, 0o600)
	require.NoError(t, err)
	_, err = listenUnix(path, 0o600)
	require.ErrorContains(t, err, "in use")
	require.NoError(t, l.Close())
	require.NoFileExists(t, path)

	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err = listenUnix(file, 0o600)
	require.ErrorContains(t, err, "no socket")

	dead := filepath.Join(t.TempDir(), "dead")
	gone, err := net.ListenUnix("unix", &net.UnixAddr{Name: dead})
	require.NoError(t, err)
	gone.SetUnlinkOnClose(false)
	require.NoError(t, gone.Close())
	again, err := listenUnix(dead, 0o660)
	require.NoError(t, err)
	require.NoError(t, again.Close())
	require.NoFileExists(t, dead)
}

// pipe is a connection that can be read only.
type pipe struct {
	net.Conn
	io.Reader
}

func (p pipe) Read(b []byte) (int, error) { return p.Reader.Read(b) }

// FuzzUnixMessages: whatever comes, brackets are counted from zero, and a stream ends at the bound
// and not before.
func FuzzUnixMessages(f *testing.F) {
	const limit = 100
	f.Add([]byte(`{"a":1}{"b":"}"} [1,2]`))
	f.Add([]byte(`"`))
	f.Add([]byte(strings.Repeat("[", limit+1)))
	f.Fuzz(func(t *testing.T, raw []byte) {
		c := &messageConn{Conn: pipe{Reader: strings.NewReader(string(raw))}, limit: limit, left: limit}
		_, err := io.ReadAll(c)
		require.GreaterOrEqual(t, c.depth, 0)
		if len(raw) <= limit {
			require.NoError(t, err)
		}
		if err != nil {
			require.True(t, errors.Is(err, errMessageSize))
		}
	})
}

// The end of an object is found exactly, and each object has the full bound.
func TestUnixMessageEnds(t *testing.T) {
	c := &messageConn{}
	ends := ""
	text := `{"a":"}\"]","b":[{}]} [1] "x" ]{}`
	for i := range len(text) {
		mark := "."
		if c.ends(text[i]) {
			mark = "^"
		}
		ends += mark
	}
	require.Equal(t, `....................^...^.......^`, ends)

	of := func(size int) string { return "[" + strings.Repeat(" ", size-2) + "]" }
	for stream, whole := range map[string]bool{of(10) + of(10): true, of(10) + of(11): false, of(9) + " " + of(10): false, strings.Repeat("1", 11): false} {
		c := &messageConn{Conn: pipe{Reader: strings.NewReader(stream)}, limit: 10, left: 10}
		_, err := io.ReadAll(c)
		require.Equal(t, whole, err == nil, stream)
	}
}
