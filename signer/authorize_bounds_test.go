package signer_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
)

func TestApprovalsOfAClaimAreBounded(t *testing.T) {
	w := setup(t)
	c := claimOf(w.order(w.eth, 0, "", w.pay(1, "payee", 5)))
	c.Approvals = make([]chain.Approval, 17)
	list, err := w.Authorize(t.Context(), "eth", c)
	require.NoError(t, err)
	require.Equal(t, chain.RefusedClaim, list[0].State)
	require.Contains(t, list[0].Text, "17 approvals, at most 16 are allowed")
	c.Approvals = c.Approvals[:16]
	require.Equal(t, states(chain.Authorized), w.verdicts(c))
}
