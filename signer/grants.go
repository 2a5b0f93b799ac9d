package signer

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"gatewayd/chain"
	"gatewayd/records/signguard"
)

// grantLifetime is the time for which an authorization may be signed after its checks. So a stolen
// daemon cannot collect authorizations of several days, each within its day's limit, and have all
// of them signed at one moment.
const grantLifetime = 10 * time.Minute

// grant is a claim that has passed the checks.
type grant struct {
	claim  chain.Claim
	at     time.Time
	signed *chain.Slot // where it was signed last; nil: not since
}

func (o grant) old(now time.Time) bool { return now.Sub(o.at).Abs() >= grantLifetime }

// grantKey is a payment as an order names it.
type grantKey struct {
	chain   chain.ID
	account string
	payment uint64
	digest  string
}

func keyOf(id chain.ID, account string, p chain.Payment) grantKey {
	return grantKey{id, account, p.ID, Fingerprint(p)}
}

// grants are the authorizations that may be signed now. They are kept in memory: after a start each
// payment is checked again before it is signed.
type grants struct {
	mu      sync.Mutex
	of      map[string]grantKey // by cause, which has one
	claims  map[grantKey]grant
	expired time.Time // when old ones were removed last
}

func newGrants() *grants { return &grants{of: map[string]grantKey{}, claims: map[grantKey]grant{}} }

// put keeps a claim that was authorized at a time, in the place of any other for its cause.
func (g *grants) put(id chain.ID, at time.Time, c chain.Claim) {
	g.mu.Lock()
	defer g.mu.Unlock()
	cause, key := c.Key(id), keyOf(id, c.Account, c.Payment)
	delete(g.claims, g.of[cause])
	g.of[cause], g.claims[key] = key, grant{claim: c, at: at}
	if at.Sub(g.expired).Abs() < grantLifetime {
		return
	}
	g.expired = at
	for key, one := range g.claims {
		if one.old(at) {
			g.remove(key)
		}
	}
}

func (g *grants) remove(key grantKey) {
	if one, ok := g.claims[key]; ok {
		delete(g.of, one.claim.Key(key.chain))
		delete(g.claims, key)
	}
}

// has reports whether a cause is granted to the same account for the same, whatever number the
// payment had.
func (g *grants) has(id chain.ID, now time.Time, c chain.Claim) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	key, ok := g.of[c.Key(id)]
	return ok && key.account == c.Account && key.digest == Fingerprint(c.Payment) && !g.claims[key].old(now)
}

// find returns what is granted for a payment.
func (g *grants) find(id chain.ID, now time.Time, account string, p chain.Payment) (grant, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	one, ok := g.claims[keyOf(id, account, p)]
	return one, ok && !one.old(now)
}

// sign remembers where orders were signed.
func (g *grants) sign(id chain.ID, orders []chain.Order) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, o := range orders {
		for _, p := range o.Payment.All() {
			key := keyOf(id, o.Slot.Account, p)
			if one, ok := g.claims[key]; ok {
				one.signed = &o.Slot
				g.claims[key] = one
			}
		}
	}
}

func (o grant) signedAt(at chain.Slot) bool {
	return o.signed != nil && o.signed.Branch == at.Branch && o.signed.Nonce == at.Nonce
}

// drop forgets what was granted for a claim that would not be authorized now.
func (g *grants) drop(id chain.ID, c chain.Claim) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.remove(keyOf(id, c.Account, c.Payment))
}

// mayBeSigned returns how many orders may be signed, and the reason for the next one.
// signguard.ErrUnauthorized: the authorization is too old, or would be refused now, because
// addresses may be listed, accounts retired, and the cold address another since. A repeated
// signature at its slot is allowed, for other fees too, unless its payee is listed. An order that
// waits does not block those before it.
func (s *Signer) mayBeSigned(ctx context.Context, id chain.ID, orders []chain.Order) (passed int, why, err error) {
	granted, signed, passed, why, err := s.sortOrders(ctx, id, orders)
	if err != nil {
		return 0, nil, err
	}
	for _, check := range s.again {
		at, c, text, err := granted.refusedBy(ctx, id, check)
		if err != nil {
			return 0, nil, err
		}
		if at >= 0 && at < passed {
			s.grants.drop(id, c)
			passed, why = at, unauthorized(orders[at].Slot, c.Payment, text)
		}
	}
	if s.listed == nil {
		return passed, why, nil
	}
	at, c, text, err := signed.refusedBy(ctx, id, s.listed)
	if err != nil {
		return 0, nil, err
	}
	if at >= 0 && at < passed {
		passed, why = at, fmt.Errorf("%w: payment %d is not signed again: %s", chain.ErrNotNow, c.Payment.ID, text)
	}
	return passed, why, nil
}

// sortOrders returns the payments that are granted, and those that were signed before, up to the
// first order with one that is neither.
func (s *Signer) sortOrders(ctx context.Context, id chain.ID, orders []chain.Order) (granted, signed chosen, passed int, why, err error) {
	now := s.now()
	for i, o := range orders {
		for _, p := range o.Payment.All() {
			if p.Purpose.PaysNobody() {
				continue
			}
			one, ok := s.grants.find(id, now, o.Slot.Account, p)
			if ok && !one.signedAt(o.Slot) {
				granted.add(i, one.claim)
				continue
			}
			if !ok {
				before, err := s.wasSigned(ctx, id, o.Slot)
				if err != nil {
					return granted, signed, 0, nil, err
				}
				if !before {
					return granted, signed, i, unauthorized(o.Slot, p, fmt.Sprintf("it was never authorized, or more than %s ago", grantLifetime)), nil
				}
			}
			signed.add(i, chain.Claim{Account: o.Slot.Account, Payment: p})
		}
	}
	return granted, signed, len(orders), nil, nil
}

func unauthorized(at chain.Slot, p chain.Payment, text string) error {
	return fmt.Errorf("signing payment %d at %d of %s: %w: %s", p.ID, at.Nonce, at.Account, signguard.ErrUnauthorized, text)
}

// chosen are claims of some of a list of orders.
type chosen struct {
	at     []int
	claims []chain.Claim
}

func (c *chosen) add(i int, claim chain.Claim) {
	c.at, c.claims = append(c.at, i), append(c.claims, claim)
}

// refusedBy returns the first order with a claim that a check does not pass, and why; -1 for none.
func (c chosen) refusedBy(ctx context.Context, id chain.ID, check Check) (at int, claim chain.Claim, text string, err error) {
	if len(c.claims) == 0 {
		return -1, claim, "", nil
	}
	verdicts, err := judge(ctx, id, check, c.claims)
	if err != nil {
		return -1, claim, "", err
	}
	for i, v := range verdicts {
		if v.State != chain.Authorized {
			return c.at[i], c.claims[i], v.Text, nil
		}
	}
	return -1, claim, "", nil
}

// wasSigned reports whether something was signed at a slot before. The sign-guard decides whether
// it was the same.
func (s *Signer) wasSigned(ctx context.Context, id chain.ID, at chain.Slot) (bool, error) {
	list, err := s.guard.SignedAt(ctx, id, at.Account, at.Nonce)
	return slices.ContainsFunc(list, func(w signguard.Signed) bool { return w.Branch == at.Branch }), err
}
