package database

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// withSilentHost returns the settings of two hosts and the address of the first one, which takes
// connections and never answers, as one that is cut off or frozen.
func withSilentHost(t *testing.T) (c *pgx.ConnConfig, silent string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	url := startServer(t, func(conn, _ int) int { return conn })
	c, err = parseServer(strings.Replace(url, "@", "@"+l.Addr().String()+",", 1))
	require.NoError(t, err)
	return c, l.Addr().String()
}

// TestSilentHost: the second host is used when the first one does not answer.
func TestSilentHost(t *testing.T) {
	c, _ := withSilentHost(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.NoError(t, checkSessions(ctx, c))
}

// TestShortCallsPassASilentHost: a host that has not answered a caller is passed over, so that the
// next one comes to another in time. A caller who gives up at once shows nothing.
func TestShortCallsPassASilentHost(t *testing.T) {
	c, silent := withSilentHost(t)
	for _, lasted := range []time.Duration{0, tooLong} {
		conn, err := c.DialFunc(t.Context(), "tcp", silent)
		require.NoError(t, err)
		conn.(*hostConn).begun = time.Now().Add(-lasted)
		require.NoError(t, conn.Close())
	}
	_, err := c.DialFunc(t.Context(), "tcp", silent)
	require.ErrorIs(t, err, errSilent)
	conn, err := c.DialFunc(t.Context(), "tcp", silent)
	require.NoError(t, err, "it may only be slow")
	conn.(*hostConn).begun = time.Now().Add(-tooLong)
	require.NoError(t, conn.Close())
	again, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.NoError(t, checkSessions(again, c), "the other host answers")
}

// TestConnectTimeout: one host has as much time as its server needs, and an address may have its
// own limit.
func TestConnectTimeout(t *testing.T) {
	for url, seconds := range map[string]float64{
		"postgres://a/b": 0, "postgres://a/b?sslmode=prefer": 0, "postgres://a,c/b": hostTimeout.Seconds(), "postgres://a,c/b?connect_timeout=7": 7,
	} {
		c, err := parseServer(url)
		require.NoError(t, err)
		require.InDelta(t, seconds, c.ConnectTimeout.Seconds(), 0, url)
	}
}
