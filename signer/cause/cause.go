// Package cause proves payments: it reads the final transfer behind a payment from the signer's own
// nodes and derives the permitted payee and amount from it, by the signer's own policy.
//
//	claim ─▶ depth: is the block final for us? ─▶ block: is the transfer in it?
//	      ─▶ policy and bindings: payee, asset, maximum amount
//
// Of the daemon's claims it believes only the place of the transfer. It neither signs nor stores
// payments: the sign-guard does.
package cause

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"gatewayd/chain"
	"gatewayd/policy"
	"gatewayd/records/signguard"
)

// Reader is a ledger as the checks read it: through the signer's own nodes.
type Reader interface {
	Head(ctx context.Context) (chain.Head, error)
	Block(ctx context.Context, height uint64) (chain.Block, error)
	CheckAddress(addr, label string) (string, error)
	Balance(ctx context.Context, account string, asset chain.Asset) (chain.Amount, error)
}

// bindings are the deposit addresses and labels that the signer has given out.
type bindings interface {
	OfAddress(ctx context.Context, id chain.ID, address string) (signguard.Binding, bool, error)
	OfLabel(ctx context.Context, network, label string) (signguard.Binding, bool, error)
	// Watched returns the height from which on causes are checked: what came before may have been
	// paid before the signer kept anything.
	Watched(ctx context.Context, id chain.ID, height func() (uint64, error)) (uint64, error)
}

// Kind is the purpose of an account of ours.
type Kind string

// The kinds of accounts that the configuration names. Deposit addresses are among the bindings.
const (
	Hot     Kind = "hot"
	Gas     Kind = "gas"
	Gateway Kind = "gateway"
)

// Account is one of ours, as the signer derives it from its own configuration.
type Account struct {
	Chain   chain.ID
	Address string
	Network string
	Kind    Kind
	Shared  bool // labels at it distinguish users
	Retired bool // it no longer pays, and receives only coin for its fees
}

// Parts are a Checker's dependencies.
type Parts struct {
	Chains   map[chain.ID]Reader
	Networks func() []policy.Network // as configured now
	Accounts []Account               // of all networks, also those that paid once
	Bindings bindings
	Coin     coinBooks
	Now      func() time.Time // of what is counted by the hour; nil means time.Now
}

// Checker answers claims. It is safe for concurrent use.
type Checker struct {
	parts  Parts
	ours   atomic.Pointer[map[accountKey]Account] // replaced as one value, never modified
	blocks *blockCache

	gasBook *gasBook
}

type accountKey struct {
	chain   chain.ID
	address string
}

// New is a checker that has read nothing yet.
func New(p Parts) *Checker {
	c := &Checker{parts: p, blocks: newBlockCache(), gasBook: newGasBook(p.Now)}
	c.Take(p.Accounts)
	return c
}

// Take takes other accounts, of all networks, for those that it knows.
func (c *Checker) Take(accounts []Account) {
	ours := make(map[accountKey]Account, len(accounts))
	for _, a := range accounts {
		ours[accountKey{a.Chain, a.Address}] = a
	}
	c.ours.Store(&ours)
}

// at is the account of ours at an address.
func (c *Checker) at(id chain.ID, address string) (Account, bool) {
	a, ok := (*c.ours.Load())[accountKey{id, address}]
	return a, ok
}

// Begin stores the first watched block of each chain permanently: the final point at the signer's
// first start. Transfers that were final before may have been paid before the signer kept records,
// so that only people can approve payments for them.
func (c *Checker) Begin(ctx context.Context) error {
	for id, r := range c.parts.Chains {
		_, err := c.parts.Bindings.Watched(ctx, id, func() (uint64, error) {
			head, err := r.Head(ctx)
			return head.Final.Height, err
		})
		if err != nil {
			return fmt.Errorf("beginning to watch %s: %w", id, err)
		}
	}
	return nil
}

// Why a claim does not pass.
var (
	errRefused  = errors.New("refused")  // it contradicts its transfer
	errUnproven = errors.New("unproven") // nothing proves it; people may approve it
	errLater    = errors.New("later")    // not known yet
)

