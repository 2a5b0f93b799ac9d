package database

import (
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// dropAll makes a connection deaf: the system drops what comes in, without an acknowledgement.
func dropAll(t *testing.T, conn net.Conn) {
	t.Helper()
	raw, err := conn.(*net.TCPConn).SyscallConn()
	require.NoError(t, err)
	drop := unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K}
	require.NoError(t, raw.Control(func(fd uintptr) {
		err = unix.SetsockoptSockFprog(int(fd), unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: 1, Filter: &drop})
	}))
	require.NoError(t, err)
}

// TestServerCutOff: a connection ends by itself when its server is cut off, while an answer is
// waited for and while a statement is sent.
func TestServerCutOff(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	for _, sends := range []bool{false, true} {
		client, err := dial(t.Context(), "tcp", listener.Addr().String())
		require.NoError(t, err)
		defer client.Close()
		server, err := listener.Accept()
		require.NoError(t, err)
		defer server.Close()
		dropAll(t, server)
		if sends {
			_, err = client.Write([]byte("SELECT 1"))
			require.NoError(t, err)
		}
		require.NoError(t, client.SetReadDeadline(time.Now().Add(10*deadServer)))
		_, err = client.Read(make([]byte, 1))
		require.ErrorIs(t, err, unix.ETIMEDOUT, "it ended before our deadline")
	}
}
