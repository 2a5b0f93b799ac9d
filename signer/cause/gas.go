package cause

import (
	"context"
	"sync"
	"time"

	"gatewayd/chain"
	"gatewayd/policy"
	"gatewayd/records/signguard"
)

// Coin for gas stays ours, but coin at unused addresses is out of reach: a stolen daemon could
// empty the gas account into them.
const (
	// times the cost of a token's transfer now: of what an account is given and has; prices of
	// daemon and signer differ
	gasFactor     = 6
	gasPerAddress = 30
	gasPerHour    = 5_000
)

// gas passes coin for the fees of an account that has something of a token, as far as sweeping that
// costs.
func (c *Checker) gas(ctx context.Context, n policy.Network, id chain.ID, claim chain.Claim) error {
	p := claim.Payment
	reader := c.parts.Chains[id]
	sweepable, err := hasTokens(ctx, reader, n, p.To)
	switch {
	case err != nil:
		return nodesFailed(id, err)
	case !sweepable:
		return later("%s has no tokens worth a sweep: coin for gas goes only to accounts with tokens", p.To)
	}
	if err := c.boundGas(ctx, reader, id, claim); err != nil {
		return err
	}
	return c.gasBook.count(id, p.To, claim.Key(id))
}

// hasTokens reports whether an account has as much of a token as a deposit has at least.
func hasTokens(ctx context.Context, reader Reader, n policy.Network, account string) (bool, error) {
	for _, t := range n.Tokens {
		if t.Asset == chain.Native {
			continue
		}
		least, err := n.LeastSweep(t.Asset, chain.Amount{})
		if err != nil {
			return false, err
		}
		has, err := reader.Balance(ctx, account, t.Asset)
		if err != nil {
			return false, err
		}
		if !has.IsZero() && !has.Less(least) {
			return true, nil
		}
	}
	return false, nil
}

// granted reads earlier authorizations. The amount of an authorized payment was checked by the
// price of its time: a falling price must not block a bound payment.
type granted interface {
	AuthorizationsOf(ctx context.Context, causes []string) (map[string]signguard.Authorization, error)
}

// wasGranted reports whether the same payment of coin was authorized before.
func (c *Checker) wasGranted(ctx context.Context, id chain.ID, claim chain.Claim) (bool, error) {
	g, ok := c.parts.Bindings.(granted)
	if !ok {
		return false, nil
	}
	key := claim.Key(id)
	known, err := g.AuthorizationsOf(ctx, []string{key})
	a, found := known[key]
	p := claim.Payment
	return found && a.Chain == id && a.Account == claim.Account && a.Payee == p.To && a.Asset == p.Asset && a.Amount == p.Amount, err
}

// boundGas refuses more coin than a few transfers cost, and waits while the account has that much.
func (c *Checker) boundGas(ctx context.Context, reader Reader, id chain.ID, claim chain.Claim) error {
	p := claim.Payment
	costs := chain.CapabilitiesOf(reader).Sweeps
	if costs == nil {
		return nil
	}
	cost, err := costs.TokenSweepCost(ctx)
	if err != nil {
		return nodesFailed(id, err)
	}
	most, err := cost.Mul(gasFactor)
	if err != nil {
		return err
	}
	before, err := c.wasGranted(ctx, id, claim)
	if err != nil {
		return err
	}
	has, err := reader.Balance(ctx, p.To, chain.Native)
	switch {
	case err != nil:
		return nodesFailed(id, err)
	case before && has.Less(p.Amount):
		return nil
	case most.Less(p.Amount):
		return later("coin for gas to %s is limited to %s, the current cost of %d token transfers: %s is more", p.To, most, gasFactor, p.Amount)
	case !has.Less(most):
		return later("%s has %s, enough for its transfers", p.To, has)
	}
	return nil
}

// gasBook counts payments of coin for gas by account and ledger, each once. It is safe for
// concurrent use.
type gasBook struct {
	now  func() time.Time
	mu   sync.Mutex
	paid []gasPayment // of the last hour, oldest first
	of   map[accountKey]int
	on   map[chain.ID]int
	keys map[string]bool
}

type gasPayment struct {
	accountKey
	key string
	at  time.Time
}

func newGasBook(now func() time.Time) *gasBook {
	if now == nil {
		now = time.Now
	}
	return &gasBook{now: now, of: map[accountKey]int{}, on: map[chain.ID]int{}, keys: map[string]bool{}}
}

// count counts a payment, or answers later. The same payment counts once.
func (b *gasBook) count(id chain.ID, account, key string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	b.expire(now)
	to := accountKey{id, account}
	switch {
	case b.keys[key]:
		return nil
	case b.of[to] >= gasPerAddress:
		return later("%s received coin for gas %d times in an hour, the maximum", account, gasPerAddress)
	case b.on[id] >= gasPerHour:
		return later("coin for gas was paid %d times on %s in an hour, the maximum", gasPerHour, id)
	}
	b.of[to]++
	b.on[id]++
	b.keys[key] = true
	b.paid = append(b.paid, gasPayment{to, key, now})
	return nil
}

// expire forgets what is an hour old, and what a clock that was set back would keep for longer.
func (b *gasBook) expire(now time.Time) {
	for len(b.paid) > 0 && now.Sub(b.paid[0].at).Abs() >= time.Hour {
		first := b.paid[0]
		b.paid = b.paid[1:]
		delete(b.keys, first.key)
		if b.on[first.chain]--; b.on[first.chain] == 0 {
			delete(b.on, first.chain)
		}
		if b.of[first.accountKey]--; b.of[first.accountKey] == 0 {
			delete(b.of, first.accountKey)
		}
	}
}
