package database

import (
	"context"
	"net"
	"strings"
	"time"
)

// A server that is cut off is detected within about deadServer: probes are sent on an idle
// connection, and sent bytes must be acknowledged. The system's own limits are 15 minutes and more.
const (
	deadServer    = 8 * time.Second
	probeIdle     = 4 * time.Second
	probeInterval = 2 * time.Second
	probes        = 2
)

// dial connects to a server. A statement may take as long as it takes while the server's system
// answers probes.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: probeIdle, Interval: probeInterval, Count: probes}}
	if strings.HasPrefix(network, "tcp") {
		d.Control = boundUnacknowledged
	}
	return d.DialContext(ctx, network, address)
}
