package transfers

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/records"
)

// A transfer moves by a rule only: a reason without an outcome is held with an error, not refunded.
func TestUnknownReasonIsHeld(t *testing.T) {
	for _, reason := range []records.Reason{"new_reason", records.ReasonPayoutDiffers, records.ReasonFoundByAudit} {
		state, err := outcome(reason)
		require.Equal(t, records.Held, state, reason)
		require.ErrorContains(t, err, string(reason))
	}
	state, err := outcome(records.ReasonWrongComment)
	require.NoError(t, err)
	require.Equal(t, records.Refused, state)
}
