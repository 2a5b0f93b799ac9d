package cause

import (
	"context"
	"slices"
	"strconv"

	"gatewayd/chain"
	"gatewayd/policy"
	"gatewayd/records/signguard"
)

// The types of bindings, as tokens name them.
const (
	byAddress = 0
	byLabel   = 1
)

// deposit proves the credit of a deposit: the asset's token, the complete amount, to the owner of
// the receiving address or label.
func (c *Checker) deposit(ctx context.Context, n policy.Network, id chain.ID, t provenTransfer, claim chain.Claim) error {
	p := claim.Payment
	if id != n.Exchange {
		return refused("a deposit is credited on %s", n.Exchange)
	}
	if err := c.refuseOwnMoney(ctx, n, t); err != nil {
		return err
	}
	b, bindingType, err := c.depositor(ctx, n, t)
	if err != nil {
		return err
	}
	token, ok := tokenOf(n, t.Asset, bindingType)
	if !ok {
		return unproven("network %s has no token for %s", n.Name, t.Asset)
	}
	worth, _, err := t.Amount.Rescale(token.AssetDecimals, token.Decimals)
	switch {
	case err != nil:
		return refused("the amount of transfer %s is too large", t.Ref)
	case p.To != b.User:
		return refused("transfer %s is for %s, not for %s", t.Ref, b.User, p.To)
	case claim.Cause.User != b.User:
		return refused("transfer %s belongs to %s, not to %s", t.Ref, b.User, claim.Cause.User)
	case string(p.Asset) != token.TokenID || claim.Cause.Token != token.TokenID:
		return refused("transfer %s is credited in %s, not in %s", t.Ref, token.TokenID, p.Asset)
	case p.Label != "":
		return refused("a credit on %s has no label", id)
	case worth.Less(p.Amount):
		return refused("transfer %s is worth %s, not %s", t.Ref, worth, p.Amount)
	}
	return nil
}

// depositor is whose deposit it is, by the bindings that the signer has given out.
func (c *Checker) depositor(ctx context.Context, n policy.Network, t provenTransfer) (b signguard.Binding, bindingType int, err error) {
	var known bool
	if a, ok := c.at(t.chain, t.To); ok {
		if !a.Shared || a.Network != n.Name || t.Memo.Label == "" || t.Memo.Fault != "" {
			return b, byLabel, unproven("transfer %s came to %s and names no user", t.Ref, t.To)
		}
		for _, label := range spellings(t.Memo.Label) {
			if b, known, err = c.parts.Bindings.OfLabel(ctx, n.Name, label); err != nil || known {
				break
			}
		}
		bindingType = byLabel
	} else {
		b, known, err = c.parts.Bindings.OfAddress(ctx, t.chain, t.To)
	}
	switch {
	case err != nil:
		return b, bindingType, err
	case !known || b.Network != n.Name || b.Chain != t.chain:
		return b, bindingType, unproven("the signer has not issued the address or label of transfer %s", t.Ref)
	case b.Since == signguard.SinceUnknown:
		return b, bindingType, later("the block of %s in which the user got the address or label of transfer %s is not read yet", t.chain, t.Ref)
	case t.height <= b.Since:
		return b, bindingType, unproven("transfer %s came before its address or label was issued at block %d", t.Ref, b.Since)
	}
	return b, bindingType, nil
}

// spellings returns a label as given, and in capitals.
func spellings(label string) []string {
	capitals := []byte(label)
	for i, b := range capitals {
		if 'a' <= b && b <= 'z' {
			capitals[i] = b - 'a' + 'A'
		}
	}
	if string(capitals) == label {
		return []string{label}
	}
	return []string{label, string(capitals)}
}

// tokenOf returns the token of an asset: one that is deposited this way, else the other.
func tokenOf(n policy.Network, asset chain.Asset, bindingType int) (policy.Token, bool) {
	if token, ok := n.ByAsset(asset, bindingType); ok {
		return token, true
	}
	return n.ByAsset(asset, byAddress+byLabel-bindingType)
}

// refuseOwnMoney refuses transfers that did not come from a user: from our own accounts, or from a
// funder.
func (c *Checker) refuseOwnMoney(ctx context.Context, n policy.Network, t provenTransfer) error {
	_, ours, err := c.own(ctx, n, t.chain, t.From)
	if err != nil {
		return err
	}
	_, configured := c.at(t.chain, t.To)
	if ours || configured && t.Memo.Type < 0 && t.Memo.Label == "" && slices.Contains(n.Funders, t.From) {
		return refused("transfer %s came from %s, which has no claim to it", t.Ref, t.From)
	}
	return nil
}

