package ethereum_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
)

func TestBlockInterval(t *testing.T) {
	b := setup(t)
	c := b.adapter(b.config())
	for b.height() < 10 {
		b.mine(1)
	}
	got, err := c.BlockInterval(t.Context())
	require.NoError(t, err)
	require.Equal(t, b.newest().Time.Sub(b.block(1).Time)/time.Duration(b.height()-1), got, "the first block of all does not count")
	for range 100 {
		require.NoError(t, b.dev.AdjustTime(9*time.Second))
	}
	got, err = c.BlockInterval(t.Context())
	require.NoError(t, err)
	require.Equal(t, 10*time.Second, got, "the newest count")

	config := b.config()
	config.Nodes = []string{"http://127.0.0.1:1"}
	_, err = b.adapter(config).BlockInterval(t.Context())
	require.ErrorIs(t, err, chain.ErrUnavailable)
}
