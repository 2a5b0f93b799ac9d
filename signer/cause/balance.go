package cause

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"gatewayd/chain"
	"gatewayd/policy"
	"gatewayd/records/signguard"
)

// coinBooks is the sign-guard's count at deposit addresses.
type coinBooks interface {
	CoinAt(ctx context.Context, id chain.ID, address, cause string, height uint64) (signguard.Coin, error)
	ShownByBalance(ctx context.Context, id chain.ID, address string) (bool, error)
	Unopened(ctx context.Context, id chain.ID, final uint64, limit int) ([]signguard.Opening, error)
	OpenFrom(ctx context.Context, id chain.ID, newest uint64) error
	Open(ctx context.Context, id chain.ID, address string, height uint64, balance chain.Amount) error
}

// foundPrefix begins the refs of coin that the daemon found by balances:
// "audit:<address>:<asset>:<block>".
const foundPrefix = "audit:"

// foundCoin reads such a ref. ok is false for refs of transfers in blocks.
func foundCoin(ref string) (address string, asset chain.Asset, height uint64, ok bool) {
	text, ok := strings.CutPrefix(ref, foundPrefix)
	if !ok {
		return "", "", 0, false
	}
	parts := strings.Split(text, ":")
	if len(parts) != 3 {
		return "", "", 0, true
	}
	height, err := strconv.ParseUint(parts[2], 10, 63)
	if err != nil || strconv.FormatUint(height, 10) != parts[2] { // one ref for one block
		return "", "", 0, true
	}
	return parts[0], chain.Asset(parts[1]), height, true
}

// found proves the credit of coin that no block shows. How it came and when is not proven: only
// that at the user's own deposit address more coin arrived since it was given out than was
// credited, refunded or sent there by ourselves. That holds in whatever order such coin and other
// deposits are claimed.
func (c *Checker) found(ctx context.Context, reads *blockReads, n policy.Network, id chain.ID, claim chain.Claim) (*chain.Arrival, error) {
	address, asset, height, _ := foundCoin(claim.Cause.Ref)
	b, err := c.foundFor(ctx, n, claim.Cause, address, asset, height)
	if err != nil {
		return nil, err
	}
	arrival := &chain.Arrival{Chain: n.Source, Address: address, Height: height, Proof: chain.ByBalance}
	if claim.Payment.Purpose == chain.Refund {
		arrival.Amount = claim.Payment.Amount
		return arrival, unproven("balances show coin at %s, but not its sender: a refund needs approvals", address)
	}
	if arrival.Amount, err = foundWorth(n, id, b, claim); err != nil {
		return nil, err
	}
	head, err := reads.head(ctx, n.Source, c.parts.Chains[n.Source])
	switch {
	case err != nil:
		return arrival, nodesFailed(n.Source, err)
	case b.Since == signguard.SinceUnknown:
		return arrival, later("the block of %s in which %s was issued is not read yet", n.Source, address)
	case height <= b.Since:
		return arrival, unproven("coin at %s arrived by block %d, before the address was issued", address, height)
	case height > head.Final.Height:
		return arrival, later("the final block of our nodes of %s is %d, not yet %d", n.Source, head.Final.Height, height)
	}
	return arrival, c.limit(ctx, reads, arrival, claim)
}

// foundFor returns whose the coin is. What the claim contradicts is refused.
func (c *Checker) foundFor(ctx context.Context, n policy.Network, cause chain.Cause, address string, asset chain.Asset, height uint64) (b signguard.Binding, err error) {
	if _, ok := c.parts.Chains[n.Source]; !ok || cause.Chain != n.Source {
		return b, refused("coin that only balances show is on %s, not on %q", n.Source, cause.Chain)
	}
	canonical, err := c.parts.Chains[n.Source].CheckAddress(address, "")
	switch {
	case err != nil || canonical != address || asset != chain.Native || height != cause.Height:
		return b, refused("%.120q does not name coin at an address of block %d", cause.Ref, cause.Height)
	case cause.Sender != "":
		return b, refused("balances do not show that coin at %s came from %s", address, cause.Sender)
	}
	if _, configured := c.at(n.Source, address); configured {
		return b, unproven("balances do not show the owner of coin at %s", address)
	}
	b, known, err := c.parts.Bindings.OfAddress(ctx, n.Source, address)
	if err == nil && (!known || b.Network != n.Name) {
		err = unproven("the signer has not issued %s", address)
	}
	return b, err
}

