package demo

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"math/big"
	"path/filepath"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"gatewayd/chain"
	"gatewayd/dev"
	"gatewayd/records"
	"gatewayd/records/signguard"
	"gatewayd/signer/approval"
	"gatewayd/signer/remote"
	"gatewayd/transfers"
)

// hotPath is where the key of the first hot account is derived.
const hotPath = "m/44'/60'/1'/0/0"

// thief has what the daemon has: its records, its configuration, and the socket.
type thief struct {
	*stage
	signer  *remote.Client
	paid    chain.Claim // for the withdrawal that was paid
	waits   chain.Claim // for the one that waits for Ann
	credit  chain.Claim // of the user's deposit
	payee   string      // his own account
	owner   string      // and the one on the exchange chain
	refused int
}

// claimOf reads the daemon's claim for what was sent.
func (s *stage) claimOf(ctx context.Context, sent string) (c chain.Claim, err error) {
	err = s.find(ctx, sent, func(t records.Transfer, q records.Payment) bool {
		c = transfers.ClaimOf(q, t)
		return true
	})
	return c, err
}

// askSigner sends the claim of a withdrawal to the signer, as the daemon does.
func (s *stage) askSigner(ctx context.Context, sent string) (v chain.Verdict, err error) {
	c, err := s.claimOf(ctx, sent)
	if err != nil {
		return v, err
	}
	signer, err := remote.Dial(s.daemonConfig.Wallet.Target())
	if err != nil {
		return v, err
	}
	defer func() { err = errors.Join(err, signer.Close()) }()
	verdicts, err := signer.Authorize(ctx, "eth", c)
	if err != nil {
		return v, err
	}
	return verdicts[0], nil
}

func (s *stage) thief(ctx context.Context) (err error) {
	to, err := dev.NewPayee()
	if err != nil {
		return err
	}
	key, err := s.Info.UserKey(1)
	if err != nil {
		return err
	}
	th := &thief{stage: s, payee: to.Hex(), owner: key.Address().String()}
	if th.signer, err = remote.Dial(s.daemonConfig.Wallet.Target()); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, th.signer.Close()) }()
	if err := th.readClaims(ctx); err != nil {
		return err
	}
	s.hot = th.paid.Account
	for _, way := range []struct {
		what  string
		of    chain.Claim
		alter func(*chain.Claim)
	}{
		{"a withdrawal that does not exist", th.waits, func(c *chain.Claim) { c.Cause.Ref = strings.Repeat("ab", 32) }},
		{"the withdrawal that waits, paid to him", th.waits, func(c *chain.Claim) { c.Payment.To = th.payee }},
		{"a larger payout", th.waits, func(c *chain.Claim) { c.Payment.Amount, _ = c.Payment.Amount.Mul(100) }},
		{"a payout in coin instead", th.waits, func(c *chain.Claim) { c.Payment.Asset = chain.Native }},
		{"a withdrawal of his user's claimed for another", th.waits, func(c *chain.Claim) { c.Cause.User = "vite_thief" }},
		{"another sender, who is on no list", th.waits, func(c *chain.Claim) { c.Cause.Sender = "vite_nobody" }},
		{"a block that is not final", th.waits, func(c *chain.Claim) { c.Cause.Height += 1_000_000 }},
		{"a network that is not the signer's", th.waits, func(c *chain.Claim) { c.Cause.Network = "his" }},
		{"the withdrawal that was paid, under a new number", th.paid, func(*chain.Claim) {}},
		{"a refund of what was paid", th.paid, func(c *chain.Claim) { c.Payment.Purpose = chain.Refund }},
		{"a sweep to him", th.paid, func(c *chain.Claim) { c.Payment.Purpose, c.Payment.To, c.Cause.Ref = chain.Sweep, th.payee, "" }},
		{"a refund out of another network's account", th.paid, func(c *chain.Claim) {
			c.Cause.Network, c.Payment.Purpose = "other", chain.Refund
		}},
		{"coin for gas to him", th.paid, func(c *chain.Claim) {
			c.Payment.Purpose, c.Payment.Asset, c.Payment.To, c.Cause.Ref = chain.Gas, chain.Native, th.payee, ""
		}},
	} {
		if err := th.tryClaim(ctx, way.what, way.of, way.alter); err != nil {
			return err
		}
	}
	for _, part := range []func(context.Context) error{th.tryForged, th.tryOrders, th.tryBindings, th.tryLate, th.tryGas, th.tryCollected, th.tryClock} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	return th.countLoot(ctx)
}

