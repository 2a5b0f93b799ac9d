package main

import (
	"bufio"
	"context"
	"io"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/daemon"
	"gatewayd/vite/client"
)

// A separate chain answers over HTTP and WebSocket, and a public one only offers a real node's
// public port.
func TestChainRun(t *testing.T) {
	t.Parallel()
	for _, public := range []bool{true, false} {
		args := []string{"chain", "run", "--listen", daemon.AnyPort, "--ws", daemon.AnyPort}
		if public {
			args = append(args, "--public")
		}
		out, in := io.Pipe()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		ended := make(chan error, 1) // run's one result
		go func() {
			err := run(ctx, args, streams{stdout: in, stderr: io.Discard})
			in.CloseWithError(err)
			ended <- err
		}()
		line, err := bufio.NewReader(out).ReadString('\n')
		require.NoError(t, err)
		for _, url := range regexp.MustCompile(`(http|ws)://[^ )\n]+`).FindAllString(line, 2) {
			node, err := client.Dial(t.Context(), url, client.Options{})
			require.NoError(t, err)
			defer node.Close()
			_, err = node.ExchangeTime(t.Context())
			require.NoError(t, err)
			err = node.Call(t.Context(), nil, "dex_getTime")
			if public {
				require.ErrorIs(t, err, client.ErrMethod)
			} else {
				require.NoError(t, err)
			}
		}
		cancel()
		require.NoError(t, <-ended)
	}
}
