package daemon

import (
	"context"
	"errors"
	"time"

	"gatewayd/chain"
	"gatewayd/metrics"
	"gatewayd/records/signguard"
	"gatewayd/signer"
	"gatewayd/signer/remote"
)

// observedSigner measures the calls of a signer that payments and users wait for.
type observedSigner struct {
	Signing
	sign, authorize, next, free, decide, release, giveAddress, giveLabel, identity metrics.SignerCall
}

func newObservedSigner(s Signing, m *metrics.Metrics, place string) *observedSigner {
	call := func(name string) metrics.SignerCall { return m.SignerCall(place, name) }
	return &observedSigner{
		Signing: s, sign: call("sign"), authorize: call("authorize"), next: call("next"), free: call("free"), decide: call("decide"), release: call("release"),
		giveAddress: call("giveAddress"), giveLabel: call("giveLabel"), identity: call("identity"),
	}
}

// observe counts a call, unless its caller gave up.
func observe(c metrics.SignerCall, begun time.Time, err error) {
	if !errors.Is(err, context.Canceled) {
		c.Observe(time.Since(begun), signerFault(err))
	}
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
	begun := time.Now()
	txs, err = s.Signing.Sign(ctx, id, orders...)
	observe(s.sign, begun, err)
	return txs, err
}

func (s *observedSigner) Authorize(ctx context.Context, id chain.ID, claims ...chain.Claim) (verdicts []chain.Verdict, err error) {
	begun := time.Now()
	verdicts, err = s.Signing.Authorize(ctx, id, claims...)
	observe(s.authorize, begun, err)
	return verdicts, err
}

func (s *observedSigner) Next(ctx context.Context, id chain.ID, account string) (branch, number uint64, ok bool, err error) {
	begun := time.Now()
	branch, number, ok, err = s.Signing.Next(ctx, id, account)
	observe(s.next, begun, err)
	return branch, number, ok, err
}

func (s *observedSigner) Free(ctx context.Context, paymentID uint64) error {
	begun := time.Now()
	err := s.Signing.Free(ctx, paymentID)
	observe(s.free, begun, err)
	return err
}

func (s *observedSigner) ReadOutcomes(ctx context.Context, id chain.ID, height uint64) error {
	begun := time.Now()
	err := s.Signing.ReadOutcomes(ctx, id, height)
	observe(s.decide, begun, err)
	return err
}

func (s *observedSigner) Release(ctx context.Context, id chain.ID, account string, next uint64) error {
	begun := time.Now()
	err := s.Signing.Release(ctx, id, account, next)
	observe(s.release, begun, err)
	return err
}

func (s *observedSigner) GiveAddress(ctx context.Context, b signguard.Binding) (address string, err error) {
	begun := time.Now()
	address, err = s.Signing.GiveAddress(ctx, b)
	observe(s.giveAddress, begun, err)
	return address, err
}

func (s *observedSigner) GiveLabel(ctx context.Context, b signguard.Binding) error {
	begun := time.Now()
	err := s.Signing.GiveLabel(ctx, b)
	observe(s.giveLabel, begun, err)
	return err
}

func (s *observedSigner) Identity(ctx context.Context) (identity signguard.Identity, err error) {
	begun := time.Now()
	identity, err = s.Signing.Identity(ctx)
	observe(s.identity, begun, err)
	return identity, err
}
