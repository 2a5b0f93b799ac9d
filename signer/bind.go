package signer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gatewayd/chain"
	"gatewayd/records/signguard"
)

// A daemon that is stolen must not fill the disk with bindings. Real gateways stay below: by
// default they give out 10,000 a day.
const (
	bindingsPerHour = 2_000
	bindingsAtOnce  = 10_000
)

// How long the nodes are waited for. New users wait for each other.
const (
	bindTimeout   = 2 * time.Second
	settleTimeout = 10 * time.Second
)

// settleGroup is the number of bindings that get their block at once.
const settleGroup = 256

// GiveAddress assigns the deposit address of an index to a user permanently, before it is shown,
// and returns it; or chain.ErrTaken. Keys that can derive addresses are asked for it: only
// their addresses are given. Transfers up to the newest block of the signer's own nodes belong to
// no user.
func (s *Signer) GiveAddress(ctx context.Context, b signguard.Binding) (address string, err error) {
	if err := s.checkBinding(b); err != nil {
		return "", err
	}
	if _, tells := s.keys.(Wallet); tells {
		ours, err := s.deposit(b.Chain, b.Index)
		if err != nil {
			return "", err
		}
		if b.Address != ours {
			return "", fmt.Errorf("%w to give %.64q: address %d of %s is %s", ErrRefused, b.Address, b.Index, b.Chain, ours)
		}
	}
	if err := s.guard.MayGiveAddress(ctx, b); err != nil { // before nodes are asked: after a restore the daemon tries many that were given
		return "", err
	}
	return b.Address, s.bind(ctx, b, s.guard.GiveAddress)
}

// GiveLabel assigns a label to a user permanently, before it is shown, or returns
// chain.ErrTaken. Transfers with the label up to the newest block of the signer's own nodes
// belong to no user.
func (s *Signer) GiveLabel(ctx context.Context, b signguard.Binding) error {
	if err := s.checkBinding(b); err != nil {
		return err
	}
	if err := chain.CheckUserLabel(b.Label); err != nil {
		return fmt.Errorf("%w to give a label: %w", ErrRefused, err)
	}
	return s.bind(ctx, b, s.guard.GiveLabel)
}

// checkBinding refuses what no daemon of ours asks for: a network that the signer does not have, or
// texts of any size.
func (s *Signer) checkBinding(b signguard.Binding) error {
	if err := checkTexts(b.Network, string(b.Chain), b.Address, b.User); err != nil {
		return err
	}
	if most := max(len(b.Network), len(b.Chain), len(b.Address), len(b.User)); most > maxBindingText {
		return fmt.Errorf("%w to bind: texts must have at most %d bytes, not %d", ErrRefused, maxBindingText, most)
	}
	if s.source == nil {
		return nil
	}
	if id, ok := s.source(b.Network); !ok || id != b.Chain {
		return fmt.Errorf("%w to bind: it has no network %q with deposits on %q", ErrRefused, b.Network, b.Chain)
	}
	return nil
}

// maxBindingText is more than the longest address of any ledger.
const maxBindingText = 128

// bind stores a binding as of the newest block. While no node returns that block, it is unknown,
// and SettleBindings stores it later: a later block is never too early. A binding that is not
// stored does not count for the limit of bindings.
func (s *Signer) bind(ctx context.Context, b signguard.Binding, store func(context.Context, signguard.Binding) error) (err error) {
	within, cancel := context.WithTimeout(ctx, bindTimeout)
	defer cancel()
	b.Since, err = s.newestBlock(within, b.Chain)
	switch {
	case errors.Is(err, ErrRefused) || ctx.Err() != nil:
		return err
	case err != nil:
		b.Since = signguard.SinceUnknown
	}
	now := s.now()
	place := s.bindings.ReserveN(now, 1)
	if wait := place.DelayFrom(now); wait > 0 {
		place.CancelAt(now)
		return fmt.Errorf("%w: %w: %d addresses and labels were issued at once, at most %d an hour are allowed: retry in %s",
			ErrRefused, chain.ErrNotNow, bindingsAtOnce, bindingsPerHour, wait.Round(time.Second))
	}
	if b.Since == signguard.SinceUnknown {
		s.settleAfter(b.Chain, now)
	}
	if err = store(ctx, b); err != nil {
		place.CancelAt(now)
	}
	return err
}

// settleAfter notes when the newest binding without a block was given.
func (s *Signer) settleAfter(id chain.ID, at time.Time) {
	s.headsMu.Lock()
	defer s.headsMu.Unlock()
	if at.After(s.unsettled[id]) {
		s.unsettled[id] = at
	}
}

// unsettledSince returns when the newest binding without a block was given: now after a start, and
// where the clock was ahead.
func (s *Signer) unsettledSince(id chain.ID) time.Time {
	s.headsMu.Lock()
	defer s.headsMu.Unlock()
	now := s.now()
	if at, ok := s.unsettled[id]; !ok || at.After(now) {
		s.unsettled[id] = now
	}
	return s.unsettled[id]
}

// SettleBindings stores the newest block of bindings that were given while no node returned it. The
// block is made after the last of them was given, so that earlier deposits do not count for them.
// It must not run concurrently with itself.
func (s *Signer) SettleBindings(ctx context.Context) error {
	var faults []error
	for id := range s.ledgers {
		for {
			list, err := s.guard.Unsettled(ctx, id, settleGroup)
			settled := false
			if err == nil {
				settled, err = s.settle(ctx, id, list)
			}
			if err != nil {
				faults = append(faults, err)
			}
			if !settled || len(list) < settleGroup {
				break
			}
		}
	}
	return errors.Join(faults...)
}

// settle stores the newest block of bindings, unless it is older than the last of them. Nodes that
// return from an outage may be behind the chain, and a binding as of an old block would count for
// deposits before it.
func (s *Signer) settle(ctx context.Context, id chain.ID, list []signguard.Binding) (settled bool, err error) {
	if len(list) == 0 {
		return false, nil
	}
	given := s.unsettledSince(id)
	within, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()
	head, err := s.head(within, id, s.ledgers[id])
	if err != nil || !head.Time.After(given) {
		return false, err
	}
	return true, s.guard.Settle(ctx, list, s.highest(id))
}

// newestBlock returns the highest block of a chain that the signer's own nodes have ever reported:
// a block that they no longer have may contain the deposit. Without own nodes it is 0.
func (s *Signer) newestBlock(ctx context.Context, id chain.ID) (uint64, error) {
	if s.ledgers == nil {
		return 0, nil
	}
	l, ok := s.ledgers[id]
	if !ok {
		return 0, fmt.Errorf("%w to bind on %q: it has no nodes of it", ErrRefused, id)
	}
	if _, err := s.head(ctx, id, l); err != nil {
		return 0, err
	}
	return s.highest(id), nil
}

// highest returns the highest block of a chain that head has ever read.
func (s *Signer) highest(id chain.ID) uint64 {
	s.headsMu.Lock()
	defer s.headsMu.Unlock()
	return s.heads[id]
}

// head reads the head of a chain, and stores the highest block.
func (s *Signer) head(ctx context.Context, id chain.ID, l Ledger) (chain.Head, error) {
	head, err := l.Head(ctx)
	if err != nil {
		return head, fmt.Errorf("reading the latest block of %s: %w", id, err)
	}
	s.headsMu.Lock()
	defer s.headsMu.Unlock()
	s.heads[id] = max(s.heads[id], head.Latest.Height)
	return head, nil
}
