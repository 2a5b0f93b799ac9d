package watcher

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
)

// TestBlocksWithoutNews: a block that has nothing for us is one durable commit and wakes no payer;
// one with a transfer wakes them.
func TestBlocksWithoutNews(t *testing.T) {
	r := setup(t)
	counted := &countingStore{Store: r.store}
	r.parts.Store = counted
	r.restart()
	f := r.w.followers["eth"]
	woken := func() bool {
		select {
		case <-r.w.wakes["vite"]:
			return true
		default:
			return false
		}
	}
	require.NoError(t, f.Round(t.Context()))
	woken()
	before := counted.commits.Load()
	for range 5 {
		r.eth.Mine(1)
		require.NoError(t, f.Round(t.Context()))
		require.False(t, woken())
	}
	require.Equal(t, before+5, counted.commits.Load())
	r.eth.Deposit(r.eth.Address("sender"), r.net.Shared, chain.Native, units(500), chain.Memo{})
	r.eth.Mine(1)
	require.NoError(t, f.Round(t.Context()))
	require.True(t, woken())
}