// reason is an error of one of these kinds with its line.
type reason struct {
	kind error
	text string
}

func (r reason) Error() string { return r.text }
func (r reason) Unwrap() error { return r.kind }

func refused(format string, args ...any) error {
	return reason{errRefused, fmt.Sprintf(format, args...)}
}
func unproven(format string, args ...any) error {
	return reason{errUnproven, fmt.Sprintf(format, args...)}
}
func later(format string, args ...any) error { return reason{errLater, fmt.Sprintf(format, args...)} }

// Check answers each claim of payments on a ledger: authorized as far as its cause goes, or in one
// line why not.
func (c *Checker) Check(ctx context.Context, id chain.ID, claims []chain.Claim) ([]chain.Verdict, error) {
	reads := c.newReads()
	verdicts := make([]chain.Verdict, len(claims))
	for i, claim := range claims {
		arrival, err := c.prove(ctx, reads, id, claim)
		verdict, ok := verdictOf(err)
		if !ok {
			return nil, fmt.Errorf("proving payment %d: %w", claim.Payment.ID, err)
		}
		verdict.Arrival = arrival
		verdicts[i] = verdict
	}
	return verdicts, nil
}

func verdictOf(err error) (v chain.Verdict, ok bool) {
	switch {
	case err == nil:
		return chain.Verdict{State: chain.Authorized}, true
	case errors.Is(err, errRefused):
		return chain.Verdict{State: chain.RefusedClaim, Reason: chain.ReasonRefused, Text: err.Error()}, true
	case errors.Is(err, errUnproven):
		return chain.Verdict{State: chain.HeldClaim, Reason: chain.ReasonUnproven, Text: err.Error()}, true
	case errors.Is(err, errLater):
		return chain.Verdict{State: chain.LaterClaim, Text: err.Error()}, true
	}
	return v, false
}

// Recheck answers of each claim whether our accounts and our configuration still allow it, whatever
// its cause: what may change between an authorization and the signature.
func (c *Checker) Recheck(ctx context.Context, id chain.ID, claims []chain.Claim) ([]chain.Verdict, error) {
	verdicts := make([]chain.Verdict, len(claims))
	for i, claim := range claims {
		_, err := c.allowed(ctx, id, claim)
		verdict, ok := verdictOf(err)
		if !ok {
			return nil, fmt.Errorf("checking payment %d again: %w", claim.Payment.ID, err)
		}
		verdicts[i] = verdict
	}
	return verdicts, nil
}

// allowed is nil when a claim's account may pay it. What has no transfer is allowed by that but for
// coin for gas.
func (c *Checker) allowed(ctx context.Context, id chain.ID, claim chain.Claim) (policy.Network, error) {
	n, ok := c.network(claim.Cause.Network)
	if !ok || id != n.Source && id != n.Exchange {
		return n, refused("the signer has no network %q on %s", claim.Cause.Network, id)
	}
	payer, ours, err := c.own(ctx, n, id, claim.Account)
	if err != nil {
		return n, err
	}
	if !ours {
		return n, refused("%s is not an account of %s", claim.Account, n.Name)
	}
	switch claim.Payment.Purpose {
	case chain.Credit, chain.Refund:
		if payer.Retired { // no user is to be refunded because signer and daemon learn of it at different moments
			return n, later("%s is retired and makes no payments: other accounts of %s do", claim.Account, n.Name)
		}
	case chain.Sweep, chain.Gas:
		return n, c.internal(ctx, n, id, payer, claim)
	case chain.Cold:
		return n, cold(n, id, payer, claim)
	default:
		return n, refused("a %s is not allowed", claim.Payment.Purpose)
	}
	return n, nil
}

// prove is nil when the claim's cause allows all of it. It returns the coin at a deposit address
// that the payment uses up, if any.
func (c *Checker) prove(ctx context.Context, reads *blockReads, id chain.ID, claim chain.Claim) (*chain.Arrival, error) {
	n, err := c.allowed(ctx, id, claim)
	switch {
	case err != nil:
		return nil, err
	case claim.Payment.Purpose == chain.Gas:
		return nil, c.gas(ctx, n, id, claim)
	case claim.Payment.Purpose != chain.Credit && claim.Payment.Purpose != chain.Refund:
		return nil, nil
	}
	if _, _, _, found := foundCoin(claim.Cause.Ref); found {
		return c.found(ctx, reads, n, id, claim)
	}
	return c.answer(ctx, reads, n, id, claim)
}

