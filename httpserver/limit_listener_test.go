package httpserver

import (
	"io"
	"net"
	"net/netip"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRoom(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	r := newLimitListener(l, 1, nil)
	dial := func() net.Conn {
		c, err := net.Dial("tcp", l.Addr().String())
		require.NoError(t, err)
		t.Cleanup(func() { c.Close() })
		return c
	}
	dial()
	dial()
	first, err := r.Accept()
	require.NoError(t, err)
	socket, ok := first.(syscall.Conn)
	require.True(t, ok, "the connection's socket can be asked for")
	raw, err := socket.SyscallConn()
	require.NoError(t, err)
	require.NoError(t, raw.Control(func(fd uintptr) { require.Positive(t, fd) }))

	type answer struct {
		c   net.Conn
		err error
	}
	answers := make(chan answer, 1)
	accept := func() {
		c, err := r.Accept()
		answers <- answer{c, err}
	}
	go accept()
	select {
	case <-answers:
		require.Fail(t, "there is one place")
	case <-time.After(20 * time.Millisecond):
	}
	require.NoError(t, first.Close())
	require.Error(t, first.Close(), "twice, and still one place")
	second := <-answers
	require.NoError(t, second.err)

	go accept()
	require.NoError(t, r.Close())
	require.ErrorIs(t, (<-answers).err, net.ErrClosed)
	require.NoError(t, second.c.Close())
}

// callers is a listener whose connections come from the given addresses.
type callers struct {
	net.Listener
	from chan string
	ends map[string]net.Conn // the callers' own
}

func (c callers) Accept() (net.Conn, error) {
	from, open := <-c.from
	if !open {
		return nil, net.ErrClosed
	}
	here, there := net.Pipe()
	c.ends[from] = there
	return caller{here, net.TCPAddrFromAddrPort(netip.MustParseAddrPort(from))}, nil
}

type caller struct {
	net.Conn
	addr net.Addr
}

func (c caller) RemoteAddr() net.Addr { return c.addr }

// A client has a quarter of the places; other clients, this machine and a proxy's clients are still
// admitted.
func TestOneClientLeavesRoom(t *testing.T) {
	l := callers{from: make(chan string, 16), ends: map[string]net.Conn{}}
	r := newLimitListener(l, 8, []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")})
	enter := func(from string) net.Conn {
		t.Helper()
		l.from <- from
		c, err := r.Accept()
		require.NoError(t, err)
		require.Equal(t, from, c.RemoteAddr().String())
		return c
	}
	first := enter("192.0.2.1:1")
	enter("192.0.2.1:2")
	l.from <- "192.0.2.1:3"
	enter("192.0.2.2:1")
	_, err := l.ends["192.0.2.1:3"].Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF, "turned away")
	for _, from := range []string{"127.0.0.1:1", "127.0.0.1:2", "10.0.0.1:1", "10.0.0.1:2"} {
		enter(from)
	}
	require.Len(t, r.slots, 7, "who is turned away takes no place")
	require.NoError(t, first.Close())
	enter("192.0.2.1:4")
	close(l.from)
	require.NoError(t, first.Close(), "a pipe may be closed twice")
	require.Len(t, r.slots, 7)
}
