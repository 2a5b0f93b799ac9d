package checks_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/signer/limits"
)

// TestUserAndPayeeAreCounted: the limit of a user counts both names of a payment, before and after
// a restart.
func TestUserAndPayeeAreCounted(t *testing.T) {
	w := setup(t, limited(func(t *limits.Token) { t.PerUserDay = chain.NewAmount(100) }))
	require.Equal(t, []string{"authorized"}, w.asks(w.claim("a", 60)))
	samePayee, sameUser := w.claim("a", 41), w.claim("b", 41)
	samePayee.Cause.User = "vite_other"
	sameUser.Cause.User = "vite_a"
	for range 2 {
		for name, c := range map[string]chain.Claim{"same payee": samePayee, "same user": sameUser} {
			require.Contains(t, w.asks(c)[0], "held limit: ", name)
		}
		require.Equal(t, []string{"authorized"}, w.asks(w.claim("c", 1)))
		w.start()
	}
}