// answer proves a credit or refund by the transfer that it answers.
func (c *Checker) answer(ctx context.Context, reads *blockReads, n policy.Network, id chain.ID, claim chain.Claim) (*chain.Arrival, error) {
	t, err := c.transfer(ctx, reads, n, claim.Cause)
	if err != nil {
		return nil, err
	}
	if claim.Cause.Sender != t.From {
		return nil, refused("transfer %s came from %s, not from %s", t.Ref, t.From, claim.Cause.Sender)
	}
	switch {
	case claim.Payment.Purpose == chain.Refund:
		err = c.refund(ctx, n, id, t, claim)
	case t.chain == n.Source:
		err = c.deposit(ctx, n, id, t, claim)
	default:
		err = c.withdrawal(ctx, n, id, t, claim)
	}
	arrival := c.arrivalOf(n, t)
	if err == nil && arrival != nil {
		err = c.bounded(ctx, reads, arrival, claim)
	}
	return arrival, err
}

func (c *Checker) network(name string) (policy.Network, bool) {
	list := c.parts.Networks()
	i := slices.IndexFunc(list, func(n policy.Network) bool { return n.Name == name })
	if i < 0 {
		return policy.Network{}, false
	}
	return list[i], true
}

// own returns an account of ours of a network: one that the configuration names, or a deposit
// address, which has no kind.
func (c *Checker) own(ctx context.Context, n policy.Network, id chain.ID, address string) (Account, bool, error) {
	if a, ok := c.at(id, address); ok {
		return a, a.Network == n.Name, nil
	}
	if id != n.Source {
		return Account{}, false, nil
	}
	b, ok, err := c.parts.Bindings.OfAddress(ctx, id, address)
	return Account{Chain: id, Address: address, Network: n.Name}, ok && b.Network == n.Name, err
}

// ownMoney names moves between our own accounts in refusals.
var ownMoney = map[chain.Purpose]string{chain.Sweep: "a sweep", chain.Gas: "coin for gas"}

// internal passes what stays ours: from deposit addresses and between accounts that pay, and coin
// for fees.
func (c *Checker) internal(ctx context.Context, n policy.Network, id chain.ID, from Account, claim chain.Claim) error {
	p := claim.Payment
	to, ours, err := c.own(ctx, n, id, p.To)
	switch {
	case err != nil:
		return err
	case !ours:
		return refused("%s is not an account of %s: %s goes to our own accounts only", p.To, n.Name, ownMoney[p.Purpose])
	case p.Label != "":
		return refused("a %s has no label", p.Purpose)
	case p.Purpose == chain.Gas && (from.Kind != Gas || p.Asset != chain.Native):
		return refused("only the gas account pays for gas, in coin")
	case p.Purpose == chain.Sweep && to.Kind != Hot && to.Kind != Gateway:
		return refused("a sweep goes to a paying account")
	case p.Purpose == chain.Sweep && to.Retired:
		return later("%s is retired: a sweep goes to a paying account", p.To)
	}
	return nil
}

// cold passes what a hot account sends to the cold address that the signer's own configuration has
// for the token. It stays ours, so nothing bounds it but the budget of fees.
func cold(n policy.Network, id chain.ID, from Account, claim chain.Claim) error {
	p := claim.Payment
	token, known := n.Token(claim.Cause.Token)
	switch {
	case id != n.Source || from.Kind != Hot:
		return refused("a transfer to cold storage comes from a hot account of %s", n.Source)
	case !known || p.Asset != token.Asset:
		return refused("network %s has no token %q of %s", n.Name, claim.Cause.Token, p.Asset)
	case token.Cold == "":
		return refused("token %s has no cold address in the signer's configuration", token.TokenID)
	case p.To != token.Cold || p.Label != "":
		return refused("the cold address of %s is %s, not %s %s", token.TokenID, token.Cold, p.To, p.Label)
	}
	return nil
}
