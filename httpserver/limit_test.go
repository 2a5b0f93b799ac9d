package httpserver

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestClientOf(t *testing.T) {
	tests := map[string]string{
		"192.0.2.1": "192.0.2.1", "::ffff:192.0.2.1": "192.0.2.1", "127.0.0.1": "", "::1": "", "127.9.9.9": "",
		"2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64", "fe80::1%eth0": "fe80::/64", "": "", "nonsense": "nonsense",
	}
	for ip, want := range tests {
		require.Equal(t, want, clientOf(ip), ip)
	}
}

func TestLimitForgets(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	l := NewLimit(1, 1, func() time.Time { return now })
	require.Zero(t, l.Take(""))
	require.Zero(t, l.Take(""), "this machine is not counted")
	require.Zero(t, l.Take("first"))
	require.Equal(t, time.Second, l.Take("first"))
	require.Equal(t, time.Second, l.Take("first"), "a refusal does not count")
	for i := range maxClients {
		l.Take(fmt.Sprint(i))
	}
	require.Equal(t, maxClients, l.clients.Len(), "memory is bounded")
	require.Zero(t, l.Take("first"), "who was not seen for longest is forgotten")
}

func TestPlaces(t *testing.T) {
	p := NewConnLimit(2)
	require.True(t, p.Enter("a"))
	require.True(t, p.Enter("a"))
	require.False(t, p.Enter("a"))
	require.True(t, p.Enter("b"), "others have their own")
	for range 5 {
		require.True(t, p.Enter(""), "this machine is not counted")
	}
	p.Leave("")
	p.Leave("a")
	require.True(t, p.Enter("a"))
	require.False(t, p.Enter("a"))
	p.Leave("a")
	p.Leave("a")
	p.Leave("b")
	require.Empty(t, p.held, "nothing is kept of who has gone")
}
