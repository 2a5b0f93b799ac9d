package doctor

import (
	"context"
	"fmt"
	"time"

	"gatewayd/chain"
	"gatewayd/chain/bitcoin"
	"gatewayd/operator"
	"gatewayd/records"
)

// maxBlockAge is longer than any usual time between two blocks of a ledger of coins.
const maxBlockAge = 3 * time.Hour

// coins checks a chain of Bitcoin or its kin.
func (d *Doctor) coins(ctx context.Context, c bitcoin.Config, adapter *bitcoin.Chain, networks []records.Network) {
	answered := false
	for _, r := range adapter.Probe(ctx) {
		answered = d.coinNode(c, r) || answered
	}
	if !answered {
		d.unanswered(c.ID)
		return
	}
	d.coinFees(ctx, c, adapter)
	for _, n := range networks {
		if n.Source == c.ID {
			d.coinTokens(ctx, adapter, n)
		}
	}
}

// coinNode reports one node, and whether it answers.
func (d *Doctor) coinNode(c bitcoin.Config, r bitcoin.Report) bool {
	what := fmt.Sprintf("chain %s %s", c.ID, r.Node)
	if r.Err != nil {
		d.add(false, what, r.Err.Error(), "start the node or correct its URL, user and password; it must be of the network "+c.Network)
		d.resolves(atNodes(c.ID))
		return false
	}
	d.add(true, what+" network", fmt.Sprintf("%s, block %d, %s", c.Network, r.Head.Height, r.Software), "")
	d.add(!r.Syncing, what+" synchronisation", fmt.Sprint("reads the past of the chain: ", r.Syncing), "wait until the node is synchronised: until then its answers do not count")
	if !c.OnDemand && !r.Syncing {
		d.within(what, d.Now().Sub(r.HeadTime), maxBlockAge)
	}
	kept := "keeps all blocks"
	if r.Pruned {
		kept = fmt.Sprintf("is pruned, its lowest block is %d", r.Lowest)
	}
	d.Warn(!r.Pruned, what+" old blocks", kept, "after a stop of the daemon that is longer than what it keeps, blocks are missing: use one node that is not pruned, too")
	d.replaces(what, r.Replaces)
	return true
}

// replaces reports whether a node takes a transaction with a higher fee in place of a stuck one, as
// far as it shows it.
func (d *Doctor) replaces(what string, replaces *bool) {
	if replaces == nil {
		d.add(true, what+" replacement", "not known: nothing in the node's pool may be replaced now. The daemon learns it from its first replacement", "")
		return
	}
	d.Warn(*replaces, what+" replacement", fmt.Sprint("it replaces stuck transactions: ", *replaces),
		"start one node with -mempoolreplacement=1 (litecoind): otherwise a payout whose fee is too low waits until fees fall")
}

// coinFees reports the cost of a payout by the nodes' estimates, and what blocks payouts when fees
// rise.
func (d *Doctor) coinFees(ctx context.Context, c bitcoin.Config, adapter *bitcoin.Chain) {
	what := fmt.Sprintf("chain %s fees", c.ID)
	costs := chain.CapabilitiesOf(adapter).Costs
	if costs == nil {
		return
	}
	cost, err := costs.PayoutCost(ctx, chain.Native)
	if err != nil {
		d.add(false, what, err.Error(), "the nodes must answer estimatesmartfee")
		return
	}
	d.add(true, what, d.Config.AssetAmount(c.ID, chain.Native, cost)+" for a payout now", "")
}

// coinTokens checks a network's tokens and its pool.
func (d *Doctor) coinTokens(ctx context.Context, adapter *bitcoin.Chain, n records.Network) {
	for _, t := range n.Tokens {
		what := fmt.Sprintf("network %s token %s", n.Name, t.Symbol)
		d.equalDecimals(what, t)
		if n.Hot == "" {
			continue
		}
		d.holds(ctx, adapter, n.Hot, t.Asset, what+" hot account", "send some to "+n.Hot+", so that withdrawals can be paid", toHot(n, t.Asset, forPayouts(t)))
		c, err := operator.WithdrawalCapacity(ctx, adapter, n, t, d.inclusions[networkChain{n.Name, n.Source}])
		d.capacity(what+" withdrawals", c, err)
		if least, _, err := t.Policy.MinWithdraw.Rescale(t.Decimals, t.AssetDecimals); err == nil {
			d.needs(toHot(n, t.Asset, forPayouts(t)), least, t.HotMin, true)
		}
	}
}
