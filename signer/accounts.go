package signer

import (
	"context"
	"fmt"

	"gatewayd/chain"
	"gatewayd/records/signguard"
	"gatewayd/vite/core"
)

// Wallet is the part of a key store that returns addresses. Keys without it only sign.
type Wallet interface {
	// Account is the address of the key at a path on a ledger.
	Account(id chain.ID, path string) (address string, err error)
	// Deposit is the path of the deposit address of an index on a source chain, of the newest seed.
	Deposit(id chain.ID, index uint32) (path string, err error)
	// DepositKey is the extended public key below which a source chain's deposit addresses are
	// derived, of the newest seed.
	DepositKey(id chain.ID) (DepositKey, error)
	// Agent is the address of a path on the exchange chain.
	Agent(path string) (core.Address, error)
}

// DepositKey derives addresses without a secret (BIP-32).
type DepositKey struct {
	Seed   int    `json:"seed,omitempty"` // which of the wallet's successors it is of; 0: the first seed
	Public []byte `json:"public"`         // compressed
	Chain  []byte `json:"chain_code"`
}

// MaxPaths bounds the accounts of one request.
const MaxPaths = 256

func (s *Signer) wallet() (Wallet, error) {
	w, ok := s.keys.(Wallet)
	if !ok {
		return nil, fmt.Errorf("%w: its keys sign only", ErrRefused)
	}
	return w, nil
}

// Accounts returns the addresses of the keys at paths on a ledger, in their order.
func (s *Signer) Accounts(_ context.Context, id chain.ID, paths ...string) ([]string, error) {
	w, err := s.wallet()
	switch {
	case err != nil:
		return nil, err
	case len(paths) > MaxPaths:
		return nil, fmt.Errorf("%w: %d accounts at once, at most %d are allowed", ErrRefused, len(paths), MaxPaths)
	}
	for _, path := range paths {
		if s.known != nil && !s.known(id, path) {
			return nil, fmt.Errorf("%w: its configuration has no account at %s of %s: raise accounts there too, and reload the signer first", ErrRefused, path, id)
		}
	}
	return s.addresses(w, id, paths...)
}

func (s *Signer) addresses(w Wallet, id chain.ID, paths ...string) (list []string, err error) {
	list = make([]string, len(paths))
	for i, path := range paths {
		if list[i], err = w.Account(id, path); err != nil {
			return nil, fmt.Errorf("%w: deriving %s on %s: %w", ErrRefused, path, id, err)
		}
	}
	return list, nil
}

// DepositKey returns the extended public key of a source chain's deposit addresses.
func (s *Signer) DepositKey(_ context.Context, id chain.ID) (DepositKey, error) {
	w, err := s.wallet()
	if err != nil {
		return DepositKey{}, err
	}
	key, err := w.DepositKey(id)
	if err != nil {
		return DepositKey{}, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return key, nil
}

// deposit derives the deposit address of an index.
func (s *Signer) deposit(id chain.ID, index uint32) (string, error) {
	w, err := s.wallet()
	if err != nil {
		return "", err
	}
	path, err := w.Deposit(id, index)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrRefused, err)
	}
	list, err := s.addresses(w, id, path)
	if err != nil {
		return "", err
	}
	return list[0], nil
}

// Identity returns the identity of its sign-guard.
func (s *Signer) Identity(ctx context.Context) (signguard.Identity, error) {
	return s.guard.Identity(ctx)
}

// First returns the lowest number that an account signed at.
func (s *Signer) First(ctx context.Context, id chain.ID, account string) (number uint64, ok bool, err error) {
	if err := checkTexts(string(id), account); err != nil {
		return 0, false, err
	}
	return s.guard.First(ctx, id, account)
}

// Agent returns an account's delegation address on a network of the exchange API.
func (s *Signer) Agent(_ context.Context, network string, owner core.Address) (core.Address, error) {
	w, err := s.wallet()
	if err != nil {
		return core.Address{}, err
	}
	return w.Agent(DelegationPath(network, owner))
}

// SignAgent signs a block of an account's delegation address: an order of the account, its
// cancellation, or a receive. Anything else is ErrRefused.
func (s *Signer) SignAgent(ctx context.Context, network string, owner core.Address, block []byte) (public, signature []byte, err error) {
	agent, err := s.Agent(ctx, network, owner)
	if err != nil {
		return nil, nil, err
	}
	digest, err := DelegationDigest(block, agent, owner)
	if err != nil {
		return nil, nil, fmt.Errorf("%w a block of %s: %w", ErrRefused, agent, err)
	}
	return s.keys.Sign(ctx, DelegationPath(network, owner), digest)
}
