package demo

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/big"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"gatewayd/chain"
	"gatewayd/config"
	"gatewayd/daemon"
	"gatewayd/dev"
	"gatewayd/signer/approval"
	"gatewayd/signer/checks"
)

// delayedWay is a payment that is authorized, and what the signer's owner changes before it is
// signed.
type delayedWay struct {
	what   string
	claim  chain.Claim
	before func(*config.Config)
	listed string // the address that is on the block list afterwards
	after  func(*config.Config)
	want   string
}

// tryCollected stops the daemon and collects a payment that Ann has approved. The signer authorizes
// it; its owner then changes what counts; and the thief asks for the signature.
func (th *thief) tryCollected(ctx context.Context) (err error) {
	daemon := th.daemon.Process
	if err := daemon.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, daemon.Signal(syscall.SIGCONT)) }()
	c, err := th.approved()
	if err != nil {
		return err
	}
	first, second, err := twoPayees()
	if err != nil {
		return err
	}
	cold := chain.Claim{Account: c.Account, Payment: c.Payment, Cause: chain.Cause{Network: "eth", Token: c.Cause.Token, Mark: "cold"}}
	cold.Payment.ID, cold.Payment.Purpose, cold.Payment.To = 6_000_000, chain.Cold, first
	for _, way := range []delayedWay{
		{"a payment whose payee is listed after it was authorized", c, th.useList, c.Payment.To, th.useList, "is on the list sanctions"},
		{
			"a payment whose account is retired after it was authorized", c, func(c *config.Config) { c.Signer.BlockList = checks.BlockListConfig{} }, "",
			func(c *config.Config) { c.Ethereum[0].Accounts, c.Ethereum[0].Retired = 2, []int{0} }, "is retired and makes no payments",
		},
		{
			"a cold transfer to an address that is no longer the cold one", cold,
			func(c *config.Config) { c.Ethereum[0].Retired = nil; th.setCold(c, first) }, "",
			func(c *config.Config) { th.setCold(c, second) },
			"the cold address of " + c.Cause.Token + " is " + second,
		},
	} {
		if err := th.change(ctx, way); err != nil {
			return fmt.Errorf("%s: %w", way.what, err)
		}
	}
	if err := th.reloadSigner(ctx, func(c *config.Config) { th.setCold(c, "") }); err != nil {
		return err
	}
	if err := th.authorize(ctx, c); err != nil {
		return err
	}
	if err := th.restartSigner(ctx, func() error { return th.advanceClock(ctx) }); err != nil {
		return err
	}
	return th.trySign(ctx, "an authorization that he has kept: it ends after ten minutes, and with the signer's process", c, "more than 10m0s ago")
}

// change goes through a delayedWay.
func (th *thief) change(ctx context.Context, way delayedWay) error {
	if err := th.writeList(""); err != nil {
		return err
	}
	if err := th.reloadSigner(ctx, way.before); err != nil {
		return err
	}
	if err := th.authorize(ctx, way.claim); err != nil {
		return err
	}
	if err := th.writeList(way.listed); err != nil {
		return err
	}
	if err := th.reloadSigner(ctx, way.after); err != nil {
		return err
	}
	return th.trySign(ctx, way.what, way.claim, way.want)
}

// approved is the claim that waits for Ann, with her approval, which the thief has intercepted.
func (th *thief) approved() (c chain.Claim, err error) {
	key, err := approval.ReadKey(th.key)
	if err != nil {
		return c, err
	}
	c = th.waits
	signature, err := approval.Sign(key, "eth", c, time.Now().Add(time.Hour))
	signature.Key = th.approver
	c.Approvals = []chain.Approval{signature}
	return c, err
}

func twoPayees() (first, second string, err error) {
	a, err := dev.NewPayee()
	if err != nil {
		return "", "", err
	}
	b, err := dev.NewPayee()
	return a.Hex(), b.Hex(), err
}

// writeList has the signer's block list name one address; empty: none.
func (th *thief) writeList(address string) error {
	return os.WriteFile(th.list, []byte("# addresses\n"+strings.ToLower(address)+"\n"), 0o600)
}

// useList has the signer ask its block list.
func (th *thief) useList(c *config.Config) {
	c.Signer.BlockList = checks.BlockListConfig{Files: []checks.BlockList{{Name: "sanctions", File: th.list}}}
}

// setCold sets the cold address of the user's token; empty: none.
func (th *thief) setCold(c *config.Config, to string) {
	for i, t := range c.Networks[0].Tokens {
		if t.Token == th.user.Token.Token {
			t.Cold, t.HotMin, t.HotMax = to, chain.Amount{}, chain.Amount{}
			if to != "" {
				t.HotMin, t.HotMax = th.user.Whole(1000), th.user.Whole(5000)
			}
			c.Networks[0].Tokens[i] = t
		}
	}
}

func (th *thief) authorize(ctx context.Context, c chain.Claim) error {
	verdicts, err := th.signer.Authorize(ctx, "eth", c)
	if err == nil && verdicts[0].State != chain.Authorized {
		err = fmt.Errorf("it is not authorized: %s", verdicts[0].Text)
	}
	return err
}

// trySign asks for the signature of a payment of a token, which must be refused.
func (th *thief) trySign(ctx context.Context, what string, c chain.Claim, want string) error {
	to, value, data := dev.TransferOf(string(c.Payment.Asset), common.HexToAddress(c.Payment.To), c.Payment.Amount.Uint256().ToBig(), nil)
	raw, err := types.NewTx(&types.DynamicFeeTx{
		ChainID: new(big.Int).SetUint64(th.daemonConfig.Ethereum[0].ChainID), Nonce: 99, Gas: 100_000, GasTipCap: big.NewInt(1), GasFeeCap: big.NewInt(1_000_000_000),
		To: &to, Value: value, Data: data,
	}).MarshalBinary()
	if err != nil {
		return err
	}
	slot := chain.Slot{Account: c.Account, Key: hotPath, Nonce: 99}
	signed, err := th.signer.Sign(ctx, "eth", chain.Order{Slot: slot, Payment: c.Payment, Unsigned: raw})
	if err = answer(err, want); len(signed) > 0 || errors.Is(err, errPassed) {
		return errors.Join(fmt.Errorf("%s: %w", what, errPassed), err)
	}
	th.logAnswer(what, err.Error())
	return nil
}

// year is the error of the signer's clock.
const year = 365 * 24 * time.Hour

// advanceClock leaves the sign-guard as a signer does whose clock was a year ahead. A running
// process has no other clock than the system's.
func (th *thief) advanceClock(ctx context.Context) (err error) {
	db, err := sql.Open("sqlite3", daemon.GuardPath(th.signerConfig))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	_, err = db.ExecContext(ctx, `UPDATE authorizations SET created_at = created_at + ?`, year.Milliseconds())
	return err
}

// tryClock shows what the signer reports of a clock that was a year ahead.
func (th *thief) tryClock(ctx context.Context) error {
	r, err := th.signer.Report(ctx)
	if err != nil {
		return err
	}
	const what, want = "a clock that was a year ahead, to free a limit or to keep it used", "behind what the limits have counted"
	if !strings.Contains(r.Clock, want) {
		return fmt.Errorf("%s: %w: the signer reports %q", what, errPassed, r.Clock)
	}
	th.logAnswer(what, r.Clock)
	return nil
}
