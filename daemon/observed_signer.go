package daemon

import (
	"context"
	"errors"
	"time"

	"github.com/sirupsen/logrus"

	"gatewayd/chain"
	"gatewayd/httpserver"
	"gatewayd/metrics"
	"gatewayd/records/signguard"
	"gatewayd/signer"
	"gatewayd/signer/remote"
	"gatewayd/vite/core"
)

// observedSigner measures the calls of a signer that payments and users wait for, and logs those of
// a user's request.
type observedSigner struct {
	signer.Service
	log   logrus.FieldLogger
	calls map[string]metrics.SignerCall
}

// observedCalls are the measured calls.
var observedCalls = []string{"sign", "authorize", "next", "free", "decide", "release", "giveAddress", "giveLabel", "identity", "signAgent"}

func newObservedSigner(s signer.Service, m *metrics.Metrics, place string, log logrus.FieldLogger) *observedSigner {
	o := &observedSigner{s, log, map[string]metrics.SignerCall{}}
	for _, call := range observedCalls {
		o.calls[call] = m.SignerCall(place, call)
	}
	return o
}

// observe begins a call. The returned function counts its end, unless its caller gave up.
func (s *observedSigner) observe(ctx context.Context, call string, err *error) (end func()) {
	ended, begun := s.calls[call].Begin(), time.Now()
	return func() {
		if errors.Is(*err, context.Canceled) {
			ended(metrics.SignerCanceled)
			return
		}
		ended(signerFault(*err))
		if id := httpserver.RequestOf(ctx); id != "" {
			s.logCall(call, id, time.Since(begun), *err)
		}
	}
}

// logCall logs the call of a user's request: one that fails as a warning.
func (s *observedSigner) logCall(call, request string, took time.Duration, err error) {
	log := s.log.WithFields(logrus.Fields{"request": request, "call": call, "took": took.Round(time.Microsecond).String()})
	if err != nil {
		log.WithError(err).Warn("the signer has not answered a request")
		return
	}
	log.Debug("the signer has answered a request")
}

// signerFault names the kind of an error for the metrics; empty for none.
func signerFault(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, remote.ErrAway):
		return metrics.SignerAway
	}
	for _, refused := range []error{signer.ErrRefused, signguard.ErrRefused, signguard.ErrUnauthorized, chain.ErrNotNow, chain.ErrTaken} {
		if errors.Is(err, refused) {
			return metrics.SignerRefused
		}
	}
	return metrics.SignerFailed
}

// Sign and the methods below are the signer's.
func (s *observedSigner) Sign(ctx context.Context, id chain.ID, orders ...chain.Order) (txs []chain.SignedTx, err error) {
	defer s.observe(ctx, "sign", &err)()
	return s.Service.Sign(ctx, id, orders...)
}

func (s *observedSigner) Authorize(ctx context.Context, id chain.ID, claims ...chain.Claim) (verdicts []chain.Verdict, err error) {
	defer s.observe(ctx, "authorize", &err)()
	return s.Service.Authorize(ctx, id, claims...)
}

func (s *observedSigner) Next(ctx context.Context, id chain.ID, account string) (branch, number uint64, ok bool, err error) {
	defer s.observe(ctx, "next", &err)()
	return s.Service.Next(ctx, id, account)
}

func (s *observedSigner) Free(ctx context.Context, paymentID uint64) (err error) {
	defer s.observe(ctx, "free", &err)()
	return s.Service.Free(ctx, paymentID)
}

func (s *observedSigner) ReadOutcomes(ctx context.Context, id chain.ID, height uint64) (err error) {
	defer s.observe(ctx, "decide", &err)()
	return s.Service.ReadOutcomes(ctx, id, height)
}

func (s *observedSigner) Release(ctx context.Context, id chain.ID, account string, next uint64) (err error) {
	defer s.observe(ctx, "release", &err)()
	return s.Service.Release(ctx, id, account, next)
}

func (s *observedSigner) GiveAddress(ctx context.Context, b signguard.Binding) (address string, err error) {
	defer s.observe(ctx, "giveAddress", &err)()
	return s.Service.GiveAddress(ctx, b)
}

func (s *observedSigner) GiveLabel(ctx context.Context, b signguard.Binding) (err error) {
	defer s.observe(ctx, "giveLabel", &err)()
	return s.Service.GiveLabel(ctx, b)
}

func (s *observedSigner) Identity(ctx context.Context) (identity signguard.Identity, err error) {
	defer s.observe(ctx, "identity", &err)()
	return s.Service.Identity(ctx)
}

func (s *observedSigner) SignAgent(ctx context.Context, network string, owner core.Address, block []byte) (public, signature []byte, err error) {
	defer s.observe(ctx, "signAgent", &err)()
	return s.Service.SignAgent(ctx, network, owner, block)
}
