package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"gatewayd/chain"
	"gatewayd/config"
	"gatewayd/dev"
	"gatewayd/records"
	"gatewayd/signer/approval"
	"gatewayd/signer/checks"
	"gatewayd/signer/limits"
)

// withdraw sends some thousands to a new payee.
func (s *stage) withdraw(ctx context.Context, thousands uint64) (sent string, to common.Address, err error) {
	if to, err = dev.NewPayee(); err != nil {
		return "", to, err
	}
	hash, err := s.user.Withdraw(ctx, to.Hex(), s.user.Times(thousands))
	return hash.String(), to, err
}

// waitForPaid waits until a withdrawal is paid, and checks the payee's balance.
func (s *stage) waitForPaid(ctx context.Context, sent string, to common.Address, thousands uint64) error {
	if _, err := s.user.Await(ctx, "/withdraw-records", sent, "OPPOSITE_CONFIRMED"); err != nil {
		return err
	}
	return s.user.Paid(ctx, to.Hex(), s.user.Times(thousands))
}

// waitForHeld waits until the payment of a withdrawal is held for a reason, and answers its record.
func (s *stage) waitForHeld(ctx context.Context, sent string, reason records.Reason) (record string, err error) {
	err = s.find(ctx, sent, func(t records.Transfer, q records.Payment) bool {
		record = fmt.Sprint(t.ID)
		return q.State == records.HeldPayment && q.Reason == reason
	})
	if err == nil {
		s.Note("a withdrawal is held, reason %q; other withdrawals are not affected", reason)
	}
	return record, err
}

// find waits for the payment of what was sent in the daemon's records.
func (s *stage) find(ctx context.Context, sent string, right func(records.Transfer, records.Payment) bool) error {
	store, err := records.OpenExisting(ctx, s.daemonConfig.Database)
	if err != nil {
		return err
	}
	defer store.Close()
	return dev.Poll(ctx, func() (found bool, err error) {
		err = store.View(ctx, func(tx *records.Tx) error {
			t, q, err := paymentOf(tx, sent)
			found = err == nil && q.ID != 0 && right(t, q)
			return err
		})
		return found, err
	})
}

// paymentOf is the transfer that was sent, and its newest payment.
func paymentOf(tx *records.Tx, sent string) (t records.Transfer, q records.Payment, err error) {
	list, err := tx.Transfers().From("vite", 0, 0, 1000)
	at := slices.IndexFunc(list, func(t records.Transfer) bool { return t.Tx == sent })
	if err != nil || at < 0 {
		return t, q, err
	}
	payments, err := tx.Payments().Of(list[at].ID)
	if err == nil && len(payments) > 0 {
		q = payments[len(payments)-1]
	}
	return list[at], q, err
}

func (s *stage) approvals(ctx context.Context) error {
	key, err := approval.NewKey(s.key)
	if err != nil {
		return err
	}
	s.Note("gatewayd approver new ann.key    %s", key)
	err = s.reload(ctx, func(c *config.Config) {
		c.Signer.Approvals = approval.Config{
			Needed: 1, Approvers: []approval.Approver{{Name: "ann", Key: key}},
			Tokens: []approval.Token{{Network: "eth", Token: s.user.Token.Token, ApproveAbove: s.user.Times(10)}},
		}
	})
	if err != nil {
		return err
	}
	s.approver = key
	if s.waiting, s.payee, err = s.withdraw(ctx, 12); err != nil {
		return err
	}
	s.record, err = s.waitForHeld(ctx, s.waiting, records.HeldApproval)
	return err
}

func (s *stage) approve(ctx context.Context) error {
	if out, err := s.runCommand(ctx, "approve", s.record, "--key", s.key, "--yes"); err != nil {
		return fmt.Errorf("approving: %w: %s", err, out)
	}
	s.Note("gatewayd approve %s --key ann.key", s.record)
	if err := s.waitForPaid(ctx, s.waiting, s.payee, 12); err != nil {
		return err
	}
	s.Note("paid: %s to %s", s.amount(s.user.Times(12)), s.payee)
	return nil
}

func (s *stage) limits(ctx context.Context) error {
	perDay := func(thousands uint64) error {
		s.Note("signer.limits: per_day of %s is %s now", s.user.Token.Symbol, s.amount(s.user.Times(thousands)))
		return s.reload(ctx, func(c *config.Config) {
			c.Signer.Limits = limits.Config{Tokens: []limits.Token{{Network: "eth", Token: s.user.Token.Token, PerDay: s.user.Times(thousands)}}}
		})
	}
	if err := perDay(20); err != nil {
		return err
	}
	sent, to, err := s.withdraw(ctx, 8)
	if err != nil {
		return err
	}
	if _, err := s.waitForHeld(ctx, sent, records.HeldLimit); err != nil {
		return err
	}
	if err := s.shown(ctx, chain.ReasonLimit, sent); err != nil {
		return err
	}
	if err := perDay(1000); err != nil {
		return err
	}
	if err := s.waitForPaid(ctx, sent, to, 8); err != nil {
		return err
	}
	s.Note("paid: %s to %s", s.amount(s.user.Times(8)), to)
	return nil
}

func (s *stage) blockList(ctx context.Context) error {
	err := s.reload(ctx, func(c *config.Config) {
		c.Signer.BlockList = checks.BlockListConfig{Files: []checks.BlockList{{Name: "sanctions", File: s.list}}}
	})
	if err != nil {
		return err
	}
	to, err := dev.NewPayee()
	if err != nil {
		return err
	}
	if err := os.WriteFile(s.list, []byte(strings.ToLower(to.Hex())+"\n"), 0o600); err != nil {
		return err
	}
	s.Note("the file sanctions has %s", to)
	hash, err := s.user.Withdraw(ctx, to.Hex(), s.user.Times(6))
	if err != nil {
		return err
	}
	record, err := s.waitForHeld(ctx, hash.String(), records.HeldListed)
	if err != nil {
		return err
	}
	if err := s.shown(ctx, chain.ReasonListed, hash.String()); err != nil {
		return err
	}
	if out, err := s.runCommand(ctx, "records", "reject", record, "--why", "a listed payee"); err != nil {
		return fmt.Errorf("rejecting: %w: %s", err, out)
	}
	r, err := s.user.Await(ctx, "/withdraw-records", hash.String(), "FAILED")
	if err == nil && r.RefundState != "REFUNDED" {
		err = dev.Poll(ctx, func() (bool, error) {
			r, _, err := s.user.Gateway.Record(ctx, "/withdraw-records", s.user.Token.Token, s.user.Vite.Address().String(), hash.String())
			return r.RefundState == "REFUNDED", err
		})
	}
	if err != nil {
		return err
	}
	s.Note("gatewayd records reject %s: refunded, all of it", record)
	return nil
}

// shown prints the signer's reason for holding a payment.
func (s *stage) shown(ctx context.Context, reason, sent string) error {
	v, err := s.askSigner(ctx, sent)
	if err != nil {
		return err
	}
	if v.State != chain.HeldClaim || v.Reason != reason {
		return fmt.Errorf("%w: the signer answers %s %s", errPassed, v.State, v.Text)
	}
	s.Note("the signer: %s", v.Text)
	return nil
}

// errPassed means that the signer did not hold a payment that it must hold.
var errPassed = errors.New("it was not held")
