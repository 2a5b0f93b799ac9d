package pay

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records"
)

// A cold payment is chosen only where no payout of its asset is left over.
func TestColdMoneyGoesLast(t *testing.T) {
	cold, refund := records.Payment{ID: 1, Purpose: chain.Cold, Asset: "usd"}, records.Payment{ID: 2, Purpose: chain.Refund, Asset: "usd"}
	users := []records.Payment{{ID: 3, Purpose: chain.Credit, Asset: "usd"}, {ID: 4, Purpose: chain.Credit, Asset: "usd"}}
	q := queue{
		records.ClassUser:   {"usd": users, "other": users},
		records.ClassRefund: {"usd": {cold, refund}},
	}
	all, refunds := []records.Payment{cold, refund}, []records.Payment{refund}
	require.Equal(t, all, afterUsers(q, users, 9)["usd"])
	require.Equal(t, refunds, afterUsers(q, users[:1], 9)["usd"], "one payout waits")
	require.Equal(t, refunds, afterUsers(q, users, 2)["usd"], "more may wait than were read")
	require.Equal(t, all, q[records.ClassRefund]["usd"])
}
