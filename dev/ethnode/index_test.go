package ethnode

import (
	"testing"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/stretchr/testify/require"
)

// TestUnknownTransactionsAreUnknownFromTheStart: a node that has just started knows which
// transactions it does not have.
func TestUnknownTransactionsAreUnknownFromTheStart(t *testing.T) {
	for range 20 {
		n, err := Start(Config{})
		require.NoError(t, err)
		_, _, err = n.client.TransactionByHash(t.Context(), common.Hash{1})
		require.ErrorIs(t, err, ethereum.NotFound)
		require.NoError(t, n.Close())
	}
}
