package database

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestSilentHost: the first host of an address takes connections and never answers, as one that is
// cut off or frozen. The second one is used.
func TestSilentHost(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer silent.Close()
	url := startServer(t, func(conn, _ int) int { return conn })
	c, err := parseServer(strings.Replace(url, "@", "@"+silent.Addr().String()+",", 1))
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.NoError(t, checkSessions(ctx, c))
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
