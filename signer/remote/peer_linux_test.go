package remote_test

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/signer/remote"
)

// TestPeers: besides the peer's processes only those of the signer's own user may connect.
func TestPeers(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can connect as other users")
	}
	dir := shortDir(t)
	require.NoError(t, os.Chmod(dir, 0o711))
	w, path := setup(t), filepath.Join(dir, "s")
	w.serve(remote.Config{Listen: "unix:" + path, Mode: "0660", Peer: "1"}, func(string) remote.Target { return remote.Target{URL: "unix:" + path} })
	require.True(t, answersUser(t, path, 0), "its own user, who has the keys anyway")
	require.True(t, answersUser(t, path, 1))
	require.False(t, answersUser(t, path, 2), "another user")
}

// answersUser reports whether a process of a user, of root's group, is answered at a socket.
func answersUser(t *testing.T, path string, uid uintptr) bool {
	t.Helper()
	type answer struct {
		said []byte
		err  error
	}
	answered := make(chan answer, 1) // room for the one answer
	go func() {
		runtime.LockOSThread() // which ends with the goroutine: it is nobody's but this user's
		if _, _, errno := syscall.RawSyscall(syscall.SYS_SETRESUID, uid, uid, uid); errno != 0 {
			answered <- answer{err: errno}
			return
		}
		conn, err := net.Dial("unix", path)
		if err != nil {
			answered <- answer{err: err}
			return
		}
		_, _ = io.WriteString(conn, "GET / HTTP/1.0\r\n\r\n") // who is refused may be gone
		said, _ := io.ReadAll(conn)
		answered <- answer{said, conn.Close()}
	}()
	a := <-answered
	require.NoError(t, a.err)
	return len(a.said) > 0
}
