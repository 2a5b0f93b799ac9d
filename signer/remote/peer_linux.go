package remote

import (
	"net"

	"golang.org/x/sys/unix"
)

// tellsPeers: the system reports the user of the process at the other end of a socket.
const tellsPeers = true

// peerOf is the user at the other end of a socket.
func peerOf(c *net.UnixConn) (uid uint32, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	var peer *unix.Ucred
	var told error
	if err := raw.Control(func(fd uintptr) { peer, told = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); err != nil {
		return 0, err
	}
	if told != nil {
		return 0, told
	}
	return peer.Uid, nil
}
