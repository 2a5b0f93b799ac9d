package signer

import (
	"context"

	"gatewayd/chain"
	"gatewayd/records/signguard"
	"gatewayd/signer/checks"
	"gatewayd/vite/core"
)

// Service is a Signer as a daemon calls it, in its own process or over package remote.
type Service interface {
	Sign(ctx context.Context, id chain.ID, orders ...chain.Order) ([]chain.SignedTx, error)
	Authorize(ctx context.Context, id chain.ID, claims ...chain.Claim) ([]chain.Verdict, error)
	Free(ctx context.Context, paymentID uint64) error
	Report(ctx context.Context) (checks.Report, error)
	Accounts(ctx context.Context, id chain.ID, paths ...string) ([]string, error)
	DepositKey(ctx context.Context, id chain.ID) (DepositKey, error)
	GiveAddress(ctx context.Context, b signguard.Binding) (address string, err error)
	GiveLabel(ctx context.Context, b signguard.Binding) error
	ReadOutcomes(ctx context.Context, id chain.ID, height uint64) error
	Identity(ctx context.Context) (signguard.Identity, error)
	Next(ctx context.Context, id chain.ID, account string) (branch, number uint64, ok bool, err error)
	First(ctx context.Context, id chain.ID, account string) (number uint64, ok bool, err error)
	Anchors(ctx context.Context, id chain.ID, coins ...string) ([]signguard.Anchor, error)
	SignedAt(ctx context.Context, id chain.ID, account string, number uint64) ([]signguard.Signed, error)
	Release(ctx context.Context, id chain.ID, account string, next uint64) error
	Agent(ctx context.Context, network string, owner core.Address) (core.Address, error)
	SignAgent(ctx context.Context, network string, owner core.Address, block []byte) (public, signature []byte, err error)
}
