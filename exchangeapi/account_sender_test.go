package exchangeapi

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/exchangeapi/index"
)

// The node is asked for the tip once, and again after anything that was not plainly taken.
func TestTipIsRemembered(t *testing.T) {
	w := setup(t)
	for range 3 {
		require.Zero(t, w.buy("100", "1").Code)
	}
	require.Equal(t, 1, w.fakeNode.tips)

	w.fakeNode.quota[w.key.Agent] = 0
	w.buy("100", "1").refused(t, codeNetwork, textQuota)
	w.fakeNode.quota[w.key.Agent] = 100
	require.Zero(t, w.buy("100", "1").Code)
	require.Equal(t, 2, w.fakeNode.tips, "after a refusal")

	w.fakeNode.answer = func(error) error { return errors.New("connection reset by peer") }
	require.Zero(t, w.buy("100", "1").Code, "looked up and found")
	w.fakeNode.answer = nil
	require.Zero(t, w.buy("100", "1").Code)
	require.Equal(t, 2, w.fakeNode.tips)
	require.Len(t, w.fakeNode.calls(w.key.Agent), 6)
}

// A node that loses blocks invalidates the cached tip. The next order links to the new tip.
func TestTipThatTheNodeLost(t *testing.T) {
	w := setup(t)
	for range 3 {
		require.Zero(t, w.buy("100", "1").Code)
	}
	w.fakeNode.blocks[w.key.Agent] = w.fakeNode.blocks[w.key.Agent][:2]
	require.Zero(t, w.buy("101", "1").Code)
	require.Equal(t, 2, w.fakeNode.tips)
	chain := w.fakeNode.blocks[w.key.Agent]
	require.Len(t, chain, 3)
	require.Equal(t, chain[1].Hash, chain[2].PreviousHash)

	delete(w.fakeNode.blocks, w.key.Agent) // all blocks: the address has to be opened again
	w.buy("102", "1").refused(t, codeNetwork, "did not take")
	w.buy("102", "1").refused(t, codeNetwork, "not on the chain yet")
	require.Empty(t, w.fakeNode.calls(w.key.Agent))
}

// Cancels of one request link to each other, and the next request links to the last of them.
func TestTipAfterCancels(t *testing.T) {
	w := setup(t)
	for i := range 5 {
		w.addOrder(i, index.Open)
	}
	require.Len(t, w.cancelAll().list(t), 5)
	require.Zero(t, w.buy("100", "1").Code)
	require.Equal(t, 1, w.fakeNode.tips)
	chain := w.fakeNode.blocks[w.key.Agent]
	require.Len(t, chain, 7)
	for i, b := range chain[1:] {
		require.Equal(t, chain[i].Hash, b.PreviousHash)
	}
}
