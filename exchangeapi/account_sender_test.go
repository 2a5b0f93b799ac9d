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
	require.Equal(t, 1, w.line.tips)

	w.line.quota[w.key.Agent] = 0
	w.buy("100", "1").refused(t, codeNetwork, textQuota)
	w.line.quota[w.key.Agent] = 100
	require.Zero(t, w.buy("100", "1").Code)
	require.Equal(t, 2, w.line.tips, "after a refusal")

	w.line.answer = func(error) error { return errors.New("connection reset by peer") }
	require.Zero(t, w.buy("100", "1").Code, "looked up and found")
	w.line.answer = nil
	require.Zero(t, w.buy("100", "1").Code)
	require.Equal(t, 2, w.line.tips)
	require.Len(t, w.line.calls(w.key.Agent), 6)
}

// A node that loses blocks makes the remembered tip a wrong one. The next order stands on the new tip.
func TestTipThatTheNodeLost(t *testing.T) {
	w := setup(t)
	for range 3 {
		require.Zero(t, w.buy("100", "1").Code)
	}
	w.line.blocks[w.key.Agent] = w.line.blocks[w.key.Agent][:2]
	require.Zero(t, w.buy("101", "1").Code)
	require.Equal(t, 2, w.line.tips)
	chain := w.line.blocks[w.key.Agent]
	require.Len(t, chain, 3)
	require.Equal(t, chain[1].Hash, chain[2].PreviousHash)

	delete(w.line.blocks, w.key.Agent) // all of them: the address has to be opened anew
	w.buy("102", "1").refused(t, codeNetwork, "did not take")
	w.buy("102", "1").refused(t, codeNetwork, "not on the chain yet")
	require.Empty(t, w.line.calls(w.key.Agent))
}

// Cancels of one request stand on each other, and the next request on the last of them.
func TestTipAfterCancels(t *testing.T) {
	w := setup(t)
	for i := range 5 {
		w.shelve(i, index.Open)
	}
	require.Len(t, w.cancelAll().list(t), 5)
	require.Zero(t, w.buy("100", "1").Code)
	require.Equal(t, 1, w.line.tips)
	chain := w.line.blocks[w.key.Agent]
	require.Len(t, chain, 7)
	for i, b := range chain[1:] {
		require.Equal(t, chain[i].Hash, b.PreviousHash)
	}
}
