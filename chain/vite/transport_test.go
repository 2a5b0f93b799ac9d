package vite

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTransports(t *testing.T) {
	l := newLedger(t)
	l.deposit(t, l.inbox, 1, "")
	l.mine(t, 1)
	want := line(t, l.open(t), 1)
	require.Len(t, transfersIn(want), 1)
	for name, target := range map[string]string{"HTTP": newLiar(t, l).URL, "WebSocket": l.ws, "Unix socket": l.ipc} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, want, line(t, l.open(t, target), 1))
		})
	}
	require.Equal(t, want, line(t, l.open(t, l.ws, l.ipc, newLiar(t, l).URL), 1), "all at once")
}
