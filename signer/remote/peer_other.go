//go:build !linux

package remote

import (
	"errors"
	"net"
)

// tellsPeers: Check refuses a peer here.
const tellsPeers = false

func peerOf(*net.UnixConn) (uint32, error) { return 0, errors.ErrUnsupported }
