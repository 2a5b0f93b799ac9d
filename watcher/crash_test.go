package watcher

import (
	"context"
	"errors"
	"fmt"

	"gatewayd/chain"
	"gatewayd/internal/testing/chaintest"
	"gatewayd/records"
	"gatewayd/records/signguard"
	"gatewayd/signer"
)

// The daemon dies at any step that is durable or visible: before and after each commit, signature,
// answer of the sign-guard and broadcast. A death is an error from that step on, with nothing done
// any more; memory is lost with the Watcher.

var errCrash = errors.New("the process died")

// fuse is one life of the daemon.
type fuse struct {
	left   int    // steps until it dies; negative: it does not
	only   string // count only these steps; empty: all
	steps  []string
	blown  bool
	where  string
	census map[string]int // deaths by step, over all lives
}

// reach counts a step, and is the crash when it is the last of this life.
func (f *fuse) reach(step string) error {
	if f.blown {
		return errCrash
	}
	f.steps = append(f.steps, step)
	if f.only != "" && f.only != step {
		return nil
	}
	if f.left == 0 {
		f.blown, f.where = true, step
		f.census[step]++
		return fmt.Errorf("%s: %w", step, errCrash)
	}
	f.left--
	return nil
}

// reset starts the next life of the daemon, which ends after so many steps of a kind.
func (f *fuse) reset(left int, only string) {
	*f = fuse{left: left, only: only, census: f.census}
}

// crashStore is the database under a fuse.
type crashStore struct {
	records.Transactor
	fuse *fuse
}

func (s *crashStore) Update(ctx context.Context, fn func(*records.Tx) error) error {
	if err := s.fuse.reach("begin"); err != nil {
		return err
	}
	err := s.Transactor.Update(ctx, func(tx *records.Tx) error {
		if err := fn(tx); err != nil {
			return err
		}
		return s.fuse.reach("before the commit")
	})
	if err != nil {
		return err
	}
	return s.fuse.reach("after the commit")
}

func (s *crashStore) View(ctx context.Context, fn func(*records.Tx) error) error {
	if s.fuse.blown {
		return errCrash
	}
	return s.Transactor.View(ctx, fn)
}

// crashSigner is the signer under a fuse.
type crashSigner struct {
	Signer
	fuse  *fuse
	guard *signguard.Guard // the signer's
}

// newCrashSigner is a signer that may also die between its sign-guard's commit and any of its
// signatures.
func newCrashSigner(f *fuse, g *signguard.Guard, ledgers ...*chaintest.Chain) *crashSigner {
	return &crashSigner{Signer: signer.New(signer.Parts{Keys: crashKeys{f}, Guard: g, Rules: rulesOf(ledgers...)}), fuse: f, guard: g}
}

type crashKeys struct{ fuse *fuse }

func (k crashKeys) Sign(context.Context, string, []byte) (public, signature []byte, err error) {
	return nil, nil, k.fuse.reach("after the guard")
}

func (g *crashSigner) Sign(ctx context.Context, id chain.ID, orders ...chain.Order) ([]chain.SignedTx, error) {
	if err := g.fuse.reach("before the guard"); err != nil {
		return nil, err
	}
	signed, err := g.Signer.Sign(ctx, id, orders...)
	if g.fuse.blown {
		return nil, errCrash // in one process with the daemon: what it has signed is lost as well
	}
	if err != nil {
		return signed, err
	}
	return signed, g.fuse.reach("after the signature")
}

func (g *crashSigner) Authorize(ctx context.Context, id chain.ID, claims ...chain.Claim) ([]chain.Verdict, error) {
	if err := g.fuse.reach("before the authorization"); err != nil {
		return nil, err
	}
	verdicts, err := g.Signer.Authorize(ctx, id, claims...)
	if err != nil {
		return nil, err
	}
	return verdicts, g.fuse.reach("after the authorization")
}

func (g *crashSigner) Free(ctx context.Context, payment uint64) error {
	if err := g.fuse.reach("before freeing the guard"); err != nil {
		return err
	}
	if err := g.Signer.Free(ctx, payment); err != nil {
		return err
	}
	return g.fuse.reach("after freeing the guard")
}

// crashChain is a ledger under a fuse. It also holds the daemon to rule R1: what is sent stands in
// the database.
type crashChain struct {
	chain.Chain
	chain.Batcher
	fuse   *fuse
	store  records.Transactor
	sent   map[string]bool // hashes ever sent
	faults []string        // broken rules
	coins  coinUse
}

func (c *crashChain) Head(ctx context.Context) (chain.Head, error) {
	if c.fuse.blown {
		return chain.Head{}, errCrash
	}
	return c.Chain.Head(ctx)
}

func (c *crashChain) Block(ctx context.Context, height uint64) (chain.Block, error) {
	if err := c.fuse.reach("reading a block"); err != nil {
		return chain.Block{}, err
	}
	return c.Chain.Block(ctx, height)
}

func (c *crashChain) Balance(ctx context.Context, account string, asset chain.Asset) (chain.Amount, error) {
	if c.fuse.blown {
		return chain.Amount{}, errCrash
	}
	return c.Chain.Balance(ctx, account, asset)
}

func (c *crashChain) AccountHead(ctx context.Context, account string) (chain.AccountHead, error) {
	if c.fuse.blown {
		return chain.AccountHead{}, errCrash
	}
	return c.Chain.AccountHead(ctx, account)
}

func (c *crashChain) Prepare(ctx context.Context, slot chain.Slot, pay chain.Payment, prev []chain.Attempt) (chain.Attempt, error) {
	if err := c.fuse.reach("before preparing"); err != nil {
		return chain.Attempt{}, err
	}
	return c.Chain.Prepare(ctx, slot, pay, prev)
}

func (c *crashChain) Broadcast(ctx context.Context, attempts []chain.Attempt) []error {
	errs := make([]error, len(attempts))
	for i, a := range attempts {
		errs[i] = c.send(ctx, a)
	}
	return errs
}

func (c *crashChain) send(ctx context.Context, a chain.Attempt) error {
	if err := c.fuse.reach("before sending"); err != nil {
		return err
	}
	c.requireStored(ctx, a)
	if err := chaintest.Send(ctx, c.Chain, a); err != nil {
		return err
	}
	return c.fuse.reach("after sending")
}

// requireStored looks for an attempt, or a cancellation of a recovering account, and remembers
// attempts as sent.
func (c *crashChain) requireStored(ctx context.Context, a chain.Attempt) {
	err := c.store.View(ctx, func(tx *records.Tx) error {
		if cancel, err := tx.Recovery().IsCancel(c.ID(), a.Hash); err != nil || cancel {
			return err
		}
		c.sent[a.Hash] = true
		slots, stored, err := tx.Slots().AttemptByHash(c.ID(), a.Hash)
		if err == nil && (len(slots) == 0 || string(stored.Raw) != string(a.Raw)) {
			err = errors.New("not in the database")
		}
		if err == nil {
			err = c.coins.check(tx, slots[0], a)
		}
		return err
	})
	if err != nil {
		c.faults = append(c.faults, fmt.Sprintf("%s was sent: %v", a.Hash, err))
	}
}

// sweptChain is a ledger under a fuse whose deposit addresses are swept. The cost covers the
// dearest fee that the model makes.
type sweptChain struct{ *crashChain }

func (sweptChain) SweepCost(context.Context) (chain.Amount, error)      { return units(5000), nil }
func (sweptChain) TokenSweepCost(context.Context) (chain.Amount, error) { return units(5000), nil }
