package reconcile

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/records"
)

func TestOperatorsStopStays(t *testing.T) {
	r := setup(t)
	r.update(func(tx *records.Tx) error {
		return records.SetChannel(tx, "main", usd, records.Deposit, "MAINTAIN", "audit", "operator:test")
	})
	require.NoError(t, r.books().Round(t.Context()))
	require.Equal(t, "MAINTAIN", r.channel(records.Deposit).State())
}
