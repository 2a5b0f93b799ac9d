package serve

import (
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRoom(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	r := newRoom(l, 1)
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