// foundWorth is the coin that a credit uses up. One that is not the user's, or not in the token of
// the coin, is refused.
func foundWorth(n policy.Network, id chain.ID, b signguard.Binding, claim chain.Claim) (chain.Amount, error) {
	p := claim.Payment
	token, ok := tokenOf(n, chain.Native, byAddress)
	switch {
	case !ok:
		return chain.Amount{}, unproven("network %s has no token for its coin", n.Name)
	case id != n.Exchange:
		return chain.Amount{}, refused("a deposit is credited on %s", n.Exchange)
	case p.To != b.User || claim.Cause.User != b.User:
		return chain.Amount{}, refused("coin at %s belongs to %s, not to %s", b.Address, b.User, p.To)
	case string(p.Asset) != token.TokenID || claim.Cause.Token != token.TokenID:
		return chain.Amount{}, refused("coin at %s is credited in %s, not in %s", b.Address, token.TokenID, p.Asset)
	case p.Label != "":
		return chain.Amount{}, refused("a credit on %s has no label", id)
	}
	worth, cut, err := p.Amount.Rescale(token.Decimals, token.AssetDecimals)
	if err == nil && !cut.IsZero() {
		worth, err = worth.Add(chain.NewAmount(1))
	}
	if err != nil {
		return chain.Amount{}, refused("%s is too large", p.Amount)
	}
	return worth, nil
}

// limit sets the maximum of an arrival's address, by its balance at our final block, and reports
// whether the arrival is within it.
func (c *Checker) limit(ctx context.Context, reads *blockReads, a *chain.Arrival, claim chain.Claim) error {
	reader := chain.CapabilitiesOf(c.parts.Chains[a.Chain]).Proven
	if reader == nil {
		return unproven("our nodes of %s show no balances of final blocks", a.Chain)
	}
	head, err := reads.head(ctx, a.Chain, c.parts.Chains[a.Chain])
	if err != nil {
		return nodesFailed(a.Chain, err)
	}
	coin, err := c.parts.Coin.CoinAt(ctx, a.Chain, a.Address, claim.Key(""), head.Final.Height)
	switch {
	case err != nil:
		return err
	case !coin.Opened:
	case a.Height <= coin.Since && a.Proof == chain.ByBlock: // part of the opening balance
		return nil
	case a.Height <= coin.Since:
		return unproven("coin at %s arrived by block %d, but its balance is known only from block %d", a.Address, a.Height, coin.Since)
	}
	if a.Height > head.Final.Height {
		return later("the balance of %s is read when block %d is final: our nodes are final at %d", a.Address, a.Height, head.Final.Height)
	}
	balance, err := reads.balance(ctx, reader, chain.Moment{Account: a.Address, Height: head.Final.Height}, a.Chain)
	switch {
	case errors.Is(err, chain.ErrNotFound):
		return unproven("our nodes of %s do not keep the state of their final block %d, so the balance of %s cannot be proven", a.Chain, head.Final.Height, a.Address)
	case err != nil:
		return nodesFailed(a.Chain, err)
	case !coin.Opened:
		return later("the balance of %s when it was issued is not read yet", a.Address)
	}
	most, err := coin.Limit(balance)
	if err != nil {
		return fmt.Errorf("adding up the coin at %s: %w", a.Address, err)
	}
	total, err := coin.Counted.Add(a.Amount)
	if err != nil {
		return refused("the amount is too large")
	}
	a.Limit = &most
	if most.Less(total) {
		return unproven("%s arrived at %s between blocks %d and %d, and %s of it is credited: %s more would exceed it",
			most, a.Address, coin.Since, head.Final.Height, coin.Counted, a.Amount)
	}
	return nil
}

