package bitcoin_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPaymentURI: the networks of a coin share its scheme, and the address is as users compare it.
func TestPaymentURI(t *testing.T) {
	for of, want := range map[string]string{"bitcoin": "bitcoin:", "bitcoin-signet": "bitcoin:", "litecoin": "litecoin:", "litecoin-regtest": "litecoin:"} {
		require.Equal(t, want+"ltc1q", open(t, of, nil, nil, "http://127.0.0.1:1").PaymentURI("ltc1q"), of)
	}
}
