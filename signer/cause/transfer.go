package cause

import (
	"context"
	"errors"

	"gatewayd/chain"
	"gatewayd/policy"
)

// provenTransfer is a transfer as the signer's own nodes show it.
type provenTransfer struct {
	chain.Transfer
	chain  chain.ID
	height uint64
}

// transfer reads the transfer that a cause names. It is deep enough by our own policy and final
// point.
func (c *Checker) transfer(ctx context.Context, reads *blockReads, n policy.Network, cause chain.Cause) (provenTransfer, error) {
	t := provenTransfer{chain: cause.Chain, height: cause.Height}
	reader, ok := c.parts.Chains[cause.Chain]
	if !ok || cause.Chain != n.Source && cause.Chain != n.Exchange {
		return t, refused("network %s does not reach %q", n.Name, cause.Chain)
	}
	head, err := reads.head(ctx, cause.Chain, reader)
	if err != nil {
		return t, nodesFailed(cause.Chain, err)
	}
	since, err := c.parts.Bindings.Watched(ctx, cause.Chain, func() (uint64, error) { return head.Final.Height, nil })
	switch {
	case err != nil:
		return t, err
	case cause.Height < since:
		return t, unproven("block %d of %s was final before the signer watched the chain, from %d on", cause.Height, cause.Chain, since)
	case cause.Height > head.Latest.Height:
		return t, later("our nodes of %s are at %d, not yet at %d", cause.Chain, head.Latest.Height, cause.Height)
	}
	found, err := reads.find(ctx, cause.Chain, reader, head, cause.Height, cause.Ref)
	switch {
	case errors.Is(err, errAbsent):
		return t, unproven("block %d of %s shows no transfer %.80q to us", cause.Height, cause.Chain, cause.Ref)
	case err != nil:
		return t, nodesFailed(cause.Chain, err)
	}
	t.Transfer = found
	if t.Failed {
		return t, refused("transfer %s moved nothing", t.Ref)
	}
	if depth := c.depth(n, t); !depth.Reached(max(t.height, t.Matures), head.Latest.Height, head.Final.Height) {
		return t, later("transfer %s is not final yet: our nodes of %s are at %d, final at %d", t.Ref, t.chain, head.Latest.Height, head.Final.Height)
	}
	return t, nil
}

// nodesFailed is the answer later, because the signer's nodes did not answer.
func nodesFailed(id chain.ID, err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return later("our nodes of %s: %s", id, chain.PlainError(err))
}

// depth returns the required depth of a transfer. One without a token waits for the final point,
// and where two tokens share an asset the deeper counts.
func (c *Checker) depth(n policy.Network, t provenTransfer) policy.Depth {
	deepest := policy.Depth{}
	for _, token := range n.Tokens {
		d := token.Policy.WithdrawConfirmations
		if t.chain == n.Source {
			d = token.Policy.DepositConfirmations
		}
		if t.chain == n.Exchange && string(t.Asset) != token.TokenID || t.chain == n.Source && t.Asset != token.Asset {
			continue
		}
		deepest.Tag, deepest.Count = deepest.Tag || d.Tag, max(deepest.Count, d.Count)
	}
	if deepest == (policy.Depth{}) {
		return policy.Depth{Tag: true}
	}
	return deepest
}
