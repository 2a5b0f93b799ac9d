package vite

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/vite/client"
)

// said is one node's scripted answer: a value, or an error, or none until the others have decided.
type said struct {
	value  int
	err    error
	silent bool
}

func chainOf(t *testing.T, nodes int) *Chain {
	t.Helper()
	cfg := Config{ID: "vite"}
	for i := range nodes {
		cfg.Nodes = append(cfg.Nodes, fmt.Sprintf("http://127.0.0.1:1/%d", i)) // never asked: HTTP connects at the first call
	}
	c, err := New(cfg, nil)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

func TestAgreed(t *testing.T) {
	broken := errors.New("broken")
	none := fmt.Errorf("block 7: %w", chain.ErrNotFound)
	later := fmt.Errorf("out of quota: %w", chain.ErrNotNow)
	is := func(v int) said { return said{value: v} }
	fails := func(err error) said { return said{err: err} }
	tests := []struct {
		name string
		said []said
		want int
		err  error
	}{
		{"one node", []said{is(5)}, 5, nil},
		{"one node fails", []said{fails(broken)}, 0, chain.ErrUnavailable},
		{"one node without it", []said{fails(none)}, 0, chain.ErrNotFound},
		{"two agree", []said{is(5), is(5)}, 5, nil},
		{"two disagree", []said{is(5), is(6)}, 0, chain.ErrUnavailable},
		{"one of two fails", []said{is(5), fails(broken)}, 0, chain.ErrUnavailable},
		{"one of two has nothing", []said{is(5), fails(none)}, 0, chain.ErrUnavailable},
		{"liar among three", []said{is(6), is(5), is(5)}, 5, nil},
		{"one of three fails", []said{is(5), fails(broken), is(5)}, 5, nil},
		{"one of three hangs", []said{{silent: true}, is(5), is(5)}, 5, nil},
		{"two of three lie alike", []said{is(6), is(5), is(6)}, 6, nil},
		{"three opinions", []said{is(6), is(5), is(7)}, 0, chain.ErrUnavailable},
		{"two of three without it", []said{fails(none), is(5), fails(none)}, 0, chain.ErrNotFound},
		{"two of three cannot now", []said{fails(later), is(5), fails(later)}, 0, chain.ErrNotNow},
		{"mixed", []said{fails(later), is(5), fails(none)}, 0, chain.ErrUnavailable},
		{"half of four", []said{is(5), is(5), is(6), is(6)}, 0, chain.ErrUnavailable},
		{"three of five", []said{is(5), fails(broken), is(5), is(6), is(5)}, 5, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := agreed(t.Context(), chainOf(t, len(tt.said)), strconv.Itoa,
				func(ctx context.Context, n *node, _ *client.Client) (int, error) {
					s := tt.said[n.number-1]
					if s.silent {
						<-ctx.Done()
						return 0, ctx.Err()
					}
					return s.value, s.err
				})
			require.Equal(t, tt.want, got)
			require.ErrorIs(t, err, tt.err)
			if tt.err != nil {
				for _, other := range []error{chain.ErrUnavailable, chain.ErrNotFound, chain.ErrNotNow} {
					require.Equal(t, errors.Is(tt.err, other), errors.Is(err, other), "%v is %v", err, other)
				}
			}
		})
	}
}

func TestAgreedEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	asked := make(chan struct{}, 3)
	go func() {
		for range 3 {
			<-asked
		}
		cancel()
	}()
	_, err := agreed(ctx, chainOf(t, 3), strconv.Itoa, func(ctx context.Context, _ *node, _ *client.Client) (int, error) {
		asked <- struct{}{}
		<-ctx.Done()
		return 0, ctx.Err()
	})
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, err, chain.ErrUnavailable)
}

func TestDeadNodeIsNamedByNumberOnly(t *testing.T) {
	c, err := New(Config{ID: "vite", Nodes: []string{"http://user:secret@127.0.0.1:1/secret"}}, nil)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	_, err = c.Head(t.Context())
	require.ErrorIs(t, err, chain.ErrUnavailable)
	require.ErrorContains(t, err, "node 1")
	require.NotContains(t, err.Error(), "secret")
	status := c.NodeInfo(t.Context())
	require.Len(t, status, 1)
	require.Error(t, status[0].Err)
	require.Equal(t, 1, status[0].Number)
}

// TestNodesAreExchanged: a chain in use takes other nodes at once, and a majority is one of those
// that are configured then. A wrong list changes nothing.
func TestNodesAreExchanged(t *testing.T) {
	l := newLedger(t)
	c := l.open(t)
	head := func() error {
		_, err := c.Head(t.Context())
		return err
	}
	require.NoError(t, head())
	const first, second = "http://127.0.0.1:1", "http://127.0.0.1:2" // nothing answers
	require.NoError(t, c.SetNodes([]string{l.ws, first, second}))
	require.Len(t, c.Nodes(), 3)
	require.ErrorIs(t, head(), chain.ErrUnavailable, "one of three is no majority")
	for _, wrong := range [][]string{nil, {l.ws, l.ws}, {"ftp://x"}} {
		require.Error(t, c.SetNodes(wrong))
		require.Len(t, c.Nodes(), 3)
	}
	require.NoError(t, c.SetNodes([]string{first, l.url, l.ws}))
	require.NoError(t, head())
	require.NotEmpty(t, line(t, c, 1))
	require.NoError(t, c.SetNodes([]string{l.ipc}))
	require.NoError(t, head())
	require.Len(t, c.Nodes(), 1)
}
