package daemon

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"testing"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/metrics"
	"gatewayd/signer"
	"gatewayd/signer/remote"
)

// faultySigner fails its calls of Sign with the given errors, in order.
type faultySigner struct {
	signer.Service
	faults []error
}

func (s *faultySigner) Sign(context.Context, chain.ID, ...chain.Order) (txs []chain.SignedTx, err error) {
	err, s.faults = s.faults[0], s.faults[1:]
	return txs, err
}

// TestSignerCallsAreObserved: each call counts with the kind of its error, which the caller gets
// unchanged. A call whose caller gave up does not count.
func TestSignerCallsAreObserved(t *testing.T) {
	m := metrics.New(t.TempDir())
	faults := []error{
		nil, fmt.Errorf("asking: %w", remote.ErrAway), fmt.Errorf("%w: no", signer.ErrRefused), fmt.Errorf("%w: later", chain.ErrNotNow), errors.New("disk full"),
		context.Canceled,
	}
	s := newObservedSigner(&faultySigner{faults: faults}, m, metrics.Separate, logrus.New())
	for _, fault := range faults {
		_, err := s.Sign(t.Context(), "eth")
		require.Equal(t, fault, err)
	}
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	for _, line := range []string{
		`gatewayd_signer_call_duration_seconds_count{call="sign",signer="separate"} 5`,
		`gatewayd_signer_errors_total{call="sign",error="away",signer="separate"} 1`,
		`gatewayd_signer_errors_total{call="sign",error="refused",signer="separate"} 2`,
		`gatewayd_signer_errors_total{call="sign",error="failed",signer="separate"} 1`,
		`gatewayd_signer_errors_total{call="authorize",error="away",signer="separate"} 0`,
	} {
		require.Contains(t, w.Body.String(), line+"\n")
	}
}