// readClaims reads the claims of the deposit and of both withdrawals from the records.
func (th *thief) readClaims(ctx context.Context) error {
	store, err := records.OpenExisting(ctx, th.daemonConfig.Database)
	if err != nil {
		return err
	}
	defer store.Close()
	return store.View(ctx, func(tx *records.Tx) error {
		for _, from := range []chain.ID{"vite", "eth"} {
			list, err := tx.Transfers().From(from, 0, 0, 1000)
			if err != nil {
				return err
			}
			for _, t := range list {
				payments, err := tx.Payments().Of(t.ID)
				if err != nil {
					return err
				}
				for _, q := range payments {
					th.keepClaim(q, t)
				}
			}
		}
		if th.paid.Account == "" || th.waits.Account == "" || th.credit.Account == "" {
			return errors.New("the records have no payments of the deposit and the withdrawals")
		}
		return nil
	})
}

func (th *thief) keepClaim(q records.Payment, t records.Transfer) {
	switch {
	case q.Purpose != chain.Credit:
	case q.Chain != "eth":
		th.credit = transfers.ClaimOf(q, t)
	case t.Tx == th.waiting:
		th.waits = transfers.ClaimOf(q, t)
	default:
		th.paid = transfers.ClaimOf(q, t)
	}
}

// tryClaim sends an altered claim, which must be refused.
func (th *thief) tryClaim(ctx context.Context, what string, c chain.Claim, alter func(*chain.Claim)) error {
	c.Payment.ID += 1_000_000
	alter(&c)
	verdicts, err := th.signer.Authorize(ctx, "eth", c)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if verdicts[0].State == chain.Authorized {
		return fmt.Errorf("%s: %w", what, errPassed)
	}
	th.logAnswer(what, verdicts[0].Text)
	return nil
}

func (th *thief) logAnswer(what, answer string) {
	th.refused++
	th.Note("%s", what)
	th.Note("  the signer: %s", answer)
}

// tryOrders asks for signatures without an authorization, of transactions that are no payments, and
// for addresses.
func (th *thief) tryOrders(ctx context.Context) error {
	chainID := new(big.Int).SetUint64(th.daemonConfig.Ethereum[0].ChainID)
	to := common.HexToAddress(th.payee)
	pay := chain.Payment{ID: 2_000_000, Purpose: chain.Gas, Asset: chain.Native, To: th.payee, Amount: chain.NewAmount(1_000_000)}
	tx := types.DynamicFeeTx{ChainID: chainID, Nonce: 99, Gas: 21_000, GasTipCap: big.NewInt(1), GasFeeCap: big.NewInt(1_000_000_000), To: &to, Value: big.NewInt(1_000_000)}
	for _, way := range []struct {
		what  string
		alter func(*types.DynamicFeeTx)
	}{
		{"a signature without authorization", func(*types.DynamicFeeTx) {}},
		{"a transaction that pays more than its payment", func(t *types.DynamicFeeTx) { t.Value = big.NewInt(1_000_000_000) }},
		{"a transaction for another chain", func(t *types.DynamicFeeTx) { t.ChainID = big.NewInt(1) }},
		{"gas as payment: a fee for his own miner", func(t *types.DynamicFeeTx) {
			t.GasFeeCap, t.GasTipCap = big.NewInt(1e18), big.NewInt(1e18)
		}},
	} {
		altered := tx
		way.alter(&altered)
		raw, err := types.NewTx(&altered).MarshalBinary()
		if err != nil {
			return err
		}
		slot := chain.Slot{Account: th.paid.Account, Key: hotPath, Nonce: 99}
		signed, err := th.signer.Sign(ctx, "eth", chain.Order{Slot: slot, Payment: pay, Unsigned: raw})
		if err == nil || len(signed) > 0 {
			return fmt.Errorf("%s: %w", way.what, errPassed)
		}
		th.logAnswer(way.what, err.Error())
	}
	return nil
}

