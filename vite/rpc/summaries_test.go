package rpc

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/vite/node"
)

// TestSummariesInBatch: an account is summed once however often it is named, and a caller who has
// gone is summed for no more.
func TestSummariesInBatch(t *testing.T) {
	f := start(t, nil)
	f.advance(12) // quota for the send
	f.send(f.alice, f.bob.Address(), 5, nil)
	ctx, cancel := context.WithCancel(t.Context())
	summed := 0
	show := func(a node.AccountInfo) accountInfo {
		if summed++; summed == 2 {
			// The chain continues between two accounts.
			_, err := f.node.Snapshot()
			require.NoError(t, err)
		}
		return showAccount(a)
	}
	bob, carol := addressArg{f.bob.Address()}, addressArg{f.carol.Address()}
	many := slices.Repeat([]addressArg{bob, carol}, maxCount/2)
	list, err := summaries(ctx, f.node, many, show)
	require.NoError(t, err)
	require.Len(t, list, len(many))
	require.Equal(t, 2, summed)
	require.Equal(t, bob.Address, list[len(many)-2].Address)
	require.Equal(t, list[0], list[len(many)-2])
	require.NotEqual(t, list[0], list[1])

	cancel()
	_, err = summaries(ctx, f.node, many, show)
	require.Error(t, err)
	require.Equal(t, 2, summed)
}
