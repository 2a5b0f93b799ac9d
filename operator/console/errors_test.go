package console

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
)

// TestSilentNodesAreNoFaultOfOurs: an order that nodes do not answer for is refused in words, to be
// given again.
func TestSilentNodesAreNoFaultOfOurs(t *testing.T) {
	answer := httptest.NewRecorder()
	x := echo.New().NewContext(httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", nil), answer)
	require.NoError(t, new(Console).answerError(x, fmt.Errorf("asking for the head: %w: node 1 does not answer", chain.ErrUnavailable)))
	require.Equal(t, http.StatusServiceUnavailable, answer.Code)
	require.Contains(t, answer.Body.String(), "node 1 does not answer")
}