// countLoot shows that the thief's accounts have nothing.
func (th *thief) countLoot(ctx context.Context) error {
	for _, asset := range []string{string(chain.Native), th.user.Token.Asset} {
		has, err := th.user.Eth.Balance(ctx, asset, common.HexToAddress(th.payee))
		if err != nil {
			return err
		}
		if has.Sign() != 0 {
			return fmt.Errorf("%w: the thief has %s of %s", errPassed, has, asset)
		}
	}
	th.Note("%d ways tried, no unit lost", th.refused)
	return nil
}

// tryBindings asks for labels and addresses that are not his, and for numbers that no database
// keeps.
func (th *thief) tryBindings(ctx context.Context) error {
	bind := func(label string) error {
		return th.signer.GiveLabel(ctx, signguard.Binding{Network: "eth", Chain: "eth", Label: label, User: "vite_thief"})
	}
	for _, way := range []struct {
		what string
		try  func() error
	}{
		{"a label that looks like a user's", func() error { return bind("ABCD234I") }},
		{"a label with a zero-width space", func() error { return bind("ABCD2345\u200b") }},
		{"a label of 100 kB", func() error { return bind(strings.Repeat("A", 100_000)) }},
		{"a label counted by the blocks of the other chain", func() error {
			return th.signer.GiveLabel(ctx, signguard.Binding{Network: "eth", Chain: "vite", Label: "ABCD2345", User: "vite_thief"})
		}},
		{"number 2^63 of an account", func() error {
			_, err := th.signer.SignedAt(ctx, "eth", th.paid.Account, 1<<63)
			return err
		}},
		{"his own address given out as a deposit address", func() error {
			_, err := th.signer.GiveAddress(ctx, signguard.Binding{Network: "eth", Chain: "eth", Index: 0, Address: th.payee, User: "vite_thief"})
			return err
		}},
		{"a user's address given to him on another chain with the same keys", func() error {
			address, err := th.depositAddress(ctx, 0)
			if err == nil {
				_, err = th.signer.GiveAddress(ctx, signguard.Binding{Network: sideChain, Chain: sideChain, Index: 0, Address: address, User: th.owner})
			}
			return answer(err, "to another user on eth")
		}},
	} {
		err := way.try()
		if err == nil || errors.Is(err, errPassed) {
			return errors.Join(fmt.Errorf("%s: %w", way.what, errPassed), err)
		}
		th.logAnswer(way.what, err.Error())
	}
	return nil
}

// answer is errPassed unless the signer has refused in the words that are expected.
func answer(err error, want string) error {
	switch {
	case err == nil:
		return errPassed
	case !strings.Contains(err.Error(), want):
		return errors.Join(fmt.Errorf("%w: %q is not in the signer's answer", errPassed, want), err)
	}
	return err
}

// tryForged shows that an approval of somebody else does not count, whosever name it bears.
func (th *thief) tryForged(ctx context.Context) error {
	path := filepath.Join(th.dir, "thief.key")
	if _, err := approval.NewKey(path); err != nil {
		return err
	}
	key, err := approval.ReadKey(path)
	if err != nil {
		return err
	}
	signature, err := approval.Sign(key, "eth", th.waits, time.Now().Add(time.Hour))
	if err != nil {
		return err
	}
	for _, way := range [][2]string{{"an approval of his own", approval.PublicText(key.Public().(ed25519.PublicKey))}, {"an approval in Ann's name", th.approver}} {
		signature.Key = way[1]
		c := th.waits
		c.Approvals = []chain.Approval{signature}
		verdicts, err := th.signer.Authorize(ctx, "eth", c)
		switch {
		case err != nil:
			return err
		case verdicts[0].State == chain.Authorized:
			return fmt.Errorf("%s: %w", way[0], errPassed)
		}
		th.logAnswer(way[0], verdicts[0].Text)
	}
	return nil
}