// withdrawal proves a payout: a transfer to the gateway whose comment names the payee, less the
// least fee that the policy takes.
func (c *Checker) withdrawal(ctx context.Context, n policy.Network, id chain.ID, t provenTransfer, claim chain.Claim) error {
	p := claim.Payment
	if id != n.Source {
		return refused("a withdrawal is paid out on %s", n.Source)
	}
	if a, _ := c.at(t.chain, t.To); a.Kind != Gateway || a.Network != n.Name {
		return refused("transfer %s did not come to the gateway's account of %s", t.Ref, n.Name)
	}
	if err := c.refuseOwnMoney(ctx, n, t); err != nil {
		return err
	}
	token, ok := n.Token(string(t.Asset))
	if !ok {
		return unproven("network %s has no token %s", n.Name, t.Asset)
	}
	if t.Memo.Fault != "" || t.Memo.Type != token.Type {
		return refused("the comment of transfer %s has no payee", t.Ref)
	}
	if err := c.payee(ctx, n, t, p); err != nil {
		return err
	}
	most, err := payout(token, t.Amount)
	switch {
	case err != nil:
		return refused("transfer %s pays for nothing: %s", t.Ref, err)
	case p.Asset != token.Asset || claim.Cause.Token != token.TokenID:
		return refused("transfer %s is paid out in %s, not in %s", t.Ref, token.Asset, p.Asset)
	case claim.Cause.User != t.From:
		return refused("transfer %s belongs to %s, not to %s", t.Ref, t.From, claim.Cause.User)
	case most.Less(p.Amount):
		return refused("transfer %s pays out %s at most, not %s", t.Ref, most, p.Amount)
	}
	return nil
}

// payee compares who is paid with the comment.
func (c *Checker) payee(ctx context.Context, n policy.Network, t provenTransfer, p chain.Payment) error {
	reader, ok := c.parts.Chains[n.Source]
	if !ok {
		return refused("the signer has no nodes of %s", n.Source)
	}
	named, err := reader.CheckAddress(t.Memo.Address, t.Memo.Label)
	if err != nil {
		return refused("the comment of transfer %s has no payee", t.Ref)
	}
	_, ours, err := c.own(ctx, n, n.Source, named)
	switch {
	case err != nil:
		return err
	case ours:
		return refused("the comment of transfer %s names an account of ours", t.Ref)
	case p.To != named || p.Label != t.Memo.Label:
		return refused("the comment of transfer %s names %s, not %s", t.Ref, labelled(named, t.Memo.Label), labelled(p.To, p.Label))
	}
	return nil
}

// payout is the most that a withdrawal may pay, in the asset's units: its value less the least fee
// that the policy takes, whatever was quoted, and never above the maximum.
func payout(token policy.Token, gross chain.Amount) (chain.Amount, error) {
	net, _, ok := token.Policy.Fee.NetOf(gross, chain.Amount{})
	if !ok {
		return chain.Amount{}, refused("its fee is more")
	}
	if most := token.Policy.MaxWithdraw; !most.IsZero() && most.Less(net) {
		net = most
	}
	paid, _, err := net.Rescale(token.Decimals, token.AssetDecimals)
	return paid, err
}

// refund proves that a transfer goes back, all or part of it, to whom it came from.
func (c *Checker) refund(ctx context.Context, n policy.Network, id chain.ID, t provenTransfer, claim chain.Claim) error {
	p := claim.Payment
	if err := c.refuseOwnMoney(ctx, n, t); err != nil {
		return err
	}
	_, ours, err := c.own(ctx, n, t.chain, t.To)
	switch {
	case err != nil:
		return err
	case !ours: // networks share their ledgers, and each has its own money
		return refused("transfer %s did not come to an account of %s, which owes nothing for it", t.Ref, n.Name)
	}
	reader, ok := c.parts.Chains[id]
	if !ok || id != t.chain {
		return refused("transfer %s is refunded on %s", t.Ref, t.chain)
	}
	sender, err := reader.CheckAddress(t.From, "")
	switch {
	case p.Asset != t.Asset:
		return refused("transfer %s is refunded in %s, not in %s", t.Ref, t.Asset, p.Asset)
	case t.Amount.Less(p.Amount):
		return refused("transfer %s is of %s, not of %s", t.Ref, t.Amount, p.Amount)
	case err != nil || p.To != sender || p.Label != "":
		return unproven("transfer %s came from %s: a refund to %s %s needs approvals", t.Ref, t.From, p.To, p.Label)
	}
	return nil
}

// labelled is a payee with his label, where he has one.
func labelled(payee, label string) string {
	if label == "" {
		return payee
	}
	return payee + " with label " + strconv.Quote(label)
}