// Provable reports why the balance of an account at the final block of a chain cannot be proven;
// nil: it can be. A chain whose coin is always in transfers needs no proof.
func (c *Checker) Provable(ctx context.Context, id chain.ID, account string) error {
	reader := chain.CapabilitiesOf(c.parts.Chains[id]).Proven
	if reader == nil {
		return nil
	}
	head, err := c.parts.Chains[id].Head(ctx)
	if err == nil {
		_, err = reader.ProvenBalance(ctx, head.Final.Height, account)
	}
	if errors.Is(err, chain.ErrNotFound) {
		return fmt.Errorf("its nodes do not keep the state of the final block %d", head.Final.Height)
	}
	return err
}

// arrivalOf is the coin at a deposit address that a credit or refund of a transfer uses up; nil for
// other transfers.
func (c *Checker) arrivalOf(n policy.Network, t provenTransfer) *chain.Arrival {
	if _, configured := c.at(t.chain, t.To); configured || t.chain != n.Source || t.Asset != chain.Native {
		return nil
	}
	return &chain.Arrival{Chain: t.chain, Address: t.To, Amount: t.Amount, Height: t.height, Proof: chain.ByBlock}
}

// bounded checks an arrival that a block shows. Where coin was credited by balances, that may have
// been the same coin: then it must fit into what arrived.
func (c *Checker) bounded(ctx context.Context, reads *blockReads, a *chain.Arrival, claim chain.Claim) error {
	bounded, err := c.parts.Coin.ShownByBalance(ctx, a.Chain, a.Address)
	if err != nil || !bounded {
		return err
	}
	return c.limit(ctx, reads, a, claim)
}

// openings is the number of opening balances per read.
const openings = 256

// ReadOpenings reads the balances that deposit addresses had in the block in which they were given
// out, once that block is final: only what arrived later may be credited by balances. Of addresses
// that were given out before the sign-guard kept count it is the newest block when ReadOpenings
// first saw them. Where nodes do not keep that state any more, it is the final block. A chain whose
// nodes fail does not stop the others.
func (c *Checker) ReadOpenings(ctx context.Context) error {
	var faults []error
	for id, r := range c.parts.Chains {
		reader := chain.CapabilitiesOf(r).Proven
		if reader == nil {
			continue
		}
		if err := c.openAll(ctx, id, r, reader); err != nil {
			faults = append(faults, fmt.Errorf("reading opening balances on %s: %w", id, err))
		}
	}
	return errors.Join(faults...)
}

func (c *Checker) openAll(ctx context.Context, id chain.ID, r Reader, reader chain.ProvenBalanceReader) error {
	head, err := r.Head(ctx)
	if err != nil {
		return err
	}
	if err := c.parts.Coin.OpenFrom(ctx, id, head.Latest.Height); err != nil {
		return err
	}
	for {
		list, err := c.parts.Coin.Unopened(ctx, id, head.Final.Height, openings)
		if err == nil && len(list) > 0 {
			err = c.open(ctx, id, head.Final.Height, reader, list)
		}
		if err != nil || len(list) < openings {
			return err
		}
	}
}

// open reads and stores opening balances. It is an error when one of them cannot be read.
func (c *Checker) open(ctx context.Context, id chain.ID, final uint64, reader chain.ProvenBalanceReader, list []signguard.Opening) error {
	moments := make([]chain.Moment, 0, 2*len(list))
	for _, o := range list {
		moments = append(moments, chain.Moment{Account: o.Address, Height: o.Since}, chain.Moment{Account: o.Address, Height: final})
	}
	balances, err := reader.PastBalances(ctx, moments)
	if err != nil {
		return err
	}
	var missing error
	for i, o := range list {
		at, balance := moments[2*i], balances[2*i]
		if balance == nil {
			at, balance = moments[2*i+1], balances[2*i+1]
		}
		if balance == nil {
			missing = fmt.Errorf("%w: no balance of %s at block %d", chain.ErrUnavailable, o.Address, at.Height)
			continue
		}
		if err := c.parts.Coin.Open(ctx, id, o.Address, at.Height, *balance); err != nil {
			return err
		}
	}
	return missing
}
