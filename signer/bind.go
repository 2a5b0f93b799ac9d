package signer

import (
	"context"
	"fmt"
	"strings"

	"gatewayd/chain"
	"gatewayd/records/signguard"
)

// GiveAddress notes for good that the deposit address of an index is a user's, before it is shown to anybody, and answers it; or is signguard.ErrTaken. Keys
// that tell their addresses are asked for it: none but theirs is given out.
func (s *Signer) GiveAddress(ctx context.Context, b signguard.Binding) (address string, err error) {
	if _, tells := s.keys.(Wallet); tells {
		ours, err := s.deposit(b.Chain, b.Index)
		if err != nil {
			return "", err
		}
		if b.Address != ours {
			return "", fmt.Errorf("%w to give %s: address %d of %s is %s", ErrRefused, b.Address, b.Index, b.Chain, ours)
		}
	}
	if b.Since, err = s.latest(ctx, b.Chain); err != nil {
		return "", err
	}
	return b.Address, s.guard.GiveAddress(ctx, b)
}

// latest is the newest block of a chain by the signer's own nodes; 0 without any.
func (s *Signer) latest(ctx context.Context, id chain.ID) (uint64, error) {
	l, ok := s.ledgers[id]
	if !ok {
		return 0, nil
	}
	head, err := l.Head(ctx)
	if err != nil {
		return 0, fmt.Errorf("reading where %s stands: %w", id, err)
	}
	return head.Latest.Height, nil
}

// GiveLabel notes for good that a label is a user's, before it is shown to anybody, or is signguard.ErrTaken. What came before with the label is nobody's,
// as far as the signer's own nodes tell.
func (s *Signer) GiveLabel(ctx context.Context, b signguard.Binding) error {
	if strings.ContainsFunc(b.Label, func(r rune) bool { return 'a' <= r && r <= 'z' }) { // senders who write another's label so mean that one
		return fmt.Errorf("%w to give a label with small letters: those of users have capitals", ErrRefused)
	}
	since, err := s.latest(ctx, b.Chain)
	if err != nil {
		return err
	}
	b.Since = since
	return s.guard.GiveLabel(ctx, b)
}
