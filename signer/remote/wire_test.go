package remote

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records/signguard"
	"gatewayd/signer"
)

// TestErrorsStayWhatTheyAre on the wire: what callers test for is told apart there, with its words.
func TestErrorsStayWhatTheyAre(t *testing.T) {
	for _, is := range []error{signguard.ErrRefused, chain.ErrTaken, signguard.ErrUnauthorized, signer.ErrRefused, chain.ErrUnavailable, chain.ErrNotNow} {
		f := faultOf(fmt.Errorf("asking: %w: why", is))
		require.ErrorIs(t, f, is)
		require.EqualError(t, f, "asking: "+is.Error()+": why")
	}
}
