package operator_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/internal/testing/recordstest"
	"gatewayd/operator"
	"gatewayd/records"
)

// TestResumeUnverifiedChain: a chain stays halted for an operator who has verified another block
// than our final one. The nodes are not asked.
func TestResumeUnverifiedChain(t *testing.T) {
	r := recordstest.NewRig(t)
	r.Owe(records.Deposit, 500)
	r.Do(func(tx *records.Tx) error { return tx.Chains().Halt(recordstest.Source, "a lying node") })
	final := r.Cursor(recordstest.Source).Final
	d := &operator.Session{Store: r.Store}
	for _, hash := range []string{"", "0x", final.Hash + "0", "other"} {
		_, err := d.ResumeVerifiedChain(t.Context(), nil, recordstest.Source, hash, "verified")
		require.ErrorIs(t, err, operator.ErrNotVerified, hash)
		require.NotContains(t, strings.ReplaceAll(err.Error(), final.Hash+"0", ""), final.Hash)
	}
	require.True(t, r.Cursor(recordstest.Source).Halted)
}
