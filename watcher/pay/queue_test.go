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

// TestRefundsKeepTheirNumbers: payouts that fill batches leave refunds and receives the numbers that
// they get beside single payouts.
func TestRefundsKeepTheirNumbers(t *testing.T) {
	user := []records.Payment{{Purpose: chain.Credit}, {Purpose: chain.Credit}}
	refund := []records.Payment{{Purpose: chain.Refund}}
	all := [][]records.Payment{user, user, refund}
	require.Equal(t, all, fitting(all, 3))
	require.Equal(t, [][]records.Payment{user, refund}, fitting(all, 2))
	require.Equal(t, [][]records.Payment{refund}, fitting(all, 1))
	require.Equal(t, [][]records.Payment{user}, fitting(all[:2], 1))
}
