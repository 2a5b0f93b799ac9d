package daemon

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records"
)

// Payments without a record are named by number and address.
func TestHeldPaymentsAreNamed(t *testing.T) {
	require.Equal(t, "record 17", nameOf(records.Payment{ID: 81, TransferID: 17, Purpose: chain.Refund}))
	moved := records.Payment{ID: 81, Chain: "eth", Account: "0xA", Payee: "0xB", Asset: "native", Purpose: chain.Sweep}
	require.Equal(t, "payment 81, the sweep of native for 0xA on eth", nameOf(moved))
	moved.Purpose = chain.Gas
	require.Equal(t, "payment 81, the gas of native for 0xB on eth", nameOf(moved))
}
