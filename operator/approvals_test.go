package operator

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
)

// TestWorthOf: the value of an amount by the price of a whole token, as the signer reports it.
func TestWorthOf(t *testing.T) {
	require.Equal(t, "2500.00 USD", worthOf(chain.MustAmount("2000000000"), 6, "1.25 USD"))
	require.Equal(t, "0.01 EUR", worthOf(chain.NewAmount(5), 3, "1 EUR"))
	require.Empty(t, worthOf(chain.NewAmount(5), 3, ""))
}
