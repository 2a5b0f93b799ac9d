package rpc

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/vite/client"
	"gatewayd/vite/node"
)

// A slow subscriber inside the process loses the connection like any other, and reconnects with the
// next call.
func TestPipeSubscriberIsDropped(t *testing.T) {
	f := start(t, nil)
	c, err := client.Dial(t.Context(), "ws://127.0.0.1", client.Options{Dial: f.server.Dial})
	require.NoError(t, err)
	defer c.Close()
	blocks := make(chan []client.BlockEvent, 8) // 8: more than come here
	sub, err := c.SubscribeAccount(t.Context(), f.alice.Address(), blocks)
	require.NoError(t, err)
	defer sub.Close()
	require.Equal(t, f.send(f.alice, f.bob.Address(), 5, nil), (<-blocks)[0].Hash)

	f.server.Drop("pipe-1")
	require.Error(t, <-sub.Err())
	require.Eventually(t, func() bool {
		height, err := c.SnapshotHeight(t.Context())
		return err == nil && height == f.head().Height
	}, 10*time.Second, time.Millisecond)
}

func TestRunEndsWithOpenPipes(t *testing.T) {
	n, err := node.New(node.Config{Genesis: recordedGenesis(t), SnapshotInterval: -1})
	require.NoError(t, err)
	s, err := New(n, Config{})
	require.NoError(t, err)
	short, stop := context.WithTimeout(t.Context(), time.Millisecond)
	defer stop()
	_, err = s.Dial(short, "tcp", "127.0.0.1:1")
	require.ErrorIs(t, err, context.DeadlineExceeded, "nobody runs it")

	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1) // Run's one result
	go func() { ended <- s.Run(ctx) }()
	idle, err := s.Dial(t.Context(), "", "")
	require.NoError(t, err)
	c, err := client.Dial(t.Context(), "ws://127.0.0.1", client.Options{Dial: s.Dial})
	require.NoError(t, err)
	defer c.Close()
	cancel()
	require.NoError(t, <-ended)
	_, err = idle.Read(make([]byte, 1))
	require.Error(t, err)
	_, err = c.SnapshotHeight(t.Context())
	require.Error(t, err)
	_, err = s.Dial(t.Context(), "", "")
	require.ErrorIs(t, err, net.ErrClosed)
	require.NoError(t, n.Close())
}
