package doctor

import (
	"context"
	"slices"

	"gatewayd/chain"
	"gatewayd/chain/ethereum"
	"gatewayd/records"
	"gatewayd/records/books"
	"gatewayd/status"
	"gatewayd/vite/core"
)

// supply is the number of payments of the minimum, or fees of payments, that a topped-up account
// should be able to pay.
const supply = 100

// stakeVITE is the stake for one transfer a second, in VITE.
const stakeVITE = 10_000

func wholeStake() chain.Amount {
	stake, _, _ := chain.NewAmount(stakeVITE).Rescale(0, 18) // it fits
	return stake
}

// What accounts need money for.
const (
	forFees   = "fees of payouts"
	forSweeps = "fees of sweeps"
	forQuota  = "quota of credits and receives"
)

func forPayouts(t records.Token) string  { return "withdrawals of " + t.Symbol }
func forDeposits(t records.Token) string { return "deposits of " + t.Symbol }

// resolves sets what resolves the finding that was added last, unless nothing has to be done.
func (d *Doctor) resolves(a act) {
	if last := &d.Findings[len(d.Findings)-1]; !last.OK {
		last.act = &a
	}
}

// toHot sends an asset to a network's hot account.
func toHot(n records.Network, asset chain.Asset, purpose string) act {
	a := act{stage: stageTokens, chain: n.Source, account: n.Hot, name: "hot account of " + n.Name, asset: asset, purpose: purpose}
	if asset == chain.Native {
		a.stage = stageCoin
	}
	return a
}

func toGas(n records.Network) act {
	return act{stage: stageCoin, chain: n.Source, account: n.Gas, name: "gas account of " + n.Name, asset: chain.Native, purpose: forSweeps}
}

// toGateway sends a gateway token to a network's account on the exchange chain.
func toGateway(n records.Network, t records.Token) act {
	return act{
		stage: stageTokens, chain: n.Exchange, account: n.Gateway, name: "gateway account of " + n.Name,
		asset: chain.Asset(t.TokenID), purpose: forDeposits(t),
	}
}

func stakeFor(n records.Network, account string) act {
	return act{
		stage: stageStake, chain: n.Exchange, account: account, name: "gateway account of " + n.Name,
		asset: chain.Asset(core.VITE.String()), purpose: forQuota,
	}
}

// atNodes repairs the nodes of a chain.
func atNodes(id chain.ID) act {
	return act{stage: stageNodes, chain: id, do: "start the nodes of chain " + string(id) + " that do not answer, or correct their URLs"}
}

// actOn returns what resolves a condition where that is known better than from its kind.
func actOn(c status.Condition, networks []records.Network) (a act, ok bool) {
	switch c.Kind {
	case status.DaemonDown:
		return act{stage: stageStart, do: "start `gatewayd run`; its log shows why it ended"}, true
	case status.NodesDown, status.NodeFaulty:
		return atNodes(c.Chain), true
	}
	i := slices.IndexFunc(networks, func(n records.Network) bool { return n.Name == c.Network })
	if i < 0 || networks[i].Hot == "" || networks[i].Gateway == "" {
		return a, false
	}
	n := networks[i]
	t, _ := n.Token(c.Token)
	switch {
	case c.Kind == status.NoCoin:
		return toHot(n, chain.Native, forFees), true
	case c.Kind == status.NoQuota:
		return stakeFor(n, n.Gateway), true
	case t.TokenID == "":
		return a, false
	case c.Kind == status.HotBelow, c.Kind == status.NoFunds && c.Direction == records.Withdrawal:
		return toHot(n, t.Asset, forPayouts(t)), true
	case c.Kind == status.NoFunds:
		return toGateway(n, t), true
	}
	return a, false
}

// readOwed reads what the paying accounts have to pay already.
func (d *Doctor) readOwed(tx *records.Tx, networks []records.Network) error {
	d.owed = map[holding]chain.Amount{}
	for _, n := range networks {
		for _, id := range []chain.ID{n.Source, n.Exchange} {
			for _, account := range n.Paying(id) {
				owed, err := books.Owed(tx, id, account)
				if err != nil {
					return err
				}
				published := map[chain.ID]string{n.Source: n.Hot, n.Exchange: n.Gateway}[id]
				for asset, amount := range owed {
					at := holding{id, published, asset}
					if d.owed[at], err = d.owed[at].Add(amount); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// needs notes how much of an asset an account should have for a purpose: so much for each of many
// payments, at least a minimum, and what it owes already.
func (d *Doctor) needs(a act, each, least chain.Amount, owes bool) {
	want, err := each.Mul(supply)
	if err == nil && want.Less(least) {
		want = least
	}
	if err == nil && owes {
		want, err = want.Add(d.owed[a.holding()])
	}
	if err != nil || want.IsZero() {
		return
	}
	if d.wants == nil {
		d.wants = map[need]chain.Amount{}
	}
	d.wants[need{a.holding(), a.purpose}] = want
}

// sourceNeeds notes what a network's accounts on its source chain need.
func (d *Doctor) sourceNeeds(ctx context.Context, adapter *ethereum.Chain, n records.Network) {
	var dearest chain.Amount
	for _, t := range n.Tokens {
		least, _, err := t.Policy.MinWithdraw.Rescale(t.Decimals, t.AssetDecimals)
		if err == nil {
			d.needs(toHot(n, t.Asset, forPayouts(t)), least, t.HotMin, true)
		}
		if cost, err := adapter.PayoutCost(ctx, t.Asset); err == nil && dearest.Less(cost) {
			dearest = cost
		}
	}
	d.needs(toHot(n, chain.Native, forFees), dearest, chain.Amount{}, false)
	if cost, err := adapter.TokenSweepCost(ctx); err == nil {
		d.needs(toGas(n), cost, chain.Amount{}, false)
	}
}
